"""Straight-line machine code over members: each number is a register that has one of each member, a pack of rows is a
tuple of registers. The operations and their order are those of a single run, and so are the bits of each lane."""
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.lanes.numbers import W, bits_of
from liestep.compile.processor import has_wide_registers
from liestep.compile.separate import call_address
from liestep.compile.straight.writer import LLVMWriter, Register, Wide, vector

PART = min(W, 8 if has_wide_registers() else 4)  # members of a register of the processor: the code is for so many
REGISTER = vector(PART)


class Pack(tuple):
    """Registers of the numbers of a row."""

    __slots__ = ()


class LaneWriter(LLVMWriter):
    """`LLVMWriter` whose numbers are registers."""

    truth, true = f"<{PART} x i1>", "splat (i1 true)"

    def as_kind(self, x: Register, width: int) -> str:
        return x if isinstance(x, str) else super().as_kind(x, PART)

    def of(self, width: int) -> str:
        return REGISTER

    def size(self, value: Register | Pack) -> int:
        return len(value) if isinstance(value, Pack) else 0

    def gather(self, values: Sequence[Register]) -> Any:
        return Pack(values)

    def member(self, pack: Wide | Pack, i: int) -> Any:
        return pack[i]

    def turn(self, pack: Wide | Pack, places: Sequence[int]) -> Any:
        return Pack(pack[i] for i in places)

    def each(self, operation: str, *args: Any) -> Any:
        width = max(map(self.size, args))
        if width:
            rows = ([x[i] if isinstance(x, Pack) else x for x in args] for i in range(width))
            return Pack(self.each(operation, *row) for row in rows)
        return str(super().each(operation, *args))

    def call(self, name: str, *args: Any) -> Any:
        if name != "atan2":
            return self.each(name, *args)
        joined, values = "undef", [self.operand(x) for x in args]
        for i in range(PART):
            parts = [self.write(f"extractelement {REGISTER} {x}, i32 {i}") for x in values]
            lane = self.apply("@atan2", "double", parts)
            joined = self.write(f"insertelement {REGISTER} {joined}, double {lane}, i32 {i}")
        return joined

    def read(self, array: str, i: int | str, width: int = 1, *, first: bool = False) -> Any:
        pack = Pack(LLVMWriter.read(self, array, (int(i) + k)*(W//PART), first=first) for k in range(width))
        return pack[0] if width == 1 else pack

    def store(self, array: str, i: int, value: Register | Pack) -> None:
        for k, one in enumerate(value if isinstance(value, Pack) else [value]):
            LLVMWriter.store(self, array, (i + k)*(W//PART), one)

    def told(self, holds: str) -> str:
        """A bit of each lane."""
        return self.write(f"zext i{PART} {self.write(f'bitcast {self.truth} {holds} to i{PART}')} to i64")

    def function(self, signature: str) -> str:
        """The code for one part, and what calls it for all: their arguments are pointers."""
        name, _, arguments = signature.partition("(")
        names = arguments.replace("ptr noalias ", "").rstrip(")").split(", ")
        lines, bits = [], "0"
        for part in range(W//PART):
            lines += [f"{x}{part} = getelementptr {REGISTER}, ptr {x}, i64 {part}" for x in names]
            lines += [f"%r{part} = call i64 @{name}_part({', '.join(f'ptr {x}{part}' for x in names)})",
                      f"%s{part} = shl i64 %r{part}, {part*PART}", f"%t{part} = or i64 {bits}, %s{part}"]
            bits = f"%t{part}"
        body = "\n  ".join([*lines, f"ret i64 {bits}"])
        function = super().function(f"{name}_part({arguments}").replace("define", "define internal", 1)
        return f"{function}\ndefine i64 @{signature} {{\n  {body}\n}}"


class LaneJet(NamedTuple):
    """As `integrators.taylor.StraightJet`."""

    jet: int
    polynomial: int
    table: np.ndarray
    step: np.ndarray

    def evaluate(self, t: Any, y: np.ndarray, out: np.ndarray) -> Any:
        """Mask of the lanes that have coefficients."""
        self.table[0] = t
        return bits_of(call_address(self.jet, y, self.table, out))

    def sum(self, c: np.ndarray, h: Any, out: np.ndarray) -> None:
        self.step[0] = h
        call_address(self.polynomial, c, self.step, out)


class LaneStart(np.ndarray):
    """A start (m, d) for whose workspace jets are over members."""

    jets = (LaneWriter, LaneJet)
