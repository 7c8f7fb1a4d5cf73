"""A real cluster of processes: a master and two workers with addresses of their own."""

import os
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from predict_graph.algorithms import PageRank, check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark import SparkEngine, SparkSettings
from predict_graph.engines.spark.session.opening import open_session
from predict_graph.graph import check_graph
from predict_graph.graph.storage import write_edges
from tests.python import processes_of
from tests.refusals import failed

SILENT = 1200  # seconds
INTERVAL = 3  # of checkpoints, in supersteps


GRAPH = check_graph("rmat:scale=11,edge_factor=8,seed=1")


@pytest.mark.long
def test_a_cluster_that_is_too_small(cluster, quick_conf):
    limit = {"spark.scheduler.maxRegisteredResourcesWaitingTime": "1s", **quick_conf}
    settings = SparkSettings(master=cluster.master, machines=1, memory="9g", conf=limit)
    said = failed("gave 0 of the 1 machines asked for", open_session(settings).__enter__)
    assert "within 1 s" in said


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
def test_a_run_goes_on_when_an_executor_is_killed(cluster, quick_conf, tmp_path):
    place = tmp_path / "checkpoints"
    place.mkdir()
    settings = {"memory": "700m", "conf": quick_conf, "checkpoint": place}
    settings["checkpoint_interval"] = INTERVAL
    engine = SparkEngine(cluster.master, 2, collect=True, **settings)
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
            profile = engine.run(algorithm, GRAPH, progress=kill, write_to=written, **rule)
            again = len(ran) - len(set(ran))
            assert profile.result.get("supersteps_done_again", 0) == again
            assert 1 <= again <= INTERVAL
            assert profile.engine["executors_lost"] >= 1
            local = LocalEngine(workers=2).run(algorithm, GRAPH, **rule)
            np.testing.assert_allclose(profile.values, local.values, rtol=1e-9)
            np.testing.assert_allclose(profile.convergence, local.convergence, rtol=1e-9)
            assert written.is_dir()
        # One state is kept, that of the last superstep.
        assert len(list(place.glob("*/rdd-*"))) == 1
    assert list(place.iterdir()) == []


def bare_python(folder):
    """Return a Python with the packages of this one, and without this project."""
    packages = folder / "packages"
    packages.mkdir()
    for entry in Path(np.__file__).parents[1].iterdir():
        if entry.suffix != ".pth" and not entry.name.startswith("predict_graph"):
            (packages / entry.name).symlink_to(entry)
    python = folder / "python"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {sys.executable} -S "$@"\n'
    )
    python.chmod(0o755)
    return {"spark.pyspark.python": str(python)}


def test_two_workers_share_a_run_until_one_is_killed(cluster, quick_conf, tmp_path, monkeypatch):
    """The run that loses one ends with a sentence; the next one is done by who is left.

    Their Python has none of our packages: they get them. They do not see the folder of temporary
    files, which each process has for itself: they get the blocks, and all else by an address.

    What comes after this in the file has a cluster of its own.
    """
    conf = {"spark.network.timeout": f"{SILENT}s", **quick_conf, **bare_python(tmp_path)}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", "/proc/self/cwd")
    settings = {"memory": "700m", "conf": conf, "folder": f"file://{tmp_path}"}
    engine = SparkEngine(cluster.master, 2, collect=True, **settings)
    killed, ranks, top = [], tmp_path / "ranks.parquet", check_algorithm("topk-ranking")
    file = tmp_path / "graph.txt"
    write_edges(file, GRAPH)

    def kill_in_mid_superstep(iteration, _):
        if iteration == 2:
            killed.append(time.monotonic())
            threading.Timer(0.05, cluster.workers[1].kill).start()

    endless = {"threshold": 0.0, "max_iterations": 10_000, "progress": kill_in_mid_superstep}
    with engine.session():
        rule = {"threshold": 0.0, "max_iterations": 4}
        profile = engine.run(PageRank(), GRAPH, write_to=ranks, **rule)
        others = engine.run(top, GRAPH), engine.run_files(PageRank(), file)
        caught = failed(None, engine.run, PageRank(), GRAPH, **endless)
        # It would wait longer for one that is silent.
        assert time.monotonic() - killed[0] < 0.5 * SILENT
        after = engine.run(PageRank(), GRAPH, threshold=0.0, max_iterations=2)
    assert "an executor was lost with the data in its memory" in caught
    assert caught.startswith("superstep ")
    assert [found.engine["executors_lost"] for found in (profile, after)] == [0, 1]
    for found in (profile, after):
        limit = found.iterations
        local = LocalEngine(workers=2).run(PageRank(), GRAPH, threshold=0.0, max_iterations=limit)
        np.testing.assert_allclose(found.values, local.values, rtol=1e-9)
        np.testing.assert_allclose(found.convergence, local.convergence, rtol=1e-9)
    assert pd.read_parquet(ranks).sort_values("vertex")["value"].tolist() == profile.values.tolist()
    for algorithm, graph, found in zip((top, PageRank()), (GRAPH, file), others, strict=True):
        local = LocalEngine().run(algorithm, check_graph(graph))
        np.testing.assert_allclose(found.values, local.values, rtol=1e-9)
    assert processes_of(cluster.workers[1].process.pid) == []
    # Work was even, and half of all bytes were remote.
    totals = profile.features_total()
    remote, local = totals["remote_message_bytes"], totals["local_message_bytes"]
    assert 0.4 < remote / (remote + local) < 0.6
    assert (profile.table.groupby("iteration")["worker"].nunique() == 2).all()
    held = profile.table.loc[profile.table["iteration"] == 2, "total_vertices"]
    assert (held > 0.4 * held.sum()).all()


@pytest.mark.long
def test_a_driver_is_killed_in_mid_run(spark_here, quick_conf):
    from pyspark import SparkContext

    engine = SparkEngine(master="local[2]", workers=2, memory="700m", conf=quick_conf)

    def kill(iteration, _):
        os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)

    said = "Spark's driver process is gone"
    failed(said, engine.run, PageRank(), GRAPH, threshold=0.0, max_iterations=100, progress=kill)
    assert engine.run(PageRank(), GRAPH, threshold=0.0, max_iterations=1).iterations == 1
