"""Machine code in one file, for clones and machines of the same versions and level of processor (`liestep cache`)."""
import re
import zlib
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from liestep.compile.cache import cache_root, machine, machine_mark
from liestep.errors import InputError
from liestep.files import sealed
from liestep.files.textfiles import replacing

LABEL = "machine"  # the entry that says for which one the code is
NAME = re.compile(r"trace-\w+\.z|\w+-(\w{8})-\w+(\.\w+)?\.(nbc|o)")  # of straight-line code as text; of machine code


def export(path: Path) -> str:
    """Write all whole files of the cache that are for this machine, those of other sources included; a sentence."""
    names = [each.name for each in sorted(cache_root().glob("[!.]*")) if _fits(each.name)]
    count = 0
    with replacing(path) as temporary, ZipFile(temporary, "w", ZIP_DEFLATED) as archive:
        archive.writestr(ZipInfo(LABEL), machine())
        for name in names:
            if sealed.content(cache_root()/name) is not None:
                archive.write(cache_root()/name, name)
                count += 1
    return f"{path}: {count} files of machine code for {machine()}"


def take_in(path: Path) -> str:
    """Add what an exported file has and the cache has not; a sentence. Code of another machine is left out. Machine
    code is a program, and its digests guard against damage only: take it from people whom you trust. Raises InputError:
    the file is not one that `export` has written, or it is torn or damaged; the cache cannot be written."""
    taken = known = 0
    try:
        with ZipFile(path) as archive:
            made_for = archive.read(LABEL).decode()
            if made_for != machine():
                return f"{path}: ignored: it is for {made_for}; this is {machine()}"
            for name in filter(_fits, archive.namelist()):
                if sealed.content(cache_root()/name) is not None:
                    known += 1
                    continue
                data = sealed.unsealed(name, archive.read(name))
                if data is None:
                    raise BadZipFile
                if not sealed.keep(cache_root()/name, data):
                    raise InputError(f"{cache_root()} cannot be written: machine code is not kept there")
                taken += 1
    except (BadZipFile, EOFError, KeyError, UnicodeDecodeError, zlib.error):
        raise InputError(f"{path} is not whole, or no file of `liestep cache export`: export it again") from None
    return f"{cache_root()}: {taken} files of machine code added, {known} were there"


def _fits(name: str) -> bool:
    """Whether a file of the cache holds code for this machine, or code as text, which any machine can take."""
    matched = NAME.fullmatch(name)
    return matched is not None and matched[1] in (None, machine_mark())
