"""Registries of plug-ins: built-in, registered by a script, or of another installed package.

A built-in is a ``"module:attribute"`` string that is imported when it is first asked for, so that
listing names costs nothing. Another package adds its own through an entry-point group. A plug-in
that cannot be loaded is reported with its name and its reason, and disturbs no other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from predict_graph.errors import RequestError, unknown_name

__all__ = ["Registry"]

T = TypeVar("T")


class Registry(Generic[T]):
    """Named plug-ins of one kind.

    Parameters
    ----------
    kind : str
        What the plug-ins are, in the words of an error: ``"sampler"``.
    group : str
        Entry-point group in which other packages declare theirs.
    builtin : mapping of str to str
        Name to ``"module:attribute"``.
    aliases : mapping of str to str, optional
        Other spellings of a name.

    Examples
    --------
    >>> registry = Registry("shape", "predict_graph.shapes", {"dict": "builtins:dict"})
    >>> registry.get("dict")
    <class 'dict'>
    >>> registry.names()
    ['dict']
    """

    def __init__(
        self,
        kind: str,
        group: str,
        builtin: Mapping[str, str],
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.kind = kind
        self.group = group
        self._builtin = dict(builtin)
        self._aliases = dict(aliases or {})
        self._registered: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers what it decorates under `name`.

        Raises
        ------
        RequestError
            If the name is taken.
        """

        def add(plugin: T) -> T:
            if name in self.names():
                raise RequestError(f"the {self.kind} {name!r} is already registered")
            self._registered[name] = plugin
            return plugin

        return add

    def unregister(self, name: str) -> None:
        """Forget a plug-in that :meth:`register` added."""
        self._registered.pop(name, None)

    def names(self) -> list[str]:
        """Return all names: built-in ones first, in their own order, then the others."""
        others = {*self._registered, *self._external()} - set(self._builtin)
        return [*self._builtin, *sorted(others)]

    def get(self, name: str) -> T:
        """Return the plug-in called `name`.

        Raises
        ------
        RequestError
            If no plug-in has this name, or if it cannot be loaded.
        """
        name = self._aliases.get(name, name)
        if name in self._registered:
            return self._registered[name]
        external = self._external()
        reference = self._builtin.get(name) or external.get(name)
        if reference is None:
            raise unknown_name(self.kind, name, self.names())
        try:
            plugin: T = _load(reference)
        except Exception as error:
            raise RequestError(
                f"the {self.kind} {name!r} ({reference}) cannot be loaded: {error}"
            ) from error
        return plugin

    def origin(self, name: str) -> str:
        """Say where a plug-in comes from: ``built-in``, ``registered``, or a package's module."""
        if name in self._builtin:
            return "built-in"
        if name in self._registered:
            return "registered"
        return self._external().get(name, "unknown")

    def _external(self) -> dict[str, str]:
        return _declared(self.group, tuple(sys.path))


@cache
def _declared(group: str, path: tuple[str, ...]) -> dict[str, str]:
    """Return name and reference of the entry points of a group; what is installed can change with
    the path only, and looking it up takes milliseconds.
    """
    return {point.name: point.value for point in entry_points(group=group)}


def _load(reference: str) -> Any:
    module, _, attribute = reference.partition(":")
    loaded: Any = import_module(module)
    for part in attribute.split("."):
        loaded = getattr(loaded, part)
    return loaded
