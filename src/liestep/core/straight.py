"""Straight-line machine code of Taylor coefficients: LLVM code without loops or branches, compiled apart from the time
loops and called by its address.

Products are added by `llvm.fma` always, so that results have the same bits on every processor; nothing is reordered
(no fast-math), and LLVM's vectorisers do not run: on such code they take most of the compile time and gain nothing.
Object code is kept in the folder of the machine code, named by the hash of its text and of the processor.
"""
import hashlib
import os
import re
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from liestep.core.cache import cache_root
from liestep.core.jets import Jet
from liestep.core.symbols import Expressions, Guard

CONDITIONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}
DEFINED = re.compile(r"^define i64 @(\w+)", re.MULTILINE)
_LITERALS = (0.0, 1.0, -1.0, 0.5, 2.0)


def literal(x: float) -> str:
    """A number as LLVM writes it, all bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(x)))[0]:016X}"


class Writer:
    """Arithmetic that writes LLVM instructions; values are names of registers, or numbers. With several lanes each
    value is a vector of one number for each lane, and each operation that on the numbers of one lane."""

    def __init__(self, lanes: int = 1) -> None:
        self.lines: list[str] = []
        self.declared: dict[str, None] = {}
        self.table: dict[float, int] = {}
        self.lanes = lanes
        self.kind, self.bits, self.suffix = "double", "i1", "f64"
        if lanes > 1:
            self.kind, self.bits, self.suffix = f"<{lanes} x double>", f"<{lanes} x i1>", f"v{lanes}f64"

    def write(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, value: Any) -> Any:
        """A number of the system. It is read from a table, so that other parameters have the same code."""
        value = float(value)
        return value if value in _LITERALS else f"%c{self.table.setdefault(value, len(self.table))}"

    def operand(self, x: Any) -> str:
        if isinstance(x, str):
            return x
        return literal(x) if self.lanes == 1 else f"splat (double {literal(x)})"

    def add(self, a: Any, b: Any) -> str:
        return self.write(f"fadd {self.kind} {self.operand(a)}, {self.operand(b)}")

    def sub(self, a: Any, b: Any) -> str:
        return self.write(f"fsub {self.kind} {self.operand(a)}, {self.operand(b)}")

    def mul(self, a: Any, b: Any) -> str:
        if not isinstance(a, str) and a == -1.0:
            return self.write(f"fneg {self.kind} {self.operand(b)}")
        return self.write(f"fmul {self.kind} {self.operand(a)}, {self.operand(b)}")

    def fma(self, a: Any, b: Any, c: Any) -> str:
        return self.call("fma", a, b, c)

    def div(self, a: Any, b: Any) -> str:
        return self.write(f"fdiv {self.kind} {self.operand(a)}, {self.operand(b)}")

    def part(self, a: Any, k: int) -> str:
        return self.mul(1.0/k, a)

    def call(self, name: str, *args: Any) -> str:
        if name == "atan2":
            return self.one_by_one("@atan2", args)
        return self.apply(f"@llvm.{name}.{self.suffix}", self.kind, args)

    def apply(self, function: str, kind: str, args: Sequence[Any]) -> str:
        self.declared[f"declare {kind} {function}({', '.join([kind]*len(args))})"] = None
        return self.write(f"call {kind} {function}({', '.join(f'{kind} {self.operand(x)}' for x in args)})")

    def one_by_one(self, function: str, args: Sequence[Any]) -> str:
        """A function that takes one number after the other."""
        if self.lanes == 1:
            return self.apply(function, "double", args)
        joined = "undef"
        for lane in range(self.lanes):
            parts = [self.write(f"extractelement {self.kind} {self.operand(x)}, i32 {lane}") for x in args]
            value = self.apply(function, "double", parts)
            joined = self.write(f"insertelement {self.kind} {joined}, double {value}, i32 {lane}")
        return joined

    def load(self, array: str, i: int, name: str) -> list[str]:
        """Lines that read value i of an array."""
        return [f"%p{name} = getelementptr {self.kind}, ptr %{array}, i64 {i}",
                f"%{name} = load {self.kind}, ptr %p{name}, align 8"]

    def load_constant(self, i: int, name: str) -> list[str]:
        """Lines that read constant i of the table, the same for all lanes, after the times."""
        target = f"s{name}" if self.lanes > 1 else name
        lines = [f"%p{name} = getelementptr double, ptr %table, i64 {self.lanes + i}",
                 f"%{target} = load double, ptr %p{name}"]
        if self.lanes > 1:
            lines += [f"%i{name} = insertelement {self.kind} undef, double %{target}, i32 0",
                      f"%{name} = shufflevector {self.kind} %i{name}, {self.kind} undef,"
                      f" <{self.lanes} x i32> zeroinitializer"]
        return lines

    def store(self, array: str, i: int, value: Any) -> None:
        place = self.write(f"getelementptr {self.kind}, ptr %{array}, i64 {i}")
        self.lines.append(f"store {self.kind} {self.operand(value)}, ptr {place}, align 8")


class Straight(NamedTuple):
    """Text of the function `jet` (y, table, out) -> 1 where all guards hold, and of `sum` (c, step, y), with t and
    the constants of the table. `out` holds the coefficients, then the largest numbers of y and of its last two.

    With several lanes each number of y, out, c and step, and t, is one for each lane, those of the lanes side by side;
    bit l of the result of `jet` is 1 where all guards of lane l hold."""

    text: str
    constants: np.ndarray
    operations: int


def jet_code(found: Expressions, order: int, lanes: int = 1) -> Straight:
    """LLVM code that writes the coefficients 0 to `order` of y, `out` (order + 1, n), or (order + 1, n, lanes)."""
    n, writer = len(found.inputs) - 1, Writer(lanes)
    jet = Jet(found, writer, [*(f"%y{i}" for i in range(n)), "%t"])
    rows = list(jet.rows(order))
    operations = len(writer.lines)
    for k, line in enumerate(rows):
        for i, value in enumerate(line):
            writer.store("out", k*n + i, 0.0 if value is None else value)
    for place, line in enumerate((rows[0], rows[order - 1], rows[order])):
        writer.store("out", (order + 1)*n + place, _largest(writer, line))
    result = _all_hold(writer, jet, found.guards)
    head = writer.load("table", 0, "t")
    for i in range(n):
        head += writer.load("y", i, f"y{i}")
    for place in range(len(writer.table)):
        head += writer.load_constant(place, f"c{place}")
    body = "\n  ".join([*head, *writer.lines, f"ret i64 {result}"])
    text = "\n".join([*writer.declared, "define i64 @jet(ptr noalias %y, ptr noalias %table, ptr noalias %out) {",
                      f"  {body}", "}", _sum_code(n, order) if lanes == 1 else _sums_code(n, order, lanes)])
    return Straight(text, np.array([0.0]*lanes + list(writer.table)), operations)


def _all_hold(writer: Writer, jet: Jet, guards: Sequence[Guard]) -> str:
    """Bits of the lanes where all guards hold, as a whole number."""
    yes = "true" if writer.lanes == 1 else "splat (i1 true)"
    holds = yes
    for guard in guards:
        left, right = (writer.operand(side) for side in jet.guard_value(guard))
        this = writer.write(f"fcmp {CONDITIONS[guard.op]} {writer.kind} {left}, {right}")
        if not guard.wanted:
            this = writer.write(f"xor {writer.bits} {this}, {yes}")
        holds = writer.write(f"and {writer.bits} {holds}, {this}")
    if writer.lanes == 1:
        return writer.write(f"zext i1 {holds} to i64")
    joined = writer.write(f"bitcast {writer.bits} {holds} to i{writer.lanes}")
    return writer.write(f"zext i{writer.lanes} {joined} to i64")


def _largest(writer: Writer, line: list[Any]) -> Any:
    """Largest absolute value; a NaN counts as none, as the state itself shows it."""
    found: Any = 0.0
    for value in line:
        if value is not None:
            size = writer.call("fabs", value)
            found = size if found == 0.0 else writer.call("maxnum", found, size)
    return found


def _sum_code(n: int, order: int) -> str:
    """y = sum_k c_k h^k by Horner's rule, all numbers of y at once."""
    kind, name = f"<{n} x double>", f"@llvm.fma.v{n}f64"
    lines = ["%step = load double, ptr %h", f"%one = insertelement {kind} undef, double %step, i32 0",
             f"%h0 = shufflevector {kind} %one, {kind} undef, <{n} x i32> zeroinitializer"]
    for k in range(order, -1, -1):
        lines += [f"%p{k} = getelementptr double, ptr %c, i64 {k*n}", f"%c{k} = load {kind}, ptr %p{k}, align 8"]
        lines.append(f"%s{k} = fadd {kind} %c{k}, splat (double {literal(-0.0)})" if k == order else
                     f"%s{k} = call {kind} {name}({kind} %h0, {kind} %s{k + 1}, {kind} %c{k})")
    lines += [f"store {kind} %s0, ptr %y, align 8", "ret i64 1"]
    body = "\n  ".join(lines)
    return (f"declare {kind} {name}({kind}, {kind}, {kind})\n"
            f"define i64 @sum(ptr noalias %c, ptr noalias %h, ptr noalias %y) {{\n  {body}\n}}")


