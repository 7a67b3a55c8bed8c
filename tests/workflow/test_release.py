"""The release command refuses what is unfinished, in one sentence each, and makes everything below dist."""
import copy
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words], cwd=folder, check=True,
                   capture_output=True)


@pytest.fixture
def release(monkeypatch, tmp_path):
    """The command in a repository of one file, whose commit has the tag of the version and whose values are filled."""
    monkeypatch.syspath_prepend(TOP/".ci")
    import metadata
    import release

    folder = tmp_path/"clone"
    folder.mkdir()
    (folder/"README.md").write_text("```python\nprint(1)\n```\n")
    (folder/".gitignore").write_text("__pycache__\n")
    facts = copy.deepcopy(metadata.source())
    facts["person"] = {"authors": [{"family": "Noether"}], "repository": "https://example.org"}
    monkeypatch.setattr(metadata, "source", lambda: facts)
    monkeypatch.setattr(metadata, "stale", lambda: [])
    monkeypatch.setattr(release, "there", lambda item: True)
    (folder/"docs"/"site").mkdir(parents=True)
    (folder/"docs"/"site"/"__main__.py").write_text("")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "tag", f"v{metadata.project()['version']}")
    for name, path in (("TOP", ""), ("DIST", "dist"), ("SOURCE", "dist/source"), ("RESULTS", "results")):
        monkeypatch.setattr(release, name, folder/path)
    return release


def test_a_finished_tree_is_not_refused(release):
    assert list(release.refusals()) == []


def another_tag(release, monkeypatch):
    git(release.TOP, "tag", "-d", f"v{release.metadata.project()['version']}")
    git(release.TOP, "tag", "v99.0.0")


def dirty(release, monkeypatch):
    (release.TOP/"README.md").write_text("other")


def unfilled(release, monkeypatch):
    release.metadata.source()["person"]["repository"] = "https://placeholder.invalid"


def stale(release, monkeypatch):
    monkeypatch.setattr(release.metadata, "stale", lambda: ["CITATION.cff"])


def missing(release, monkeypatch):
    monkeypatch.setattr(release, "there", lambda item: item.name != "gmpy2")


def old_snapshot(release, monkeypatch):
    (release.TOP/"docs"/"site"/"__main__.py").write_text("import sys\nsys.exit('site: docs/snapshot is old')\n")
    git(release.TOP, "commit", "-qam", "second")
    git(release.TOP, "tag", "-f", f"v{release.metadata.project()['version']}")


@pytest.mark.parametrize(("spoil", "sentence"), [
    (old_snapshot, "site: docs/snapshot is old"),
    (another_tag, "the tag of this commit is v99.0.0, the version in pyproject.toml wants v"),
    (dirty, "the tree is dirty: 1 files are not committed, for example README.md"),
    (unfilled, "a person must fill in person.repository of docs/publication.yaml"),
    (stale, "CITATION.cff are not what docs/publication.yaml says: call python3 make.py metadata"),
    (missing, "the extra certify is missing gmpy2 here: call python3 make.py environment")])
def test_what_is_unfinished_is_refused_in_one_sentence(spoil, sentence, release, monkeypatch, capsys):
    spoil(release, monkeypatch)
    said, = release.refusals()
    assert said.startswith(sentence)
    assert release.main([]) == 1
    assert capsys.readouterr().err == f"release: refused: {said}\n"
    assert not release.DIST.exists()


def test_a_package_of_another_version_counts_as_missing(release, monkeypatch):
    monkeypatch.undo()
    assert release.there(release.Requirement("pytest>=1"))
    assert not release.there(release.Requirement("pytest>=1000"))
    assert not release.there(release.Requirement("no-such-package"))


def test_the_clone_is_the_last_commit_and_nothing_is_written_elsewhere(release):
    (release.TOP/"README.md").write_text("not committed")
    before = set(release.TOP.iterdir())
    release.clone()
    assert (release.SOURCE/"README.md").read_text() == "```python\nprint(1)\n```\n"
    assert set(release.TOP.iterdir()) - before == {release.DIST}


def test_a_program_that_fails_ends_the_release(release, capsys):
    release.clone()
    with pytest.raises(SystemExit, match=r"release: false failed, see above"):
        release.run("false")
    with pytest.raises(SystemExit, match=r"release: takes no option but --dry-run"):
        release.main(["--fast"])


def test_the_digest_is_the_hash_of_the_manifest_of_a_complete_run(release, monkeypatch, capsys):
    release.DIST.mkdir()
    release.complete_run()
    assert "no complete run" in capsys.readouterr().out
    assert list(release.DIST.iterdir()) == []
    release.RESULTS.mkdir()
    (release.RESULTS/"manifest.json").write_bytes(b"abc")
    called = []
    monkeypatch.setattr(release, "run", lambda *words, **more: called.append(words[1]))
    release.complete_run()
    assert called == ["verify"]
    # FIPS 180-2, appendix B.1
    assert (release.DIST/"run.sha256").read_text().split() == [
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "results/manifest.json"]
