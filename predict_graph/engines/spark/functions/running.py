"""A user's Python function as a job: run on a graph, and profiled from outside."""

from __future__ import annotations

import inspect
import os
import sys
import time
import traceback
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from predict_graph.engines.base import RunFollower, supersteps_begin
from predict_graph.engines.profile import RunProfile
from predict_graph.engines.spark.called import CalledAlgorithm
from predict_graph.engines.spark.log.features import observed_phases, observed_table
from predict_graph.engines.spark.log.following import followed_call
from predict_graph.engines.spark.recognition.supersteps import recognise
from predict_graph.engines.spark.session.adopting import adopted_session, settings_of
from predict_graph.engines.spark.session.failures import reason, spark_failures
from predict_graph.engines.spark.session.graphframes import python_half
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.edge_files import write_edges
from predict_graph.errors import JobError, PredictGraphError, RequestError, described_error
from predict_graph.graph import Graph
from predict_graph.plugin_files import file_module
from predict_graph.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ACCEPTED = "f(graph) for a GraphFrame, or f(spark, vertices, edges) for DataFrames"


@dataclass(frozen=True)
class SparkFunction:
    """A function that runs on a graph."""

    function: Callable[..., Any]
    name: str
    graph_frame: bool
    parameters: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None


def load_spark_function(source: str, parameters: Mapping[str, Any] | None = None) -> SparkFunction:
    """Load the function that ``FILE.py:FUNCTION`` names."""
    name, _, function = source.rpartition(":")
    if not name.endswith(".py") or not function.isidentifier():
        raise RequestError(f"function {source!r}; accepted: FILE.py:FUNCTION")
    file = Path(os.path.realpath(os.path.expanduser(name)))
    module = _module(file)
    found = getattr(module, function, None)
    if not inspect.isroutine(found):
        own = [
            key
            for key, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__
        ]
        accepted = ", ".join(own) or "any, but it defines none"
        raise RequestError(f"{name} has no function {function!r}; accepted: {accepted}")
    return spark_function(found, parameters, name=function, file=file)


def _module(file: Path) -> ModuleType:
    """Execute a job's file with its folder on the import path; Spark sends its functions by value,
    as executors do not have the file.
    """
    from pyspark import cloudpickle

    sys.path.insert(0, str(file.parent))
    try:
        module = file_module(file)
    finally:
        sys.path.remove(str(file.parent))
    cloudpickle.register_pickle_by_value(module)
    return module


def spark_function(
    function: Callable[..., Any],
    parameters: Mapping[str, Any] | None = None,
    *,
    name: str | None = None,
    file: Path | None = None,
) -> SparkFunction:
    """Wrap a function as a job."""
    name = str(name or getattr(function, "__name__", type(function).__name__))
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise RequestError(f"{name} is no Python function; accepted: {_ACCEPTED}") from error
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed, options = [], {}
    for parameter in signature.parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        if parameter.default is not inspect.Parameter.empty:
            options[parameter.name] = parameter.default
        elif parameter.kind in positional:
            needed.append(parameter)
        else:
            raise _wrong_parameters(name, signature)
    graph_frame = len(needed) == 1 and _wants_graph_frame(needed[0])
    if not graph_frame and len(needed) != 3:
        raise _wrong_parameters(name, signature)
    given = {key: _option(name, options, key, value) for key, value in (parameters or {}).items()}
    return SparkFunction(function, name, graph_frame, given, file)


def run_spark_function(
    job: SparkFunction, session: OpenSession, graph: Graph, **observer: Any
) -> RunProfile:
    """Write a graph for Spark, read it there, and profile a job on it."""
    folder = session.folder / uuid.uuid4().hex[:8]
    folder.mkdir()
    source = write_edges(graph, folder, session.settings.partitions)
    spark = session.for_functions
    with spark_failures(f"reading {graph.name} on Spark"):
        session.group("read")
        started = time.perf_counter()
        edges = spark.read.parquet(str(source)).repartition(session.settings.partitions, "src")
        edges = edges.persist()
        edges.count()
        vertices = spark.range(graph.vertices).select("id")
        read = time.perf_counter() - started
    known = {"graph": graph.describe(), "read_seconds": read, **observer}
    try:
        return profile_spark_function(job, session, edges, vertices, **known)
    finally:
        edges.unpersist()


