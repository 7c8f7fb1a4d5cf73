"""Input from strangers: nothing crashes, nothing runs away, nothing is overwritten.

One part for each finding; each of them failed before. Requests that are refused are in
tests/predict_graph/cli/test_refused.py, datasets in tests/predict_graph/graph/test_datasets.py.
"""

import contextlib
import gzip
import os
import re
import signal
import socket
import struct
import sys
import threading
import time

import numpy as np
import psutil
import pyarrow as pa
import pytest
from scipy import sparse

from benchmarks.robustness import webgraph
from predict_graph.compiled import _use
from predict_graph.errors import JobError
from predict_graph.graph import Graph, check_graph, save_graph
from predict_graph.graph.build import from_edges
from predict_graph.limits import limited, parse_limits
from tests.graphs import no_graph
from tests.predict_graph.history.records import record
from tests.python import started, wait_until
from tests.refusals import refused

EDGES = "0 1\n1 2\n2 0\n0 3\n3 1\n"


@pytest.fixture
def program(tmp_path, monkeypatch, program):
    """Run the program in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **options):
        done = program(*arguments, **options)
        assert not re.search("internal error|Traceback", done.err), done
        return done

    return call


# 1 and 2: WebGraph


def bit_stream(written, symbols, nodes, arcs, **facts):
    written(webgraph.properties(nodes, arcs, **facts), "w.properties")
    return written(webgraph.packed(symbols), "w.graph")


HUGE = 2**62 - 2
MOST = 2**63 - 2  # of a gamma code that fits 64 bits


# A row of four, whose successors stay in the buffer.
BEFORE = [("gamma", 4), ("unary", 0), ("gamma", 0), ("zeta", 2), *[("zeta", 0)] * 3]
# Two intervals of a length that overflows add up to all four, and name none.
TWO = [("gamma", 2), ("gamma", 0), *[("gamma", MOST)] * 3]


OVERFLOWING = [
    # An interval whose length overflows with the shortest one added.
    ([("gamma", 1), ("gamma", 0), ("gamma", HUGE)], 5, {"minintervallength": 2**62}),
    ([("gamma", 1), ("gamma", 0), ("gamma", 2**63 - 4)], 5, {}),
    ([("gamma", 2), ("gamma", 0), ("gamma", 0), ("gamma", HUGE), ("gamma", 0)], 9, {}),
    ([("gamma", 0), ("zeta", HUGE), ("zeta", HUGE), ("zeta", HUGE)], 5, {}),
    ([("gamma", 0), ("zeta", 3)], 5, {"zetak": 2**62}),
    ([("gamma", 0), ("zeta", 3)], 5, {"zetak": 0}),
    # Two lengths that overflow: the first sets the place to write at 4 * 98 bytes past the
    # start of a buffer for five, the second says to go on from there.
    (
        [("gamma", 2), ("gamma", 0), ("gamma", MOST), ("gamma", MOST), ("gamma", MOST - 193)],
        5,
        {"minintervallength": 100},
    ),
]


@pytest.mark.parametrize(("extras", "arcs", "facts"), OVERFLOWING)
def test_1_numbers_of_a_webgraph_that_overflow(written, extras, arcs, facts):
    symbols = [("gamma", arcs), ("unary", 0), *extras, *[("gamma", 0)] * 9]
    no_graph(bit_stream(written, symbols, 10, arcs, **facts), r"w\.(graph|properties)")


def test_2_memory_that_nothing_was_written_to(written):
    symbols = [*BEFORE, ("gamma", 4), ("unary", 0), *TWO, *[("gamma", 0)] * 8]
    no_graph(bit_stream(written, symbols, 10, 8, minintervallength=4), r"w\.graph")


# 3: saved graphs, and every other way to rows


CHANGES = [
    ("indices", lambda a: np.where(a == 1, 2**30, a), "leads to the vertex"),
    ("indices", lambda a: np.where(a == 1, 2, a), "not ascending, or come twice"),
    ("indptr", lambda a: a[::-1].copy(), "indptr of a graph"),
    ("weights", lambda a: a * np.inf, "accepted: finite numbers"),
    ("labels", lambda a: a[1:], "3 labels, but 4 vertices"),
    ("notes", lambda a: np.array(1), ""),
    ("indptr", lambda a: a.astype(float), "a vector of integers"),
    ("indptr", lambda a: a.reshape(1, -1), "a vector of integers"),
    ("indices", lambda a: np.array(list("abcde")), "a vector of integers"),
    ("weights", lambda a: np.array(list("abcde")), "a vector of real numbers"),
    ("directed", lambda a: np.array([True, False]), ""),
    ("labels", lambda a: a / 2, "the labels are 1-dimensional float64"),
    ("label_texts", lambda a: np.frombuffer(b"[3]", np.uint8), "no list of texts"),
]


@pytest.mark.parametrize(("name", "change", "match"), CHANGES)
def test_3_a_saved_graph_is_checked(tmp_path, name, change, match):
    ends = np.array([[0, 0, 1, 2, 3], [1, 2, 2, 0, 1]])
    graph = from_edges(*ends, weights=np.arange(1.0, 6.0), labels=np.array([3, 5, 7, 9]))
    file = save_graph(graph, tmp_path / "g.npz")
    assert check_graph(file).fingerprint == graph.fingerprint
    with np.load(file) as arrays:
        np.savez(file, **{**arrays, name: change(arrays.get(name))})
    no_graph(file, rf"g\.npz.*{match}")


WRONG_ROWS = [
    ([0, 2, 1, 3], [0, 1, 2], "falls from 2 to 1"),
    ([1, 2, 2, 3], [0, 1, 2], r"begins with \[1\]; accepted: \[0\]"),
    ([0, 1, 2, 3], [0, 3, 1], "edge 1 leads to the vertex 3; accepted: 0 to 2"),
    ([0, 1, 2, 3], [0, -1, 1], "vertex -1"),
    ([0, 1, 2, 9], [0, 1, 1], "ends at 9"),
]


@pytest.mark.parametrize(("indptr", "indices", "match"), WRONG_ROWS)
def test_3_no_graph_without_a_check(indptr, indices, match):
    refused(match, Graph, np.array(indptr), np.array(indices, np.int32))
    made = sparse.csr_array((3, 3))
    made.indptr, made.indices = np.array(indptr), np.array(indices)
    made.data = np.ones(3)
    refused("the sparse array is no matrix", check_graph, made)
    refused("one direction", Graph, np.array([0, 1, 1]), np.array([1], np.int32), directed=False)


# 4: limits


@pytest.fixture
def small_files(monkeypatch):
    """Refuse files from 1 MiB on that unpack to too many times their size."""
    monkeypatch.setattr("predict_graph.limits.check_unpacked.__defaults__", (1 << 20,))


@pytest.mark.usefixtures("small_files")
def test_4_bombs(tmp_path):
    bombs = {
        "line.txt.gz": gzip.compress(b"1" * 8_000_000),
        "blank.txt.gz": gzip.compress(b"\n" * 8_000_000),
        "edges.txt.zst": pa.compress(b"0 1\n" * 2_000_000, codec="zstd", asbytes=True),
    }
    for name, content in bombs.items():
        (tmp_path / name).write_bytes(content)
        with limited(line_bytes=1_000_000, unpack_ratio=10):
            no_graph(tmp_path / name, "the limit (line_bytes|unpack_ratio), which --limit")
        with limited(unpacked_bytes=1_000_000):
            no_graph(tmp_path / name, "the limit unpacked_bytes, which --limit")


@pytest.mark.usefixtures("small_files")
def test_4_an_event_log_that_never_ends(program, tmp_path):
    blank = b" " * 9_999 + b"\n"  # as many bytes in shorter lines only take longer to refuse
    (tmp_path / "app").write_bytes(pa.compress(blank * 500, codec="zstd", asbytes=True))
    words = ("history", "import-eventlog", "app", "--history", tmp_path / "h.sqlite")
    assert "the limit unpack_ratio" in program(*words, status=2).err


def test_4_vertices_edges_and_nesting(written):
    file = written(EDGES, "g.txt")
    with limited(edges=4):
        no_graph(file, "has too many edges; accepted: up to 4 .the limit edges")
        _use("k-core")  # as a first command does, to compile
    with limited(vertices=3):
        no_graph(file, "4 vertices; accepted: up to 3 .the limit vertices")
    text = "%%MatrixMarket matrix coordinate pattern general\n900000000000 900000000000 1\n1 1\n"
    no_graph(written(text, "g.mtx"), "the limit vertices")
    refused("unknown limit 'edgse'; did you mean edges", parse_limits, "edgse=4")


@pytest.mark.slow
def test_4_streams_are_read_once(program, process, tmp_path):
    assert "4 vertices, 5 edges" in process("run", "pagerank", "-", input=EDGES).out
    assert "validate reads it twice" in program("validate", "pagerank", "-", status=2).err
    os.mkfifo(tmp_path / "f.csv")
    writer = threading.Thread(target=lambda: (tmp_path / "f.csv").write_text("a,b\n0,1\n1,0\n"))
    writer.start()
    assert "2 vertices, 2 edges" in program("run", "pagerank", "f.csv").out
    writer.join()
    err = process("--limit", "stream_seconds=0.3", "run", "pagerank", "f.csv").err
    assert "sent nothing for too long; accepted: silence of up to 0.3 seconds" in err


# 5: calibrate --serve


SERVING = """
from predict_graph.resources.network import serve
serve(0, ready=lambda at: print(at.rpartition(":")[2], flush=True))
"""


def test_5_a_thousand_idle_clients():
    with started("-c", SERVING) as server, contextlib.ExitStack() as idle:
        peer, process = ("127.0.0.1", int(server.stdout.readline())), psutil.Process(server.pid)
        before = process.memory_info().rss
        for _ in range(1000):
            idle.enter_context(socket.create_connection(peer))
        for _ in range(100):
            with socket.create_connection(peer, timeout=600) as connection:
                connection.sendall(struct.pack("!Q", 100_000))
                with connection.makefile("rb") as answer:
                    assert len(answer.read(100_000)) == 100_000
        assert process.num_threads() <= 2
        assert process.memory_info().rss - before < 20_000 << 10


@pytest.mark.slow
def test_5_a_peer_that_trickles():
    from predict_graph.resources.network import measure_network

    def trickle():
        connection, _ = listening.accept()
        with connection, contextlib.suppress(OSError):
            while not over.wait(0.05):
                connection.send(b"\0")

    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=trickle)
        thread.start()
        begun = time.monotonic()
        with limited(peer_seconds=1), pytest.raises(JobError, match="the limit peer_seconds"):
            measure_network(("127.0.0.1", listening.getsockname()[1]))
        over.set()
        thread.join()
    assert time.monotonic() - begun < 60  # else it goes on for ever


# 7: valid input


def test_7_blanks_before_the_first_edge(written):
    assert check_graph(written("\n" * 5000 + EDGES, "b.txt")).edges == 5
    packed = gzip.compress(b"\n") + gzip.compress(EDGES.encode())
    assert check_graph(written(packed, "b.txt.gz")).edges == 5
    assert check_graph(written("% c\n" * 200_000 + "2 1\n2\n1\n", "b.metis")).edges == 2
    wrong = written("\n" * 5000 + EDGES * 9000 + "x y\n", "b.txt")
    no_graph(wrong, r"b\.txt:50001: 'x' is not an id")


# 8: plug-ins are in tests/test_plugins.py, but for generators

ENDING = """
from predict_graph.graph.generators import GENERATORS

