"""Several functions on one graph, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from predict_graph import answers
from predict_graph.cores import Load
from predict_graph.durations import readable_seconds
from predict_graph.errors import PredictGraphError
from predict_graph.functions.atlas import quantity
from predict_graph.functions.naming import GraphFunction, on_backends
from predict_graph.functions.subject import for_functions
from predict_graph.outcome.answering import called
from predict_graph.outcome.prediction import SCHEMA, Prediction
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import intervals_picture, unit_of
from predict_graph.results import Result
from predict_graph.seeds import check_seed

if TYPE_CHECKING:
    import pandas as pd

    from predict_graph.graph import Graph


@dataclass(frozen=True, eq=False, repr=False)
class FunctionComparison(Result):
    """What several functions take on one graph.

    Parameters
    ----------
    graph : mapping
    predictions : list of Prediction
        In the order in which they were named.
    errors : mapping of str to str
        Functions that cannot be predicted, and why.
    seed : int or None
        Of all predictions.
    """

    graph: Mapping[str, Any]
    predictions: list[Prediction]
    errors: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None

    @property
    def answer(self) -> answers.Answer:
        """Which is the fastest, if all compute the same, and what each takes."""
        columns = ["function", "runtime", "90% interval", "peak memory", "estimated from"]
        rows: list[Sequence[Any]] = []
        for name, one in self._named:
            runtime, held = one.runtime_seconds, one.verdict.memory
            memory = "" if held is None else answers.readable_bytes(held.peak.predicted)
            source = called(max(one.evidence, key=lambda part: part.weight))
            took = readable_seconds(runtime.predicted)
            rows.append((name, took, answers.between(runtime), memory, source))
        rows += [(name, error, "", "", "") for name, error in self.errors.items()]
        said = "no function can be predicted"
        if self.predictions:
            name, first = self._ranked[0]
            took = answers.sure(first.runtime_seconds)
            said = f"the fastest is {name}: {took}; results were not compared"
            if len(self.predictions) == 1:
                said = f"{name} takes {took}; there is no other to compare it with"
            if len({quantity(one.algorithm["name"]) for one in self.predictions}) > 1:
                said = (
                    f"the shortest runtime is that of {name}: {took}; "
                    "these functions may compute different things, so this is no ranking"
                )
        overhead = sum(one.overhead_seconds for one in self.predictions)
        loads = [one.load for one in self.predictions if one.load]
        busy = [text for load in loads for text in load.warnings]
        own = [(name, text) for name, one in self._named for text in one.warnings]
        return answers.Answer(
            said,
            tables=[answers.Table(self.title, columns, rows)],
            warnings=[
                *(f"{name}: {text}" for name, text in own if text not in busy),
                *max(loads, key=lambda load: load.stretch, default=Load()).warnings,  # said once
            ],
            details=[
                ("graph", answers.graph_text(self.graph)),
                ("prediction overhead", f"{readable_seconds(overhead)} of CPU time"),
            ],
        )

    @property
    def title(self) -> str:
        """What is compared."""
        return f"functions on {self.graph['name']}"

    def pictures(self) -> list[Picture]:
        """Return the time of each function."""
        if not self.predictions:
            return []
        times = {name: one.runtime_seconds for name, one in self._ranked}
        divisor, unit = unit_of([each.predicted for each in times.values()])
        pairs = (f"{name} {answers.interval_text(each)}" for name, each in times.items())
        said, label = f"Time: {', '.join(pairs)}.", f"time, {unit} (line: 90% sure)"
        rows = {name.replace(":", ":\n", 1): each for name, each in times.items()}
        style = {"color": "predicted", "xlabel": label, "most_apart": 30.0}
        return [intervals_picture("Time", said, rows, divisor, **style)]

    def to_frame(self) -> pd.DataFrame:
        """Return time and memory with their intervals, one row for each function."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        kept = {"runtime_seconds", "peak_memory_bytes"}
        for function, one in self._named:
            known = {name: ends for name, ends in one.quantities().items() if name in kept}
            rows.append({"function": function} | {k: ends.to_dict() for k, ends in known.items()})
        return pd.json_normalize([*rows, *self._failed], sep="_")

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the predictions and the errors, ready for JSON."""
        failed = ({"schema": SCHEMA, **each} for each in self._failed)
        return [*(one.to_dict() for one in self.predictions), *failed]

    @property
    def _failed(self) -> list[dict[str, str]]:
        return [{"function": name, "error": text} for name, text in self.errors.items()]

    @property
    def _named(self) -> list[tuple[str, Prediction]]:
        return [(_with_backend(**one.algorithm), one) for one in self.predictions]

    @property
    def _ranked(self) -> list[tuple[str, Prediction]]:
        return sorted(self._named, key=lambda each: each[1].runtime_seconds.predicted)


def compare_functions(
    functions: Sequence[GraphFunction], graph: Graph, *, seed: int | None = None, **options: Any
) -> FunctionComparison:
    """Predict several functions on one graph, those of networkx by installed backends as well.

    Parameters
    ----------
    functions : sequence of GraphFunction
    graph : Graph
    seed : int, optional
        One is drawn for all of them by default.
    **options
        Of each prediction, as for :func:`~predict_graph.predict`.
    """
    seed = check_seed(seed)
    graph = for_functions(graph, functions)
    options["directed"] = graph.directed
    from predict_graph.functions.predictor import FunctionCase

    predictions: list[Prediction] = []
    errors: dict[str, str] = {}
    for call in [each for function in functions for each in on_backends(function)]:
        try:
            predictions.append(FunctionCase(call, graph, seed=seed, **options).predict())
        except PredictGraphError as error:
            errors[_with_backend(**call.describe())] = str(error)
    return FunctionComparison(graph.describe(), predictions, errors, seed)


def _with_backend(name: str, parameters: Mapping[str, Any]) -> str:
    return f"{name}, backend {parameters['backend']}" if "backend" in parameters else name
