"""The page "Run it here": time loops of the package as WebAssembly, and runs that it repeats bit for bit.

The loop is `compile.driver.advance` with a recorder of this file, in Numba's LLVM. What components hold becomes
constants; parameters of a system lie in memory beside the state, where the page can change them. Numba's text is no
interface: what is no longer as it was here is one sentence. Only making the module needs LLVM's linker."""
import base64
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from llvmlite import binding as llvm

import liestep
from docs.site.sine import cosine, sine
from docs.site.source import TOP
from liestep.compile.cache import compiling
from liestep.compile.driver import advance
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.simulation.catalogue import method
from liestep.simulation.runs.execution import build, run_once
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.specified import RunSpecification

HERE, FOLDER, PAGE = Path(__file__).resolve().parent, TOP/"docs"/"live", TOP/"docs"/"run_it_here.html"
MODULE, DATA = "live.wasm.gz", "live.json"
MOST = {MODULE: 40_000, PAGE.name: 100_000}  # bytes
MARKS = 50  # states of a run whose digests say where it parts
GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_LOOP_VECTORIZE": "0",
           "NUMBA_SLP_VECTORIZE": "0"}
IN_MEMORY = ("weight", "m", "matrix", "inverse", "diagonal", "beside", "gamma", "inertia", "lever", "gravity", "axis")
KINDS = {"float64": "double", "int64": "i64", "bool": "i8"}
LINKERS = ("wasm-ld", *(f"wasm-ld-{number}" for number in range(22, 13, -1)))
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Watch(NamedTuple):
    """The recorder: observables of the last step, their values at the start, and their largest deviations since."""

    seen: np.ndarray      # (K,)
    baseline: np.ndarray  # (K,)
    largest: np.ndarray   # (K,)

    def record(self, problem: Any, y: np.ndarray, k: int, t: float) -> Status:
        """Status.NOT_FINITE when an observable is not finite."""
        problem.observe(y, self.seen)
        for c in range(self.seen.shape[0]):
            d = abs(self.seen[c] - self.baseline[c])
            if not d < np.inf:
                return Status.NOT_FINITE
            self.largest[c] = max(self.largest[c], d)
        return Status.OK


