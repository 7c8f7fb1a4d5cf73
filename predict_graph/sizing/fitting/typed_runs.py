"""Runs on several machine types as one table: the types by their cores and memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.errors import RequestError
from predict_graph.sizing.measuring.measurements import TYPE_NAMES, Measurements, counted
from predict_graph.sizing.planning.candidates import (
    CORE_NAMES,
    MEMORY_NAMES,
    PRICE_NAMES,
    MachineType,
)
from predict_graph.sizing.table_file import name_key

DESCRIBED = (*TYPE_NAMES, *CORE_NAMES, "slots", *MEMORY_NAMES, *PRICE_NAMES)

Types = Mapping[str, MachineType]


def of_known_types(measured: Measurements, types: Types) -> tuple[Measurements, list[str]]:
    """Return the runs on types that are described, and sentences on the others."""
    runs = measured.runs
    if runs["machine_type"].isna().any():
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
    known = runs["machine_type"].isin(list(types))
    found = replace(measured, runs=runs[known], varying=unseen)
    if known.all():
        return found, []
    unknown = ", ".join(sorted(set(runs["machine_type"][~known]))[:5])
    if found.done.empty:
        raise RequestError(
            f"the runs of {measured.path} are on {unknown}, which no row describes; "
            f"accepted: {', '.join(types)}"
        )
    count = len(measured.done) - len(found.done)
    are = "are" if count != 1 else "is"
    return found, [f"{counted(count)} on {unknown} {are} left out: no row describes such a type"]


def type_columns(runs: pd.DataFrame, types: Types) -> pd.DataFrame:
    """Return scale and machines of runs; of known types the cores, and the memory if all have it.

    Without `types` there are no cores and no memory.
    """
    found = runs[["scale", "machines"]].astype(np.float64)
    if types:
        kinds = [types[kind] for kind in runs["machine_type"]]
        found["cores"] = [float(kind.cores) for kind in kinds]
        if all(kind.memory is not None for kind in types.values()):
            found["memory"] = [kind.memory for kind in kinds]
    return found


def failed_configurations(measured: Measurements, types: Types) -> pd.DataFrame:
    """Return where runs failed or were ended by a timeout, and none succeeded, as columns."""
    keys = ["scale", "machines", "machine_type"]
    outcomes = measured.runs.groupby(keys, dropna=False, as_index=False)["outcome"].agg(set)
    never = outcomes["outcome"].map(lambda found: "ok" not in found)
    return type_columns(outcomes[never.astype(bool)], types)


def arrays(table: pd.DataFrame) -> dict[str, npt.NDArray[np.float64]]:
    """Return the columns of a table as arrays, by name."""
    return {str(name): column.to_numpy(np.float64) for name, column in table.items()}
