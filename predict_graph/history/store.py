"""The history: add runs, list them, read them back, prune them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from predict_graph.errors import PredictGraphError, RequestError
from predict_graph.files import written_beside
from predict_graph.history.database import FIELDS, compact, reading, writing
from predict_graph.history.record import KINDS, RunRecord
from predict_graph.history.rows import frame_of, insert, read_tables, select, utc_text
from predict_graph.inputs import Input

if TYPE_CHECKING:
    import pandas as pd


ENVIRONMENT = "PREDICT_GRAPH_HISTORY"


class Imported(NamedTuple):
    """How many runs an import added, and how many it skipped because they were there."""

    added: int
    skipped: int


def default_path() -> Path | None:
    """Return where the history is kept: ``PREDICT_GRAPH_HISTORY``, or the user's data folder.

    None when the variable is ``none``: no history is kept.
    """
    named = os.environ.get(ENVIRONMENT)
    if named:
        return None if named == "none" else Path(os.path.expanduser(named))
    from platformdirs import user_data_path

    return user_data_path("predict-graph", appauthor=False) / "history.sqlite"


def check_history(value: History | str | os.PathLike[str] | bool | None) -> History | None:
    """Return the history that `value` stands for.

    Parameters
    ----------
    value : History, path, bool or None
        A history is returned as it is; a path is opened; ``"none"`` and False mean no history;
        None and True mean the default place (see :func:`default_path`), which may be none.

    Raises
    ------
    RequestError
        If `value` is of another type.

    Examples
    --------
    >>> check_history("none") is None
    True
    >>> check_history("runs.sqlite")
    History('runs.sqlite')
    """
    if value is None or value is True:
        value = default_path() or False
    if value is False or value == "none":
        return None
    if isinstance(value, str | os.PathLike):
        return History(value)
    if isinstance(value, History):
        return value
    raise RequestError(
        f"a history cannot be a {type(value).__name__}; accepted: a path, 'none', a History, "
        "True, False or None"
    )


class History:
    """Runs and sample runs in one SQLite file.

    The file is made by the first run that is added. Each call opens the file, does one
    transaction and closes it, so that any number of processes and threads can share it; what was
    added is safe on disk when :meth:`add` returns.

    Parameters
    ----------
    path : path, optional
        The file; None means the default place.

    Raises
    ------
    RequestError
        By every method: if the file is damaged, of another program or of a newer version.
    JobError
        By every method: if the file cannot be read or written.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        place = default_path() if path is None else Path(os.path.expanduser(path))
        if place is None or path == "":
            raise RequestError(
                f"no history file is named: {ENVIRONMENT} is 'none' or the path is empty"
            )
        self.path: Path = place

    def __repr__(self) -> str:
        return f"History({str(self.path)!r})"

    def __len__(self) -> int:
        with reading(self.path) as connection:
            (count,) = connection.execute("SELECT count(*) FROM runs").fetchone()
            return int(count)

    def add(self, record: RunRecord) -> int:
        """Keep a run.

        Returns
        -------
        int
            Its id in this file.

        Raises
        ------
        RequestError
            If the run (by its `uid`) is already there.
        """
        with writing(self.path) as connection:
            number = insert(connection, record)
            if number is None:
                raise RequestError(f"the run {record.uid} is already in the history {self.path}")
            return number

    def add_all(self, records: Iterable[RunRecord]) -> Imported:
        """Keep several runs in one transaction; those already there are skipped."""
        with writing(self.path) as connection:
            numbers = [insert(connection, record) for record in records]
        added = sum(number is not None for number in numbers)
        return Imported(added, len(numbers) - added)

    def keep(self, records: Iterable[RunRecord]) -> None:
        """Add runs if that is possible; else warn, as what was measured is worth its answer."""
        try:
            self.add_all(records)
        except PredictGraphError as error:
            warnings.warn(f"{error}; the run is not kept", stacklevel=2)

    def runs(
        self,
        algorithm: str | None = None,
        graph: str | None = None,
        kind: str | None = None,
        limit: int | None = None,
    ) -> pd.DataFrame:
        """List runs, newest first.

        Parameters
        ----------
        algorithm, graph, kind : str, optional
            Only runs of this algorithm, graph name or kind (``run``, ``sample`` or ``all``).
        limit : int, optional
            Only the newest ones.

        Returns
        -------
        DataFrame
            The fields of :class:`RunRecord` without the table; with ``id``, ``rows`` (of the
            table) and ``seconds`` (sum of the phases).
        """
        if kind not in (None, *KINDS, "all"):
            raise RequestError(f"unknown kind of run {kind!r}; accepted: {', '.join(KINDS)}, all")
        if limit is not None and limit < 0:
            raise RequestError(f"the limit of runs is {limit}, but must be 0 or more")
        where = {"algorithm": algorithm, "graph": graph, "kind": None if kind == "all" else kind}
        with reading(self.path) as connection:
            return frame_of([*select(connection, self.path, where, limit)])

    def table(self, run_id: int) -> pd.DataFrame:
        """Return the table of a run: one row an iteration and worker.

        Raises
        ------
        RequestError
            If there is no such run.
        """
        return self.record(run_id).table

    def record(self, run_id: int) -> RunRecord:
        """Return a run as it was added.

        Raises
        ------
        RequestError
            If there is no such run.
        """
        found = self.records({"id": run_id})
        if not found:
            raise RequestError(f"there is no run {run_id} in the history {self.path}")
        return found[0]

    def training_runs(
        self,
        algorithm: str,
        engine: Mapping[str, Any],
        machine: str | None,
        exclude_fingerprint: str | None = None,
        *,
        kinds: Sequence[str] = ("run",),
        limit: int = 20,
        accepts: Callable[[Mapping[str, Any]], bool] = lambda parameters: True,
    ) -> list[RunRecord]:
        """Return the runs that may train the cost model of a prediction, newest first.

        Parameters
        ----------
        algorithm : str
            Same algorithm.
        engine : mapping
            Same engine: every key given here has the same value in the run.
        machine : str or None
            Same machine, see :func:`~predict_graph.history.machine_identity`; None for any.
        exclude_fingerprint : str, optional
            The graph that is predicted; its runs, and those of its samples, are left out.
        kinds : sequence of str, default ("run",)
            Kinds of runs to take.
        limit : int, default 20
            Only the newest ones: machines and programs change.
        accepts : callable, optional
            Takes the parameters of a run, and returns whether it may be taken.
        """

        def fits(run: Mapping[str, Any]) -> bool:
            return (
                run["kind"] in kinds
                and run["rows"] > 0
                and (machine is None or run["machine"] == machine)
                and all(run["engine"].get(key) == value for key, value in engine.items())
                and exclude_fingerprint not in (run["fingerprint"], run["sample_of"] or "")
                and accepts(run["parameters"])
            )

        return self.records({"algorithm": algorithm}, fits, limit)

    def runs_of(
        self, algorithm: str, fingerprint: str, parameters: Mapping[str, Any], limit: int = 5
    ) -> list[RunRecord]:
        """Return the real runs of an algorithm on one graph, newest first.

        Parameters
        ----------
        algorithm : str
        fingerprint : str
            Of the graph.
        parameters : mapping
            Of the algorithm: all the same.
        limit : int, default 5
            Only the newest ones.
        """
        where = {"algorithm": algorithm, "fingerprint": fingerprint, "kind": "run"}
        return self.records(where, lambda run: run["parameters"] == dict(parameters), limit)

    def prune(self, *, keep: int | None = None, older_than: timedelta | float | None = None) -> int:
        """Forget old runs and give their space back.

        Parameters
        ----------
        keep : int, optional
            Keep this many of the newest runs.
        older_than : timedelta or float, optional
            Forget runs older than this; a number is days. Give one of the two.

        Returns
        -------
        int
            How many runs were forgotten.

        Raises
        ------
        RequestError
            If not exactly one of the two is given, or it is negative.
        """
        if (keep is None) == (older_than is None):
            raise RequestError(
                "pruning needs one of two: how many runs to keep (--keep), or their greatest age "
                "(--older-than)"
            )
        if keep is not None and keep < 0:
            raise RequestError(f"the number of runs to keep is {keep}, but must be 0 or more")
        oldest = _time_before(older_than) if keep is None else datetime.max.replace(tzinfo=UTC)
        if not self.path.exists():
            return 0
        with writing(self.path) as connection:
            gone: int = connection.execute(
                "DELETE FROM runs WHERE time < ? AND id NOT IN "
                "(SELECT id FROM runs ORDER BY time DESC, id DESC LIMIT ?)",
                (utc_text(oldest), keep or 0),
            ).rowcount
        if gone:
            compact(self.path)
        return gone

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write all runs to another history file.

        Parameters
        ----------
        path : path
            Ends in ``.sqlite``; replaced if it is there.

        Returns
        -------
        int
            How many runs were written.

        Raises
        ------
        RequestError
            If the name has another ending.
        JobError
            If the file cannot be written; nothing is left half written.
        """
        path, runs = Path(path), self.records()
        if path.suffix != ".sqlite":
            raise RequestError(f"cannot export to {path}; accepted: a name in .sqlite")
        with written_beside(path) as beside:
            return History(beside).add_all(reversed(runs)).added

    def import_(self, path: str | os.PathLike[str]) -> Imported:
        """Add the runs of a file that :meth:`export` wrote, all or none; skip those already here.

        Raises
        ------
        RequestError
            If the file is missing or not such a file.
        """
        other = Path(path)
        with Input(other) as file:
            # SQLite reads a file here and there, so not a stream.
            if file.stream or not file.peek(6, 6).startswith(b"SQLite"):
                raise RequestError(f"{other} is no history to import; accepted: a file of export")
        return self.add_all(reversed(History(file.path).records()))

    def records(
        self,
        where: Mapping[str, Any] = {},
        fits: Callable[[Mapping[str, Any]], bool] = lambda run: True,
        limit: int | None = None,
    ) -> list[RunRecord]:
        """Return runs with their tables, newest first.

        Parameters
        ----------
        where : mapping, optional
            Values of fields; by default all runs are returned.
        fits : callable
            Takes the fields of a run, and returns whether it is wanted.
        limit : int, optional
            Only the newest ones.
        """
        with reading(self.path) as connection:
            found = [run for run in select(connection, self.path, where, None) if fits(run)][:limit]
            tables = dict(read_tables(connection, self.path, [run["id"] for run in found]))
        return [
            RunRecord(rows=tables[run["id"]], **{name: run[name] for name in FIELDS})
            for run in found
        ]


def _time_before(older_than: timedelta | float | None) -> datetime:
    """Return the time that runs to forget are older than."""
    with suppress(ValueError, OverflowError):  # not a number, or before the year 1
        age = older_than if isinstance(older_than, timedelta) else timedelta(days=older_than or 0)
        if age >= timedelta(0):
            return datetime.now(UTC) - age
    raise RequestError(
        f"the age of runs to forget is {older_than}, but must be 0 or more, and after the year 1"
    )