def _sums_code(n: int, order: int, lanes: int) -> str:
    """The same of each lane with its own step."""
    writer = Writer(lanes)
    for i in range(n):
        total = ""
        for k in range(order, -1, -1):
            place = writer.write(f"getelementptr {writer.kind}, ptr %c, i64 {k*n + i}")
            value = writer.write(f"load {writer.kind}, ptr {place}, align 8")
            total = writer.add(value, -0.0) if k == order else writer.fma("%h0", total, value)
        writer.store("y", i, total)
    body = "\n  ".join([*writer.load("h", 0, "h0"), *writer.lines, "ret i64 1"])
    return f"define i64 @sum(ptr noalias %c, ptr noalias %h, ptr noalias %y) {{\n  {body}\n}}"


class Loaded(NamedTuple):
    """Machine code in use: addresses of its functions, and what owns it."""

    addresses: dict[str, int]
    owner: Any


@cache
def _target() -> Any:
    """LLVM's code generator for this processor, as Numba's: with the features that the user's settings leave."""
    from llvmlite import binding

    from liestep.core import processor

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    name, features = processor.target()
    return binding.Target.from_triple(binding.get_process_triple()).create_target_machine(
        cpu=name, features=features, opt=2, reloc="pic", codemodel="default", jit=True)


@cache
def loaded(text: str) -> Loaded:
    """The functions of a text in machine code, which is compiled or read from the folder of the machine code."""
    from llvmlite import binding

    target = _target()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target)
    engine.add_object_file(binding.ObjectFileRef.from_data(_object_code(text)))
    engine.finalize_object()
    return Loaded({name: engine.get_function_address(name) for name in DEFINED.findall(text)}, engine)


def _object_code(text: str) -> bytes:
    import llvmlite
    from llvmlite import binding

    from liestep.core import processor

    made_by = [llvmlite.__version__, str(binding.llvm_version_info), processor.describe(), text]
    digest = hashlib.sha256("|".join(made_by).encode())
    path = cache_root()/f"straight-{digest.hexdigest()[:24]}.o"
    try:
        return path.read_bytes()
    except OSError:
        pass
    module = binding.parse_assembly(text)
    module.triple = binding.get_process_triple()
    module.verify()
    code = _target().emit_object(module)
    keep(path, code)
    return code


def keep(path: Path, code: bytes) -> None:
    """Write whole or not at all; a folder that cannot be written only costs time."""
    private = path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex[:8]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        private.write_bytes(code)
        os.replace(private, path)
    except OSError:
        private.unlink(missing_ok=True)
