"""Compile the kernels once, when the environment is set up: ``python -m predict_graph.compiled``.

The compiler takes tens of seconds, which must not pass within a prediction. Each built-in
algorithm is predicted and run on a small graph; numba keeps the code that this needs on disk.
"""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from predict_graph.errors import explained_by_system
from predict_graph.machine import code_folder, machine_identity

_GRAPH = "rmat:scale=12,edge_factor=8,seed=1"  # larger than what is never sampled
_REASON = "compiling kernels for this machine, once, so that no prediction waits for it"


def is_compiled() -> bool:
    """Return whether the kernels of this version are compiled for this machine."""
    return _marker().exists()


def compile_kernels() -> None:
    """Compile what the built-in algorithms need, in parallel, and show progress."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    from predict_graph.algorithms.registry import BUILT_IN
    from predict_graph.clock.display import Display
    from predict_graph.engines.local.team import available_threads
    from predict_graph.reports.console import SafeConsole

    jobs, marker = list(BUILT_IN), _marker()
    with explained_by_system(f"{marker.parent} (NUMBA_CACHE_DIR) cannot keep compiled code"):
        marker.parent.mkdir(parents=True, exist_ok=True)
    with Display(SafeConsole(stderr=True), _REASON) as display:
        # The first job compiles what all jobs share, such as reading; else each process would.
        _use(jobs[0])
        display.step(_REASON, 1 / len(jobs))
        with ProcessPoolExecutor(available_threads(), mp_context=get_context("spawn")) as pool:
            for done, use in enumerate(as_completed(pool.submit(_use, j) for j in jobs[1:]), 2):
                use.result()
                display.step(_REASON, done / len(jobs))
    marker.touch()


def _use(algorithm: str) -> None:
    """Predict and run an algorithm on a file of a small graph."""
    from tempfile import TemporaryDirectory

    from predict_graph import predict, run
    from predict_graph.algorithms import check_algorithm
    from predict_graph.graph import EdgeList, check_graph
    from predict_graph.graph.storage import write_edges
    from predict_graph.limits import Limits, limited

    chosen = check_algorithm(algorithm)
    with limited(**vars(Limits())), TemporaryDirectory() as folder:  # whatever the user's are
        for directed in (False,) if chosen.undirected else (True, False):
            file, graph = Path(folder) / f"{directed}.txt", check_graph(_GRAPH, directed=directed)
            write_edges(file, graph)
            check_graph(EdgeList(file, ids="string"))
            predict(algorithm, file, directed=directed, history="none", budget="unlimited", seed=1)
            run(algorithm, file, directed=directed, history="none")
            if "spark" in chosen.runs_on and find_spec("pyspark") is not None:
                _use_on_blocks(chosen.on(graph), graph, Path(folder))


def _use_on_blocks(algorithm: Any, graph: Any, folder: Path) -> None:
    """Run a first superstep on a block of a graph, as the Python of Spark does."""
    import numpy as np
    import pyarrow as pa

    from predict_graph.engines.spark.blocks.program import begun, run_of
    from predict_graph.engines.spark.blocks.stored import Blocks, block_keys, write_blocks

    folder = folder / f"blocks-{graph.directed}"
    folder.mkdir()
    blocks, program = Blocks(folder, block_keys(1), 1, graph.vertices), algorithm.part_for("spark")
    write_blocks(graph, blocks)
    prior = None if algorithm.prior is None else np.full(graph.vertices, 1.0 / graph.vertices)
    keys = pa.record_batch([pa.array(blocks.keys)], ["id"])
    list(begun([keys], run_of(str(folder), program, algorithm, blocks, graph, prior)))


def _marker() -> Path:
    """Return the file that exists once all is compiled, beside the code that numba keeps."""
    chosen = [os.environ.get(f"NUMBA_CPU_{each}", "") for each in ("NAME", "FEATURES")]
    target = chosen if chosen[0] else [machine_identity()]
    parts = [version("predict-graph"), version("numba"), *target, sys.version]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return code_folder() / f"compiled-{key}"


if __name__ == "__main__":
    compile_kernels()
