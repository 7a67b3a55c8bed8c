"""The history of what decides: rows from a log, the committed files against the log of this repository, predictions
that are none, and what the report says about a claim."""
import importlib.util
import subprocess
from pathlib import Path

import pytest
import yaml

from liestep.claims.claimfile import claim_files
from liestep.claims.history import COLUMNS, HISTORY, changed_later, decides, load_history, sentence
from liestep.errors import InputError
from liestep.study.tables.liestep_tables import csv_text
from liestep.study.tables.results import read_csv

ROOT = Path(__file__).parents[2]
SPECIFICATION = importlib.util.spec_from_file_location("history_of_claims", ROOT/".ci"/"history.py")
history = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(history)
history_rows, logged, Reviewed = history.history_rows, history.logged, history.Reviewed
RUN = {"study": "a/b", "problem": "p", "integrator": "vi"}
CLAIM = {"id": "one", "statement": "s", "source": "x", "asserted_by": "paper", "known": False, "runs": [RUN],
         "quantity": "error", "criterion": {"kind": "limit", "at_most": 1}, "verdict": "confirmed"}
PROBLEM = {"system": "body", "preset": "free", "t_end": 10}
STUDY = {"title": "t", "samples": 11, "steps": [0.1, 0.05], "problems": {"p": PROBLEM},
         "integrators": {"vi": {"id": "lgvi", "label": "VI"}}}
NONE = Reviewed()


def changed(**entries):
    return {**CLAIM, **entries}


def commits(*states, late=()):
    """States: claims, or pairs of a claim and its study."""
    pairs = [state if isinstance(state, tuple) else (state, STUDY) for state in states]
    return [(f"{k:010x}", [f"{k - 1:010x}"]*(k > 0), f"2026-01-0{k + 1}T00:00:00+00:00", f"subject {k}",
             {claim["id"]: decides(claim, [study]*len(claim["runs"] + claim.get("against", [])))}, late)
            for k, (claim, study) in enumerate(pairs)]


def what(*states, reviewed=NONE, late=()):
    return [row["changed"] for row in history_rows(commits(*states, late=late), reviewed)]


def test_rows_are_the_first_criterion_and_every_change_of_what_decides():
    limit = {"kind": "limit", "at_most": 2}
    assert what(CLAIM, CLAIM, changed(criterion=limit), changed(criterion=limit, quantity="length")) == [
        "first written", "criterion", "quantity"]
    assert what(CLAIM, changed(verdict="calibrated")) == ["first written", "verdict"]
    for key, value in {"statement": "t", "scope": "general", "group": "g", "asserted_by": "own", "printed": 2}.items():
        assert what(CLAIM, changed(**{key: value})) == ["first written", key]
    assert what(CLAIM, changed(setting="u", source="v", quote="w", known=True)) == ["first written"]
    assert what(CLAIM, changed(criterion={"kind": "limit", "at_most": 1.0}, scope="experiment")) == ["first written"]
    assert what(CLAIM, changed(runs=[RUN], against=[RUN]))[1].startswith("runs, ")


def deeper(**entries):
    return {**STUDY, "problems": {"p": {**PROBLEM, **entries}}}


@pytest.mark.parametrize(("study", "names"), [
    ({**STUDY, "samples": 21}, "samples"), ({**STUDY, "steps": [0.1, 0.025]}, "steps"), (deeper(t_end=40), "t_end"),
    (deeper(parameters={"mass": 2}), "parameters"), (deeper(preset="other"), "preset"), (deeper(samples=3), "samples"),
    ({**STUDY, "integrators": {"vi": {"id": "lgvi", "options": {"weights": "y4"}}}}, "options"),
    ({**STUDY, "tolerances": [1e-3]}, "tolerances"), (deeper(overrides={"vi": {"steps": [0.2]}}), "steps"),
    ({**STUDY, "title": "u", "tables": ["drift"], "figures": ["f"], "reference": True}, None),
    (deeper(label="l"), None), (deeper(overrides={"rk4": {"samples": 1}}), None),
    ({**STUDY, "integrators": {**STUDY["integrators"], "rk4": None}}, None),
    ({**STUDY, "steps": {"from": 0.1, "to": 0.05, "ratio": 0.5}}, None), ({**STUDY, "samples": 11.0}, None),
    ({**STUDY, "problems": {"q": PROBLEM}}, None)])