def leaves(item: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Numbers and arrays of components, each with the name of its field."""
    if not isinstance(item, tuple):
        yield name, item
        return
    for field, value in zip(getattr(item, "_fields", [name]*len(item)), item, strict=True):
        yield from leaves(value, field)


def digits(value: Any) -> str:
    """A number as LLVM writes it."""
    return f"0x{struct.pack('>d', value).hex().upper()}" if isinstance(value, float) else str(int(value))


class Wrapper:
    """LLVM of `name(step, first, last)`, which calls Numba's function, and of the memory that the page reads: doubles
    y, seen, baseline, largest, number of the last step, then `fields`: [name, place, size] of the parameters."""

    def __init__(self, name: str, state: np.ndarray, watch: Watch):
        self.name, self.size, self.fields = name, 0, list[list]()
        self.globals, self.loads, self.places = list[str](), list[str](), dict[tuple, str]()
        for array in (state, *watch):
            self.places[array.ctypes.data, array.shape] = self._place("", array.size)
        self.done = self._place("", 1)

    def operands(self, name: str, leaf: Any) -> list[str]:
        """Arguments for a leaf of the components, as Numba passes it."""
        kept = name in IN_MEMORY and np.asarray(leaf).dtype == float
        if isinstance(leaf, np.ndarray):
            if (key := (leaf.ctypes.data, leaf.shape)) not in self.places:  # components share arrays
                self.places[key] = self._place(name, leaf.size) if kept else self._constant(leaf)
            return ["null", "null", *map(str, (leaf.size, leaf.itemsize, self.places[key], *leaf.shape, *leaf.strides))]
        if not kept:
            return [digits(leaf)]
        self.loads.append(f"  %v{len(self.loads)} = load double, ptr {self._place(name, 1)}")
        return [self.loads[-1].split()[0]]

    def _place(self, name: str, size: int) -> str:
        self.fields += [[name, self.size, size]]*bool(name)
        self.size += size
        return f"getelementptr (double, ptr @{self.name}_at, i32 {self.size - size})"

    def _constant(self, array: np.ndarray) -> str:
        kind, name = KINDS[array.dtype.name], f"@{self.name}_{len(self.globals)}"
        values = ", ".join(f"{kind} {digits(value)}" for value in array.ravel().tolist())
        self.globals.append(f"{name} = internal global [{array.size} x {kind}] "
                            + (f"[{values}]" if any(array.tobytes()) else "zeroinitializer"))
        return name

    def text(self, function: str, kinds: list[str], arguments: list[str]) -> str:
        """The LLVM; `kinds` are the types of all arguments of Numba's function."""
        passed = ", ".join(f"{kind} {value}" for kind, value in zip(kinds[2:], arguments, strict=True))
        return "\n".join([
            *self.globals, f"@{self.name}_at = global [{self.size} x double] zeroinitializer, align 16",
            f"define i32 @{self.name}(double %h, i32 %one, i32 %two) {{", *self.loads,
            "  %first = sext i32 %one to i64\n  %last = sext i32 %two to i64", "  %ret = alloca [2 x i64], align 8",
            f'  %exc = alloca ptr, align 8\n  %code = call i32 @"{function}"(ptr %ret, ptr %exc, {passed})',
            "  %status = load i64, ptr %ret",
            "  %second = getelementptr i64, ptr %ret, i32 1", "  %done = load i64, ptr %second",
            f"  %number = sitofp i64 %done to double\n  store double %number, ptr {self.done}",
            "  %small = trunc i64 %status to i32\n  ret i32 %small\n}"])


def compiled(function: Callable, arguments: tuple, further: Callable[[str, list[str]], str]) -> llvm.ModuleRef:
    """Numba's LLVM of a function for such arguments, without what concerns this processor, and what calls it: that of
    `further`(its name there, types of its arguments). All else is hidden."""
    made = compiling()[0].njit(**compiling()[1])(function)
    made.compile(kinds := tuple(map(compiling()[0].typeof, arguments)))
    text, name = made.inspect_llvm(kinds), made.overloads[kinds].fndesc.llvm_func_name
    text = re.sub(r'^target .*$|"(target-cpu|target-features|tune-cpu)"="[^"]*"', "", text, flags=re.MULTILINE)
    text = re.sub(r"@(?:llvm\.)?(sin|cos)(?:\.f64)?\(", r"@correct_\1(", text.replace("@sqrt(", "@llvm.sqrt.f64("))
    lines = {line.partition("(")[0].split()[-1] if line.startswith("declare") else k: line  # each name once
             for k, line in enumerate(text.splitlines())}
    text = "\n".join(lines.values())
    own = llvm.parse_assembly(text)
    hidden = {value.name for value in (*own.functions, *own.global_variables) if not value.is_declaration}
    types = [str(kind.type) for kind in own.get_function(name).arguments]
    found = llvm.parse_assembly(f"{text}\n{further(name, types)}")
    for value in (*found.functions, *found.global_variables):
        if value.name in hidden:
            value.linkage = "internal"
    return found


def pair(name: str, spec: RunSpecification) -> tuple[llvm.ModuleRef, dict[str, Any]]:
    """The loop of a system and a method, and what its memory holds where."""
    formulated, integrator = build(spec)
    problem, y = formulated.problem, formulated.start.copy()
    work, watch = integrator.workspace(problem, y), Watch(*np.zeros((3, formulated.width)))
    wrapper = Wrapper(name, y, watch)
    given = [operand for leaf in leaves((integrator, problem, watch, y)) for operand in wrapper.operands(*leaf)]
    given += ["%h", "%first", "%last"]
    given += [operand for leaf in leaves(work) for operand in wrapper.operands("work", leaf[1])] + [digits(0.0), "0"]
    found = compiled(advance, (integrator, problem, watch, y, 0.1, 0, 1, work, 0.0, 0),
                     lambda function, kinds: wrapper.text(function, kinds, given))
    return found, {"fields": wrapper.fields, "size": y.size, "width": formulated.width}


def link(pairs: dict[str, llvm.ModuleRef]) -> bytes:
    """One WebAssembly module of all pairs, which imports nothing: sine and cosine are its own.

    Raises:
        InputError: there is no linker, or something would have to be imported."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("wasm32-unknown-unknown").create_target_machine(
        opt=2, features="+bulk-memory", reloc="static")
    whole = llvm.parse_assembly("")
    for name, function in (("correct_sin", sine), ("correct_cos", cosine)):
        pairs = {name: compiled(function, (1.0,), lambda numbas, kinds, name=name: (
            f"define double @{name}(double %x) noinline {{\n  %ret = alloca double\n  %exc = alloca ptr\n  %code = call"
            f' i32 @"{numbas}"(ptr %ret, ptr %exc, double %x)\n  %v = load double, ptr %ret\n  ret double %v\n}}')),
            **pairs}
    for part in pairs.values():
        whole.link_in(part)
    whole.triple, whole.data_layout = "wasm32-unknown-unknown", str(target.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
    passes = llvm.create_pass_builder(target, tuning)
    passes.getModulePassManager().run(whole, passes)
    linker = next(filter(None, map(shutil.which, LINKERS)), None)
    if linker is None:
        raise InputError("there is no linker for WebAssembly: install wasm-ld (Debian's package lld), then again")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder)/"live.o").write_bytes(target.emit_object(whole))
        exports = [f"--export-if-defined={name}{end}" for name in pairs for end in ("", "_at")]
        done = subprocess.run([linker, "--no-entry", "--strip-all", "-z", "stack-size=65536", *exports, "-o",
                               f"{folder}/live.wasm", f"{folder}/live.o"], capture_output=True, text=True)
        if done.returncode:
            raise InputError(f"the loops cannot be linked: {done.stderr.strip().splitlines()[0]}")
        return (Path(folder)/"live.wasm").read_bytes()


def digest(state: np.ndarray) -> str:
    """16 bits of a state (FNV-1a), as four digits."""
    value = 2166136261
    for byte in state.tobytes():
        value = (value ^ byte)*16777619 & 0xFFFFFFFF
    return f"{value >> 16 ^ value & 0xFFFF:04x}"


def specifications(facts: dict[str, Any], integrator: str) -> dict[str, RunSpecification]:
    """Runs of a method from all starts of a system that the page offers, by the names of these."""
    if "plugin" in facts:
        liestep.load_plugin(TOP/facts["plugin"])
    return {name: specify(facts["system"], integrator, samples=MARKS + 1, **({} if "initial" in given else {
        "preset": name}), **given) for name, given in facts["presets"].items()}


def make(folder: Path, top: Path) -> str:
    """Write module and data into `folder` and the page into `top`; their sizes.

    Raises:
        InputError: a run does not come to its end, Numba's text is not as it was, or a file is too large."""
    os.environ |= GENERIC  # before Numba is loaded
    facts, pairs = yaml.safe_load((HERE/"live.yaml").read_text("utf-8")), {}
    for name, system in facts["systems"].items():
        kept: dict[str, Any] = {}
        for integrator in system["methods"]:
            specs = specifications(system, integrator)
            try:
                loop, memory = pair(f"{name}_{integrator}", first := next(iter(specs.values())))
            except (AttributeError, KeyError, NameError, RuntimeError, ValueError) as error:
                raise InputError(f"Numba {compiling()[0].__version__} writes {integrator} on {system['system']} in"
                                 f" another way than docs/site/live.py knows: {error}") from error
            pairs[f"{name}_{integrator}"], run = loop, run_once(first)
            if run.status != Status.OK:
                raise InputError(f"{integrator} on {system['system']} does not come to its end: {run.status.sentence}")
            states = run.outputs.states[1:]
            kept[integrator] = {"order": method(integrator).order, "options": first.canonical()["options"], **memory,
                                "end": states[-1].tobytes().hex(), "digests": "".join(map(digest, states))}
        system["presets"] = {key: {"y": build(spec)[0].start.ravel().tolist(), **{
            name: spec.canonical()[name] for name in ("t_end", "steps", "initial", "parameters")}}
            for key, spec in specs.items()}
        system["methods"] = kept
    facts["status"] = {int(status): status.sentence for status in Status}
    folder.mkdir(parents=True, exist_ok=True)
    (folder/MODULE).write_bytes(gzip.compress(link(pairs), 9, mtime=0))
    (folder/DATA).write_text(json.dumps(facts, ensure_ascii=False, separators=(",", ":")), "utf-8")
    (top/PAGE.name).write_text(page(folder), "utf-8")
    sizes = {path.name: path.stat().st_size for path in (folder/MODULE, top/PAGE.name)}
    for name, size in sizes.items():
        if size > MOST[name]:
            raise InputError(f"{name} has {size} bytes: allowed are {MOST[name]}")
    return ", ".join(f"{name}: {size} bytes" for name, size in sizes.items())


def page(folder: Path = FOLDER) -> str:
    """The page, one file: its text, the data and the module of `folder`."""
    data, module = (folder/DATA).read_text("utf-8"), base64.b64encode((folder/MODULE).read_bytes()).decode()
    return (HERE/"live.html").read_text("utf-8").replace("{{DATA}}", data).replace("{{MODULE}}", module)


def check() -> str:
    """Make all anew and compare: the data with those kept here, the runs of the new module with them in a browser.

    Raises:
        InputError: they differ."""
    with tempfile.TemporaryDirectory() as place:
        made = Path(place)
        make(made, made)
        if json.loads((made/DATA).read_text("utf-8")) != json.loads((FOLDER/DATA).read_text("utf-8")):
            raise InputError(f"{DATA} is not what the package computes: `python -m docs.site live`")
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser is None:
            return "the data are up to date; the new module was not run: Chromium is not installed"
        shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000",
                                "--dump-dom", (made/PAGE.name).as_uri()], capture_output=True, text=True).stdout
    if not (said := re.search(r"(\d+) of \1 runs", shown)):
        raise InputError("the module that was made now does not repeat the runs; its page names those that part")
    return f"the data are up to date; the new module repeats {said[0]}"
