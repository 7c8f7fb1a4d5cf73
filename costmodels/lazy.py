"""Names of a package that are imported when they are first used: importing it costs little."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, places: Mapping[str, str]) -> tuple[Callable[[str], Any], list[str]]:
    """Return the ``__getattr__`` and ``__all__`` of a package, by module below it to its names.

    Examples
    --------
    >>> find, names = lazily("json", {"decoder": "JSONDecoder"})
    >>> find("JSONDecoder"), names
    (<class 'json.decoder.JSONDecoder'>, ['JSONDecoder'])
    """
    homes = {name: home for home, names in places.items() for name in names.split()}

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return found, sorted(homes)
