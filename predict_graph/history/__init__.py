"""History: every run and sample run, kept in one SQLite file, to train later cost models."""

from __future__ import annotations

from predict_graph.history.record import RunRecord
from predict_graph.history.store import History, Imported, check_history, default_path
from predict_graph.machine import machine_identity

__all__ = [
    "History",
    "Imported",
    "RunRecord",
    "check_history",
    "default_path",
    "machine_identity",
]
