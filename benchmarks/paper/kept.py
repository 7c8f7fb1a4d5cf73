"""Measurements in a table of text, so that a page can be written again without measuring again."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = TypeVar("Row", bound="DataclassInstance")

_READERS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": "True".__eq__,
}


def load(path: Path | None, kind: type[Row]) -> list[Row]:
    """Read the rows that were kept, none if there is no such file."""
    if path is None or not path.exists():
        return []
    readers = {name: _READERS[hint.__name__] for name, hint in get_type_hints(kind).items()}
    with path.open(newline="", encoding="utf-8") as file:
        return [
            kind(**{name: reader(row[name]) for name, reader in readers.items()})
            for row in csv.DictReader(file)
        ]


def append(rows: Iterable[Row], kind: type[Row], path: Path | None) -> None:
    """Keep more rows, if there is a place for them."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(kind)])
        if new:
            writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