def profile_spark_function(
    job: SparkFunction | Callable[..., Any],
    session: OpenSession | SparkSession,
    edges: DataFrame,
    vertices: DataFrame,
    *,
    graph: Mapping[str, Any],
    read_seconds: float = 0.0,
    follower: RunFollower | None = None,
    ready: Callable[[], None] = lambda: None,
) -> RunProfile:
    """Run a job on the tables of a graph and find its supersteps in Spark's event log.

    A DataFrame that the job returns is computed in full and discarded, as if it were written. A
    follower is notified of supersteps as they end, and `ready` called before the first one.
    """
    job = job if isinstance(job, SparkFunction) else spark_function(job)
    if not isinstance(session, OpenSession):
        settings = settings_of(session)
        with adopted_session(session, settings) as adopted:
            return profile_spark_function(
                job, adopted, edges, vertices, graph=graph, read_seconds=read_seconds
            )
    with _without_warnings():
        arguments = _arguments(job, session, vertices, edges)
    context: Any = session.spark.sparkContext
    for name in ("spark.jobGroup.id", "spark.job.description"):
        context.setLocalProperty(name, None)  # the function may set its own
    logged, began = session.log_from_now(), time.time()
    ready()
    kept = session.storage_bytes()  # memory cached by earlier jobs
    followed = followed_call(session.for_functions, logged, follower)
    with _failures_of(job), _without_warnings(), followed:
        _computed(job.function(*arguments, **job.parameters))
    ended = time.time()
    stored = max(session.storage_bytes() - kept, 0)
    session.flush()
    log = logged.read()
    log = replace(log, application={**log.application, "started": began, "finished": ended})
    try:
        found = recognise(log)
    except RequestError as error:
        raise RequestError(f"{job.name}: {error}") from error
    phases = observed_phases(log, found)
    phases["read"] += read_seconds
    rows = observed_table(log, found, int(graph["vertices"])).assign(storage_bytes=stored)
    return RunProfile(
        algorithm=job.name,
        parameters=dict(job.parameters),
        graph=dict(graph),
        engine={
            **session.settings.describe(),
            "workers": session.settings.machines,
            "executors_lost": log.executors_lost(began, session.settings.executors),
        },
        phases=phases,
        rows=Table(rows),
        convergence=np.full(found.iterations, np.nan),
        converged=True,
        result={"by": found.by, "certainty": found.certainty, "reason": found.reason},
    )


def _wrong_parameters(name: str, signature: inspect.Signature) -> RequestError:
    return RequestError(f"{name}{signature} does not take a graph; accepted: {_ACCEPTED}")


def _wants_graph_frame(parameter: inspect.Parameter) -> bool:
    annotation = parameter.annotation
    named = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return parameter.name == "graph" or named.rsplit(".", 1)[-1] == "GraphFrame"


def _option(name: str, options: Mapping[str, Any], key: str, value: Any) -> Any:
    """Return the value of an option; text is converted to the type of the default."""
    if key not in options:
        accepted = ", ".join(options) or "it has none"
        raise RequestError(f"{name} has no option {key!r}; accepted: {accepted}")
    kind = type(options[key])
    if not isinstance(value, str) or kind not in (bool, int, float):
        return value
    try:
        if kind is bool:
            return {"true": True, "false": False}[value.lower()]
        return kind(value)
    except (KeyError, ValueError) as error:
        accepted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise RequestError(f"{key} of {name} is {value!r}; accepted: {accepted}") from error


def _arguments(
    job: SparkFunction, session: OpenSession, vertices: DataFrame, edges: DataFrame
) -> tuple[Any, ...]:
    if not job.graph_frame:
        return session.for_functions, vertices, edges
    from py4j.protocol import Py4JError

    half = python_half(session.conf) if session.callers is None else None
    if half is not None and "graphframes" not in sys.modules:
        session.spark.sparkContext.addPyFile(str(half))
    try:
        from graphframes import GraphFrame

        return (GraphFrame(vertices, edges),)
    except (ImportError, TypeError, Py4JError) as error:
        if isinstance(error, Py4JError) and "ClassNotFoundException" not in str(error):
            raise JobError(f"{job.name} failed: {reason(str(error))}") from error
        raise JobError(
            f"{job.name} takes a GraphFrame, but the JVM half of GraphFrames is not in this "
            "session; name its jar, or write the job as f(spark, vertices, edges)"
        ) from error


@contextmanager
def _failures_of(job: SparkFunction) -> Iterator[None]:
    """Convert exceptions of a user's function into a message that names the line."""
    try:
        with spark_failures(job.name):
            yield
    except PredictGraphError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame for frame in frames if job.file and frame.filename == str(job.file)]
        where = f" ({job.file.name}, line {lines[-1].lineno})" if job.file and lines else ""
        raise JobError(f"{job.name} failed{where}: {described_error(error)}") from error


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Suppress warnings of pyspark that concern older GraphFrames."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "DataFrame", UserWarning)
        yield


def _computed(result: Any) -> None:
    """Compute a returned table, or the vertices of a GraphFrame, and discard the result."""
    from pyspark.sql import DataFrame

    table = getattr(result, "vertices", result)
    if isinstance(table, DataFrame):
        table.write.format("noop").mode("overwrite").save()


class FunctionAlgorithm(CalledAlgorithm):
    """The function ``FILE.py:FUNCTION``, which Spark alone runs; its convergence is unknown."""

    name = "function"
    summary = "a Python function on Spark"
    convergence = "absolute"
    declared = ()
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({"observed": True})

    def __init__(self, source: str, parameters: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.source, self.job = source, load_spark_function(source, parameters)
        self.name = self.job.name  # type: ignore[misc]

    def __reduce__(self) -> Any:
        return FunctionAlgorithm, (self.source, dict(self.job.parameters))

    def to_dict(self) -> dict[str, Any]:
        """Return the options of the function that are set."""
        return dict(self.job.parameters)

    def run_in(
        self, session: OpenSession, graph: Graph, follower: RunFollower | None
    ) -> RunProfile:
        """Run it on a graph; notify a follower of supersteps as they end."""
        ready = partial(supersteps_begin, follower, self, graph, 0.0, self.max_iterations)
        return run_spark_function(self.job, session, graph, follower=follower, ready=ready)
