"""What the command line asks of every section of the page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchmarks import common

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = TypeVar("Row", bound="DataclassInstance")


@dataclass(frozen=True)
class Settings:
    """Pictures go to `pictures`; measurements are kept in the folder `points`, and found there."""

    seeds: int
    graphs: tuple[str, ...]
    ratios: tuple[float, ...]
    pictures: Path
    threads: str
    points: Path | None

    def load(self, name: str, kind: type[Row]) -> list[Row]:
        return [kind(**row) for row in common.kept(self._file(name))]

    def keep(self, name: str, rows: Iterable[Row]) -> None:
        common.keep(self._file(name), *map(asdict, rows))

    def image(self, name: str, caption: str) -> str:
        return f"![{caption}]({self.pictures.name}/{name}.png)"

    def _file(self, name: str) -> Path | None:
        return None if self.points is None else self.points / f"{name}.ndjson"


def percent(value: float) -> str:
    """Return a signed relative error, in the width of a table."""
    return f"{value:+.0%}".replace("+0%", "0%").replace("-0%", "0%")
