"""For which processor code is compiled: the level of this one, so that machine code serves all processors of a level.

Levels are those of the x86-64 ABI, and arm64. Of level 4 vectors have all 512 bits: LLVM uses 256 there, because some
of the first of these processors slowed down their clock. The force of the Lennard-Jones molecules takes three quarters
of the time with 512; short loops do not notice. Results have the same bits. Loaded before Numba makes its code
generator, which it does once. Raises InputError where Numba would leave a setting of the environment aside."""
import warnings

from liestep.errors import InputError

with warnings.catch_warnings():
    warnings.filterwarnings("error", "Environment variable", RuntimeWarning)
    try:
        import numba
    except RuntimeWarning as said:  # its last line has the reason
        raise InputError(f"{str(said).partition(' is defined')[0]}: {str(said).strip().splitlines()[-1]}") from None
from llvmlite import binding

LEVELS = {"x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl",  # and what the next ones have
          "x86-64-v3": "avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave", "x86-64-v2": "cx16 popcnt sahf sse4.2 ssse3",
          "x86-64": ""}


def _level() -> tuple[str, str]:
    """Name of the level, for LLVM, and features that are not those of the name; of other kinds the processor itself."""
    features, kind = binding.get_host_cpu_features(), binding.get_process_triple().partition("-")[0]
    if kind in ("aarch64", "arm64"):
        return "generic", "+neon"
    if kind != "x86_64":
        return binding.get_host_cpu_name(), features.flatten()
    wanted: list[str] = []
    for name, more in reversed(LEVELS.items()):
        wanted += more.split()
        if all(features.get(each) for each in wanted):
            level = name
    return level, "-prefer-256-bit" if level == "x86-64-v4" else ""


def has_wide_registers() -> bool:
    """Whether this processor has vector registers of 512 bits."""
    return _level()[0] == "x86-64-v4"


def target() -> tuple[str, str, str]:
    """Triple, name and features for which code is compiled."""
    config = numba.config
    return (binding.get_process_triple(), config.CPU_NAME or binding.get_host_cpu_name(),
            binding.get_host_cpu_features().flatten() if config.CPU_FEATURES is None else config.CPU_FEATURES)


def _use_level() -> None:
    """The user's own settings NUMBA_CPU_NAME and NUMBA_CPU_FEATURES come first, and a code generator that has compiled
    something before, which is for the processor itself."""
    config, made = numba.config, vars(numba.core.registry.cpu_target)
    if config.CPU_NAME is None and config.CPU_FEATURES is None and "_toplevel_target_context" not in made:
        config.CPU_NAME, config.CPU_FEATURES = _level()


_use_level()
