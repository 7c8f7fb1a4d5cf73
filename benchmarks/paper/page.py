"""The page: sections between markers, so that one can be measured anew and the others kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Settings:
    """What the command line asks of every section.

    Pictures go to `pictures`, which the page calls `folder`; `points`, if any, is where
    measurements are kept and found again.
    """

    seeds: int
    graphs: tuple[str, ...]
    large: tuple[str, ...]
    ratios: tuple[float, ...]
    pictures: Path
    folder: str
    threads: str
    points: Path | None

    def kept(self, name: str) -> Path | None:
        return None if self.points is None else self.points / f"{name}.csv"

    def image(self, name: str, caption: str) -> str:
        return f"![{caption}]({self.folder}/{name}.png)"


@dataclass(frozen=True)
class Section:
    """A figure or table of the paper, and what makes its lines of the page."""

    name: str
    title: str
    write: Callable[[Settings], list[str]]


def percent(value: float) -> str:
    """A signed relative error, in the width of a table."""
    return f"{value:+.0%}".replace("+0%", "0%").replace("-0%", "0%")


def quantiles(errors: Sequence[float]) -> str:
    """Median, 90th percentile and worst of the sizes of errors, as three cells."""
    sizes = np.abs(np.asarray(errors, dtype=np.float64))
    return f"{np.median(sizes):.1%} | {np.quantile(sizes, 0.9):.1%} | {sizes.max():.1%}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int = 1) -> list[str]:
    """A table; all but the first columns are aligned to the right."""
    rule = ["---" if place < text_columns else "---:" for place in range(len(head))]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]


def update(path: Path, intro: list[str], order: Sequence[Section], new: dict[str, str]) -> None:
    """Write the page: new sections, and those that were there before, in their order."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    parts = ["\n".join(intro)]
    for section in order:
        begin, end = f"<!-- {section.name} -->", f"<!-- end of {section.name} -->"
        found = re.search(re.escape(begin) + r"\n(.*?)\n" + re.escape(end), old, re.DOTALL)
        body = new.get(section.name) or (found.group(1) if found else None)
        if body is not None:
            parts.append(f"{begin}\n{body}\n{end}")
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    os.replace(beside, path)
