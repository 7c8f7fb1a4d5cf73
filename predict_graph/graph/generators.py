"""Graphs made by name: ``rmat:scale=18,edge_factor=16,seed=1``.

A generator is a function whose keyword parameters, with their annotations, are what the text may
set. Other packages register theirs in the entry-point group ``predict_graph.generators``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from predict_graph.errors import RequestError, explained
from predict_graph.graph.csr import Graph
from predict_graph.plugins import Registry

Generator = Callable[..., Graph]

_CLASSICS = (
    *("barabasi-albert", "erdos-renyi", "watts-strogatz", "powerlaw-cluster"),
    *("star", "path", "cycle", "grid"),
)
GENERATORS: Registry[Generator] = Registry(
    "generator",
    "predict_graph.generators",
    {
        "rmat": "predict_graph.graph.rmat:rmat",
        **{name: f"predict_graph.graph.classics:{name.replace('-', '_')}" for name in _CLASSICS},
    },
)


def is_generator(text: str) -> bool:
    """Tell whether `text` names a generator, with or without parameters."""
    return text.partition(":")[0].strip() in GENERATORS.names()


def parse_generator(text: str) -> tuple[str, dict[str, str]]:
    """Split ``name:key=value,...`` into the name and the texts of the parameters.

    Raises
    ------
    RequestError
        If a parameter is not ``key=value`` or comes twice.

    Examples
    --------
    >>> parse_generator("rmat:scale=18,seed=1")
    ('rmat', {'scale': '18', 'seed': '1'})
    """
    name, _, rest = text.partition(":")
    parameters: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise RequestError(f"{part!r} in {text!r} is not a parameter; accepted: NAME=VALUE")
        if key in parameters:
            raise RequestError(f"the parameter {key!r} comes twice in {text!r}")
        parameters[key] = value
    return name.strip(), parameters


def generate(
    text: str, *, directed: bool | None = None, name: str | None = None, seed: Any = None
) -> Graph:
    """Make the graph that a text describes.

    Parameters
    ----------
    text : str
        ``name`` or ``name:key=value,...``.
    directed : bool, optional
        None: as the generator does by itself.
    name : str, optional
        The text itself when it is not given.
    seed : int or numpy.random.Generator, optional
        Used when the text sets no seed.

    Raises
    ------
    RequestError
        If the generator or a parameter is unknown, or a value is wrong.

    Examples
    --------
    >>> generate("star:n=5")
    Graph('star:n=5', 5 vertices, 4 undirected edges)
    """
    kind, texts = parse_generator(text)
    make = GENERATORS.get(kind)
    declared = inspect.signature(make).parameters
    values = _values(kind, declared, texts)
    for key, value in (("seed", seed), ("directed", directed)):
        if value is not None and key in declared:
            values.setdefault(key, value)
    with explained(f"the graph {text!r} cannot be made"):
        graph = make(**values)
    if not isinstance(graph, Graph):
        raise RequestError(f"the generator {kind!r} returned {type(graph).__name__}, not a Graph")
    return graph.described_as(name=name or text)


def _values(
    kind: str, declared: Mapping[str, inspect.Parameter], texts: dict[str, str]
) -> dict[str, Any]:
    """Convert the texts to the types that the generator's parameters are annotated with."""
    values: dict[str, Any] = {}
    for key, text in texts.items():
        if key not in declared:
            raise RequestError(
                f"the generator {kind!r} has no parameter {key!r}; accepted: {', '.join(declared)}"
            )
        values[key] = _converted(f"{key} of {kind}", text, str(declared[key].annotation))
    missing = [
        key
        for key, parameter in declared.items()
        if parameter.default is inspect.Parameter.empty and key not in values
    ]
    if missing:
        raise RequestError(f"the generator {kind!r} needs {', '.join(f'{m}=…' for m in missing)}")
    return values


_TRUTH = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_KINDS: dict[str, tuple[Callable[[str], Any], str]] = {
    "bool": (lambda text: _TRUTH[text.lower()], "true, false"),
    "float": (float, "a number"),
    "int": (int, "an integer"),
}


def _converted(what: str, text: str, annotation: str) -> Any:
    convert, accepted = _KINDS.get(annotation, _KINDS["int"])
    try:
        value = convert(text.replace("_", ""))
    except (KeyError, ValueError):
        raise RequestError(f"{what} is {text!r}; accepted: {accepted}") from None
    if not np.isfinite(value):
        raise RequestError(f"{what} is {text!r}; accepted: finite numbers")
    if what.startswith("seed ") and value < 0:
        raise RequestError(f"{what} is {text!r}; accepted: integers from 0 on")
    return value
