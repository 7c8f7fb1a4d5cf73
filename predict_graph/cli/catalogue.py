"""The commands datasets and list: what there is."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from predict_graph.cli import options
from predict_graph.cli.completing import kinds, names_of
from predict_graph.errors import RequestError, unknown_name
from predict_graph.plugins import Registry, described_error
from predict_graph.reports.tables import show_table

datasets_app = typer.Typer(help="Named graphs.", no_args_is_help=True)

_Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of a dataset.", autocompletion=names_of("datasets")),
]


@datasets_app.command("list")
def list_datasets() -> None:
    """List the datasets, and which are here already."""
    from predict_graph.graph.datasets import dataset, dataset_names, dataset_path, trust

    described = [dataset(name) for name in dataset_names()]
    rows = [
        (
            data.name,
            "directed" if data.directed else "undirected",
            data.vertices,
            data.edges,
            trust(data.name),
            str(dataset_path(data.name) or ""),
        )
        for data in described
    ]
    columns = ["name", "kind", "vertices", "edges", "checked by", "local copy"]
    show_table(options.results(None), "datasets", columns, rows)


@datasets_app.command()
def path(name: _Name) -> None:
    """Print where the local copy of a dataset is."""
    from predict_graph.graph.datasets import dataset_path

    found = dataset_path(name)
    if found is None:
        raise RequestError(
            f"there is no local copy of {name}; get it with: predict-graph datasets fetch {name}"
        )
    options.say(str(found))


@datasets_app.command()
def fetch(name: _Name) -> None:
    """Download a dataset unless it is here, and print where it is."""
    options.say(str(options.fetched(name)))


def list_plugins(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="samplers, transforms, algorithms, engines, cost-models, generators or methods.",
            autocompletion=kinds,
        ),
    ],
    plugin: options.Plugins = None,
) -> None:
    """List the plug-ins of a kind, and where they come from."""
    options.load_plugins(plugin)
    if kind not in _KINDS:
        raise unknown_name("kind of plug-in", kind, _KINDS)
    module, name, describe = _KINDS[kind]
    registry = getattr(import_module(f"predict_graph.{module}"), name)
    rows = _described(registry, describe)
    if kind == "algorithms":
        from predict_graph.builtin.libraries import LIBRARIES

        for library, own in LIBRARIES.items():
            found = _described(own, describe)
            rows += [(f"{library}:{name}", origin, text) for name, origin, text in found]
    show_table(options.results(None), kind, ["name", "origin", "what it is"], rows)


def _described(registry: Registry[Any], describe: Any) -> list[tuple[str, str, str]]:
    rows = []
    for name in registry.names():
        try:
            text = describe(registry.get(name))
        except RequestError as error:  # one broken plug-in must not hide the others
            text = str(error)
        except Exception as error:
            text = f"cannot be described: {described_error(error)}"
        rows.append((name, registry.origin(name), text))
    return rows


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").strip().splitlines()[0] if thing.__doc__ else ""


def _summary(thing: Any) -> str:
    return str(thing.summary)


def _with_parameters(algorithm: Any) -> str:
    usual = algorithm().to_dict()  # with defaults that depend on other parameters
    parameters = ", ".join(f"{name}={value}" for name, value in usual.items())
    return f"{algorithm.summary} ({parameters})" if parameters else str(algorithm.summary)


_KINDS: dict[str, tuple[str, str, Callable[[Any], str]]] = {
    "samplers": ("iterations", "SAMPLERS", _first_line),
    "transforms": ("transforms", "TRANSFORMS", _summary),
    "algorithms": ("algorithms", "ALGORITHMS", _with_parameters),
    "engines": ("engines", "ENGINES", _first_line),
    "cost-models": ("prediction", "COST_MODELS", _first_line),
    "generators": ("graph.generators", "GENERATORS", _first_line),
    "methods": ("iterations", "METHODS", _summary),
}
"""Kind of plug-in to the module and name of its registry, and what describes one."""
