"""Arithmetic that writes LLVM instructions."""
import struct
from collections.abc import Callable, Sequence
from typing import Any

CONDITIONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq", "!=": "une"}
_LITERALS = (0.0, 1.0, -1.0, 0.5, 2.0)


def literal(x: float) -> str:
    """A number as LLVM writes it, all bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(x)))[0]:016X}"


class Wide(str):
    """Name of a register that holds a pack."""

    __slots__ = ("width",)
    width: int

    def __new__(cls, name: str, width: int) -> "Wide":
        made = super().__new__(cls, name)
        made.width = width
        return made


class Writer:
    """Arithmetic that writes LLVM instructions; values are names of registers, or numbers. With several lanes each
    value is a vector of one number for each lane, and each operation that on the numbers of one lane.

    A pack, of rows x, y, z, is a `Wide` register; with several lanes it is a tuple of registers, each of which holds
    one component of all lanes. Both make the same operations on the numbers of a lane. Where a number meets a pack it
    is spread over its components."""

    def __init__(self, lanes: int = 1) -> None:
        self.lines: list[str] = []
        self.declared: dict[str, None] = {}
        self.table: dict[float, int] = {}
        self.made: dict[tuple, Any] = {}  # packs of numbers that are used more than once
        self.lanes = lanes
        self.kind, self.bits = "double", "i1"
        if lanes > 1:
            self.kind, self.bits = f"<{lanes} x double>", f"<{lanes} x i1>"

    def write(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, value: Any) -> Any:
        """A number of the system, or a tuple of them. It is read from a table, so that other parameters have the same
        code."""
        if isinstance(value, tuple):
            return self.once("gather", tuple(self.constant(x) for x in value), self.gather)
        value = float(value)
        return value if value in _LITERALS else f"%c{self.table.setdefault(value, len(self.table))}"

    def operand(self, x: Any) -> str:
        """A register, or a number for all lanes or components."""
        return self.as_kind(x, 1)

    def as_kind(self, x: Any, width: int) -> str:
        if isinstance(x, str):
            return x if width == 1 or isinstance(x, Wide) else self.once("spread", (x, width), self._spread)
        return literal(x) if self.lanes == width == 1 else f"splat (double {literal(x)})"

    def once(self, what: str, args: tuple, make: Callable[[tuple], Any]) -> Any:
        if (what, args) not in self.made:
            self.made[what, args] = make(args)
        return self.made[what, args]

    # operations

    def add(self, a: Any, b: Any) -> Any:
        return self.each("fadd {}", a, b)

    def sub(self, a: Any, b: Any) -> Any:
        return self.each("fsub {}", a, b)

    def mul(self, a: Any, b: Any) -> Any:
        if isinstance(a, float) and a == -1.0:
            return self.each("fneg {}", b)
        return self.each("fmul {}", a, b)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return self.call("fma", a, b, c)

    def div(self, a: Any, b: Any) -> Any:
        return self.each("fdiv {}", a, b)

    def part(self, a: Any, k: int) -> Any:
        return self.mul(1.0/k, a)

    def call(self, name: str, *args: Any) -> Any:
        if name == "atan2":
            return self.one_by_one("@atan2", args)
        return self.each(name, *args)

    def each(self, operation: str, *args: Any) -> Any:
        """An instruction, with {} for the type of its operands, or a function of LLVM, on numbers or packs."""
        tuples = [len(x) for x in args if isinstance(x, tuple)]
        if tuples:
            return tuple(self.each(operation, *(x[i] if isinstance(x, tuple) else x for x in args))
                         for i in range(tuples[0]))
        width = max(x.width if isinstance(x, Wide) else 1 for x in args)
        kind = self.kind if width == 1 else vector(width)
        values = [self.as_kind(x, width) for x in args]
        if "{}" in operation:
            name = self.write(f"{operation.format(kind)} {', '.join(values)}")
        else:
            numbers = width*self.lanes
            suffix = "f64" if numbers == 1 else f"v{numbers}f64"
            name = self.apply(f"@llvm.{operation}.{suffix}", kind, values)
        return name if width == 1 else Wide(name, width)

    def apply(self, function: str, kind: str, args: Sequence[str]) -> str:
        self.declared[f"declare {kind} {function}({', '.join([kind]*len(args))})"] = None
        return self.write(f"call {kind} {function}({', '.join(f'{kind} {x}' for x in args)})")

    def one_by_one(self, function: str, args: Sequence[Any]) -> str:
        """A function that takes one number after the other."""
        if self.lanes == 1:
            return self.apply(function, "double", [self.operand(x) for x in args])
        joined = "undef"
        for lane in range(self.lanes):
            parts = [self.write(f"extractelement {self.kind} {self.operand(x)}, i32 {lane}") for x in args]
            value = self.apply(function, "double", parts)
            joined = self.write(f"insertelement {self.kind} {joined}, double {value}, i32 {lane}")
        return joined

    # packs

    def gather(self, values: Sequence[Any]) -> Any:
        """A pack of numbers."""
        if self.lanes > 1:
            return tuple(values)
        joined = "undef"
        for i, value in enumerate(values):
            joined = self.write(f"insertelement {vector(len(values))} {joined}, double {self.operand(value)}, i32 {i}")
        return Wide(joined, len(values))

    def member(self, pack: Any, i: int) -> Any:
        if isinstance(pack, tuple):
            return pack[i]
        return self.write(f"extractelement {vector(pack.width)} {pack}, i32 {i}")

    def turn(self, pack: Any, places: Sequence[int]) -> Any:
        """A pack of the same numbers in another order."""
        if isinstance(pack, tuple):
            return tuple(pack[i] for i in places)
        kind, order = vector(pack.width), ", ".join(f"i32 {i}" for i in places)
        name = self.write(f"shufflevector {kind} {pack}, {kind} undef, <{pack.width} x i32> <{order}>")
        return Wide(name, pack.width)

    def whole(self, pack: Any) -> Any:
        """Sum of the numbers of a pack, one after the other."""
        width = len(pack) if isinstance(pack, tuple) else pack.width
        total = self.member(pack, 0)
        for i in range(1, width):
            total = self.add(total, self.member(pack, i))
        return total

    def largest(self, value: Any) -> Any:
        """The largest number of a pack, or the number itself."""
        if not isinstance(value, (Wide, tuple)):
            return value
        found = self.member(value, 0)
        for i in range(1, len(value) if isinstance(value, tuple) else value.width):
            found = self.call("maxnum", found, self.member(value, i))
        return found

    def _spread(self, given: tuple) -> Wide:
        x, width = given
        kind = vector(width)
        one = self.write(f"insertelement {kind} undef, double {x}, i32 0")
        return Wide(self.write(f"shufflevector {kind} {one}, {kind} undef, <{width} x i32> zeroinitializer"), width)

    # memory

    def load(self, array: str, i: int, name: str, width: int = 1) -> list[str]:
        """Lines that read value i of an array, or a pack of so many values; see `loaded`."""
        if self.lanes > 1 and width > 1:
            return [line for k in range(width) for line in self.load(array, i + k, f"{name}_{k}")]
        kind = self.kind if width == 1 else vector(width)
        return [f"%p{name} = getelementptr {self.kind}, ptr %{array}, i64 {i}",
                f"%{name} = load {kind}, ptr %p{name}, align 8"]

    def loaded(self, name: str, width: int = 1) -> Any:
        """What `load` has read."""
        if width == 1:
            return f"%{name}"
        return Wide(f"%{name}", width) if self.lanes == 1 else tuple(f"%{name}_{k}" for k in range(width))

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
        """Write a number, or a pack, to place i of an array."""
        if isinstance(value, tuple):
            for k, each in enumerate(value):
                self.store(array, i + k, each)
            return
        place = self.write(f"getelementptr {self.kind}, ptr %{array}, i64 {i}")
        kind = vector(value.width) if isinstance(value, Wide) else self.kind
        self.lines.append(f"store {kind} {self.operand(value)}, ptr {place}, align 8")


def vector(width: int) -> str:
    """Type of a register of several numbers."""
    return f"<{width} x double>"