def test_all_that_a_study_says_of_the_runs_decides_and_nothing_else(study, names):
    """A study that does not have the runs (the last) is no change: they will be back."""
    assert what(CLAIM, (CLAIM, study)) == ["first written", *([names] if names else [])]


def test_entries_that_stand_for_several_are_compared_by_what_a_key_stands_for():
    def varied(values, horizons, **more):
        run = {**RUN, "problem": "p_20", "integrator": "vi_y4"}
        return changed(runs=[run]), {**STUDY, **more,
                                     "integrators": {"vi": {"id": "lgvi", "vary": {"weights": values}}},
                                     "problems": {"p": {"system": "body", "period": 2, "horizons": horizons}}}

    assert what(varied(["s4", "y4"], [10, 20]), varied(["y4"], [20, 30])) == ["first written"]
    assert what(varied(["y4"], [20]), varied(["y4"], [20], samples=3)) == ["first written", "samples"]
    every = changed(runs=[{**RUN, "integrator": "lgvi"}])
    assert what((every, {**STUDY, "every_integrator": True}), (every, {
        **STUDY, "integrators": {"lgvi": None}})) == ["first written"]


def test_one_step_of_a_ladder_is_compared_by_its_label():
    one = changed(runs=[{**RUN, "resolution": "h0.1"}])
    assert what(one, (one, {**STUDY, "steps": [0.1, 0.01]})) == ["first written"]
    assert what(one, changed(runs=[{**RUN, "resolution": "h0.05"}])) == ["first written", "steps"]


def test_what_is_written_before_there_can_be_a_result_is_no_change():
    """Neither before the study has the runs, nor before there is a criterion; the date is then that of the last."""
    wide = {"kind": "limit", "at_most": 9}
    rows = history_rows(commits((CLAIM, None), (changed(criterion=wide), {**STUDY, "problems": {}}), changed(
        criterion=wide, statement="t"), changed(criterion=wide, statement="u")), NONE)
    assert [(row["changed"], row["reason"]) for row in rows] == [
        ("first written", "subject 2"), ("statement", "subject 3")]
    assert what(changed(criterion={"kind": "none"}), CLAIM) == ["first written"]
    assert what(CLAIM, changed(criterion={"kind": "none"}))[1].startswith("runs, criterion")
    assert what(CLAIM, late={"one"}) == ["written after its runs"]


def test_reviewed_commits_are_no_changes_and_renamed_claims_keep_their_history():
    def same(**entries):
        return Reviewed.model_validate({"same": [{"commit": "0000000001 x", "reason": "r", **entries}]})

    reworded = changed(statement="t")
    assert what(CLAIM, reworded, reviewed=same(changed=["statement"])) == ["first written"]
    rebased = same(changed=["statement"], commit="00000000ff subject 1")
    assert what(CLAIM, reworded, reviewed=rebased) == ["first written"]
    for other in (same(changed=["scope"]), same(changed=["statement"], claims=["two"]),
                  same(changed=["statement"], commit="0000000002 x")):
        assert what(CLAIM, reworded, reviewed=other) == ["first written", "statement"]
    assert what(CLAIM, changed(statement="t", scope="general"), reviewed=same(changed=["statement"])) == [
        "first written", "statement, scope"]
    rows = history_rows(commits(CLAIM, changed(id="two", printed=3)), same(renamed={"two": "one"}))
    assert [(row["claim"], row["changed"]) for row in rows] == [("two", "first written"), ("two", "printed")]


