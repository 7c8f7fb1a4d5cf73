"""Names of a package that are imported when they are first used: importing it costs little."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pkgutil import get_data
from typing import Any


def lazily(package: str) -> tuple[Callable[[str], Any], list[str]]:
    """Return the ``__getattr__`` and ``__all__`` of a package.

    Its names are those that it imports ``if TYPE_CHECKING``, so that they are listed once.

    Examples
    --------
    >>> find, names = lazily("costmodels.occupancy")
    >>> find("occupancies_of").__module__, names[0]
    ('costmodels.occupancy.model', 'OccupancyModel')
    """
    homes = {
        alias.name: node.module
        for block in ast.parse(get_data(package, "__init__.py") or b"").body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return found, sorted(homes)
