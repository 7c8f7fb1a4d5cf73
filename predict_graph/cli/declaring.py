"""Commands as plain functions: the signature says what a command takes, the docstring what that is.

A parameter before ``*`` is an argument and one after it an option; one whose type is a
:class:`~predict_graph.options.Group` brings the options of the group. The section Parameters
describes each, as :mod:`predict_graph.options` says; what several commands take is described once,
by :class:`Shared` or there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter
from typing import Annotated, Any, get_args, get_type_hints

import typer

from predict_graph.options import OPTIONS, Group, Option, described


class Shared:
    """What several commands take.

    Parameters
    ----------
    algorithm : ALGORITHM
        An algorithm, such as pagerank, or a function, such as networkx:pagerank.
    graph : GRAPH
        A file or address, a dataset, or a generator such as rmat:scale=18.
    plugin : FILE.py
        Python file that registers plug-ins; repeatable.
    json : FILE|-
        Write the result as JSON.
    events : FILE|-
        Write what remains as JSON, a line each time.
    arg : NAME=VALUE
        Argument of a function such as networkx:betweenness_centrality; repeatable.
    """


_COMPILED = frozenset(("predict", "run", "validate"))  # compiled before anything is timed


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command as typer takes it: with all of its options in the signature."""
    groups: dict[str, type[Group]] = {}
    taken: list[Parameter] = []
    entries = described(Shared) | described(command)
    for parameter in _parameters(command):
        kind = parameter.annotation
        if isinstance(kind, type) and issubclass(kind, Group):
            groups[parameter.name] = kind
            own = entries | {n: e for each in kind.__mro__ for n, e in described(each).items()}
            taken += [_offered(each, own) for each in _parameters(kind)]
        else:
            taken.append(_offered(parameter, entries))

    labels = {each.name: _label(each) for each in taken}

    @wraps(command)
    def flat(**given: Any) -> None:
        from predict_graph.cli.output import check_outputs

        check_outputs(command.__name__, given, labels)
        if command.__name__ in _COMPILED:
            from predict_graph.compiled import compile_kernels, is_compiled

            if not is_compiled():
                compile_kernels()
        built = {
            name: group(**{each.name: given.pop(each.name) for each in _parameters(group)})
            for name, group in groups.items()
        }
        command(**built, **given)

    taken.sort(key=lambda parameter: parameter.default is not Parameter.empty)
    flat.__signature__ = inspect.Signature(taken)  # type: ignore[attr-defined]
    flat.__annotations__ = {parameter.name: parameter.annotation for parameter in taken}
    flat.__doc__ = inspect.cleandoc(command.__doc__ or "").partition("\n\nParameters\n")[0]
    return flat


def _label(parameter: Parameter) -> str:
    """Return what a user calls a parameter: --out, GRAPH."""
    declared: Any = parameter.annotation.__metadata__[0]
    words = (declared.default, *(declared.param_decls or ()))  # typer sorts them out later
    flags = [str(word) for word in words if str(word).startswith("-")]
    return flags[0] if flags else str(declared.metavar or parameter.name).upper()


def _parameters(thing: Any) -> list[Parameter]:
    hints = get_type_hints(thing)
    found = inspect.signature(thing).parameters.values()
    return [each.replace(annotation=hints[each.name]) for each in found]


def _offered(parameter: Parameter, entries: Mapping[str, Option]) -> Parameter:
    """Return a parameter with its declaration for typer."""
    name, kind, default = parameter.name, parameter.annotation, parameter.default
    entry = entries[name] if name in entries else OPTIONS[name]
    said: dict[str, Any] = {
        "help": entry.summary,
        "metavar": entry.metavar,
        "show_default": default is not None or entry.default or False,
    }
    if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD:
        declared: Any = typer.Argument(**said)
    else:
        flag = name.replace("_", "-")
        switch = bool in (kind, *get_args(kind)) and default is not False
        flags = entry.flags or [f"--{flag}/--no-{flag}" if switch else f"--{flag}"]
        declared = typer.Option(*flags, **said)
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=Annotated[kind, declared])
