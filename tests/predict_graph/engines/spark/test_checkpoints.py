"""Runs that go on after an executor was lost: its process is killed, on a real cluster."""

import signal
from contextlib import suppress

import numpy as np
import psutil
import pytest

from predict_graph.algorithms import check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import check_graph

INTERVAL = 3


def kill_executor(worker):
    """Kill the executor of a worker, which the test has started; the worker stays."""
    executors = []
    for each in psutil.Process(worker.process.pid).children(recursive=True):
        with suppress(psutil.Error):  # one that is just ending has no command line
            if "CoarseGrainedExecutorBackend" in " ".join(each.cmdline()):
                executors.append(each)
    assert len(executors) == 1
    executors[0].send_signal(signal.SIGKILL)
    executors[0].wait(timeout=600)


@pytest.mark.long
@pytest.mark.spark
def test_a_run_goes_on_when_an_executor_is_killed(cluster, quick_conf, tmp_path):
    place = tmp_path / "checkpoints"
    place.mkdir()
    settings = {"memory": "700m", "conf": quick_conf, "checkpoint": place}
    settings["checkpoint_interval"] = INTERVAL
    engine = SparkEngine(cluster.master, 2, collect=True, **settings)
    graph = check_graph("rmat:scale=11,edge_factor=8,seed=1")
    with engine.session():
        for name, killed_after, worker in (("pagerank", 5, 0), ("neighborhood", 1, 1)):
            algorithm, ran, alive = check_algorithm(name), [], [True]

            def kill(iteration, _, ran=ran, alive=alive, at=killed_after, number=worker):
                ran.append(iteration)
                if iteration == at and alive:
                    alive.clear()
                    kill_executor(cluster.workers[number])

            rule = {"threshold": 0.0, "max_iterations": 8} if name == "pagerank" else {}
            written = tmp_path / f"{name}.parquet"
            profile = engine.run(algorithm, graph, progress=kill, write_to=written, **rule)
            again = len(ran) - len(set(ran))
            assert profile.result.get("supersteps_done_again", 0) == again
            assert 1 <= again <= INTERVAL
            assert profile.engine["executors_lost"] >= 1
            local = LocalEngine(workers=2).run(algorithm, graph, **rule)
            np.testing.assert_allclose(profile.values, local.values, rtol=1e-9)
            np.testing.assert_allclose(profile.convergence, local.convergence, rtol=1e-9)
            assert written.is_dir()
        # One state is kept, that of the last superstep.
        assert len(list(place.glob("*/rdd-*"))) == 1
    assert list(place.iterdir()) == []
