"""Runs of public functions, as rows for the atlas, without what shows whose they are."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

from predict_graph.errors import RequestError
from predict_graph.files import written_beside
from predict_graph.functions.atlas import measured_unit
from predict_graph.functions.drivers import DRIVERS
from predict_graph.functions.naming import LIBRARIES, VERTEX_PARAMETERS
from predict_graph.history import RunRecord, machine_identity

ENDING = ".ndjson"


def write_shared(path: Path, records: Iterable[RunRecord]) -> int:
    """Write runs for the atlas, one JSON object a line; return how many.

    A row has function and arguments, size and drivers of the graph (three digits), CPU seconds
    with this machine's unit, and peak memory. Graphs have a random name. Left out are runs of the
    user's own functions, of algorithms and of other machines, and those with arguments other than
    numbers: a text may name a column of the graph.

    Raises
    ------
    RequestError
        If the name of the file has another ending, or no run can be shared.
    """
    if path.suffix != ENDING:
        raise RequestError(f"shared runs cannot be kept as {path.name!r}; accepted: {ENDING}")
    names: defaultdict[str, str] = defaultdict(lambda: f"shared {uuid4().hex[:8]}")
    rows = [
        {
            "function": record.algorithm,
            "library": record.engine["library"],
            "arguments": _arguments(record),
            "kind": names[record.sample_of or record.fingerprint],
            "size": _rounded(record.vertices),
            "vertices": _rounded(record.vertices),
            "directed": record.directed,
            "drivers": {each: _measured(record, f"driver_{each}") for each in DRIVERS},
            "state": "done",
            "seconds": _measured(record, "seconds"),
            "peak_bytes": _measured(record, "peak_bytes"),
        }
        for record in records
        if _is_public(record)
    ]
    if not rows:
        raise RequestError(
            "the history has no run that can be shared; accepted: calls of functions of "
            f"{', '.join(LIBRARIES)} with numbers as arguments, made on this machine"
        )
    unit = measured_unit()
    with written_beside(path) as beside:
        lines = (json.dumps(row | {"unit": unit}) + "\n" for row in rows)
        beside.write_text("".join(lines), encoding="utf-8")
    return len(rows)


def _is_public(record: RunRecord) -> bool:
    home = record.algorithm.partition(":")[0].partition(".")[0]
    plain = all(isinstance(each, int | float | None) for each in _arguments(record).values())
    here = record.machine == machine_identity() and "driver_vertices" in record.rows
    return home in LIBRARIES and here and plain


def _arguments(record: RunRecord) -> dict[str, object]:
    left_out = VERTEX_PARAMETERS  # a vertex says nothing of the cost, and much of the graph
    return {name: each for name, each in record.parameters.items() if name not in left_out}


def _measured(record: RunRecord, column: str) -> float:
    return _rounded(float(record.rows[column][0]))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
