"""Arithmetic that writes LLVM instructions."""
import struct
from collections.abc import Callable, Iterable, Sequence
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
    """Arithmetic that writes LLVM instructions; values are names of registers, or numbers. A pack, of rows x, y, z, is
    a `Wide` register; where a number meets a pack it is spread over its components."""

    kind, bits, yes = "double", "i1", "true"  # of a value, of what a comparison gives, of a true one
    times = 1  # numbers of the table before the constants

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: dict[str, None] = {}
        self.table: dict[float, int] = {}
        self.made: dict[tuple, Any] = {}  # packs of numbers that are used more than once

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
        """A register, or a number."""
        return self.as_kind(x, 1)

    def as_kind(self, x: Any, width: int) -> str:
        if isinstance(x, str):
            return x if width == 1 or isinstance(x, Wide) else self.once("spread", (x, width), self._spread)
        return literal(x) if width == 1 else f"splat (double {literal(x)})"

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
            return self.apply("@atan2", "double", [self.operand(x) for x in args])
        return self.each(name, *args)

    def each(self, operation: str, *args: Any) -> Any:
        """An instruction, with {} for the type of its operands, or a function of LLVM, on numbers or packs."""
        width = max(x.width if isinstance(x, Wide) else 1 for x in args)
        kind = self.kind if width == 1 else vector(width)
        values = [self.as_kind(x, width) for x in args]
        if "{}" in operation:
            name = self.write(f"{operation.format(kind)} {', '.join(values)}")
        else:
            name = self.apply(f"@llvm.{operation}.{self.suffix(width)}", kind, values)
        return name if width == 1 else Wide(name, width)

    def suffix(self, width: int) -> str:
        """What ends the name of LLVM's function on a value or a pack."""
        return "f64" if width == 1 else f"v{width}f64"

    def apply(self, function: str, kind: str, args: Sequence[str]) -> str:
        self.declared[f"declare {kind} {function}({', '.join([kind]*len(args))})"] = None
        return self.write(f"call {kind} {function}({', '.join(f'{kind} {x}' for x in args)})")

    # packs

    def gather(self, values: Sequence[Any]) -> Any:
        """A pack of numbers."""
        joined = "undef"
        for i, value in enumerate(values):
            joined = self.write(f"insertelement {vector(len(values))} {joined}, double {self.operand(value)}, i32 {i}")
        return Wide(joined, len(values))

    def member(self, pack: Any, i: int) -> Any:
        return self.write(f"extractelement {vector(pack.width)} {pack}, i32 {i}")

    def turn(self, pack: Any, places: Sequence[int]) -> Any:
        """A pack of the same numbers in another order."""
        kind, order = vector(pack.width), ", ".join(f"i32 {i}" for i in places)
        name = self.write(f"shufflevector {kind} {pack}, {kind} undef, <{pack.width} x i32> <{order}>")
        return Wide(name, pack.width)

    def whole(self, pack: Any) -> Any:
        """Sum of the numbers of a pack, one after the other."""
        total = self.member(pack, 0)
        for i in range(1, self.size(pack)):
            total = self.add(total, self.member(pack, i))
        return total

    def largest(self, value: Any) -> Any:
        """The largest number of a pack, or the number itself."""
        if not self.size(value):
            return value
        found = self.member(value, 0)
        for i in range(1, self.size(value)):
            found = self.call("maxnum", found, self.member(value, i))
        return found

    def size(self, value: Any) -> int:
        """How many numbers a pack has; 0 of a number."""
        return value.width if isinstance(value, Wide) else 0

    def _spread(self, given: tuple) -> Wide:
        x, width = given
        kind = vector(width)
        one = self.write(f"insertelement {kind} undef, double {x}, i32 0")
        return Wide(self.write(f"shufflevector {kind} {one}, {kind} undef, <{width} x i32> zeroinitializer"), width)

    # memory

    def load(self, array: str, i: int, name: str, width: int = 1) -> list[str]:
        """Lines that read value i of an array, or a pack of so many values; see `loaded`."""
        kind = self.kind if width == 1 else vector(width)
        return [f"%p{name} = getelementptr {self.kind}, ptr %{array}, i64 {i}",
                f"%{name} = load {kind}, ptr %p{name}, align 8"]

    def loaded(self, name: str, width: int = 1) -> Any:
        """What `load` has read."""
        return f"%{name}" if width == 1 else Wide(f"%{name}", width)

    def load_constant(self, i: int, name: str) -> list[str]:
        """Lines that read constant i of the table, after the times."""
        return [f"%p{name} = getelementptr double, ptr %table, i64 {self.times + i}",
                f"%{name} = load double, ptr %p{name}"]

    def store(self, array: str, i: int, value: Any) -> None:
        """Write a number, or a pack, to place i of an array."""
        place = self.write(f"getelementptr {self.kind}, ptr %{array}, i64 {i}")
        kind = vector(value.width) if isinstance(value, Wide) else self.kind
        self.lines.append(f"store {kind} {self.operand(value)}, ptr {place}, align 8")

    # parts of jets (`compile.straight.straight`)

    def all_hold(self, comparisons: Iterable[tuple[str, Any, Any, bool]]) -> str:
        """1 where all comparisons (condition, left, right, what it must give) hold, as a whole number."""
        holds = self.yes
        for condition, left, right, wanted in comparisons:
            this = self.write(f"fcmp {condition} {self.kind} {self.operand(left)}, {self.operand(right)}")
            if not wanted:
                this = self.write(f"xor {self.bits} {this}, {self.yes}")
            holds = self.write(f"and {self.bits} {holds}, {this}")
        return self.as_whole(holds)

    def as_whole(self, holds: str) -> str:
        return self.write(f"zext i1 {holds} to i64")

    def sum_code(self, n: int, order: int) -> str:
        """y = sum_k c_k h^k by Horner's rule, all numbers of y at once; what it calls is declared."""
        kind, name = vector(n), f"@llvm.fma.v{n}f64"
        lines = ["%step = load double, ptr %h", f"%one = insertelement {kind} undef, double %step, i32 0",
                 f"%h0 = shufflevector {kind} %one, {kind} undef, <{n} x i32> zeroinitializer"]
        for k in range(order, -1, -1):
            lines += [f"%p{k} = getelementptr double, ptr %c, i64 {k*n}", f"%c{k} = load {kind}, ptr %p{k}, align 8"]
            lines.append(f"%s{k} = fadd {kind} %c{k}, splat (double {literal(-0.0)})" if k == order else
                         f"%s{k} = call {kind} {name}({kind} %h0, {kind} %s{k + 1}, {kind} %c{k})")
        lines += [f"store {kind} %s0, ptr %y, align 8", "ret i64 1"]
        self.declared[f"declare {kind} {name}({kind}, {kind}, {kind})"] = None
        return sum_of(lines)


def sum_of(lines: Iterable[str]) -> str:
    body = "\n  ".join(lines)
    return f"define i64 @sum(ptr noalias %c, ptr noalias %h, ptr noalias %y) {{\n  {body}\n}}"


def vector(width: int) -> str:
    """Type of a register of several numbers."""
    return f"<{width} x double>"
