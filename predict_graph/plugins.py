"""Registries of plug-ins: built-in, registered by a script or file, or of an installed package.

A built-in is a ``"module:attribute"`` string that is imported when it is first asked for, so that
listing names costs nothing. Another package adds its own through an entry-point group. A plug-in
that cannot be loaded is reported with its name and its reason, and disturbs no other.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Generic, TypeVar

from predict_graph import errors
from predict_graph.deadline import StopRun

T = TypeVar("T")


class Registry(Generic[T]):
    """Named plug-ins of one kind.

    Parameters
    ----------
    kind : str
        What the plug-ins are, in the words of an error: ``"sampler"``.
    group : str
        Entry-point group in which other packages declare theirs.
    builtin : mapping of str
        Name to the plug-in, or to its ``"module:attribute"``.

    Examples
    --------
    >>> registry = Registry("shape", "predict_graph.shapes", {"dict": "builtins:dict"})
    >>> registry.get("dict")
    <class 'dict'>
    >>> registry.names()
    ['dict']
    """

    def __init__(self, kind: str, group: str, builtin: Mapping[str, Any]) -> None:
        self.kind = kind
        self.group = group
        self._builtin = dict(builtin)
        self._registered: dict[str, T] = {}
        self._preferred: dict[str, str] = {}

    def register(
        self, name: str, *, home: str | None = None, algorithm: str | None = None
    ) -> Callable[[T], T]:
        """Return a decorator that registers what it decorates under `name`.

        The modules of an installed package may register what its entry points name.

        Parameters
        ----------
        name : str
        home : str, optional
            Module that the plug-in is of; its ``__module__`` by default.
        algorithm : str, optional
            Name of an algorithm whose predictions take it unless another is named.

        Raises
        ------
        RequestError
            If the name is taken, or is no text.
        """

        def add(plugin: T) -> T:
            if not isinstance(name, str) or not name:
                raise errors.RequestError(
                    f"the {self.kind} is registered as {name!r}; accepted: a name"
                )
            package = str(home or getattr(plugin, "__module__", None)).partition(".")[0]
            declared = self._external().get(name, "").partition(":")[0].partition(".")[0]
            taken = {*self._builtin, *self._registered}
            if name in taken or (declared and declared != package):
                raise errors.RequestError(f"the {self.kind} {name!r} is already registered")
            self._registered[name] = plugin
            if algorithm is not None:
                self._preferred[algorithm] = name
            _REGISTRATIONS.append((self, name))
            return plugin

        return add

    def unregister(self, name: str) -> None:
        """Forget a plug-in that :meth:`register` added."""
        self._registered.pop(name, None)
        self._preferred = {key: own for key, own in self._preferred.items() if own != name}
        if (self, name) in _REGISTRATIONS:
            _REGISTRATIONS.remove((self, name))

    def preferred(self, algorithm: str) -> str | None:
        """Return the name that was registered for an algorithm, the last one; None if none was."""
        own = dict(self._preferred)
        for name in self._external():  # their decorators say so, when their modules are loaded
            with suppress(errors.RequestError):
                self.get(name)
        self._preferred |= own  # what the user registered counts more
        return self._preferred.get(algorithm)

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
        if name in self._registered:
            return self._registered[name]
        external = self._external()
        reference = self._builtin.get(name) or external.get(name)
        if reference is None:
            raise errors.unknown_name(self.kind, name, self.names())
        try:
            plugin: T = loaded(reference)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a package may do anything as it is imported
            said = f"the {self.kind} {name!r} ({reference}) cannot be loaded"
            raise errors.RequestError(f"{said}: {errors.described_error(error)}") from error
        return self._registered.get(name, plugin)  # the decorators of its module come first

    def origin(self, name: str) -> str:
        """Say where a plug-in comes from: ``built-in``, ``registered``, or a package's module."""
        if name in self._builtin:
            return "built-in"
        return self._external().get(name, "registered")

    def _external(self) -> dict[str, str]:
        return _declared(self.group, tuple(sys.path))


_REGISTRATIONS: list[tuple[Registry[Any], str]] = []


def registrations() -> list[tuple[Registry[Any], str]]:
    """Return registry and name of all that was registered in this process, in that order."""
    return list(_REGISTRATIONS)


@contextmanager
def blamed_on(kind: str, name: str) -> Iterator[None]:
    """Turn an error of a plug-in's own code into a sentence that names the plug-in.

    Parameters
    ----------
    kind, name : str
        As in an error: ``"sampler"``, ``"my-sampler"``.

    Raises
    ------
    JobError
        With the text of the error and its place in the plug-in; errors that are sentences already,
        a deadline, want of memory and Ctrl-C are passed on. What would end the program, such as
        SystemExit, is an error like any other.

    Examples
    --------
    >>> with blamed_on("sampler", "thirds"):
    ...     raise KeyError("a")
    Traceback (most recent call last):
    predict_graph.errors.JobError: the sampler 'thirds' failed: KeyError: 'a'
    """
    try:
        yield
    except (errors.PredictGraphError, StopRun, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise errors.JobError(
            f"the {kind} {name!r} failed{_place(error)}: {errors.described_error(error)}"
        ) from error


_NOT_OF_PLUGINS = {
    *("predict_graph", "samplers", "costmodels", "numpy", "scipy", "pandas", "sklearn", "numba"),
    *("pyspark", "py4j", "graphframes"),
}


def _place(error: BaseException) -> str:
    """Return file and line that raised an error, the innermost that is no library's; or nothing."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in _NOT_OF_PLUGINS | sys.stdlib_module_names:
            return f" ({Path(frame.f_code.co_filename).name}, line {line})"
    return ""


@cache
def _declared(group: str, path: tuple[str, ...]) -> dict[str, str]:
    """Return name and reference of the entry points of a group; what is installed can change with
    the path only, and looking it up takes milliseconds.
    """
    return {point.name: point.value for point in entry_points(group=group)}


def loaded(reference: Any) -> Any:
    """Return what ``"module:attribute"`` names; anything that is no text, as it is."""
    return resolve_name(reference) if isinstance(reference, str) else reference
