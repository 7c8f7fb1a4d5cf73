"""The command list: what plug-ins there are."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from predict_graph.cli import options
from predict_graph.errors import RequestError, unknown_name
from predict_graph.plugins import Registry, described_error
from predict_graph.reports.tables import show_table


def list_plugins(kind_of_plugin: str, *, plugin: list[Path] | None = None) -> None:
    """List the plug-ins of a kind, and where they come from.

    Parameters
    ----------
    kind_of_plugin : KIND
        samplers, transforms, algorithms, engines, cost-models, generators or methods.
    """
    kind = kind_of_plugin
    options.prepare(plugin)
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
