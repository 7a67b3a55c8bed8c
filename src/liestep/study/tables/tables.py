"""All tables of a study: tidy CSV files, and tables.md to read."""
from collections.abc import Hashable, Iterable
from pathlib import Path

from liestep.files.textfiles import TableRow, without_markup, write_text_atomically
from liestep.study.plan.maps import CELLS, is_reduced
from liestep.study.plan.papers import given
from liestep.study.plan.plan import Study
from liestep.study.tables import metrics, reading
from liestep.study.tables.kinds import Table, of_maps, table_of
from liestep.study.tables.liestep_tables import csv_text, filled, markdown
from liestep.study.tables.results import StudyResults


def analyse(study: Study) -> list[Path]:
    """Write metrics.csv, the study's tables and tables.md; the paths. Raises InputError: a missing or stale file."""
    rows = metrics.metrics_rows(study)
    paths = [_write(study, "metrics", metrics.columns(rows), rows)]
    if is_reduced(study.config):
        reading.write_cells(study)
        paths.append(study.folder/CELLS)
    results = StudyResults(study)
    sections = [f"# {without_markup(study.config.title)}\n",
                without_markup(study.config.description.strip()) + "\n" if study.config.description else ""]
    for name in study.config.tables:
        table = table_of(name, study.paper)
        assert table is not None
        columns = given(tuple[str, ...], table.columns, results) if callable(table.columns) else table.columns
        rows, by_clock = given(list[dict[str, Hashable]], table.rows, results), []
        if lost := ({*table.keys, *table.needed}.difference(columns)
                    or {key for row in rows for key in table.keys if row.get(key) is None}):
            raise study.complain(("tables",), f"{name} has no column {min(lost)}, which is one of its keys")
        paths.append(_write(study, name, columns, rows))
        if table.timed and study.config.timing:
            other, other_columns, timed_rows = table.timed
            by_clock = given(list[dict[str, Hashable]], timed_rows, results)
            paths.append(_write(study, other, other_columns, by_clock))
        if table.page:
            paths.append(study.folder/f"{name}.md")
            write_text_atomically(paths[-1], given(str, table.page, results, rows, by_clock))
        shown = readable(table, columns)
        sections += [f"## {name}\n",
                     markdown([column for column in shown if any(filled(row.get(column)) for row in rows)], rows)]
    page = study.folder/"tables.md"
    write_text_atomically(page, "\n".join(section for section in sections if section))
    return [*paths, page]


def readable(table: Table | None, columns: Iterable[str]) -> tuple[str, ...]:
    """Columns of a table that people read."""
    if table is None:
        return tuple(columns)
    place = (*table.readable, "resolution").index("resolution") + 1
    return (*table.readable[:place], *of_maps(columns), *table.readable[place:])


def _write(study: Study, name: str, columns: Iterable[str], rows: Iterable[TableRow]) -> Path:
    path = study.folder/f"{name}.csv"
    write_text_atomically(path, csv_text(columns, rows))
    return path
