"""History: every run and sample run, kept in one SQLite file, to train later cost models."""

from predict_graph.history.record import RunRecord as RunRecord
from predict_graph.history.store import History as History
from predict_graph.history.store import Imported as Imported
from predict_graph.history.store import check_history as check_history
from predict_graph.history.store import default_path as default_path
from predict_graph.machine import machine_identity as machine_identity
