"""Progress that a library in C reports by itself: igraph's."""

from __future__ import annotations

from collections.abc import Callable


def reporter(form: str) -> Callable[[Callable[[float], None]], None] | None:
    """Return what makes a library call a function with percents; None where it reports nothing."""
    return _igraph if form == "igraph" else None


def _igraph(call: Callable[[float], None]) -> None:
    import igraph

    igraph.set_progress_handler(lambda message, percent: call(percent))


def silence(form: str) -> None:
    """Let a library report to nobody, as by default; which handler it had, it does not say."""
    if form == "igraph":
        import igraph

        igraph.set_progress_handler(None)
