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
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from liestep.core.cache import cache_root
from liestep.core.jets import Jet
from liestep.core.symbols import Expressions

CONDITIONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}
DEFINED = re.compile(r"^define i64 @(\w+)", re.MULTILINE)
_LITERALS = (0.0, 1.0, -1.0, 0.5, 2.0)


def literal(x: float) -> str:
    """A number as LLVM writes it, all bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(x)))[0]:016X}"


class Writer:
    """Arithmetic that writes LLVM instructions; values are names of registers, or numbers."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: dict[str, None] = {}
        self.table: dict[float, int] = {}

    def write(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, value: Any) -> Any:
        """A number of the system. It is read from a table, so that other parameters have the same code."""
        value = float(value)
        return value if value in _LITERALS else f"%c{self.table.setdefault(value, len(self.table))}"

    @staticmethod
    def operand(x: Any) -> str:
        return x if isinstance(x, str) else literal(x)

    def add(self, a: Any, b: Any) -> str:
        return self.write(f"fadd double {self.operand(a)}, {self.operand(b)}")

    def sub(self, a: Any, b: Any) -> str:
        return self.write(f"fsub double {self.operand(a)}, {self.operand(b)}")

    def mul(self, a: Any, b: Any) -> str:
        if not isinstance(a, str) and a == -1.0:
            return self.write(f"fneg double {self.operand(b)}")
        return self.write(f"fmul double {self.operand(a)}, {self.operand(b)}")

    def fma(self, a: Any, b: Any, c: Any) -> str:
        return self.call("fma", a, b, c)

    def div(self, a: Any, b: Any) -> str:
        return self.write(f"fdiv double {self.operand(a)}, {self.operand(b)}")

    def part(self, a: Any, k: int) -> str:
        return self.mul(1.0/k, a)

    def call(self, name: str, *args: Any) -> str:
        function = "@atan2" if name == "atan2" else f"@llvm.{name}.f64"
        self.declared[f"declare double {function}({', '.join(['double']*len(args))})"] = None
        return self.write(f"call double {function}({', '.join(f'double {self.operand(x)}' for x in args)})")

    def load(self, array: str, i: int, name: str) -> list[str]:
        """Lines that read number i of an array."""
        return [f"%p{name} = getelementptr double, ptr %{array}, i64 {i}", f"%{name} = load double, ptr %p{name}"]

    def store(self, array: str, i: int, value: Any) -> None:
        place = self.write(f"getelementptr double, ptr %{array}, i64 {i}")
        self.lines.append(f"store double {self.operand(value)}, ptr {place}")


class Straight(NamedTuple):
    """Text of the function `jet` (y, table, out) -> 1 where all guards hold, and of `sum` (out, step, y), with t and
    the constants of the table. `out` holds the coefficients, then the largest numbers of y and of its last two."""

    text: str
    constants: np.ndarray
    operations: int


def jet_code(found: Expressions, order: int) -> Straight:
    """LLVM code that writes the coefficients 0 to `order` of y, `out` (order + 1, n)."""
    n, writer = len(found.inputs) - 1, Writer()
    jet = Jet(found, writer, [*(f"%y{i}" for i in range(n)), "%t"])
    rows = list(jet.rows(order))
    operations = len(writer.lines)
    for k, line in enumerate(rows):
        for i, value in enumerate(line):
            writer.store("out", k*n + i, 0.0 if value is None else value)
    for place, line in enumerate((rows[0], rows[order - 1], rows[order])):
        writer.store("out", (order + 1)*n + place, _largest(writer, line))
    holds = "true"
    for guard in found.guards:
        left, right = (writer.operand(side) for side in jet.guard_value(guard))
        this = writer.write(f"fcmp {CONDITIONS[guard.op]} double {left}, {right}")
        if not guard.wanted:
            this = writer.write(f"xor i1 {this}, true")
        holds = writer.write(f"and i1 {holds}, {this}")
    result = writer.write(f"zext i1 {holds} to i64")
    head = writer.load("table", 0, "t")
    for i in range(n):
        head += writer.load("y", i, f"y{i}")
    for place in range(len(writer.table)):
        head += writer.load("table", place + 1, f"c{place}")
    body = "\n  ".join([*head, *writer.lines, f"ret i64 {result}"])
    text = "\n".join([*writer.declared, "define i64 @jet(ptr noalias %y, ptr noalias %table, ptr noalias %out) {",
                      f"  {body}", "}", _sum_code(n, order)])
    return Straight(text, np.array([0.0, *writer.table]), operations)


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
    _keep(path, code)
    return code


def _keep(path: Path, code: bytes) -> None:
    """Write whole or not at all; a folder that cannot be written only costs time."""
    private = path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex[:8]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        private.write_bytes(code)
        os.replace(private, path)
    except OSError:
        private.unlink(missing_ok=True)
