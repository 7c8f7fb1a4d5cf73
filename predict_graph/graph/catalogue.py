"""The named datasets: where they come from, and what their publishers say about their size.

They are listed in ``catalogue.json``. Addresses without encryption need a SHA-256 there, and a test
checks that.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Dataset:
    """A graph that has a name.

    Parameters
    ----------
    name : str
    addresses : sequence of str
        What to download; the first one is the graph, others have to lie beside it.
    files : sequence of str
        File names under which a local copy is recognized, the best first.
    directed : bool
    vertices, edges : int
        As published; an undirected edge counts once.
    member : str, optional
        File inside the archive that is downloaded; its last part is one of `files`.
    sha256 : sequence of str
        Of what each address gives; none where that is not known for certain: then the first
        download is trusted, and later ones are compared with it.
    """

    name: str
    addresses: Sequence[str]
    files: Sequence[str]
    directed: bool
    vertices: int
    edges: int
    member: str | None = None
    sha256: Sequence[str] = ()


CATALOGUE = {
    name: Dataset(name, **facts)
    for name, facts in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")).items()
}
