"""Who says what an engine charges: the engine itself, or sample runs on it."""

from __future__ import annotations

import inspect
from typing import Any

from predict_graph.engines import Costing, Engine
from predict_graph.plugins import loaded
from predict_graph.prediction.seconds.learned import LearnedCosting

__all__ = ["costing_of"]


def costing_of(engine: Engine | Any) -> type[Costing]:
    """Return the costing of an engine, or of a class of engines.

    That of its own class, if it declares one; an engine that inherits a costing but runs otherwise
    than the class that it has it from is learned, as is one that declares none.

    Examples
    --------
    >>> from predict_graph.engines.local import LocalEngine
    >>> class Slower(LocalEngine):
    ...     name = "slower"
    ...
    ...     def run(self, *arguments, **options):
    ...         return super().run(*arguments, **options)
    >>> costing_of(LocalEngine).__name__, costing_of(Slower).__name__
    ('LocalCosting', 'LearnedCosting')
    """
    kind: Any = engine if inspect.isclass(engine) else type(engine)
    for ancestor in getattr(kind, "__mro__", ()):
        own = vars(ancestor).get("costing")
        if own is not None and kind.run is ancestor.run:
            found: type[Costing] = loaded(own)
            return found
        if "run" in vars(ancestor):
            break
    return LearnedCosting
