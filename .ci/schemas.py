"""Write the JSON Schemas of the configuration files (workflow/schemas) and the tables of config/README.md anew, after a
change of the classes that they are made from: `python .ci/schemas.py` in the top folder."""
import json
from pathlib import Path

from liestep.claims.claimfile import VERDICTS
from liestep.files.textfiles import write_text_atomically
from liestep.workflow.schemas import MODELS, schema, tables

SCHEMAS, PAGE = Path("workflow/schemas"), Path("config/README.md")


def page_text(page: str) -> str:
    """The page with its tables made anew: each stands between <!-- what --> and <!-- what: end -->."""
    keys = [(f"`{key}`", *row) for key, *row in next(tables("config"))[2]]
    for mark, rows in (("keys of config", [("key", "value", "meaning"), *keys]),
                       ("words of verdicts", [("verdict", "meaning"), *VERDICTS.items()])):
        head, *lines = [f"| {' | '.join(row)} |" for row in rows]
        start, end = f"<!-- {mark} -->", f"<!-- {mark}: end -->"
        before, _, rest = page.partition(start)
        page = "\n".join([f"{before}{start}", head, "|---"*len(rows[0]) + "|", *lines, end + rest.partition(end)[2]])
    return page


def main() -> None:
    for name in MODELS:
        write_text_atomically(SCHEMAS/f"{name}.schema.json", json.dumps(schema(name), indent=2) + "\n")
    write_text_atomically(PAGE, page_text(PAGE.read_text("utf-8")))


if __name__ == "__main__":
    main()
