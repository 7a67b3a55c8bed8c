"""The page "Run it here": time loops of the package as WebAssembly, and runs that it repeats bit for bit.

The loop is `compile.driver.advance` with a recorder of this file, in Numba's LLVM. What it is given lies in the module:
state, observables and parameters of a system where the page reads and changes them, all else as constants. Numba's code
is no interface: what is no longer as it was here is one sentence. Only making the module needs LLVM's linker."""
import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from llvmlite import binding as llvm
from llvmlite import ir

import liestep
from docs.site.sine import sine
from docs.site.source import TOP
from liestep.compile.cache import compiling
from liestep.compile.driver import advance
from liestep.compile.roles import Component
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.simulation.catalogue import method
from liestep.simulation.runs.execution import build, run_once
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.specified import RunSpecification

HERE, FOLDER, PAGE = Path(__file__).resolve().parent, TOP/"docs"/"live", TOP/"docs"/"run_it_here.html"
MODULE, DATA = "live.wasm.gz", "live.json"
PLOTS = ("energy", "momentum", "manifold")
MARKS = 50  # states of a run whose digests say where it parts
GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_LOOP_VECTORIZE": "0",
           "NUMBA_SLP_VECTORIZE": "0"}
IN_MEMORY = ("y", "seen", "baseline", "largest", "done", "weight", "m", "matrix", "inverse", "diagonal", "beside",
             "gamma", "inertia", "lever", "gravity", "axis")
TARGET = "wasm32-unknown-unknown"
ROOT = """declare double @llvm.sqrt.f64(double)
define double @sqrt(double %x) { %root = call double @llvm.sqrt.f64(double %x) ret double %root }"""  # one instruction
LINKERS = ("wasm-ld", *(f"wasm-ld-{number}" for number in range(22, 13, -1)))
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Watch(NamedTuple):
    """The recorder: observables of the last step, their values at the start, and their largest deviations since."""

    seen: np.ndarray      # (K,)
    baseline: np.ndarray  # (K,)
    largest: np.ndarray   # (K,)

    def record(self, problem: Component, y: np.ndarray, k: int, t: float) -> Status:
        """Status.NOT_FINITE when an observable is not finite."""
        problem.observe(y, self.seen)
        for c in range(self.seen.shape[0]):
            d = abs(self.seen[c] - self.baseline[c])
            if not d < np.inf:
                return Status.NOT_FINITE
            self.largest[c] = max(self.largest[c], d)
        return Status.OK


class Exported:
    """LLVM of a function under a name: its first `count` arguments are numbers, the others, here `given`, lie in the
    module; `fields` are the sizes of those IN_MEMORY, each at the symbol <name>.<field>."""

    def __init__(self, name: str, function: Callable, count: int, *given: Any):
        numba, options = compiling()
        kinds = (numba.float64,)*count + tuple(map(numba.typeof, given))
        made = numba.njit(**options)(function)
        made.compile(kinds)
        called, self.context = made.overloads[kinds].fndesc, made.targetdescr.target_context
        self.name, self.fields, self.module = name, dict[str, int](), ir.Module()
        self.arrays = dict[tuple[int, tuple], tuple[ir.Value, np.ndarray]]()
        entry = ir.Function(self.module, ir.FunctionType(ir.DoubleType(), [ir.DoubleType()]*count), name)
        entry.attributes.add("noinline")  # sine and cosine stand in the module once
        self.builder = ir.IRBuilder(entry.append_basic_block())
        names = function.__code__.co_varnames[count:count + len(given)]
        values = [self._value(*argument) for argument in zip(kinds[count:], given, names, strict=True)]
        _, found = self.context.call_conv.call_function(
            self.builder, self.context.declare_function(self.module, called), called.restype, called.argtypes,
            [*entry.args, *values])
        self.builder.ret(found)
        here = re.compile(r'^target .*$|"(target-cpu|target-features|tune-cpu)"="[^"]*"', re.MULTILINE)
        self.parts = [llvm.parse_assembly(here.sub("", text)) for text in (made.inspect_llvm(kinds), str(self.module))]

    def _value(self, kind: Any, item: Any, field: str) -> ir.Value:
        context, builder = self.context, self.builder
        if isinstance(item, tuple):
            names = getattr(item, "_fields", ["in a tuple"]*len(item))
            parts = [self._value(*part) for part in zip(kind.types, item, names, strict=True)]
            return context.make_tuple(builder, kind, parts)
        if isinstance(item, float) and field in IN_MEMORY:
            alone = np.array([item])
            kind = compiling()[0].typeof(alone)
            return builder.load(context.make_array(kind)(context, builder, self._value(kind, alone, field)).data)
        if not isinstance(item, np.ndarray):
            return context.get_constant_generic(builder, kind, item)
        if (key := (item.ctypes.data, item.shape)) not in self.arrays:  # components share arrays
            value, place = context.make_constant_array(builder, kind, item), [*self.module.global_values][-1]
            place.global_constant, place.align = False, 16
            if field in IN_MEMORY and item.dtype == float:
                place.name, place.linkage = f"{self.name}.{field}", ""
                self.fields[field] = item.size
            self.arrays[key] = value, item  # held: no other array comes to its address
        return self.arrays[key][0]


def pair(name: str, spec: RunSpecification) -> Exported:
    """The loop of a system and a method: from step, first and last number of steps to the status."""
    formulated, integrator = build(spec)
    problem, y = formulated.problem, formulated.start.copy()
    forward = compiling()[0].njit(**compiling()[1])(advance)

    def loop(h, first, last, integrator, problem, watch, y, work, done):
        status, done[0] = forward(integrator, problem, watch, y, h, int(first), int(last), work, 0.0, 0)
        return float(status.value)

    watch = Watch(*np.zeros((3, formulated.width)))
    return Exported(name, loop, 3, integrator, problem, watch, y, integrator.workspace(problem, y), np.zeros(1))


