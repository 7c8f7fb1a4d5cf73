"""Peak memory: the object, what there is, footprints of kernels, and real processes."""

import json
import resource
import subprocess
import sys

import numpy as np
import pytest

from predict_graph.algorithms import VertexProgram, check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.footprint import Footprint, footprint_of, measured_footprint
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.graph.storage import save_graph
from predict_graph.prediction.memory import PeakMemory, available_memory, peak_memory
from predict_graph.prediction.memory.available import cgroup_rooms, resident_memory
from predict_graph.prediction.memory.reading import reading_of

GB = 10**9
UNDIRECTED = ("connected-components", "semi-clustering")


@pytest.mark.parametrize(
    ("available", "fits", "sentence"),
    [
        (24 * GB, True, "fits in 2.1 of 24 GB"),
        (int(2.0 * GB), None, "may not fit: needs 1.8 to 2.5 GB, there are 2"),
        (int(1.5 * GB), False, "needs 2.1 GB, there are 1.5"),
    ],
)
def test_a_peak_is_held_against_what_there_is(available, fits, sentence):
    peak = PeakMemory(int(2.1 * GB), int(1.8 * GB), int(2.5 * GB), available)
    assert peak.fits is fits
    assert peak.sentence == sentence
    assert json.loads(json.dumps(peak.to_dict()))["fits"] is fits


def test_a_control_group_of_version_2_and_those_above_it_limit(tmp_path):
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (inner / "memory.max").write_text("max\n")
    (inner / "memory.current").write_text("100\n")
    (inner.parent / "memory.max").write_text("5000\n")
    (inner.parent / "memory.current").write_text("2000\n")
    (inner.parent / "memory.stat").write_text("anon 1500\ninactive_file 400\n")
    assert cgroup_rooms("0::/outer/inner\n", v2=tmp_path) == [3400]


def test_a_control_group_of_version_1_limits(tmp_path):
    group = tmp_path / "job"
    group.mkdir()
    (group / "memory.limit_in_bytes").write_text("7000\n")
    (group / "memory.usage_in_bytes").write_text("6500\n")
    (tmp_path / "memory.limit_in_bytes").write_text("9223372036854771712\n")  # no limit
    (tmp_path / "memory.usage_in_bytes").write_text("6500\n")
    groups = "5:cpuset:/\n4:cpu,memory:/job\n0::/\n"
    assert cgroup_rooms(groups, v1=tmp_path, v2=tmp_path / "none") == [500]


def test_available_memory_is_what_the_machine_has_or_the_limit_of_the_process():
    assert resident_memory() < available_memory() < 1 << 50
    limit = 3 << 30
    code = "from predict_graph.prediction.memory.available import available_memory as a; print(a())"
    found = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(found.stdout) <= limit


@pytest.mark.parametrize(
    "name",
    ["pagerank", "connected-components", "neighborhood", "topk-ranking", "semi-clustering"],
)
def test_what_a_kernel_declares_is_what_it_allocates(name):
    graph = check_graph(
        "rmat:scale=15,edge_factor=6", directed=False if name in UNDIRECTED else None
    )
    algorithm = check_algorithm(name)
    declared, found = footprint_of(algorithm, graph), measured_footprint(algorithm, graph)
    assert declared is not None
    assert declared.reverse == found.reverse or not graph.directed
    n, m = graph.vertices, graph.edges
    assert declared.beside(n, m) == pytest.approx(found.beside(n, m), rel=0.25)


class _Keeps(VertexProgram):
    name = "keeps"
    summary = "keeps ten numbers a vertex"
    combiner = "min"
    kept = 10

    def initial(self, graph):
        self.table = np.zeros((graph.vertices, self.kept))
        return np.arange(graph.vertices)

    def update(self, state, combined, received):
        return np.minimum(state, combined)


class _KeepsMore(_Keeps):
    name = "keeps-more"
    kept = 30


class _Wants(_Keeps):
    name = "wants"

    def initial(self, graph):
        return np.arange(graph.vertices) + 0 * graph.indptr[20_000]


def test_what_a_vertex_program_keeps_is_measured():
    graph = check_graph("rmat:scale=15,edge_factor=6")
    few, many = footprint_of(_Keeps(), graph), footprint_of(_KeepsMore(), graph)
    assert many.vertex_bytes - few.vertex_bytes == pytest.approx(20 * 8, rel=0.1)
    assert few.reverse


def test_a_program_that_needs_its_whole_graph_is_not_said_to_fit_for_certain():
    graph = check_graph("rmat:scale=15,edge_factor=6")
    assert footprint_of(_Wants(), graph) is None
    unknown = peak_memory(graph, _Wants(), LocalEngine())
    known = peak_memory(graph, _Keeps(), LocalEngine())
    assert unknown.high - unknown.low > known.high - known.low


def test_footprints_add_vertices_and_edges():
    assert Footprint(10, 2).beside(3, 4) == 38


def test_reading_knows_how_many_edges_a_file_lists(tmp_path):
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=1")
    lines = [f"{v}\t{w}\n" for v in range(graph.vertices) for w in graph.neighbors(v)]
    once, thrice = tmp_path / "once.txt", tmp_path / "thrice.txt"
    once.write_text("".join(lines))
    thrice.write_text("".join(lines) * 3)
    read = check_graph(str(thrice))
    least = reading_of(str(once), read).left_over
    assert reading_of(str(thrice), read).left_over == pytest.approx(3 * least, rel=0.02)


def test_a_stored_graph_stays_in_its_file(tmp_path):
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=1")
    folder = str(save_graph(graph, tmp_path / "graph.pgraph"))
    assert reading_of(folder, check_graph(folder)).mapped
    assert reading_of(folder, check_graph(folder, directed=False)).peak > graph.nbytes


def test_other_engines_are_refused():
    class Elsewhere:
        name = "elsewhere"

    with pytest.raises(RequestError, match="elsewhere"):
        peak_memory(check_graph("path:n=4"), check_algorithm("pagerank"), Elsewhere())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source", "small"),
    [
        ("pagerank", "rmat:scale=18,edge_factor=16,seed=1", "rmat:scale=12"),
        ("connected-components", "grid:rows=600,columns=500", "grid:rows=60,columns=50"),
    ],
)
def test_the_peak_of_a_real_run_is_in_the_interval(name, source, small, warm_python):
    arguments = ["-m", "predict_graph", "run", name]
    first = warm_python.run([*arguments, small, "--history", "none"])
    assert first.returncode == 0, first.stderr  # it compiles what is not in the cache yet
    words = [sys.executable, *arguments, source, "--history", "none"]
    # A small process starts it: the peak of a child is at least what its parent held.
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=-3); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    held = 1024 * int(done.stdout)
    graph = check_graph(source, directed=False if name in UNDIRECTED else None)
    peak = peak_memory(graph, check_algorithm(name), LocalEngine(), source)
    assert peak.low <= held <= peak.high
