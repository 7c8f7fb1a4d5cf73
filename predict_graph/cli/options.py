"""Groups of options that several commands take, what is done with them, and where it is printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from predict_graph.clock.display import Display
from predict_graph.clock.moment import Moment, closing_words
from predict_graph.errors import RequestError
from predict_graph.options import ESTIMATION, OPTIONS, Group
from predict_graph.printable import printable
from predict_graph.texts import named_values

if TYPE_CHECKING:
    from rich.console import Console


def refuse(given: Mapping[str, object], reason: str) -> None:
    """Raise an error for the first option that is given although nothing would read it.

    Options are named as parameters are.
    """
    for name, value in given.items():
        if value is not None:
            raise RequestError(f"--{name.replace('_', '-')} {reason}")


def prepare(plugins: list[Path] | None, *graphs: str) -> None:
    """Load the plug-in files of a command, and download datasets that are not here yet."""
    from predict_graph.graph.coerce import is_read
    from predict_graph.graph.datasets import CATALOGUE, dataset_path
    from predict_graph.plugin_files import load_plugin

    for file in plugins or []:
        load_plugin(file)
    for graph in graphs:
        if graph in CATALOGUE and not is_read(graph) and dataset_path(graph) is None:
            fetched(graph)


def listed(text: str | None) -> list[str] | None:
    """Return the parts of ``a, b``, without the blanks around them."""
    return None if text is None else [part.strip() for part in text.split(",")]


def numbers(text: str | None, what: str) -> list[float] | None:
    """Return the numbers of ``0.05,0.1``."""
    parts = listed(text)
    try:
        return None if parts is None else [float(part) for part in parts]
    except ValueError:
        raise RequestError(
            f"{what} are {text!r}; accepted: numbers with commas between, such as 0.05,0.1"
        ) from None


def amount(text: str, what: str) -> float:
    """Return a number such as ``5e7``, ``50M``, ``50 million`` or ``50,000,000``."""
    number = re.sub(r",(?=\d{3}(?!\d))", "", text.strip().lower()).replace("_", "")
    letters = re.search(r" *([kmgb]|thousand|million|billion)$", number)
    scale = {"k": 3, "t": 3, "m": 6, "g": 9, "b": 9}[letters[1][0]] if letters else 0
    try:
        return float(number[: letters.start()] if letters else number) * float(10**scale)
    except ValueError:
        raise RequestError(
            f"{what} are {text!r}; accepted: a number such as 5e7, 50M or '50 million'"
        ) from None


def fetched(name: str) -> Path:
    """Return the local copy of a dataset, downloaded under a bar if need be."""
    from predict_graph.graph.datasets import fetch
    from predict_graph.reports.console import Download

    with Display(messages()) as display:
        return fetch(name, progress=Download(display.step, name))


def results(*targets: str | None) -> Console:
    """Return the console for results: standard error when JSON goes to standard output."""
    from predict_graph.reports.console import SafeConsole

    return SafeConsole(stderr="-" in targets)


def messages() -> Console:
    """Return the console for progress."""
    return results("-")


def conclude(name: str, moment: Moment) -> None:
    """Print the last line of a run on standard error: how good the first prediction was."""
    note(f"{name} {closing_words(moment.elapsed, moment.first, moment.by)}")


def note(text: str, console: Console | None = None) -> None:
    """Print a line on standard error."""
    (console or messages()).print(text, markup=False, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """Print a line on standard output."""
    typer.echo(printable(text))


@dataclass(frozen=True, kw_only=True)
class Reading(Group):
    """How the file of a graph is read.

    Parameters
    ----------
    directed : --directed/--undirected
        Whether edges have a direction. [default: as the dataset or format says]
    header
        Whether the first line of a text file names columns. [default: as it seems]
    source_column : --src-column NAME
        Column of a file: its name, or its number from 1 on.
    target_column : --dst-column NAME
        Column of a file: its name, or its number from 1 on.
    weight_column : NAME
        Column of a file: its name, or its number from 1 on.
    bipartite
        Whether the same id as source and as target is two vertices. [default: as the file says]
    """

    directed: bool | None = None
    ids: str | None = None
    header: bool | None = None
    source_column: str | None = None
    target_column: str | None = None
    weight_column: str | None = None
    bipartite: bool | None = None

    def of(self, graph: str) -> Any:
        """Return a graph as functions of the package take it."""
        names = ("header", "source_column", "target_column", "weight_column", "bipartite")
        given: dict[str, Any] = {name: getattr(self, name) for name in names}
        if all(value is None for value in given.values()):
            return graph
        from predict_graph.graph.edge_list import EdgeList

        return EdgeList(graph, **given)


@dataclass(frozen=True)
class Case(Reading):
    """Which algorithm or function on which graph.

    Parameters
    ----------
    parameter : -p --parameter NAME=VALUE
        Parameter of the algorithm.
    graph_form : --as FORM, default as the function says
        Graph that the function takes: networkx, igraph, networkit, scipy, edges, graph.
    """

    algorithm: str
    graph: str
    _: KW_ONLY
    parameter: list[str] | None = None
    arg: list[str] | None = None
    graph_form: str | None = None
    history: str | None = None
    plugin: list[Path] | None = None
    seed: int | None = None

    @property
    def source(self) -> Any:
        """The graph as functions of the package take it."""
        return self.of(self.graph)

    def asked(self) -> dict[str, Any]:
        """Return the arguments of a function of the package."""
        accepted = "NAME=VALUE, such as epsilon=0.001"
        return {
            "parameters": named_values(self.parameter, "the parameter", accepted) or None,
            "directed": self.directed,
            "ids": self.ids,
            "history": self.history,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class SizedCase(Case):
    """A case whose graph need not be there.

    Parameters
    ----------
    vertices : N
        Of a graph that is not there, in place of GRAPH, with --edges: for a function. Such as 5e7
        or 50M.
    edges : N
        Of the same graph.
    """

    graph: str = ""
    _: KW_ONLY
    vertices: str | None = None
    edges: str | None = None

    @property
    def source(self) -> Any:
        """The graph, or its size, as functions of the package take it."""
        if (self.vertices, self.edges) == (None, None) and self.graph:
            return self.of(self.graph)
        if self.graph or self.vertices is None or self.edges is None:
            both = f"{self.graph!r} is given too" if self.graph else "a graph is missing"
            raise RequestError(f"{both}; accepted: GRAPH, or --vertices and --edges without it")
        from predict_graph.functions import is_function

        if self.of("") != "":
            raise RequestError("columns are of a file; accepted: GRAPH, or no options of columns")
        if not is_function(self.algorithm):
            raise RequestError(
                f"--vertices and --edges are for functions, such as networkx:pagerank, and "
                f"{self.algorithm} is none; accepted: GRAPH, or one such as rmat:scale=20"
            )
        from predict_graph.functions.sizes import GraphSize

        return GraphSize(amount(self.vertices, "vertices"), amount(self.edges, "edges"))


@dataclass(frozen=True, kw_only=True)
class Cluster(Group):
    """Which engine runs the job, on what.

    Parameters
    ----------
    machines : , default 1
        Machines: executors of the job on Spark.
    master : URL, default local
        Spark master: local, spark://host:port, yarn.
    cores : , default 1
        Cores of an executor.
    memory : SIZE, default 1g
        Memory of an executor.
    conf : NAME=VALUE
        Setting of Spark; repeatable.
    graphframes_jar : FILE, default a jar that fits, in a cache
        The JVM half of GraphFrames, for jobs that use it: a jar, or Maven coordinates.
    spark_folder : DIR
        Folder that all executors see, or an address such as hdfs://host/folder, for graphs in
        passing.
    checkpoint : DIR
        Keep the state there now and then: a run goes on when an executor is lost.
    checkpoint_interval : , default 10
        Supersteps from one checkpoint to the next.
    """

    engine: str = "local"
    workers: int | None = None
    threads: int | None = None
    machines: int | None = None
    master: str | None = None
    cores: int | None = None
    memory: str | None = None
    conf: list[str] | None = None
    graphframes_jar: str | None = None
    spark_folder: str | None = None
    checkpoint: str | None = None
    checkpoint_interval: int | None = None

    def asked(self, *, verbose: bool = False) -> dict[str, Any]:
        """Return the engine and the settings of the local one as arguments."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        local = given.pop("engine") != "spark"
        spark = "the spark engine, which takes --machines and --cores"
        other = {name: given[name] for name in given if local != (name in ("workers", "threads"))}
        own = f"the engine {self.engine!r}" if local else spark
        refuse(other, f"is no option of {own}")
        if local:
            return {"engine": self.engine, **given}
        from predict_graph.engines.spark import SparkEngine

        names = {"machines": "workers", "spark_folder": "folder"}
        settings = {names.get(name, name): value for name, value in given.items()}
        settings["conf"] = named_values(self.conf, "the setting", _SETTING)
        engine = SparkEngine(**settings)
        if verbose:
            for name, value in engine.settings.session_conf(Path("/")).items():
                note(f"{name}={value}")
        return {"engine": engine}


@dataclass(frozen=True, kw_only=True)
class SparkCluster(Cluster):
    """The same, where the engine is Spark unless another is named."""

    engine: str = "spark"


_SETTING = "NAME=VALUE, such as spark.executor.memoryOverhead=512m"
_Estimation: Any = make_dataclass(
    "_Estimation",
    [(name, OPTIONS[name].form, OPTIONS[name].usual) for name in ESTIMATION],
    bases=(Group,),
    kw_only=True,
)


class Sampling(_Estimation):  # type: ignore[misc]
    """How a prediction samples, and how it turns counters into seconds: as declared."""

    def asked(self) -> dict[str, Any]:
        """Return the arguments of a function of the package."""
        return vars(self) | {"train_ratios": numbers(self.train_ratios, "train ratios")}
