"""Machine code of strangers is not executed: whose folder and files of the cache are read."""
import os
import subprocess
import sys

import pytest

from liestep.errors import InputError
from liestep.files import sealed

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")


@pytest.fixture
def path(tmp_path):
    assert sealed.keep(tmp_path/"cache"/"one.nbc", b"content")
    return tmp_path/"cache"/"one.nbc"


def test_a_new_folder_is_open_to_its_owner_only(tmp_path):
    before = os.umask(0)
    try:
        assert sealed.keep(tmp_path/"cache"/"one.nbc", b"content")
    finally:
        os.umask(before)
    assert (tmp_path/"cache").stat().st_mode & 0o777 == 0o700
    assert (tmp_path/"cache"/"one.nbc").stat().st_mode & 0o022 == 0
    assert sealed.content(tmp_path/"cache"/"one.nbc") == b"content"


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777, 0o720])
@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_others_may_write_is_refused_with_the_command(path, mode, what):
    (path.parent if what == "folder" else path).chmod(mode)
    with pytest.raises(InputError, match=f"may be written by others.*`chmod -R go-w {path.parent}`$"):
        sealed.content(path)
    if what == "folder":
        with pytest.raises(InputError, match="may be written by others"):
            sealed.keep(path, b"other")
    subprocess.run(["chmod", "-R", "go-w", str(path.parent)], check=True)
    assert sealed.content(path) == b"content"


@as_root
@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_is_of_another_user_is_refused(path, what, monkeypatch):
    os.chown(path.parent if what == "folder" else path, NOBODY, -1)
    with pytest.raises(InputError, match=r"is of the user nobody.*`export LIESTEP_CACHE_OWNERS=nobody`$"):
        sealed.content(path)
    for named in ("nobody", f"somebody,{NOBODY}"):
        monkeypatch.setenv("LIESTEP_CACHE_OWNERS", named)
        assert sealed.content(path) == b"content"
    monkeypatch.setenv("LIESTEP_CACHE_OWNERS", "somebody")
    with pytest.raises(InputError, match="is of the user nobody"):
        sealed.content(path)


def test_a_command_refuses_it_in_one_sentence(tmp_path):
    cache = tmp_path/"cache"
    cache.mkdir(0o700)
    words = ("run", "free_rigid_body", "rk4", "--step", "0.1", "--t-end", "1", "-o", str(tmp_path/"run.nc"))
    for code in (0, 2):
        done = subprocess.run([sys.executable, "-P", "-m", "liestep", *words], capture_output=True, text=True,
                              env={**os.environ, "LIESTEP_CACHE": str(cache)})
        assert done.returncode == code
        assert done.stderr.count("\n") == code//2
        (tmp_path/"run.nc").unlink(missing_ok=True)
        cache.chmod(0o777)
