"""A slow and obvious bulk-synchronous system, which kernels are held against."""

from functools import partial

import numpy as np
import pytest

from predict_graph.builtin.semi_clustering import local as semi_clustering
from predict_graph.engines import COUNTERS
from predict_graph.engines.local import LocalEngine, spreading
from predict_graph.engines.local.blocks import row_blocks
from predict_graph.engines.local.partition import worker_of

WORKERS = 3


def bulk_synchronous(program, graph, threshold, limit):
    """Run a program message by message; return aggregates, and counters by superstep and worker.

    A program has ``message(v)`` (None for silence), ``size(message)``, ``receive(v, messages)``
    with a list of (sender, message), and ``aggregate()`` of the superstep that just ended.
    """
    worker = worker_of(np.arange(graph.vertices), WORKERS).tolist()
    aggregates, steps = [], []
    while len(aggregates) < limit:
        counts = {name: [0] * WORKERS for name in COUNTERS}
        inboxes = [[] for _ in range(graph.vertices)]
        for v in range(graph.vertices):
            message = program.message(v)
            if message is None:
                continue
            counts["active_vertices"][worker[v]] += 1
            for w in graph.neighbors(v).tolist():
                where = "local" if worker[v] == worker[w] else "remote"
                counts[f"{where}_messages"][worker[v]] += 1
                counts[f"{where}_message_bytes"][worker[v]] += program.size(message)
                inboxes[w].append((v, message))
        for v, inbox in enumerate(inboxes):
            program.receive(v, inbox)
        aggregates.append(program.aggregate())
        steps.append(counts)
        if aggregates[-1] < threshold:
            break
    return aggregates, steps


def held_against(algorithm, graph, program_of):
    """Run the kernel with 1, 2 and 3 threads and the program beside it; return profile and program.

    Iterations, aggregates and all counters must be the same, to the bit. `program_of` gets the
    profile, whose prior may be the program's input.
    """
    profile, *others = (
        LocalEngine(workers=WORKERS, threads=threads).run(algorithm, graph) for threads in (1, 2, 3)
    )
    for other in others:
        assert other.values.tobytes() == profile.values.tobytes()
        assert other.convergence.tobytes() == profile.convergence.tobytes()
        assert other.result == profile.result
        assert other.table[list(COUNTERS)].equals(profile.table[list(COUNTERS)])
    program = program_of(profile)
    threshold = algorithm.threshold(graph.vertices)
    aggregates, steps = bulk_synchronous(program, graph, threshold, algorithm.max_iterations)
    assert profile.convergence.tolist() == aggregates
    assert profile.converged == (aggregates[-1] < threshold)
    for name in COUNTERS:
        assert profile.table[name].tolist() == [n for step in steps for n in step[name]], name
    return profile, program


@pytest.fixture(name="held_against")
def _held_against(monkeypatch):
    """Give :func:`held_against`, with blocks so small that threads share the smallest graphs."""
    for module in (spreading, semi_clustering):
        monkeypatch.setattr(module, "row_blocks", partial(row_blocks, block_work=8))
    return held_against
