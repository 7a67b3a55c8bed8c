"""Arithmetic that writes LLVM instructions."""
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

CONDITIONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}
Register = str | float  # name of one, or a number
R = TypeVar("R")
INSTRUCTIONS = ("fadd", "fsub", "fmul", "fdiv", "fneg")  # other operations are functions of LLVM
_LITERALS = (0.0, 1.0, -1.0, 0.5, 2.0)


def literal(x: float) -> str:
    """A number as LLVM writes it, all bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(x)))[0]:016X}"


def vector(width: int) -> str:
    """Type of a register of several numbers."""
    return f"<{width} x double>"


class Wide(str):
    """Name of a register that holds a pack."""

    __slots__ = ("width",)
    width: int

    def __new__(cls, name: str, width: int) -> "Wide":
        made = super().__new__(cls, name)
        made.width = width
        return made


def _operation(name: str) -> Callable[..., str]:
    return lambda self, *args: self.each(name, *args)


class LLVMWriter:
    """Arithmetic that writes LLVM instructions; values are names of registers, or numbers. A pack, of rows x, y, z, is
    a `Wide` register; where a number meets a pack it is spread over its components."""

    truth, true = "i1", "true"  # type of what a comparison gives

    def __init__(self) -> None:
        self.head: list[str] = []  # lines before all others
        self.lines: list[str] = []
        self.declared: dict[str, None] = {}
        self.table: dict[float, int] = {}
        self.made: dict[tuple, Any] = {}  # packs of numbers that are used more than once

    def write(self, text: str, *, first: bool = False) -> str:
        """The register of a new line, among those before all others if `first`."""
        lines = self.head if first else self.lines
        name = f"%{'h' if first else 'v'}{len(lines)}"
        lines.append(f"{name} = {text}")
        return name

    def function(self, signature: str) -> str:
        body = "\n  ".join([*self.head, *self.lines])
        return f"define i64 @{signature} {{\n  {body}\n}}"

    def constant(self, value: Any) -> Register:
        """A number of the system, or a tuple of them. It is read from a table, so that other parameters have the same
        code."""
        if isinstance(value, tuple):
            return self.once("gather", tuple(self.constant(x) for x in value), self.gather)
        value = float(value)
        return value if value in _LITERALS else self.from_table(self.table.setdefault(value, len(self.table)))

    def from_table(self, place: int) -> str:
        """Constant number `place`, which stands behind the time and is read before everything else."""
        return self.once("table", (1 + place,), lambda args: self.read("table", *args, first=True))

    def operand(self, x: Register) -> str:
        """A register, or a number."""
        return self.as_kind(x, 1)

    def as_kind(self, x: Register, width: int) -> str:
        if isinstance(x, str):
            return x if width == 1 or isinstance(x, Wide) else self.once("spread", (x, width), self._spread)
        return literal(x) if self.of(width) == "double" else f"splat (double {literal(x)})"

    def of(self, width: int) -> str:
        """Type of a value or a pack."""
        return "double" if width == 1 else vector(width)

    def once(self, what: str, args: tuple, make: Callable[[tuple], R]) -> R:
        if (what, args) not in self.made:
            self.made[what, args] = make(args)
        return self.made[what, args]

    # operations

    add, sub, div, fma = map(_operation, ("fadd", "fsub", "fdiv", "fma"))

    def mul(self, a: Register, b: Register) -> str:
        return self.each("fneg", b) if isinstance(a, float) and a == -1.0 else self.each("fmul", a, b)

    def part(self, a: Register, k: int) -> str:
        return self.mul(1.0/k, a)

    def call(self, name: str, *args: Register) -> str:
        if name == "atan2":
            return self.apply("@atan2", "double", [self.operand(x) for x in args])
        return self.each(name, *args)

    def each(self, operation: str, *args: Register) -> str:
        """An instruction, or a function of LLVM, on numbers or packs."""
        width = max(x.width if isinstance(x, Wide) else 1 for x in args)
        kind, values = self.of(width), [self.as_kind(x, width) for x in args]
        if operation in INSTRUCTIONS:
            name = self.write(f"{operation} {kind} {', '.join(values)}")
        else:
            suffix = "f64" if kind == "double" else f"v{kind[1:-1].partition(' ')[0]}f64"
            name = self.apply(f"@llvm.{operation}.{suffix}", kind, values)
        return name if width == 1 else Wide(name, width)

    def apply(self, function: str, kind: str, args: Sequence[str]) -> str:
        self.declared[f"declare {kind} {function}({', '.join([kind]*len(args))})"] = None
        return self.write(f"call {kind} {function}({', '.join(f'{kind} {x}' for x in args)})")

    # packs

    def gather(self, values: Sequence[Register]) -> Wide:
        """A pack of numbers."""
        joined = "undef"
        for i, value in enumerate(values):
            joined = self.write(f"insertelement {vector(len(values))} {joined}, double {self.operand(value)}, i32 {i}")
        return Wide(joined, len(values))

    def member(self, pack: Wide, i: int) -> str:
        return self.write(f"extractelement {vector(pack.width)} {pack}, i32 {i}")

    def turn(self, pack: Wide, places: Sequence[int]) -> Wide:
        """A pack of the same numbers in another order."""
        kind, order = vector(pack.width), ", ".join(f"i32 {i}" for i in places)
        name = self.write(f"shufflevector {kind} {pack}, {kind} undef, <{pack.width} x i32> <{order}>")
        return Wide(name, pack.width)

    def whole(self, pack: Wide) -> str:
        """Sum of the numbers of a pack, one after the other."""
        return self.joined(pack, self.add)

    def largest(self, value: Register) -> Register:
        """The largest number of a pack, or the number itself."""
        return self.joined(value, lambda a, b: self.call("maxnum", a, b)) if self.size(value) else value

    def joined(self, pack: Any, operation: Callable[[str, str], str]) -> str:
        total = self.member(pack, 0)
        for i in range(1, self.size(pack)):
            total = operation(total, self.member(pack, i))
        return total

    def size(self, value: Register) -> int:
        """How many numbers a pack has; 0 of a number."""
        return value.width if isinstance(value, Wide) else 0

    def _spread(self, given: tuple, *, first: bool = False) -> Wide:
        x, width = given
        kind = vector(width)
        one = self.write(f"insertelement {kind} undef, double {x}, i32 0", first=first)
        return Wide(self.write(f"shufflevector {kind} {one}, {kind} undef, <{width} x i32> zeroinitializer",
                               first=first), width)

    # memory

    def read(self, array: str, i: int | str, width: int = 1, *, first: bool = False) -> str:
        """Value i of an array, or a pack of so many values."""
        place = self.write(f"getelementptr {self.of(1)}, ptr %{array}, i64 {i}", first=first)
        name = self.write(f"load {self.of(width)}, ptr {place}, align 8", first=first)
        return name if width == 1 else Wide(name, width)

    def store(self, array: str, i: int, value: Register) -> None:
        """Write a number, or a pack, to place i of an array."""
        place = self.write(f"getelementptr {self.of(1)}, ptr %{array}, i64 {i}")
        self.lines.append(f"store {self.of(self.size(value) or 1)} {self.operand(value)}, ptr {place}, align 8")

    def all_hold(self, comparisons: Iterable[tuple[str, Register, Register, bool]]) -> str:
        """1 where all comparisons (condition, left, right, what it must give) hold, as a whole number."""
        holds = self.true
        for condition, left, right, wanted in comparisons:
            this = self.write(f"fcmp {condition} {self.of(1)} {self.operand(left)}, {self.operand(right)}")
            if not wanted:
                this = self.write(f"xor {self.truth} {this}, {self.true}")
            holds = self.write(f"and {self.truth} {holds}, {this}")
        return self.told(holds)

    def told(self, holds: str) -> str:
        """A truth as a whole number."""
        return self.write(f"zext i1 {holds} to i64")
