"""What holds for the errata of every paper."""
import re

from liestep.claims import errata
from liestep.claims.claimfile import claim_files, load_claims
from liestep.claims.errata import TEXT_ONLY, errata_table, load_errata


def confirmed_rows(paper, config, evidence, monkeypatch):
    """Rows of the table from evidence that was computed before: each is confirmed, with a number, or text only."""
    monkeypatch.setattr(errata, "checks",
                        lambda paper: {name: lambda found=found: found for name, found in evidence.items()})
    entries, table = load_errata(paper, config).errata, errata_table(paper, config)
    assert [row["erratum"] for row in table] == [entry.id for entry in entries]
    for entry, row in zip(entries, table, strict=True):
        if entry.check is None:
            assert (row["evidence"], row["confirmed"]) == (f"{TEXT_ONLY}: {entry.text_only}", None), entry.id
        else:
            assert row["confirmed"] is True, f"{entry.id}: {row['evidence']}"
            assert re.search(r"\d", row["evidence"]), entry.id
    return table


def used_checks(paper, config):
    """Evidence that errata and claims of a paper name, as often as they do."""
    named = [entry.check for entry in load_errata(paper, config).errata if entry.check]
    return sorted(named + [claim.criterion.check for claim in load_claims(claim_files(config)[paper]).claims
                           if claim.criterion.kind == "evidence"])
