"""Straight-line machine code of Taylor coefficients: LLVM code without loops or branches, compiled separately from the
time loops and called by its address.

Products are added by `llvm.fma` always, so that results have the same bits on every processor; nothing is reordered
(no fast-math), and LLVM's vectorisers do not run: on such code they take most of the compile time and gain nothing.
Object code is kept in the folder of the machine code, named by the hash of its text and of the machine."""
import hashlib
import re
from collections.abc import Sequence
from functools import cache, reduce
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.cache import cache_root, known, machine_mark
from liestep.compile.straight.symbols import Expressions
from liestep.compile.straight.writer import CONDITIONS, LLVMWriter, Register
from liestep.files import sealed

LOADING = RLock()
DEFINED = re.compile(r"^define i64 @(\w+)", re.MULTILINE)


class Routine(NamedTuple):
    """Text of machine code, the numbers of its table, and its operations."""

    text: str
    constants: np.ndarray
    operations: int


def jet_code(found: Expressions, order: int, width: int = 1, base: int = 0, groups: Sequence[int] = (),
             kind: type[LLVMWriter] = LLVMWriter) -> Routine:
    """Code of the function `jet` (y, table, out) -> 1 where all guards hold, which writes the coefficients 0 to `order`
    of y, `out` (order + 1, n), then the largest numbers of each group of rows: of y, of its rate, and of the last two
    coefficients; and of `sum` (c, step, y). The table holds t, then the constants. Rows of so many numbers are put into
    packs (`compile.straight.packs`), where that is less work.

    base: if not zero, `y` holds only so many numbers, the last before the time; the others begin at zero, and theirs
    are the coefficients that are written. groups: of each row whose coefficients are written; default: one for all.
    kind: what writes, of other numbers than float64 too (`compile.lanes.jets`)."""
    from liestep.compile.straight.jets import Jet
    from liestep.compile.straight.packs import packed

    given = width
    found, width = packed(found, width)
    count, writer = len(found.inputs) - 1, kind()
    zeros = count - base//width if base else 0
    time = writer.read("table", 0, first=True)
    start = [writer.read("y", i*width, width, first=True) for i in range(count - zeros)]
    jet: Jet[Register] = Jet(found, writer, [*[None]*zeros, *start, time])
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
    result = writer.all_hold((CONDITIONS[guard.op], *jet.guard_value(guard), guard.wanted) for guard in found.guards)
    writer.lines.append(f"ret i64 {result}")
    sums = _sums(kind(), n, order)
    text = "\n".join([*(writer.declared | sums.declared),
                      writer.function("jet(ptr noalias %y, ptr noalias %table, ptr noalias %out)"),
                      sums.function("sum(ptr noalias %c, ptr noalias %h, ptr noalias %y)")])
    return Routine(text, np.array([0.0, *writer.table]), operations)


def _sums(writer: LLVMWriter, n: int, order: int) -> LLVMWriter:
    """y = sum_k c_k h^k by Horner's rule, all numbers of y at once."""
    step, total = writer.read("h", 0), writer.add(writer.read("c", order*n, n), -0.0)
    for k in range(order - 1, -1, -1):
        total = writer.fma(step, total, writer.read("c", k*n, n))
    writer.store("y", 0, total)
    writer.lines.append("ret i64 1")
    return writer


def _largest(writer: LLVMWriter, line: list[Register | None]) -> Register:
    """Largest absolute value; a NaN counts as none, as the state itself shows it."""
    values = [value for value in line if value is not None]
    sizes = (writer.call("fabs", value) for value in values)
    return writer.largest(reduce(lambda a, b: writer.call("maxnum", a, b), sizes)) if values else 0.0


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
    triple, name, features = processor.target()
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=name, features=features, opt=2, reloc="pic", codemodel="default", jit=True)


def loaded(text: str) -> Loaded:
    """The functions of a text in machine code, which is compiled or read from the folder of the machine code, by one
    thread: of two owners one would go, and its addresses with it."""
    with LOADING:
        return _loaded(text)


@cache
def _loaded(text: str) -> Loaded:
    from llvmlite import binding

    target = _target()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), target)
    engine.add_object_file(binding.ObjectFileRef.from_data(_object_code(text)))
    engine.finalize_object()
    return Loaded({name: engine.get_function_address(name) for name in DEFINED.findall(text)}, engine)


def _object_code(text: str) -> bytes:
    from llvmlite import binding

    path = cache_root()/f"straight-{machine_mark()}-{hashlib.sha256(text.encode()).hexdigest()[:24]}.o"
    kept = known(path)
    if kept is not None:
        return kept
    module = binding.parse_assembly(text)
    module.triple = binding.get_process_triple()
    module.verify()
    code = _target().emit_object(module)
    sealed.keep(path, code)
    return code
