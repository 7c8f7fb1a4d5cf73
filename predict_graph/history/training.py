"""Which runs of the history may train a cost model, and why the others may not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TrainingRuns", "why_left_out"]


@dataclass(frozen=True, eq=False)
class TrainingRuns:
    """Runs that may train a cost model.

    Attributes
    ----------
    runs : DataFrame
        One row a run, as :meth:`History.runs` gives it; newest first.
    table : DataFrame
        The tables of all these runs, one below the other, with the column ``run`` (its id) first.
        A column that a run does not have is NaN in its rows.
    left_out : dict of int to str
        Id of each run of the same algorithm that is left out, and the reason.
    """

    runs: pd.DataFrame
    table: pd.DataFrame
    left_out: dict[int, str]

    def __len__(self) -> int:
        return len(self.runs)


def why_left_out(
    run: Mapping[str, Any],
    engine: Mapping[str, Any],
    machine: str | None,
    exclude_fingerprint: str | None,
    kinds: tuple[str, ...],
) -> str | None:
    """Return the reason why a run may not train the model, None if it may."""
    if exclude_fingerprint and exclude_fingerprint in (run["fingerprint"], run["sample_of"]):
        return "it ran on the graph that is predicted"
    if run["kind"] not in kinds:
        return f"it is of the kind {run['kind']}, not {' or '.join(kinds)}"
    for key, value in engine.items():
        if run["engine"].get(key) != value:
            return f"its engine has {key} {run['engine'].get(key)!r}, not {value!r}"
    if machine is not None and run["machine"] != machine:
        return f"it ran on another machine ({run['machine']})"
    if run["rows"] == 0:
        return "it has no table of iterations"
    return None
