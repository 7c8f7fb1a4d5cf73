"""Groups of options that several commands take, declared once.

A command that is decorated with :func:`takes` gets each group as one object; the command line shows
the options of all groups as if they had been written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, make_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from predict_graph.cli import options
from predict_graph.errors import RequestError
from predict_graph.options import ESTIMATION, FORMS, OPTIONS, Option

_Column = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Column of a file: its name, or its number from 1 on."),
]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the file of a graph is read."""

    undirected: options.Undirected = None
    ids: options.Ids = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a text file names columns. [default: as it seems]",
            show_default=False,
        ),
    ] = None
    src_column: _Column = None
    dst_column: _Column = None
    weight_column: _Column = None
    bipartite: Annotated[
        bool | None,
        typer.Option(
            "--bipartite/--no-bipartite",
            help="Whether the same id as source and as target is two vertices. "
            "[default: as the file says]",
            show_default=False,
        ),
    ] = None

    @property
    def directed(self) -> bool | None:
        """Whether edges have a direction; None when the user did not say."""
        return None if self.undirected is None else not self.undirected

    def of(self, graph: str) -> Any:
        """Return a graph as functions of the package take it."""
        given: dict[str, Any] = {
            "header": self.header,
            "source_column": self.src_column,
            "target_column": self.dst_column,
            "weight_column": self.weight_column,
            "bipartite": self.bipartite,
        }
        if all(value is None for value in given.values()):
            return graph
        from predict_graph.graph.edge_list import EdgeList

        return EdgeList(graph, **given)


@dataclass(frozen=True, kw_only=True)
class Case(Reading):
    """Which algorithm on which graph."""

    algorithm: options.AlgorithmName
    graph: options.GraphSource
    parameter: options.Parameters = None
    history: options.HistoryFile = None
    plugin: options.Plugins = None
    seed: options.Seed = None

    @property
    def source(self) -> Any:
        """The graph as functions of the package take it."""
        return self.of(self.graph)

    def asked(self) -> dict[str, Any]:
        """Return the arguments of a function of the package."""
        return {
            "parameters": options.check_parameters(self.parameter),
            "directed": self.directed,
            "ids": self.ids,
            "history": self.history,
            "seed": self.seed,
        }


_SPARK_ONLY: Mapping[str, tuple[Any, Option]] = {
    "machines": (int, Option("Machines: executors of the job on Spark.", "1")),
    "master": (str, Option("Spark master: local, spark://host:port, yarn.", "local", "URL")),
    "cores": (int, Option("Cores of an executor.", "1")),
    "memory": (str, Option("Memory of an executor.", "1g", "SIZE")),
    "conf": (list[str], Option("Setting of Spark; repeatable.", metavar="NAME=VALUE")),
    "graphframes_jar": (
        str,
        Option(
            "The JVM half of GraphFrames, for jobs that use it: a jar, or Maven coordinates.",
            "a jar that fits, in a cache",
            "FILE",
        ),
    ),
    "spark_folder": (
        Path,
        Option("Folder that all executors see, for graphs in passing.", metavar="DIR"),
    ),
    "checkpoint": (
        str,
        Option(
            "Keep the state there now and then: a run goes on when an executor is lost.",
            metavar="DIR",
        ),
    ),
    "checkpoint_interval": (int, Option("Supersteps from one checkpoint to the next.", "10")),
}
_LISTS = {"train_ratios": float, "train_machines": int}  # of numbers, with commas between


def _group(declared: Mapping[str, tuple[Any, Option]]) -> Any:
    """Return the base of a group of declared options."""
    fields = [
        (name, Annotated[form, options.offered(name, option, form)], option.usual)
        for name, (form, option) in declared.items()
    ]
    return make_dataclass("Declared", fields, frozen=True)


def _shared(*names: str) -> dict[str, tuple[Any, Option]]:
    return {name: (str if name in _LISTS else FORMS[name], OPTIONS[name]) for name in names}


class Cluster(_group(_shared("engine", "workers", "threads") | dict(_SPARK_ONLY))):  # type: ignore[misc]
    """Which engine runs the job, on what."""

    def asked(self, *, verbose: bool = False) -> dict[str, Any]:
        """Return the engine and the settings of the local one as arguments."""
        if self.engine != "spark":
            self._refuse(_SPARK_ONLY, f"the engine {self.engine!r}")
            return {"engine": self.engine, "workers": self.workers, "threads": self.threads}
        self._refuse(("workers", "threads"), "the spark engine, which takes --machines and --cores")
        from predict_graph.engines.spark import SparkEngine

        engine = SparkEngine(
            master=self.master,
            workers=self.machines,
            cores=self.cores,
            memory=self.memory,
            conf=_pairs(self.conf),
            graphframes_jar=self.graphframes_jar,
            folder=self.spark_folder,
            checkpoint=self.checkpoint,
            checkpoint_interval=self.checkpoint_interval,
        )
        if verbose:
            for name, value in engine.settings.session_conf(Path("/")).items():
                options.messages().print(f"{name}={value}", highlight=False, soft_wrap=True)
        return {"engine": engine}

    def _refuse(self, names: Iterable[str], engine: str) -> None:
        for name in names:
            if getattr(self, name) not in (None, False):
                raise RequestError(f"--{name.replace('_', '-')} is no option of {engine}")


class Sampling(_group(_shared(*ESTIMATION))):  # type: ignore[misc]
    """How a prediction samples, and how it turns counters into seconds: as declared."""

    def asked(self) -> dict[str, Any]:
        """Return the arguments of a function of the package."""
        given = dict(vars(self))
        for name, form in _LISTS.items():
            given[name] = options.numbers(given[name], name.replace("_", " "), form)
        return given


def takes(**groups: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that spreads groups of options over the signature of a command."""

    def spread(command: Callable[..., None]) -> Callable[..., None]:
        own = {
            name: parameter
            for name, parameter in signature(command).parameters.items()
            if name not in groups
        }
        hints = get_type_hints(command, include_extras=True)
        merged = [
            Parameter(
                each.name,
                Parameter.KEYWORD_ONLY,
                default=signature(group).parameters[each.name].default,
                annotation=get_type_hints(group, include_extras=True)[each.name],
            )
            for group in groups.values()
            for each in fields(group)
        ]
        merged += [
            parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])
            for name, parameter in own.items()
        ]

        @wraps(command)
        def flat(**given: Any) -> None:
            built = {
                name: group(**{each.name: given.pop(each.name) for each in fields(group)})
                for name, group in groups.items()
            }
            command(**built, **given)

        merged.sort(key=lambda parameter: parameter.default is not Parameter.empty)
        flat.__signature__ = signature(command).replace(parameters=merged)  # type: ignore[attr-defined]
        flat.__annotations__ = {parameter.name: parameter.annotation for parameter in merged}
        return flat

    return spread


def _pairs(texts: list[str] | None) -> dict[str, str]:
    pairs = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise RequestError(f"the setting {text!r}; accepted: NAME=VALUE, such as {_EXAMPLE}")
        pairs[name.strip()] = value.strip()
    return pairs


_EXAMPLE = "spark.executor.memoryOverhead=512m"