def test_branches_are_compared_with_their_parents():
    """Two branches that change different keys, and their merge: two changes, and no change back."""
    state = {key: decides(changed(**entries), [STUDY]) for key, entries in {
        "0": {}, "a": {"printed": 2}, "b": {"group": "g"}, "m": {"printed": 2, "group": "g"}}.items()}
    rows = history_rows([(name, parents, "2026", name, {"one": state[name]}, ()) for name, parents in (
        ("0", []), ("a", ["0"]), ("b", ["0"]), ("m", ["a", "b"]))], NONE)
    assert [(row["commit"], row["changed"]) for row in rows] == [
        ("0", "first written"), ("a", "printed"), ("b", "group"), ("m", "group")]


def test_a_claim_tells_its_history_and_whether_what_decides_was_changed():
    limit = changed(criterion={"kind": "limit", "at_most": 2})
    rows = history_rows(commits(CLAIM, limit, {**limit, "verdict": "calibrated"}), NONE)
    assert sentence(rows) == ('first written 2026-01-01 (0000000000); criterion 2026-01-02 (0000000001, "subject 1");'
                              ' verdict 2026-01-03 (0000000002, "subject 2")')
    assert changed_later(rows)
    assert not changed_later(rows[:1])
    assert not changed_later([rows[0], rows[2]])
    assert sentence([]) == "not in the history yet"
    assert not changed_later([])


def git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def require_log():
    if git("rev-parse", "--is-shallow-repository").strip() != "false" or git("rev-parse", "--show-prefix").strip():
        pytest.skip("the history cannot be recomputed: this is no repository with its whole log")


@pytest.mark.parametrize("paper", claim_files(ROOT/"config"))
def test_the_committed_history_is_that_of_the_log(paper):
    """Up to the commit that last wrote the file, row by row. Hashes count where the repository knows them: those of
    commits that were rebased are gone."""
    require_log()
    paths = [f"papers/{paper}/{name}" for name in (HISTORY, history.REVIEWED)]
    end = git("log", "-1", "--format=%H", "--", *paths).strip()
    if not end or git("status", "--porcelain", "--", *paths).strip():
        pytest.skip("the file is being written: it is compared when it is committed")
    known = {line[:10] for line in git("rev-list", "HEAD").splitlines()}
    wanted = history_rows(logged(ROOT, paper, end), Reviewed.load(ROOT/"config", paper))
    found = read_csv(ROOT/paths[0], COLUMNS).astype(str).to_dict("records")
    assert len(found) == len(wanted) > 0
    for row, other in zip(found, wanted, strict=True):
        if row["commit"] not in known:
            other = {**other, "commit": row["commit"]}
        assert row == other


@pytest.mark.parametrize("paper", claim_files(ROOT/"config"))
def test_every_prediction_is_older_than_its_first_result(paper, monkeypatch):
    """Without a repository: no unrecorded change of the files of today either."""
    monkeypatch.setattr(subprocess, "run", None)
    files = claim_files(ROOT/"config")[paper]
    found = load_history(ROOT/"config", paper, files)
    names = [claim["id"] for file in files for claim in yaml.safe_load(file.read_text())["claims"]]
    assert set(found) & set(names)
    assert [name for name in names if found.get(name, [{"commit": "new"}])[-1]["commit"] == ""] == []


def test_every_reviewed_commit_is_needed():
    """Each entry names commits and claims of this repository, and takes changes out of the history."""
    require_log()
    for paper in claim_files(ROOT/"config"):
        reviewed, log = Reviewed.load(ROOT/"config", paper), list(logged(ROOT, paper))
        full = history_rows(log, reviewed)
        for entry in reviewed.same:
            fewer = Reviewed(same=[other for other in reviewed.same if other is not entry])
            assert history_rows(log, fewer) != full, entry.commit


