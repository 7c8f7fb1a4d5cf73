"""The commands datasets and list: what there is."""

from __future__ import annotations

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
    loaders = {
        "samplers": _samplers,
        "transforms": _transforms,
        "algorithms": _algorithms,
        "engines": _engines,
        "cost-models": _cost_models,
        "generators": _generators,
        "methods": _methods,
    }
    if kind not in loaders:
        raise unknown_name("kind of plug-in", kind, loaders)
    show_table(options.results(None), kind, ["name", "origin", "what it is"], loaders[kind]())


Rows = list[tuple[str, str, str]]


def _described(registry: Registry[Any], describe: Any) -> Rows:
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


def _samplers() -> Rows:
    from predict_graph.iterations import SAMPLERS

    return _described(SAMPLERS, _first_line)


def _transforms() -> Rows:
    from predict_graph.transforms import TRANSFORMS

    return _described(TRANSFORMS, lambda transform: transform.summary)


def _algorithms() -> Rows:
    from predict_graph.algorithms import ALGORITHMS
    from predict_graph.builtin.libraries import LIBRARIES

    def describe(algorithm: Any) -> str:
        usual = algorithm().to_dict()  # with defaults that depend on other parameters
        parameters = ", ".join(f"{name}={value}" for name, value in usual.items())
        return f"{algorithm.summary} ({parameters})" if parameters else str(algorithm.summary)

    rows = _described(ALGORITHMS, describe)
    for library, registry in LIBRARIES.items():
        own = _described(registry, describe)
        rows += [(f"{library}:{name}", origin, text) for name, origin, text in own]
    return rows


def _engines() -> Rows:
    from predict_graph.engines import ENGINES

    return _described(ENGINES, _first_line)


def _cost_models() -> Rows:
    from predict_graph.prediction import COST_MODELS

    return _described(COST_MODELS, _first_line)


def _generators() -> Rows:
    from predict_graph.graph.generators import GENERATORS

    return _described(GENERATORS, _first_line)


def _methods() -> Rows:
    from predict_graph.iterations import METHODS

    return _described(METHODS, lambda method: method.summary)
