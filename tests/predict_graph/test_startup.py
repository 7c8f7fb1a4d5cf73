"""What a prediction imports and compiles before it can begin, counted, not timed."""

import json
from types import SimpleNamespace

import pytest

from predict_graph import compiled
from predict_graph.graph import check_graph
from predict_graph.graph.storage import write_edges
from predict_graph.stopwatch import Stopwatch, imported
from tests.python import python
from tests.refusals import refused

HEAVY = [
    "sklearn",
    "scipy.stats",
    "scipy.optimize",
    "matplotlib",
    "networkx",
    "pyspark",
    "predict_graph.engines.spark.engine",
    "predict_graph.prediction.seconds.cluster",
]

PREDICT = f"""
import json, sys
from numba.core import event
from predict_graph.cli import main
listener = event.RecordingListener()
event.register("numba:compile", listener)
try:
    main(sys.argv[1:])
finally:
    names = [str(e.data["dispatcher"]) for _, e in listener.buffer if e.is_start]
    print(json.dumps([names, [m for m in {HEAVY!r} if m in sys.modules]]), file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["pagerank", "semi-clustering"])
def test_a_prediction_compiles_nothing_after_setup(algorithm, tmp_path):
    compiled._use(algorithm)
    file = tmp_path / "graph.txt"
    write_edges(file, check_graph("barabasi-albert:n=3000,m=5,seed=3"))
    done = python("-c", PREDICT, "predict", algorithm, file, "--budget", "none", "-q")
    compiled_functions, heavy = json.loads(done.stderr.splitlines()[-1])
    assert compiled_functions == []
    assert heavy == []


def test_a_folder_that_cannot_keep_compiled_code_is_refused_at_once(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/proc/none")
    refused("/proc/none .NUMBA_CACHE_DIR. cannot keep compiled code", compiled.compile_kernels)


def test_an_import_does_not_count_as_reading(monkeypatch, tmp_path):
    clock = SimpleNamespace(now=0.0, perf_counter=lambda: clock.now)
    monkeypatch.setattr("predict_graph.stopwatch.time", clock)
    slow = "from predict_graph.stopwatch import time as t\nt.now += 1"
    (tmp_path / "slow_to_import.py").write_text(slow)
    monkeypatch.syspath_prepend(str(tmp_path))
    watch = Stopwatch()
    assert imported("slow_to_import").t is clock
    assert watch.seconds == pytest.approx(0.0, abs=1e-6)