def repository(top):
    """commit(subject, file=content, ...) in a new repository in a folder; None deletes."""
    def commit(subject, **files):
        for name, content in files.items():
            path = top/"config"/f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(content)) if content else path.unlink()
        for arguments in (("add", "-A"), ("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", subject)):
            subprocess.run(["git", "-C", str(top), *arguments], check=True)

    subprocess.run(["git", "init", "-q", str(top)], check=True)
    return commit


def claims(*entries):
    return {"paper": "paper", "claims": list(entries)}


def test_the_history_of_a_small_repository_is_written(tmp_path, monkeypatch):
    """Commits that change, rename and split the files of a paper, and lengthen runs."""
    commit = repository(tmp_path)
    second = changed(id="two", criterion={"kind": "limit", "at_most": 3})
    commit("both", claims__paper=claims(CLAIM, changed(id="two")), studies__a__b=STUDY)
    commit("a folder", claims__paper=None, claims__paper__a=claims(CLAIM), claims__paper__b=claims(changed(id="two")))
    commit("a wider limit", claims__paper__b=claims(second))
    commit("longer", studies__a__b=deeper(t_end=40))
    commit("another", claims__paper__c=claims(changed(id="three")))
    monkeypatch.chdir(tmp_path)
    history.main()
    path = tmp_path/"config"/"history"/"paper.csv"
    rows = read_csv(path, COLUMNS).to_dict("records")
    assert [(row["claim"], row["changed"], row["reason"]) for row in rows] == [
        ("one", "first written", "both"), ("one", "t_end", "longer"), ("two", "first written", "both"),
        ("two", "criterion", "a wider limit"), ("two", "t_end", "longer"),
        ("three", "written after its runs", "another")]
    assert path.read_text() == csv_text(COLUMNS, history_rows(logged(tmp_path, "paper"), NONE))


def test_a_prediction_that_is_none_is_refused_with_file_and_line(tmp_path, monkeypatch):
    commit = repository(tmp_path)
    commit("both", claims__paper=claims(CLAIM), studies__a__b=STUDY)
    monkeypatch.chdir(tmp_path)
    history.main()
    config, file = tmp_path/"config", tmp_path/"config"/"claims"/"paper.yaml"
    assert not changed_later(load_history(config, "paper", [file])["one"])
    (config/"studies"/"a"/"b.yaml").write_text(yaml.safe_dump(deeper(t_end=40)))
    line = 1 + file.read_text().splitlines().index("  known: false")
    with pytest.raises(InputError, match=f"paper.yaml, line {line}: claim one is no prediction, since a result could be"
                                         " known: first written .*; t_end changed after that; write known: true"):
        load_history(config, "paper", [file])
    file.write_text(yaml.safe_dump(claims(changed(known=True), changed(id="two"))))
    found = load_history(config, "paper", [file])
    assert sentence(found["one"]).endswith("; t_end changed after that")
    assert changed_later(found["one"])
    assert "two" not in found


def test_a_malformed_list_of_reviewed_commits_is_one_sentence(tmp_path):
    (tmp_path/"papers"/"one").mkdir(parents=True)
    (tmp_path/"papers"/"one"/"reviewed.yaml").write_text("same:\n  - {commit: abc, reason: r}\n")
    with pytest.raises(InputError, match=r"reviewed\.yaml, line 2: .*commit"):
        Reviewed.load(tmp_path/"config", "one")


@pytest.mark.parametrize("text", ["claim,commit\none,two\n", ",".join(COLUMNS) + "\none,two\n"])
def test_a_history_that_is_no_table_is_one_sentence(tmp_path, text):
    (tmp_path/"history").mkdir()
    (tmp_path/"history"/"paper.csv").write_text(text)
    with pytest.raises(InputError, match=r"paper\.csv is no table with the columns claim, commit, .*; write it anew"):
        load_history(tmp_path, "paper", [])
