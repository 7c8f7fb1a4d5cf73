"""Functions of Python libraries on the command line: predict, run, compare-functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from predict_graph.answers import Answer
from predict_graph.cli import options
from predict_graph.cli.options import Case, Cluster, Reading
from predict_graph.cli.output import Output, Pages
from predict_graph.clock.moment import closing_words
from predict_graph.errors import JobError, RequestError, described_error, error_text


def call_of(case: Case, cluster: Cluster) -> dict[str, Any] | None:
    """Return the arguments of a function's call; None for an algorithm, which has parameters."""
    from predict_graph.engines import ENGINES
    from predict_graph.functions import is_function, naming

    ENGINES.get(cluster.engine)
    if not (is_function(case.algorithm) and cluster.engine == "local"):
        options.refuse(
            {"arg": case.arg, "as": case.graph_form},
            f"is for functions such as networkx:betweenness_centrality, but {case.algorithm!r} is "
            "an algorithm; accepted: -p NAME=VALUE for its parameters",
        )
        return None
    if case.parameter:
        raise RequestError(
            f"-p {case.parameter[0]!r} is for algorithms; accepted: --arg NAME=VALUE for the "
            f"arguments of {case.algorithm}"
        )
    positional, keywords = naming.check_arguments(case.arg)
    return {"arguments": positional, "keywords": keywords, "graph_form": case.graph_form}


def run_call(case: Case, output: Output, call: Mapping[str, Any], expect: Path | None) -> None:
    """Run a function under a bar with the time that remains, and keep the run.

    In a fork: this process says what the function did if it ended its own.
    """
    from predict_graph.processes import in_fork

    failure = f"{case.algorithm} fails on {case.graph}"
    answer, facts = in_fork(lambda: _called(case, call, expect, not output.quiet), failure)
    output.give(answer, facts)


def _called(
    case: Case, call: Mapping[str, Any], expect: Path | None, show: bool
) -> tuple[Answer, dict[str, Any]]:
    from predict_graph.functions import naming, predictor, records, subject, track
    from predict_graph.history import check_history
    from predict_graph.options import for_function

    function = naming.with_seed(for_function(case.algorithm, None, call)[0], case.seed)
    reading = {"directed": case.directed, "ids": case.ids}
    given = subject.Subject(function, case.source, **reading, seed=case.seed or 0)
    whole = given.whole()  # finds vertices that are arguments
    expected = None if expect is None else records.read_call(expect, function, given.graph)
    kept: dict[str, Any] = {"history": check_history(case.history), "expected": expected}
    try:
        tracked = track.run_tracked(function, whole, show=show, keep=False, **kept)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise JobError(subject.failure(function, given.graph, described_error(error))) from error
    result = tracked.result
    if tracked.generator:
        value = f"iterator of {result:,}"
    else:
        try:
            value = f"{type(result).__name__} of {len(result):,}"
        except Exception:  # of another's class
            value = error_text(result)[:80]
    phases = {"convert": tracked.convert, "call": tracked.seconds}
    measured = {"processor_seconds": tracked.processor_seconds, "result": {"value": value}}
    profile = predictor.profile_of(function, given.graph, phases, **measured)
    first = tracked.convert + tracked.first if tracked.first else None
    said = f"{profile.title} {closing_words(profile.runtime_seconds, first)}"
    facts = {"verdict": {"sentence": said}, "first_prediction_seconds": first}
    return replace(profile.answer, sentence=said), {**profile.to_dict(), **facts}


def compare_functions(
    graph: str,
    functions: list[str],
    *,
    reading: Reading,
    output: Pages,
    arg: list[str] | None = None,
    budget: str | None = None,
    history: str | None = None,
    seed: int | None = None,
) -> None:
    """Predict several functions on one graph, side by side.

    A function of networkx is predicted by each installed backend that offers it as well.

    Parameters
    ----------
    functions : FUNCTION…
        Such as igraph:betweenness.
    budget : 5%|30s|unlimited, default 5% and at least 5s, at most 2m
        What predicting a function may take, such as 5% of its run, 30s, or unlimited.
    """
    from predict_graph.functions import comparing, naming
    from predict_graph.graph import check_graph
    from predict_graph.seeds import check_seed

    options.prepare(None, graph)
    positional, keywords = naming.check_arguments(arg)
    # Before a graph is read that may be large.
    calls = [naming.check_function(name, positional, keywords) for name in functions]
    seed = check_seed(seed)
    source = check_graph(reading.of(graph), directed=reading.directed, ids=reading.ids, seed=seed)
    with output.display() as display:
        found = comparing.compare_functions(
            calls, source, budget=budget, history=history, seed=seed, progress=display.step
        )
    output.show(found, packages=[library_of(name) for name in functions])
    if not found.predictions:
        raise JobError("; ".join(found.errors.values()))


def library_of(name: str) -> str:
    """Return the package of a function."""
    return name.partition(":")[0].partition(".")[0]
