"""A user's Python function as a job: run on a graph, and profiled from outside."""

from __future__ import annotations

import inspect
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from predict_graph.algorithms.parameters import Parameter, literal
from predict_graph.engines.base import Follower
from predict_graph.engines.profile import RunProfile
from predict_graph.engines.spark.library.algorithm import CalledAlgorithm
from predict_graph.engines.spark.log.eventlog import EventLog
from predict_graph.engines.spark.recognition.supersteps import Recognised, recognise
from predict_graph.engines.spark.session.adopting import adopted_session, settings_of
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.graphframes import check_there, python_half
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import released
from predict_graph.errors import RequestError, check_installed
from predict_graph.graph import Graph
from predict_graph.plugin_files import code_digest, file_module
from predict_graph.plugins import blamed_on

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ACCEPTED = "f(graph) for a GraphFrame, or f(spark, vertices, edges) for DataFrames"


class FunctionAlgorithm(CalledAlgorithm):
    """A Python function on a graph, which Spark alone runs; its convergence is unknown.

    Parameters
    ----------
    function : str or callable
        ``FILE.py:FUNCTION``, or the function itself.
    parameters : mapping, optional
        Values of its options; text is converted to the type of the default.
    """

    name = "function"
    summary = "a Python function on Spark"
    convergence = "absolute"
    declared = ()
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({"observed": True})

    def __init__(
        self, function: str | Callable[..., Any], parameters: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        self.source, self.function = function, _found(function)
        name = getattr(self.function, "__name__", type(self.function).__name__)
        self.name = str(name)  # type: ignore[misc]
        self.graph_frame, options = _signature(self.function, self.name)
        self.code = code_digest(self.function)
        given = (parameters or {}).items()
        self.parameters = {key: _option(self.name, options, key, value) for key, value in given}

    def __reduce__(self) -> Any:
        return FunctionAlgorithm, (self.source, dict(self.parameters))

    def run_in(self, session: OpenSession, graph: Graph, follower: Follower = None) -> RunProfile:
        """Write a graph for Spark, read it there, and profile the function on it."""
        spark, parts = session.for_functions, session.settings.partitions
        sources = np.repeat(np.arange(graph.vertices, dtype=np.int64), graph.out_degrees)
        columns = {"src": sources, "dst": graph.indices.astype(np.int64)}
        if graph.weights is not None:
            columns["weight"] = graph.weights.astype(np.float64)
        doing = f"reading {graph.name} on Spark"
        with spark_failures(doing), session.written(**columns) as file:
            session.group("read")
            started = time.perf_counter()
            edges = spark.read.parquet(file).repartition(parts, "src").persist()
            with released(edges):
                edges.count()
                vertices = spark.range(graph.vertices).select("id")
                read = time.perf_counter() - started
                if follower is not None:
                    follower.begins(self, graph, 0.0, self.max_iterations)
                profile = profile_spark_function(
                    self, session, edges, vertices, graph=graph.describe(), follower=follower
                )
        return profile.with_seconds(read=read)

    def supersteps(self, log: EventLog, began: float) -> Recognised:
        """Return the supersteps by what repeats."""
        try:
            return recognise(log)
        except RequestError as error:
            raise RequestError(f"{self.name}: {error}") from error


def _found(source: str | Callable[..., Any]) -> Callable[..., Any]:
    """Return a function, or the one that ``FILE.py:FUNCTION`` names.

    Spark sends the functions of the file by value, as executors do not have it.
    """
    if not isinstance(source, str):
        return source
    name, _, function = source.rpartition(":")
    if not name.endswith(".py") or not function.isidentifier():
        raise RequestError(f"function {source!r}; accepted: FILE.py:FUNCTION")
    from pyspark import cloudpickle

    module = file_module(Path(name))
    cloudpickle.register_pickle_by_value(module)
    found: Any = getattr(module, function, None)
    if not inspect.isroutine(found):
        functions = {key: each for key, each in vars(module).items() if inspect.isfunction(each)}
        own = [key for key, each in functions.items() if each.__module__ == module.__name__]
        accepted = ", ".join(own) or "any, but it defines none"
        raise RequestError(f"{name} has no function {function!r}; accepted: {accepted}")
    return found


def _signature(function: Callable[..., Any], name: str) -> tuple[bool, dict[str, Any]]:
    """Return whether a function takes a GraphFrame, and its options with their defaults."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise RequestError(f"{name} is no Python function; accepted: {_ACCEPTED}") from error
    packed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [each for each in signature.parameters.values() if each.kind not in packed]
    needed = [parameter for parameter in named if parameter.default is parameter.empty]
    graph_frame = len(needed) == 1 and (
        needed[0].name == "graph" or "GraphFrame" in str(needed[0].annotation)
    )
    by_keyword = any(parameter.kind is parameter.KEYWORD_ONLY for parameter in needed)
    if by_keyword or not (graph_frame or len(needed) == 3):
        raise RequestError(f"{name}{signature} does not take a graph; accepted: {_ACCEPTED}")
    return graph_frame, {each.name: each.default for each in named if each not in needed}


def profile_spark_function(
    job: FunctionAlgorithm | Callable[..., Any],
    session: OpenSession | SparkSession,
    edges: DataFrame,
    vertices: DataFrame,
    *,
    graph: Mapping[str, Any],
    follower: Follower = None,
) -> RunProfile:
    """Run a job on the tables of a graph and find its supersteps in Spark's event log.

    A DataFrame that the job returns is computed in full and discarded, as if it were written. A
    follower is notified of supersteps as they end.
    """
    job = job if isinstance(job, FunctionAlgorithm) else FunctionAlgorithm(job)
    with ExitStack() as held:
        if not isinstance(session, OpenSession):
            session = held.enter_context(adopted_session(session, settings_of(session)))
        held.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", "DataFrame", UserWarning)  # concern older GraphFrames
        arguments = _arguments(job, session, vertices, edges)
        session.group(None)  # the function may set its own

        def call() -> None:
            with blamed_on("function", job.name), spark_failures(job.name):
                _computed(job.function(*arguments, **job.parameters), session)

        logged, session = session.log_from_now(), session.from_now()
        profile, found = job.profiled(call, session, logged, graph, follower)
    result = {"by": found.by, "certainty": found.certainty, "reason": found.reason}
    return replace(profile, result=result)


def _option(name: str, options: Mapping[str, Any], key: str, value: Any) -> Any:
    """Return the value of an option; text is converted to the type of the default."""
    if key not in options:
        accepted = ", ".join(options) or "it has none"
        raise RequestError(f"{name} has no option {key!r}; accepted: {accepted}")
    kind = type(options[key])
    if not isinstance(value, str) or kind is str:
        return value
    if kind in (int, float):
        return Parameter(f"{key} of {name}", kind, options[key], "").check(value)
    found = literal(value)
    if kind is bool and not isinstance(found, bool):
        raise RequestError(f"{key} of {name} is {value!r}; accepted: true or false")
    return found


def _arguments(
    job: FunctionAlgorithm, session: OpenSession, vertices: DataFrame, edges: DataFrame
) -> tuple[Any, ...]:
    if not job.graph_frame:
        return session.for_functions, vertices, edges
    check_there(session.spark._jvm)
    context = session.spark.sparkContext
    if not session.settings.in_open_session and "graphframes" not in sys.modules:
        half = python_half(str(context.getConf().get("spark.jars", "")))
        if half is not None:
            context.addPyFile(str(half))
    check_installed("graphframes", f"{job.name}, which takes a GraphFrame,", extra="spark")
    from graphframes import GraphFrame

    with spark_failures(job.name):
        return (GraphFrame(vertices, edges),)


def _computed(result: Any, session: Any) -> None:
    """Compute a returned table, or the vertices of a GraphFrame, and discard the result."""
    from pyspark.sql import DataFrame

    session.group(None)  # the function may have left that of its last superstep
    table = result if isinstance(result, DataFrame) else getattr(result, "vertices", None)
    if isinstance(table, DataFrame):
        table.write.format("noop").mode("overwrite").save()
