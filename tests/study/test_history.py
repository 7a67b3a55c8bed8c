"""The history of the criteria: rows from a log, the committed files against the log of this repository, and what the
report says about a claim."""
import csv
import subprocess
from pathlib import Path

import pytest
import yaml

from liestep.claims import history
from liestep.claims.claimfile import Claim, claim_files, load_claims
from liestep.claims.history import changed_later, decides_today, history_rows, load_history, logged, sentence
from liestep.files.textfiles import csv_text

ROOT = Path(__file__).parents[2]
RUN = {"study": "old/name", "problem": "p", "integrator": "vi", "resolution": "h0.1"}
CLAIM = {"id": "one", "statement": "s", "source": "x", "asserted_by": "paper", "known": False, "runs": [RUN],
         "quantity": "error", "criterion": {"kind": "limit", "at_most": 1}, "verdict": "qualitative"}


def changed(**entries):
    return {**CLAIM, **entries}


def commits(*states):
    return [(f"{k:010x}", f"2026-01-0{k + 1}T00:00:00+00:00", f"subject {k}", {state["id"]: state})
            for k, state in enumerate(states)]


def what(*states):
    return [row["changed"] for row in history_rows(commits(*states))]


def test_rows_are_the_first_criterion_and_every_change_of_what_decides():
    limit = {"kind": "limit", "at_most": 2}
    assert what(CLAIM, CLAIM, changed(criterion=limit), changed(criterion=limit, quantity="length")) == [
        "first written", "criterion", "quantity"]
    moved = changed(runs=[{**RUN, "resolution": "h0.2"}], against=[RUN])
    assert what(CLAIM, moved) == ["first written", "runs, against"]
    assert what(CLAIM, changed(verdict="calibrated")) == ["first written", "verdict"]
    assert what(CLAIM, changed(statement="t", setting="u", source="v")) == ["first written"]
    assert what(CLAIM, changed(criterion={"kind": "limit", "at_most": 1.0})) == ["first written"]
    assert what(CLAIM, changed(runs=[{**RUN, "study": "new/name", "method": "vi"}])) == ["first written"]


def test_a_claim_tells_its_history_and_whether_the_criterion_was_changed():
    rows = history_rows(commits(CLAIM, changed(criterion={"kind": "limit", "at_most": 2}), changed(
        criterion={"kind": "limit", "at_most": 2}, verdict="calibrated")))
    now = Claim.model_validate(changed(criterion={"kind": "limit", "at_most": 2}, verdict="calibrated"))
    assert sentence(now, rows) == ('first written 2026-01-01 (0000000000); criterion 2026-01-02 (0000000001, "subject'
                                   ' 1"); verdict 2026-01-03 (0000000002, "subject 2")')
    assert changed_later(now, rows)
    assert not changed_later(Claim.model_validate(CLAIM), rows[:1])
    assert not changed_later(Claim.model_validate(changed(verdict="calibrated")), rows[:1])
    assert changed_later(now, rows[:1])
    assert sentence(now, rows[:1]).endswith("; criterion, verdict changed after that")
    assert sentence(now, []) == "not in the history yet"
    assert not changed_later(now, [])


def git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


@pytest.mark.parametrize("paper", claim_files(ROOT/"config"))
def test_the_committed_history_is_that_of_the_log(paper):
    """Up to the commit that last wrote the file, row by row. Hashes count where the repository knows them: those of
    commits that were rebased are gone."""
    if git("rev-parse", "--is-shallow-repository").strip() != "false" or git("rev-parse", "--show-prefix").strip():
        pytest.skip("no repository with its history")
    path = f"config/history/{paper}.csv"
    end = git("log", "-1", "--format=%H", "--", path).strip()
    if not end or git("status", "--porcelain", "--", path).strip():
        pytest.skip("the file is being written: it is compared when it is committed")
    known = {line[:10] for line in git("rev-list", "HEAD").splitlines()}
    wanted = history_rows(logged(ROOT, paper, end))
    found = load_history(ROOT/"config", paper)
    assert len(found) == len(wanted) > 0
    for row, other in zip(found, wanted, strict=True):
        if row["commit"] not in known:
            other = {**other, "commit": row["commit"]}
        assert row == other


@pytest.mark.parametrize("paper", claim_files(ROOT/"config"))
def test_the_claims_of_today_are_compared_with_the_history_without_a_repository(paper, monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    rows = load_history(ROOT/"config", paper)
    claims = load_claims(claim_files(ROOT/"config")[paper]).claims
    written = {row["claim"] for row in rows}
    assert len(written & {claim.id for claim in claims}) >= 0.5*len(claims)
    for claim in claims:
        own = [row for row in rows if row["claim"] == claim.id]
        text = sentence(claim, rows)
        assert text.startswith("first written 20" if own else "not in the history yet")
        assert text.endswith("changed after that") == bool(own and own[-1]["decides"] != decides_today(claim))


def test_the_history_of_a_small_repository_is_written(tmp_path, monkeypatch):
    """Commits that change, rename and split the files of a paper."""
    def commit(subject, **files):
        for name, claims in files.items():
            path = tmp_path/"config"/"claims"/f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump({"paper": "paper", "claims": claims})) if claims else path.unlink()
        for arguments in (("add", "-A"), ("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", subject)):
            subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True)

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    second = changed(id="two")
    commit("both", paper=[CLAIM, second])
    commit("a folder", paper=None, paper__a=[CLAIM], paper__b=[second])
    commit("a wider limit", paper__b=[changed(id="two", criterion={"kind": "limit", "at_most": 3})])
    monkeypatch.chdir(tmp_path)
    history.main()
    rows = load_history(tmp_path/"config", "paper")
    assert [(row["claim"], row["changed"], row["reason"]) for row in rows] == [
        ("one", "first written", "both"), ("two", "first written", "both"), ("two", "criterion", "a wider limit")]
    text = (tmp_path/"config"/"history"/"paper.csv").read_text()
    assert text == csv_text(history.COLUMNS, history_rows(logged(tmp_path, "paper")))
    assert len(list(csv.reader(text.splitlines()))) == 4
