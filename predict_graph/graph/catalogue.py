"""The named datasets: where they come from, and what their publishers say about their size.

They are listed in ``catalogue.csv``. Addresses without encryption need a SHA-256 there, and a test
checks that.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Dataset:
    """A graph that has a name.

    Parameters
    ----------
    name : str
    addresses : tuple of str
        What to download; the first one is the graph, others have to lie beside it.
    files : tuple of str
        File names under which a local copy is recognized, the best first.
    directed : bool
    vertices, edges : int
        As published; an undirected edge counts once.
    member : str, optional
        File inside the archive that is downloaded; its last part is one of `files`.
    sha256 : tuple of str
        Of what each address gives; none where that is not known for certain: then the first
        download is trusted, and later ones are compared with it.
    """

    name: str
    addresses: tuple[str, ...]
    files: tuple[str, ...]
    directed: bool
    vertices: int
    edges: int
    member: str | None = None
    sha256: tuple[str, ...] = ()


def _datasets(path: Path) -> dict[str, Dataset]:
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["name"]: Dataset(
                row["name"],
                tuple(row["addresses"].split()),
                tuple(row["files"].split()),
                row["directed"] == "yes",
                int(row["vertices"]),
                int(row["edges"]),
                row["member"] or None,
                tuple(row["sha256"].split()),
            )
            for row in csv.DictReader(file)
        }


CATALOGUE = _datasets(Path(__file__).with_suffix(".csv"))
