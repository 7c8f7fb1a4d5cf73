"""Runs on several machine types as one table: the types by their cores and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.sizing.measuring.measurements import TYPE_NAMES, Measurements, Unfinished
from predict_graph.sizing.planning.candidates import (
    CORE_NAMES,
    MEMORY_NAMES,
    PRICE_NAMES,
    MachineType,
)
from predict_graph.sizing.table_file import name_key

DESCRIBED = (*TYPE_NAMES, *CORE_NAMES, "slots", *MEMORY_NAMES, *PRICE_NAMES)

FloatArray = npt.NDArray[np.float64]
Types = Mapping[str, MachineType]


def of_known_types(measured: Measurements, types: Types) -> tuple[Measurements, list[str]]:
    """Return the runs on types that are described, and sentences on the others.

    Raises
    ------
    RequestError
        If the runs have no machine type, none is described, or they count cores.
    """
    named = ", ".join(types)
    if not measured.types:
        raise RequestError(
            f"{measured.path} has no column for the machine type; accepted: a column "
            f"{' or '.join(TYPE_NAMES)}"
        )
    if measured.unit != "machines":
        raise RequestError(
            f"{measured.path} counts {measured.unit}; accepted with machine types: a column of "
            "machines"
        )
    # The types are seen, and what describes them in the runs' own table as well.
    unseen = {
        n: k for n, k in measured.varying.items() if name_key(n) not in map(name_key, DESCRIBED)
    }
    measured = replace(measured, varying=unseen)
    unknown = sorted({*measured.types, *measured.broken.types, *measured.ended.types} - set(types))
    if not unknown:
        return measured, []
    kept = np.array([kind in types for kind in measured.types])
    if not kept.any():
        raise RequestError(
            f"the runs of {measured.path} are on {', '.join(unknown[:5])}, which no row describes; "
            f"accepted: {named}"
        )
    found = replace(
        measured,
        scale=measured.scale[kept],
        machines=measured.machines[kept],
        seconds=measured.seconds[kept],
        types=tuple(kind for kind in measured.types if kind in types),
        broken=_known(measured.broken, types),
        ended=_known(measured.ended, types),
    )
    count = int((~kept).sum())
    runs = f"{count} runs" if count != 1 else "1 run"
    are = "are" if count != 1 else "is"
    return found, [
        f"{runs} on {', '.join(unknown[:5])} {are} left out: no row describes such a type"
    ]


def _known(runs: Unfinished, types: Types) -> Unfinished:
    kept = np.array([kind in types for kind in runs.types], dtype=bool)
    return Unfinished(
        runs.scale[kept],
        runs.machines[kept],
        runs.seconds[kept],
        tuple(kind for kind in runs.types if kind in types),
    )


def type_columns(
    scale: FloatArray, machines: FloatArray, kinds: Sequence[str], types: Types
) -> dict[str, FloatArray]:
    """Return configurations as columns; ``memory`` only when all types have it.

    Parameters
    ----------
    scale, machines : ndarray, shape (n,)
    kinds : sequence of str, length n
        Their machine types; not read without `types`.
    types : mapping of str to MachineType
        May be empty: then there are no cores and no memory.
    """
    found = {"scale": np.asarray(scale, np.float64), "machines": np.asarray(machines, np.float64)}
    if types:
        found["cores"] = np.array([types[kind].cores for kind in kinds], np.float64)
        if all(kind.memory is not None for kind in types.values()):
            found["memory"] = np.array([types[kind].memory for kind in kinds], np.float64)
    return found


def failed_configurations(measured: Measurements, types: Types) -> dict[str, FloatArray]:
    """Return where runs failed or were ended by a timeout, and none succeeded, as columns."""
    fine = _keys(measured.scale, measured.machines, measured.types)
    failed = [
        key
        for runs in (measured.broken, measured.ended)
        for key in _keys(runs.scale, runs.machines, runs.types)
        if key not in fine
    ]
    if not failed:
        return {}
    scale, machines, kinds = zip(*dict.fromkeys(failed), strict=True)
    return type_columns(np.array(scale), np.array(machines), kinds, types)


def _keys(
    scale: FloatArray, machines: FloatArray, kinds: Sequence[str]
) -> list[tuple[float, float, str]]:
    named = kinds or [""] * len(scale)
    return list(zip(scale.tolist(), machines.tolist(), named, strict=True))
