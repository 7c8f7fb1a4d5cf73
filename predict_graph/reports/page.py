"""A page to hand on: one file that explains itself, needs no network, and reads on paper."""

from __future__ import annotations

import platform
import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from predict_graph.answers import Answer, Table, cell_text
from predict_graph.errors import RequestError, check_installed
from predict_graph.pictures import LIGHT, Picture, check_picture, svg_of
from predict_graph.printable import printable
from predict_graph.reports.layout import are_numbers

_PACKAGES = ("predict-graph", "numpy", "scipy", "numba", "scikit-learn", "pandas")
# As Spark's own spark.redaction.regex, and the user of an address.
_SECRET = re.compile(
    r"((?:secret|password|token|credential|signature|\bsig(?==)"
    r"|(?:access|account|api|private)[._-]?key)[^=&]*=)[^&]+",
    re.IGNORECASE,
)
# By definition: seconds, bytes.
_UNITS = {"": 1, "%": 1, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "days": 86400, "years": 31557600}
_UNITS |= {"bytes": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40}
# A cell: a number, its unit, and perhaps the end of its interval.
_QUANTITY = re.compile(r"[x+]?(-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?) ?(\w*|%)(?:(?: to |, | \().*)?")
_USER = re.compile(r"(?<=://)[^/@\s]+@")


def check_report(path: Path) -> None:
    """Reject a path that no report can be written to."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise RequestError(f"cannot write the report {path}; accepted: a name in .html")
    check_picture(None)
    check_installed("jinja2", "a report", extra="plot")


def page(
    title: str,
    answer: Answer,
    pictures: Sequence[Picture],
    *,
    command: str,
    packages: Sequence[str] = (),
) -> str:
    """Return the page of an answer."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("predict_graph", "reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    drawn = [
        (picture, Markup(svg_of(picture, f"picture{number}")))  # its texts are escaped there
        for number, picture in enumerate(pictures, 1)
    ]
    text: str = environment.get_template("page.html.jinja").render(
        title=title,
        answer=answer,
        tables=[_for_page(table) for table in answer.tables],
        more=[_for_page(table) for table in answer.more],
        pictures=drawn,
        command=command,
        versions=_versions(packages),
        light=LIGHT.named(),
    )
    return text


def command_to_repeat(arguments: Sequence[str], seed: int | None = None) -> str:
    """Return the command line of this answer, its secrets left out.

    Examples
    --------
    >>> command_to_repeat(["predict", "pagerank", "my graph.txt"], seed=7)
    "predict-graph predict pagerank 'my graph.txt' --seed 7"
    >>> command_to_repeat(["--conf", "fs.s3a.secret.key=abc", "hdfs://me:pw@host/g?token=b&c=1"])
    "predict-graph --conf fs.s3a.secret.key=... 'hdfs://...@host/g?token=...&c=1'"
    >>> command_to_repeat(["--conf=spark.hadoop.fs.s3a.access.key=ABC", "--conf", "a.password=DEF"])
    'predict-graph --conf=spark.hadoop.fs.s3a.access.key=... --conf a.password=...'
    >>> command_to_repeat(["next", "r.csv", "--", "job", "--seed={x}"], 5)
    "predict-graph next r.csv --seed 5 -- job '--seed={x}'"
    """
    given = [_USER.sub("...@", _SECRET.sub(r"\1...", word)) for word in arguments]
    place = given.index("--") if "--" in given else len(given)  # another's command follows
    if seed is not None and not any(word.partition("=")[0] == "--seed" for word in given[:place]):
        given[place:place] = ["--seed", str(seed)]
    return shlex.join(["predict-graph", *given])


def _for_page(table: Table) -> dict[str, Any]:
    """Return a table with the class of each column, and the number by which a cell is sorted."""
    rows = [[cell_text(cell) for cell in row] for row in table.rows]
    kinds = []
    for place, number in enumerate(are_numbers(table.columns, table.rows)):
        short = max((len(row[place]) for row in rows), default=0) <= 24  # letters on one line
        kinds.append("number" if number else "short" if short else "")
    cells = [[*zip(row, map(_value, row), kinds, strict=True)] for row in rows]
    return {"title": table.title, "columns": zip(table.columns, kinds, strict=True), "rows": cells}


def _value(text: str) -> float | None:
    """Return the number of a cell, durations in seconds and sizes in bytes; None of other texts.

    Examples
    --------
    >>> [_value(text) for text in ("1,200", "2 min to 3 min (missed)", "1 KiB", "+3.5%", "brj")]
    [1200.0, 120.0, 1024.0, 3.5, None]
    """
    found = _QUANTITY.fullmatch(text)
    if found is None or found[2] not in _UNITS:
        return None
    return float(found[1].replace(",", "")) * _UNITS[found[2]]


def _versions(packages: Sequence[str]) -> list[tuple[str, str]]:
    found = []
    for name in filter(None, dict.fromkeys([*_PACKAGES, *packages])):  # none of ./mine.py
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    python = f"Python {platform.python_version()} on {sys.platform} ({platform.machine()})"
    return [
        ("versions", ", ".join([*found, python])),
        ("written", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
    ]
