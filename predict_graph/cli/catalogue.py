"""The command list: what plug-ins there are."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from predict_graph.cli import options
from predict_graph.errors import RequestError, described_error, unknown_name
from predict_graph.plugins import Registry, loaded
from predict_graph.reports.tables import show_table


def list_(kind: str, *, plugin: list[Path] | None = None) -> None:
    """List the plug-ins of a kind, and where they come from.

    Parameters
    ----------
    kind : KIND
        samplers, transforms, algorithms, engines, cost-models, generators or methods.
    """
    options.prepare(plugin)
    if kind not in REGISTRIES:
        raise unknown_name("kind of plug-in", kind, REGISTRIES)
    registries = {"": resolve_name(f"predict_graph.{REGISTRIES[kind]}")}
    if kind == "algorithms":
        from predict_graph.algorithms import SPARK_LIBRARIES

        registries |= {f"{library}:": loaded(own) for library, own in SPARK_LIBRARIES.items()}
    rows = [
        (prefix + name, own.origin(name), _described(own, name, kind))
        for prefix, own in registries.items()
        for name in own.names()
    ]
    show_table(options.results(None), kind, ["name", "origin", "what it is"], rows)


def _described(registry: Registry[Any], name: str, kind: str) -> str:
    """Return what a plug-in is; a broken one must not hide the others."""
    try:
        found = registry.get(name)
        text = str(getattr(found, "summary", (found.__doc__ or "").strip().partition("\n")[0]))
        # With defaults that depend on other parameters.
        usual = found().set_parameters if kind == "algorithms" else {}
        parameters = ", ".join(f"{key}={value}" for key, value in usual.items())
        return f"{text} ({parameters})" if parameters else text
    except RequestError as error:
        return str(error)
    except Exception as error:
        return f"cannot be described: {described_error(error)}"


REGISTRIES = {
    "samplers": "iterations:SAMPLERS",
    "transforms": "transforms:TRANSFORMS",
    "algorithms": "algorithms:ALGORITHMS",
    "engines": "engines:ENGINES",
    "cost-models": "prediction:COST_MODELS",
    "generators": "graph.generators:GENERATORS",
    "methods": "iterations:METHODS",
}
"""Kind of plug-in to the module and name of its registry."""
