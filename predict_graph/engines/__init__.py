"""Engines: they run an algorithm on a graph and record counters and times of each iteration."""

from predict_graph.engines.base import ENGINES as ENGINES
from predict_graph.engines.base import Engine as Engine
from predict_graph.engines.profile import COUNTERS as COUNTERS
from predict_graph.engines.profile import OUT_EDGES as OUT_EDGES
from predict_graph.engines.profile import PHASES as PHASES
from predict_graph.engines.profile import TABLE_COLUMNS as TABLE_COLUMNS
from predict_graph.engines.profile import RunProfile as RunProfile
from predict_graph.engines.profile import SampleSummary as SampleSummary
from predict_graph.engines.profile import counters_of as counters_of
from predict_graph.engines.profile import critical_worker as critical_worker
from predict_graph.engines.profile import per_iteration as per_iteration
from predict_graph.engines.profile import spread_evenly as spread_evenly
from predict_graph.engines.runtime_model import Evidence as Evidence
from predict_graph.engines.runtime_model import RuntimeEstimate as RuntimeEstimate
from predict_graph.engines.runtime_model import RuntimeModel as RuntimeModel
from predict_graph.engines.runtime_model import StagedSample as StagedSample
from predict_graph.engines.runtime_model import Workload as Workload
