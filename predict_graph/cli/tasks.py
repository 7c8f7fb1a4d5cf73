"""What fit and plan do with tasks on unlike machines."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from predict_graph.durations import readable_seconds
from predict_graph.errors import JobError, RequestError

if TYPE_CHECKING:
    from predict_graph.cli.output import Pages


def rank_assignments(
    models: list[str],
    files: list[Path],
    given: list[str] | None,
    deadline: str | None,
    confidence: float,
    output: Pages,
) -> None:
    """Rank candidate assignments for a task, or for a chain of them."""
    from predict_graph.sizing import parse_duration
    from predict_graph.sizing.tasks.assignments import plan_tasks, read_assignments
    from predict_graph.sizing.tasks.model import load_task

    output.check()
    tasks, shared = [load_task(Path(path)) for path in models], numbers(given)
    known = {str(name): None for task in tasks for name in task.runs.attributes}
    for name in shared:
        if name not in known:
            raise RequestError(
                f"--with has {name!r}, which no model knows; accepted: {', '.join(known)}"
            )
    made = plan_tasks(
        tasks,
        read_assignments(files, shared),
        deadline=None if deadline is None else parse_duration(deadline, "deadline"),
        confidence=confidence,
    )
    output.show(made)
    if made.choice is None:
        best = made.ranked[0]
        raise JobError(
            f"no assignment is done in {deadline} with {100 * confidence:.4g}% confidence; the "
            f"fastest, {best.assignment.name}, takes {readable_seconds(best.seconds)}, at most "
            f"{readable_seconds(best.high)}"
        )


def numbers(texts: list[str] | None) -> dict[str, float]:
    """Return numbers from 0 by name from ``NAME=NUMBER``.

    Raises
    ------
    RequestError
        If one is something else.
    """
    found: dict[str, float] = {}
    for text in texts or []:
        name, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (name.strip() and number >= 0.0 and math.isfinite(number)):
            raise RequestError(
                f"--with is {text!r}; accepted: NAME=NUMBER, from 0, such as edges=1e6"
            )
        found[name.strip()] = number
    return found
