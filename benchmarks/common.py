"""What studies share: tables and sections of their pages, and rows that are kept in a file."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]


def study_parser(text: str, *, cluster_tables: bool = False) -> argparse.ArgumentParser:
    """Return a parser of a study's arguments: its page, and maybe the folder of cluster tables."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--out", type=Path, help="page; printed without")
    if cluster_tables:
        folder = os.environ.get("PREDICT_GRAPH_DATA")
        usual = Path(folder) / "cluster" if folder else None
        parser.add_argument("--data", type=Path, default=usual, required=usual is None)
    return parser


def machine() -> str:
    """Return cores and Python of this machine."""
    cores, python = os.cpu_count(), platform.python_version()
    return f"{cores} cores ({platform.machine()}), Python {python}"


def kilobytes(name: str, process: int | str = "self") -> int:
    """Return a figure of the memory of a process (Linux only)."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 1) -> list[str]:
    """Return a Markdown table; all but the first columns are aligned to the right."""
    rule = ["---" if place < text_columns else "---:" for place in range(len(head))]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]


def spread(errors: Iterable[float]) -> list[str]:
    """Return median, 90th percentile and largest size of relative errors, as cells."""
    return [f"{value:.1%}" for value in np.quantile(np.abs([*errors]), (0.5, 0.9, 1.0))]


def kept(path: Path | None) -> list[Row]:
    """Return the rows of a file of JSON lines, none where there is no such file."""
    if path is None or not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def keep(path: Path | None, *rows: Row) -> None:
    """Append rows to a file of JSON lines, if there is one."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))


def write(path: Path | None, lines: Iterable[str], section: str | None = None) -> None:
    """Print lines, or write them as a page, or as the part of a page between two markers."""
    text = "\n".join(lines).rstrip()
    if path is None:
        print(text)
    elif section is None:
        path.write_text(text + "\n", encoding="utf-8")
    else:
        begin, end = f"<!-- {section} -->", f"<!-- end of {section} -->"
        page = path.read_text(encoding="utf-8")
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        new, found = re.subn(
            pattern, lambda _: f"{begin}\n{text}\n{end}", page, count=1, flags=re.DOTALL
        )
        if not found:
            raise SystemExit(f"error: {path} has no section {section!r}")
        path.write_text(new, encoding="utf-8")
