"""A page and Prometheus metrics of what remains of all applications that run at a place."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template
from typing import NoReturn

from predict_graph.addresses import host_and_port, place
from predict_graph.clock.applications import Application, Watch, running_at
from predict_graph.clock.moment import Moment
from predict_graph.durations import counted, readable_seconds
from predict_graph.engines.spark.log.status import ApplicationStatus
from predict_graph.errors import PredictGraphError, RequestError, explained_by_system
from predict_graph.intervals import Interval
from predict_graph.printable import printable

_KEPT = 600.0  # limits how long one that has ended is shown, in seconds
_PAGE = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
_PART = """<section><h2>{name}</h2><p>{text}</p>
<progress max="1" value="{share:.3f}">{share:.0%}</progress></section>"""


@dataclass
class _Followed:
    """An application, its newest moment, and when that was."""

    name: str
    moment: Moment | None = None
    at: float = field(default_factory=time.monotonic)
    problem: str = ""

    @property
    def ended(self) -> bool:
        return bool(self.problem) or (self.moment is not None and self.moment.state == "ended")

    @property
    def gone(self) -> float:
        return time.monotonic() - self.at

    @property
    def text(self) -> str:
        """What is known in a line: progress, remaining time, elapsed time."""
        moment = self.moment
        if self.problem or moment is None:
            return self.problem or "nothing known yet"
        if moment.state == "ended":
            return f"ended after {readable_seconds(moment.elapsed)}"
        now = moment.after(self.gone)
        parts = (now.progress("iteration"), now.left, f"{readable_seconds(now.elapsed)} elapsed")
        return ", ".join(filter(None, parts))


class Board:
    """What remains of each application that runs at a place.

    Parameters
    ----------
    source : str
        Address of an application or of a history server, or a folder of event logs.
    watch : callable
        Makes the :class:`Watch` of an application.
    """

    def __init__(self, source: str, watch: Callable[[Application], Watch]) -> None:
        self.source, self._watch = source, watch
        self._followed: dict[str, _Followed] = {}

    def look(self) -> None:
        """Follow applications that are new, and forget those that ended some time ago.

        One that was killed is still listed in a folder: it is kept, as it would be followed again.
        """
        running = running_at(self.source)
        for application in running:
            known = self._followed.get(application.key)
            # An address lists what runs: YARN has begun a new attempt, or its page answers again.
            anew = isinstance(application, ApplicationStatus) and known and known.ended
            if known is None or (anew and not known.problem):
                self._followed[application.key] = _Followed(application.name)
                threading.Thread(target=self._follow, args=(application,), daemon=True).start()
        listed = {application.key for application in running}
        for key, followed in [*self._followed.items()]:
            if followed.ended and followed.gone > _KEPT and key not in listed:
                del self._followed[key]

    def _follow(self, application: Application) -> None:
        watch, followed = self._watch(application), self._followed[application.key]
        while application.key in self._followed:  # what was silent may go on
            try:
                for moment in watch.moments():
                    followed.name, followed.at = application.name, time.monotonic()
                    followed.moment, followed.problem = moment, ""
                return
            except PredictGraphError as error:
                followed.problem = str(error)
                time.sleep(1.0)

    def page(self) -> str:
        """Return the page; it loads itself anew."""
        followed = [*self._followed.values()]  # another thread adds to them
        parts = (
            _PART.format(
                name=escape(printable(each.name)),
                text=escape(each.text),
                share=0.0 if each.moment is None else each.moment.share,
            )
            for each in reversed(followed)
        )
        return _PAGE.substitute(
            title=counted(sum(not each.ended for each in followed), "running applications"),
            parts="\n".join(parts),
            place=escape(self.source),
        )

    def metrics(self) -> str:
        """Return the metrics in the text format of Prometheus."""
        lines = []
        for name, (attribute, text) in _METRICS.items():
            metric = f"predict_graph_application_{name}"
            lines += [f"# HELP {metric} {text}", f"# TYPE {metric} gauge"]
            for key, each in [*self._followed.items()]:
                if each.moment is not None and not each.ended:
                    labels = f'application="{_quoted(key)}",name="{_quoted(each.name)}"'
                    known = getattr(each.moment.after(each.gone), attribute)
                    for label, value in _by_label(known).items():
                        lines.append(f"{metric}{{{labels}{label}}} {value:.6g}")
        return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return printable(text).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _by_label(value: Interval | float | None) -> dict[str, float]:
    """Return a value by its further labels: an interval has one for each of its three values."""
    if isinstance(value, Interval):
        return {f',bound="{name}"': end for name, end in value.to_dict().items()}
    return {} if value is None else {"": value}


_METRICS = {
    "elapsed_seconds": ("elapsed", "Seconds since the application began."),
    "iterations": ("done", "Finished iterations of the current loop."),
    "iterations_expected": ("of", "Iterations of the current loop in all, with a 90% interval."),
    "remaining_seconds": ("remaining", "Seconds until the end, with a 90% interval."),
}
"""Of each metric the attribute of a :class:`Moment`, and its help."""


@contextmanager
def served(board: Board, where: str) -> Iterator[str]:
    """Serve the page of a board at ``/`` and its metrics at ``/metrics``; give the address.

    Parameters
    ----------
    where : str
        A port of 127.0.0.1, or ``HOST:PORT``.

    Raises
    ------
    RequestError
        If that is none, or is taken.
    """
    found = host_and_port(where)
    if found is None:
        raise RequestError(f"--serve is {where!r}; accepted: PORT, or HOST:PORT")

    host, port = found[0] or "127.0.0.1", found[1]

    class Server(ThreadingHTTPServer):
        address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            makers = {"/": (board.page, "html"), "/metrics": (board.metrics, "plain")}
            if self.path not in makers:
                self.send_error(404)
                return
            make, kind = makers[self.path]
            content = make().encode()
            self.send_response(200)
            self.send_header("Content-Type", f"text/{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with explained_by_system(f"cannot serve at {where}"):
        server = Server((host, port), Handler)
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{place(host, server.server_port)}"
        server.shutdown()


def serve(board: Board, every: float = 5.0) -> NoReturn:
    """Look for new applications until it is interrupted; a place that is lost comes back."""
    while True:
        time.sleep(every)
        with suppress(PredictGraphError):  # an application's own address is gone with it
            board.look()