@GENERATORS.register("leaving")
def leaving():
    raise SystemExit

@GENERATORS.register("nothing")
def nothing(): ...
"""


@pytest.mark.usefixtures("only_built_in")
def test_8_a_generator_that_ends_the_program(program, tmp_path):
    (tmp_path / "p.py").write_text(ENDING)
    said = program("run pagerank leaving --plugin p.py", status=2).err
    assert "the graph 'leaving' cannot be made: SystemExit" in said
    said = program("run pagerank nothing --plugin p.py", status=2).err
    assert "returned NoneType, not a Graph" in said


# 11: terminal escapes

ESCAPE = "\x1b[31m\x1b]0;owned\x07"


def test_11_escapes(program, process, history, tmp_path):
    history.add(record(graph=f"web{ESCAPE}"))
    said = [program("history", "list", "--history", history.path, status=0)]
    said += [program("run", "pagerank", f"a{ESCAPE}.txt", status=2)]
    (tmp_path / "d.csv").write_text("machines,scale\n1,0.1\n")
    command = (sys.executable, "-c", f"print({ESCAPE!r} + 'x'); raise SystemExit(3)", "{scale}")
    said += [process("collect", "--design", "d.csv", "--", *command)]
    for done in said:
        assert not {"\x1b", "\x07"} & {*done.out, *done.err}
        assert "\\x1b[31m" in done.out + done.err


# 13: signals


@pytest.mark.usefixtures("interruptible")
def test_13_ctrl_c_while_spark_takes_the_signal():
    opening = pytest.importorskip("predict_graph.engines.spark.session.opening")

    def signal_handler(number, frame):  # as pyspark calls it
        raise RuntimeError("cannot cancel jobs of a driver that is gone")

    def started():
        with opening._interrupts_as_before():
            signal.signal(signal.SIGINT, signal_handler)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        started()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_13_a_request_to_end_leaves_nothing_behind(tmp_path):
    (tmp_path / "tmp").mkdir()
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    with started("-m", "predict_graph", "calibrate", env=environment) as process:
        made = (tmp_path / "tmp").glob
        wait_until(lambda: list(made("predict-graph-*")) or process.poll() is not None)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=600)
    assert process.returncode == 143
    assert err.strip().endswith("error: ended; nothing is half written")
    assert list((tmp_path / "tmp").glob("predict-graph-*")) == []