def link(pairs: list[Exported]) -> bytes:
    """One WebAssembly module of all pairs, which imports nothing: sine and cosine are its own. Raises InputError where
    there is no linker, or something would have to be imported."""
    linker = next(filter(None, map(shutil.which, LINKERS)), None)
    if linker is None:
        raise InputError("there is no linker for WebAssembly: install wasm-ld (Debian's package lld), then again")
    pairs = [Exported("sin", sine, 1, 0), Exported("cos", sine, 1, 1), *pairs]
    whole, names = llvm.parse_assembly(ROOT), {pair.name for pair in pairs}
    for part in (part for pair in pairs for part in pair.parts):
        whole.link_in(part)
    for value in (*whole.functions, *whole.global_variables):
        if not value.is_declaration and value.name.split(".")[0] not in names:
            value.linkage = "internal"
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TARGET).create_target_machine(opt=2, features="+bulk-memory", reloc="static")
    whole.triple, whole.data_layout = TARGET, str(target.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
    passes = llvm.create_pass_builder(target, tuning)
    passes.getModulePassManager().run(whole, passes)
    done = subprocess.run([linker, "--no-entry", "--strip-all", "--export-dynamic", "-z", "stack-size=65536",
                           "/dev/stdin", "-o", "-"], input=target.emit_object(whole), capture_output=True)
    if done.returncode:
        raise InputError(f"the loops cannot be linked: {done.stderr.decode().strip().splitlines()[0]}")
    return done.stdout


def digest(state: np.ndarray) -> str:
    """16 bits of a state, as four digits."""
    return f"{reduce(lambda sum, word: (31*sum + word) & 0xFFFF, state.view(np.uint16).ravel().tolist(), 0):04x}"


def specifications(facts: dict[str, Any], integrator: str) -> dict[str, RunSpecification]:
    """Runs of a method from all starts of a system that the page offers, by the names of these."""
    if "plugin" in facts:
        liestep.load_plugin(TOP/facts["plugin"])
    return {name: specify(facts["system"], integrator, samples=MARKS + 1, **({} if "initial" in given else {
        "preset": name}), **given) for name, given in facts["presets"].items()}


def make(folder: Path, top: Path) -> str:
    """Write module and data into `folder` and the page into `top`; their sizes. Raises InputError where a run does not
    come to its end, or Numba's code is not as it was."""
    os.environ |= GENERIC  # before Numba is loaded
    facts, pairs = yaml.safe_load((HERE/"live.yaml").read_text("utf-8")), []
    for name, system in facts["systems"].items():
        kept: dict[str, Any] = {}
        for integrator in system["methods"]:
            first, *_ = (specs := specifications(system, integrator)).values()
            try:
                pairs.append(pair(f"{name}_{integrator}", first))
            except Exception as error:  # of any kind, from inside Numba
                raise InputError(f"Numba {compiling()[0].__version__} compiles {integrator} on {system['system']} in"
                                 f" another way than docs/site/live.py knows: {error}") from error
            run = run_once(first)
            if run.status != Status.OK:
                raise InputError(f"{integrator} on {system['system']} does not come to its end: {run.status.sentence}")
            states = run.outputs.states[1:]
            kept[integrator] = {"order": method(integrator).order, "options": first.canonical()["options"],
                                "fields": pairs[-1].fields, "end": states[-1].tobytes().hex(),
                                "digests": "".join(map(digest, states))}
        system["presets"] = {key: {"y": build(spec)[0].start.ravel().tolist(), **{
            name: spec.canonical()[name] for name in ("t_end", "steps", "initial", "parameters")}}
            for key, spec in specs.items()}
        units = {column: part.units for part in build(first)[0].observables
                 for column in range(part.columns.start, part.columns.stop)}
        system |= {"methods": kept, "units": {name: units[system[name][0]] for name in PLOTS if name in system}}
    facts["status"] = {int(status): status.sentence for status in Status}
    folder.mkdir(parents=True, exist_ok=True)
    (folder/MODULE).write_bytes(gzip.compress(link(pairs), 9, mtime=0))
    (folder/DATA).write_text(json.dumps(facts, ensure_ascii=False, separators=(",", ":")), "utf-8")
    (top/PAGE.name).write_text(page(folder), "utf-8")
    return ", ".join(f"{path.name}: {path.stat().st_size} bytes" for path in (folder/MODULE, top/PAGE.name))


def page(folder: Path = FOLDER) -> str:
    """The page, one file: its text, the data and the module of `folder`."""
    data, module = (folder/DATA).read_text("utf-8"), base64.b64encode((folder/MODULE).read_bytes()).decode()
    return (HERE/"live.html").read_text("utf-8").replace("{{DATA}}", data).replace("{{MODULE}}", module)


def check() -> str:
    """Make all anew and compare: the data with those kept here, the runs of the new module with them in a browser.
    Raises InputError where they differ."""
    with tempfile.TemporaryDirectory() as place:
        made = Path(place)
        make(made, made)
        if (made/DATA).read_text("utf-8") != (FOLDER/DATA).read_text("utf-8"):
            raise InputError(f"{DATA} is not what the package computes: `python -m docs.site live`")
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if browser is None:
            return "the data are up to date; the new module was not run: Chromium is not installed"
        shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000",
                                "--dump-dom", (made/PAGE.name).as_uri()], capture_output=True, text=True).stdout
    if not (said := re.search(r"(\d+) of \1 runs", shown)):
        raise InputError("the module that was made now does not repeat the runs; its page names those that part")
    return f"the data are up to date; the new module repeats {said[0]}"
