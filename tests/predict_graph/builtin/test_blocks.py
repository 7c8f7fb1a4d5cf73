"""Block programs count, send and find what local kernels do, on any number of blocks."""

import pickle
from copy import copy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from predict_graph.algorithms import ALGORITHMS, check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark.blocks.on_executors import sent, written
from predict_graph.engines.spark.blocks.program import DRIVER, advanced, begun, results, run_of
from predict_graph.engines.spark.blocks.running import together
from predict_graph.engines.spark.blocks.stored import Blocks, block_keys, opened, write_blocks
from predict_graph.graph.build import from_edges
from tests.predict_graph.builtin.small import DIRECTED, UNDIRECTED

CASES = [
    *((name, {}) for name in ALGORITHMS.names() if "spark" in ALGORITHMS.get(name).runs_on),
    ("pagerank", {"dangling": "drop"}),
    ("personalised-pagerank", {"source": "0", "dangling": "drop"}),
    ("shortest-paths", {"landmarks": "0,0"}),
    ("topk-ranking", {"k": 2}),
    ("neighborhood", {"registers": 16}),
    ("semi-clustering", {"c_max": 3, "s_max": 2, "v_max": 4}),
]


def drawn(directed, weighted):
    """Random edges with loops, and vertices without any."""
    rng = np.random.default_rng(5)
    ends = np.concatenate((rng.integers(0, 50, (2, 180)), [[3, 61, 62, 7], [3, 62, 63, 7]]), axis=1)
    weights = (rng.integers(1, 16, 184) / 4).astype(np.float32) if weighted else None
    return from_edges(*ends, vertices=66, directed=directed, weights=weights)


class Cluster:
    """A run whose blocks are all in this process."""

    def __init__(self, algorithm, graph, blocks, machines, folder, prior):
        folder.mkdir()
        stored = Blocks(folder, block_keys(blocks), machines, graph.vertices)
        write_blocks(graph, stored)
        self.run = run_of(str(folder), algorithm.part_for("spark"), algorithm, stored, graph, prior)
        self.settle(begun([pa.record_batch([pa.array(stored.keys)], ["id"])], self.run))

    def settle(self, batches):
        rows = pa.Table.from_batches(list(batches)).to_pylist()
        self.rows = [row for row in rows if row["to"] != DRIVER]
        found = [pickle.loads(row["data"]) for row in rows if row["to"] == DRIVER]
        self.counts = pd.DataFrame([facts for facts, _ in found])
        self.sums = together([sums for _, sums in found])

    def received(self):
        for key in self.run.blocks.keys:
            yield pa.Table.from_pylist([row for row in self.rows if row["to"] == key]).to_batches()

    def advance(self):
        arrived = list(self.received())
        self.settle(batch for each in arrived for batch in advanced(each, self.run, self.sums))
        return self.run.program.convergence(self.sums, self.run.blocks.vertices)

    def values(self):
        found = [batch for each in self.received() for batch in results(each, self.run)]
        table = pa.Table.from_batches(found).to_pandas().sort_values("id")
        values = table.drop(columns="id").to_numpy()
        return values[:, 0] if list(table) == ["id", "value"] else values


def check(algorithm, graph, blocks, folder):
    algorithm = algorithm.on(graph)
    local = LocalEngine(workers=2).run(algorithm, graph)
    prior = None if local.prior is None else local.prior.values
    cluster = Cluster(algorithm, graph, blocks, 2, folder, prior)
    rows = local.per_iteration()
    for step in range(local.iterations):
        counts = cluster.counts.sum()
        assert counts["active_vertices"] == rows["active_vertices"][step]
        messages = rows["local_messages"][step] + rows["remote_messages"][step]
        assert counts["local_messages"] + counts["remote_messages"] == messages
        assert cluster.advance() == pytest.approx(local.convergence[step], rel=1e-9, abs=1e-15)
    assert cluster.counts["total_vertices"].sum() == graph.vertices
    assert cluster.values() == pytest.approx(local.values, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("blocks", "weighted"), [(1, False), (2, True), (5, False)])
@pytest.mark.parametrize(("name", "given"), CASES)
def test_blocks_do_what_the_local_kernel_does(name, given, blocks, weighted, tmp_path):
    algorithm = check_algorithm(name, given)
    check(algorithm, drawn(not algorithm.undirected, weighted), blocks, tmp_path / "blocks")


@pytest.mark.parametrize("name", ALGORITHMS.names())
def test_the_smallest_graphs_too(name, tmp_path):
    algorithm = check_algorithm(name)
    for number, graph in enumerate((UNDIRECTED if algorithm.undirected else DIRECTED).values()):
        check(algorithm, graph, 3, tmp_path / str(number))


def test_messages_within_machines_are_counted(tmp_path):
    graph = drawn(True, False)
    cluster = Cluster(check_algorithm("pagerank"), graph, 4, 2, tmp_path / "blocks", None)
    homes = np.empty(graph.vertices, int)
    for block in opened(cluster.run.blocks):
        homes[block.rows] = block.number
    sources = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    same = homes[sources] % 2 == homes[graph.indices] % 2
    counts = cluster.counts.set_index("partition").sort_index()
    inside = np.bincount(homes[sources[same]], minlength=4)
    assert counts["local_messages"].tolist() == inside.tolist()
    assert counts["remote_messages"].sum() == np.count_nonzero(~same)
    pairs = np.unique(np.stack((sources, homes[graph.indices])), axis=1)
    assert counts["records"].sum() == pairs.shape[1]


@pytest.mark.parametrize("weighted", [False, True])
def test_executors_write_the_blocks_that_this_process_writes(weighted, tmp_path):
    graph, keys = drawn(True, weighted), block_keys(4)
    folders = tmp_path / "here", tmp_path / "there"
    for folder in folders:
        folder.mkdir()
    here, there = (Blocks(folder, keys, 2, graph.vertices) for folder in folders)
    write_blocks(graph, here)
    columns = {"src": np.repeat(np.arange(graph.vertices), graph.out_degrees), "dst": graph.indices}
    if weighted:
        columns["weight"] = graph.weights
    edges = pa.table(columns).take(np.random.default_rng(1).permutation(graph.edges))
    parts = sent(edges.to_batches(), SimpleNamespace(value=None), there, False, weighted)
    parts = pa.Table.from_batches(list(parts)).to_pylist()
    for key in keys:
        arrived = pa.Table.from_pylist([row for row in parts if row["to"] == key]).to_batches()
        assert len(list(written(arrived, there))) == 1
    for ours, theirs in zip(opened(here), opened(there), strict=True):
        for name in ("rows", "indptr", "sources", "weights", "degrees", "boundary", "edges"):
            assert getattr(copy(ours), name).tolist() == getattr(theirs, name).tolist()
    assert np.concatenate([each.degrees for each in opened(there)]).sum() == graph.edges
