"""Straight-line machine code of Taylor coefficients: LLVM code without loops or branches, compiled apart from the time
loops and called by its address.

Products are added by `llvm.fma` always, so that results have the same bits on every processor; nothing is reordered
(no fast-math), and LLVM's vectorisers do not run: on such code they take most of the compile time and gain nothing.
Object code is kept in the folder of the machine code, named by the hash of its text and of the processor.
"""
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from liestep.compile.cache import cache_root
from liestep.compile.straight.symbols import Expressions, Guard
from liestep.compile.straight.writer import CONDITIONS, Writer, literal, vector
from liestep.files import sealed

if TYPE_CHECKING:
    from liestep.compile.straight.jets import Jet

DEFINED = re.compile(r"^define i64 @(\w+)", re.MULTILINE)


class Straight(NamedTuple):
    """Text of the function `jet` (y, table, out) -> 1 where all guards hold, and of `sum` (c, step, y), with t and
    the constants of the table. `out` holds the coefficients, then the largest numbers of each group of rows:
    of y, of its rate, and of the last two coefficients.

    With several lanes each number of y, out, c and step, and t, is one for each lane, those of the lanes side by side;
    bit l of the result of `jet` is 1 where all guards of lane l hold."""

    text: str
    constants: np.ndarray
    operations: int


def jet_code(found: Expressions, order: int, lanes: int = 1, width: int = 1, base: int = 0,
             groups: Sequence[int] = ()) -> Straight:
    """LLVM code that writes the coefficients 0 to `order` of y, `out` (order + 1, n), or (order + 1, n, lanes). Rows of
    so many numbers are put into packs (`compile.straight.packs`), where that is less work.

    base: if not zero, `y` holds only so many numbers, the last before the time; the others begin at zero, and theirs
    are the coefficients that are written. groups: of each row whose coefficients are written; default: one for all."""
    from liestep.compile.straight.jets import Jet
    from liestep.compile.straight.packs import packed

    given = width
    found, width = packed(found, width)
    count, writer = len(found.inputs) - 1, Writer(lanes)
    zeros = count - base//width if base else 0
    loaded_rows = [writer.loaded(f"y{i}", width) for i in range(count - zeros)]
    jet = Jet(found, writer, [*[None]*zeros, *loaded_rows, "%t"])
    rows = [line[:zeros or count] for line in jet.rows(order)]
    n = len(rows[0])*width
    operations = len(writer.lines)
    for k, line in enumerate(rows):
        for i, value in enumerate(line):
            for part, one in enumerate([0.0]*width if value is None else [value]):
                writer.store("out", k*n + i*width + part, one)
    of_rows = [groups[i*width//given] if len(groups) else 0 for i in range(len(rows[0]))]
    count = max(of_rows) + 1
    for place, line in enumerate((rows[0], rows[1], rows[order - 1], rows[order])):
        for group in range(count):
            members = [value for value, own in zip(line, of_rows, strict=True) if own == group]
            writer.store("out", (order + 1)*n + place*count + group, _largest(writer, members))
    result = _all_hold(writer, jet, found.guards)
    head = writer.load("table", 0, "t")
    for i in range(len(loaded_rows)):
        head += writer.load("y", i*width, f"y{i}", width)
    for place in range(len(writer.table)):
        head += writer.load_constant(place, f"c{place}")
    body = "\n  ".join([*head, *writer.lines, f"ret i64 {result}"])
    sums = _sum_code(writer, n, order) if lanes == 1 else _sums_code(n, order, lanes)
    text = "\n".join([*writer.declared, "define i64 @jet(ptr noalias %y, ptr noalias %table, ptr noalias %out) {",
                      f"  {body}", "}", sums])
    return Straight(text, np.array([0.0]*lanes + list(writer.table)), operations)


def _all_hold(writer: Writer, jet: "Jet", guards: Sequence[Guard]) -> str:
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
    found: Any = None
    for value in line:
        if value is not None:
            size = writer.call("fabs", value)
            found = size if found is None else writer.call("maxnum", found, size)
    return 0.0 if found is None else writer.largest(found)


def _sum_code(writer: Writer, n: int, order: int) -> str:
    """y = sum_k c_k h^k by Horner's rule, all numbers of y at once; the writer declares what it calls."""
    kind, name = vector(n), f"@llvm.fma.v{n}f64"
    lines = ["%step = load double, ptr %h", f"%one = insertelement {kind} undef, double %step, i32 0",
             f"%h0 = shufflevector {kind} %one, {kind} undef, <{n} x i32> zeroinitializer"]
    for k in range(order, -1, -1):
        lines += [f"%p{k} = getelementptr double, ptr %c, i64 {k*n}", f"%c{k} = load {kind}, ptr %p{k}, align 8"]
        lines.append(f"%s{k} = fadd {kind} %c{k}, splat (double {literal(-0.0)})" if k == order else
                     f"%s{k} = call {kind} {name}({kind} %h0, {kind} %s{k + 1}, {kind} %c{k})")
    lines += [f"store {kind} %s0, ptr %y, align 8", "ret i64 1"]
    body = "\n  ".join(lines)
    writer.declared[f"declare {kind} {name}({kind}, {kind}, {kind})"] = None
    return f"define i64 @sum(ptr noalias %c, ptr noalias %h, ptr noalias %y) {{\n  {body}\n}}"


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

    from liestep.compile import processor

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

    from liestep.compile import processor

    made_by = [llvmlite.__version__, str(binding.llvm_version_info), processor.describe(), text]
    digest = hashlib.sha256("|".join(made_by).encode())
    path = cache_root()/f"straight-{digest.hexdigest()[:24]}.o"
    kept = sealed.content(path)
    if kept is not None:
        return kept
    module = binding.parse_assembly(text)
    module.triple = binding.get_process_triple()
    module.verify()
    code = _target().emit_object(module)
    sealed.keep(path, code)
    return code
