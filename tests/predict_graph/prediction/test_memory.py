"""Peak memory: the object, what there is, footprints of kernels, and real processes."""

import resource
import sys

import numpy as np
import pytest

import predict_graph
from predict_graph import machine
from predict_graph.engines.local.kernel import kernel_of
from predict_graph.engines.local.team import Team, available_threads
from predict_graph.intervals import Interval
from predict_graph.memory import available_memory, cgroup_rooms, resident_memory
from predict_graph.outcome import PeakMemory
from predict_graph.prediction.memory import peak_memory
from tests.graphs import job_and_graph
from tests.paces import peak_bytes
from tests.python import python

GIB = 2**30


PEAKS = [
    (24 * GIB, True, "fits in memory: up to 2.5 GiB, and 24 GiB are free"),
    (2.2 * GIB, None, "may not fit in memory: up to 2.5 GiB, and 2.2 GiB are free"),
    (
        2 * GIB,
        None,
        "probably does not fit in memory: about 2.1 GiB, up to 2.5 GiB, and 2 GiB are free",
    ),
    (GIB, False, "does not fit in memory: 1.8 GiB to 2.5 GiB, and 1 GiB are free"),
]


@pytest.mark.parametrize(("available", "fits", "sentence"), PEAKS)
def test_a_peak_is_held_against_what_there_is(available, fits, sentence):
    peak = PeakMemory(Interval(2.1 * GIB, 1.8 * GIB, 2.5 * GIB), available)
    assert peak.fits is fits
    assert peak.sentence == sentence


GROUPS = {
    "version 2, and those around": (
        "0::/outer/inner\n",
        {
            "outer/inner/memory.max": "max",
            "outer/inner/memory.current": "100",
            "outer/memory.max": "5000",
            "outer/memory.current": "2000",
            "outer/memory.stat": "anon 1500\ninactive_file 400",
        },
        [3400],
    ),
    "version 1": (
        "5:cpuset:/\n4:cpu,memory:/job\n0::/\n",
        {
            "memory/job/memory.limit_in_bytes": "7000",
            "memory/job/memory.usage_in_bytes": "6500",
            "memory/job/memory.stat": "total_inactive_file 0",
        },
        [500],
    ),
}


@pytest.mark.parametrize(("listed", "files", "rooms"), GROUPS.values(), ids=GROUPS)
def test_control_groups_limit(written, tmp_path, monkeypatch, listed, files, rooms):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    monkeypatch.setattr(machine, "_CGROUPS", tmp_path)
    monkeypatch.setattr(machine, "_LISTED", written(listed, "listed"))
    assert list(cgroup_rooms()) == rooms


def test_available_memory_is_what_the_machine_has_or_the_limit_of_the_process():
    assert resident_memory() < available_memory() < 1 << 50
    limit = 3 << 30
    code = "from predict_graph.memory import available_memory as a; print(a())"
    limits = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))}
    assert int(python("-c", code, **limits).stdout) <= limit


KERNELS = ["pagerank", "connected-components", "neighborhood", "topk-ranking", "semi-clustering"]


@pytest.mark.parametrize("name", KERNELS)
def test_what_a_kernel_declares_is_what_it_allocates(name):
    algorithm, graph = job_and_graph(name, "rmat:scale=15,edge_factor=6")
    build = kernel_of(algorithm)
    values = () if algorithm.prior is None else (np.arange(float(graph.vertices)),)
    graph.out_degrees, graph.reverse  # noqa: B018, cached: part of the graph

    def run():
        kernel = build(algorithm, graph, Team(available_threads()), *values)
        steps = [kernel.step() for _ in range(3)][-1:]
        return steps, kernel.values, kernel.summary()

    run()  # loads modules
    declared = build.footprint(algorithm, graph.indices.itemsize)
    held = declared.beside(graph.vertices, graph.edges, available_threads())
    assert held == pytest.approx(peak_bytes(run), rel=0.25)


REAL_RUNS = [
    ("pagerank", "rmat:scale=17,edge_factor=16,seed=1", "rmat:scale=12"),
    ("connected-components", "grid:rows=400,columns=400", "grid:rows=60,columns=50"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "source", "small"), REAL_RUNS)
def test_the_peak_of_a_real_run_is_in_the_interval(name, source, small):
    arguments = ["-m", "predict_graph", "run", name]
    predict_graph.run(name, small)  # compiles what is not in the cache yet
    # A small process starts it: the peak of a child is at least what its parent held.
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=-3); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    held = 1024 * int(python("-c", code, sys.executable, *arguments, source).stdout)
    algorithm, graph = job_and_graph(name, source)
    assert peak_memory(graph, algorithm).peak.contains(held)
