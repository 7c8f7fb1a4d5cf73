"""Progress that a library in C reports by itself: igraph's."""

from __future__ import annotations

from collections.abc import Callable

OnPercent = Callable[[float], None]


def reporter(form: str) -> Callable[[OnPercent | None], None] | None:
    """Return what makes a library call a function with percents; None where it reports nothing.

    With None it reports to nobody, as by default; which handler it had, it does not say.
    """
    return _igraph if form == "igraph" else None


def _igraph(call: OnPercent | None) -> None:
    import igraph

    igraph.set_progress_handler(None if call is None else lambda message, percent: call(percent))
