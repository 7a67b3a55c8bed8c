"""A wheel of machine code: whoever installs it beside liestep compiles nothing for the commonest runs.

`python .ci/machine_code.py FOLDER` in an environment with liestep writes liestep_machine_code-VERSION-*.whl there, for
the versions of this environment and the level of this processor, of x86-64 with level 4 for level 3 too. Elsewhere the
wheel does nothing: files are found by a digest of sources, versions and level.
"""
import base64
import hashlib
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

NAME = "liestep_machine_code"
RUNS = (("spherical_pendulum_chain", "vi_sphere", 0.01), ("spherical_pendulum_chain", "rkmk", 0.01),
        ("spherical_pendulum_chain", "dop853", 1e-8), ("free_rigid_body", "rk4", 0.01),
        ("free_rigid_body", "rkmk", 0.01), ("free_rigid_body", "gauss", 0.01), ("free_rigid_body", "exact_split", 0.01),
        ("heavy_top", "rkmk", 0.01), ("heavy_top", "slgi", 0.01), ("heavy_top", "taylor", 1e-8),
        ("heavy_top", "rkmk853", 1e-8), ("four_bar", "generalized_alpha", 0.01))
ADAPTIVE = ("dop853", "taylor", "rkmk853")


def make() -> None:
    """Compile the loops of all runs, however short they are."""
    import liestep
    from liestep.compile import interpreted

    interpreted.PAYS = 0.0
    for problem, method, number in RUNS:
        size = {"tolerance": number} if method in ADAPTIVE else {"step": number}
        liestep.simulate(problem, method, t_end=0.05, samples=2, **size)


def levels() -> list[dict[str, str]]:
    """What names the levels to Numba."""
    from liestep.compile import processor

    name, features = processor.target()
    found = [{"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}]
    if name == "x86-64-v4":
        found.append({"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""})
    return found


def wheel(folder: Path, code: list[Path]) -> Path:
    """Write the wheel with files of machine code."""
    from packaging.tags import sys_tags

    own, python = version("liestep"), f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag, info = f"{python}-none-{next(sys_tags()).platform}", f"{NAME}-{own}.dist-info"
    contents = {f"{NAME}/{path.name}": path.read_bytes() for path in code}
    contents[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: liestep-machine-code\nVersion: {own}\n"
                                    "Summary: Machine code of liestep's commonest runs\n"
                                    f"Requires-Dist: liestep=={own}\n").encode()
    contents[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: liestep\nRoot-Is-Purelib: false\n"
                                 f"Tag: {tag}\n").encode()
    digests = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
               for name, data in contents.items()}
    lines = [f"{name},sha256={digest},{len(contents[name])}" for name, digest in digests.items()]
    contents[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    path = folder/f"{NAME}-{own}-{tag}.whl"
    with ZipFile(path, "w") as archive:
        for name, data in contents.items():
            archive.writestr(ZipInfo(name), data, ZIP_DEFLATED)
    return path


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as cache:
        for level in levels():
            subprocess.run([sys.executable, __file__], check=True,
                           env={**os.environ, **level, "LIESTEP_CACHE": cache})
        path = wheel(folder, sorted(Path(cache).glob("[!.]*.[nzo]*")))
    print(f"{path.name}: {path.stat().st_size/1e6:.1f} MB of machine code")


if __name__ == "__main__":
    main(Path(sys.argv[1])) if sys.argv[1:] else make()
