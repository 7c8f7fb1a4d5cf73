"""Repeat the kept studies, and compare their headline figures with the published pages.

    PREDICT_GRAPH_DATA=… python -m benchmarks.studies [NAME …]    (make studies)

Each study runs by its own command; a figure that is worse than the published one by more than the
spread between seeds fails. An hour at most on two cores, with nothing else running.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.common import table

PAGES = Path(__file__).parents[1] / "docs" / "studies"
Cells = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Study:
    """A command with its page, and by how much the figures of each column may be worse.

    Columns whose allowance is negative are better when they are higher, such as coverage.
    """

    command: str
    allowed: Mapping[str, float]
    rows: str = ""
    keys: int = field(default=1, kw_only=True)


STUDIES = {
    "accuracy": Study(
        "accuracy --seeds 1 --groups shared,other,generated,mesh "
        "--settings 'default,full budget,samples'",
        {"iterations: median": 3.0, "iterations: 90%": 8.0, "remote bytes: median": 3.0}
        | {"runtime: median": 8.0, "in interval": -15.0, "in interval (2)": -20.0},
        keys=2,
    ),
    "cluster-models": Study("cluster_models", {"*": 1.0}, rows="auto"),
    "functions": Study(
        "functions_study --seed 2 --keep {folder} --minutes 25", {"by default": 0.5}, rows="fact.*"
    ),
    "samplers": Study("samplers", {"edges": 2.0}, keys=2),
    "robustness": Study("robustness --files 5000 --seed 7", {"finds": 0.0}),
}


def cells(page: str, keys: int = 1) -> Cells:
    """Return the first number of each cell of all tables, by its row and column.

    Examples
    --------
    >>> cells('''| job | error | in interval |
    ... | --- | ---: | ---: |
    ... | sort | 4.5% | 90% |''')
    {('sort', 'error'): 4.5, ('sort', 'in interval'): 90.0}
    """
    found: Cells = {}
    head: list[str] = []
    for line in page.splitlines():
        if not line.startswith("|"):
            head = []
            continue
        row = [cell.strip() for cell in line.strip("|").split("|")]
        if not head:
            head = [name + " (2)" * (name in row[:place]) for place, name in enumerate(row)]
            continue
        for column, cell in zip(head[keys:], row[keys:], strict=False):
            number = re.match(r"-?\d[\d,]*(\.\d+)?", cell)
            if number:
                key = (" · ".join(row[:keys]), column)
                found.setdefault(key, float(number.group().replace(",", "")))
    return found


def worse(study: Study, published: Cells, measured: Cells) -> Iterator[tuple[str, str, str, str]]:
    """Yield the figures that are worse than published by more than is allowed."""
    for (row, column), value in measured.items():
        allowed = study.allowed.get(column, study.allowed.get("*"))
        before = published.get((row, column))
        if allowed is None or before is None or not re.fullmatch(study.rows or ".*", row):
            continue
        if (value - before if allowed >= 0.0 else before - value) > abs(allowed):
            yield row, column, f"{before:g}", f"{value:g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *STUDIES], help="all by default")
    failed = []
    for name in parser.parse_args().names or STUDIES:
        study = STUDIES[name]
        page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            out = (Path(folder) / "page").with_suffix(".md")
            out.write_text(page, encoding="utf-8")
            command = f"{sys.executable} -m benchmarks.{study.command} --out {out}"
            done = subprocess.run(command.format(folder=folder), shell=True, check=False)
            measured = cells(out.read_text(encoding="utf-8"), study.keys)
        found = list(worse(study, cells(page, study.keys), measured))
        if done.returncode:
            found.append((name, "exit status", "0", str(done.returncode)))
        print(f"{name}: {len(found)} of {len(measured)} figures are worse than published")
        failed += [(name, *each) for each in found]
    if failed:
        print("\n".join(table(["study", "row", "figure", "published", "measured"], failed)))
        raise SystemExit(1)


if __name__ == "__main__":
    main()
