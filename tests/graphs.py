"""Graphs that hypothesis makes up, what a graph lists, files of the web, and what is no graph."""

import http.server
import io
import threading
import zipfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from predict_graph.algorithms import check_algorithm
from predict_graph.graph import check_graph
from tests.refusals import refused


@st.composite
def graphs(draw, vertices=60, edges=150):
    """A graph of at most so many vertices and edges, directed or not."""
    n = draw(st.integers(1, vertices))
    graph = draw(st.sampled_from([nx.Graph, nx.DiGraph]))()
    graph.add_nodes_from(range(n))
    ends = st.tuples(*2 * [st.integers(0, n - 1)])
    graph.add_edges_from(draw(st.lists(ends, min_size=1, max_size=edges)))
    return check_graph(graph)


def job_and_graph(name, source, /, **parameters):
    """Return an algorithm, and a graph as it reads it."""
    job = check_algorithm(name, parameters)
    return job, check_graph(source, directed=False if job.undirected else None)


def listed(graph):
    """Return the weight of each stored edge by its ends, as the user calls them; 1 without one."""
    rows = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    labels = np.arange(graph.vertices) if graph.labels is None else graph.labels
    pairs = zip(labels[rows].tolist(), labels[graph.indices].tolist(), strict=True)
    weights = [1.0] * graph.edges if graph.weights is None else graph.weights.tolist()
    found = dict(zip(pairs, weights, strict=True))
    assert len(found) == graph.edges, "an edge is stored twice"
    return found


def no_graph(source, match, **options):
    """Check that what is no graph is refused in one sentence, which names the file or a limit."""
    said = refused(match, check_graph, source, **options)
    if isinstance(source, Path):  # of a WebGraph either of its files
        assert str(source.with_suffix("")) in said or "the limit" in said


def zipped(*names, text=b"1 2\n2 3\n", method=zipfile.ZIP_DEFLATED):
    """Return an archive with files of these names."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name in names:
            archive.writestr(name, text)
    return content.getvalue()


def bytes_of(write):
    """Return what a function writes to a file."""
    content = io.BytesIO()
    write(content)
    return content.getvalue()


def parquet(**columns):
    """Return a file of Parquet with these columns."""
    return bytes_of(partial(pq.write_table, pa.table(columns)))


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Print nothing."""

    def send_header(self, name, value):
        if "broken" in self.path and name == "Content-Length":
            value = str(int(value) + 1000)
        super().send_header(name, value)


@contextmanager
def serving(handler, port=0):
    """Answer requests on this machine; give the server."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@contextmanager
def served(folder):
    """Serve a folder on the web; give its address."""
    with serving(partial(_Handler, directory=folder)) as server:
        yield f"http://127.0.0.1:{server.server_port}"
