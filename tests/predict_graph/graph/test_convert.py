"""Converting range by range gives what reading and saving gives."""

import errno
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.errors import JobError, RequestError
from predict_graph.graph import check_graph, open_graph, save_graph
from predict_graph.graph.convert import convert_graph
from predict_graph.limits import limited

IDS = st.one_of(st.integers(0, 9), st.integers(2**42, 2**63 - 1))  # no times of milliseconds


@given(
    st.lists(st.tuples(IDS, IDS, st.integers(1, 9)), min_size=1, max_size=60),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["integer", "string"]),
    st.sampled_from([1, 200, 1 << 20]),
)
def test_same_as_reading(edges, weighted, directed, ids, memory):
    columns = 3 if weighted else 2
    text = "\n".join(" ".join(str(field) for field in edge[:columns]) for edge in edges)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "g.txt"
        file.write_text(text)
        stored = Path(folder) / "g.pgraph"
        assert convert_graph(file, stored, directed=directed, ids=ids, memory=memory) == stored
        read, converted = check_graph(file, directed=directed, ids=ids), open_graph(stored)
        assert np.array_equal(converted.indptr, read.indptr)
        assert np.array_equal(converted.indices, read.indices)
        assert converted.fingerprint == read.fingerprint
        assert converted.name == "g"
        if read.labels is None:
            assert converted.labels is None
        else:
            assert converted.labels.tolist() == read.labels.tolist()
        assert sorted(path.name for path in Path(folder).iterdir()) == ["g.pgraph", "g.txt"]


def test_real_graph_in_small_memory(tmp_path, shared_graph_file):
    file = shared_graph_file("email-Enron.txt.gz")
    folder = convert_graph(file, tmp_path / "e.pgraph", directed=False, memory=2_000_000)
    assert check_graph(folder).fingerprint == check_graph(file, directed=False).fingerprint


def test_declared_vertices_and_rows(tmp_path):
    (tmp_path / "g.graph").write_text("4 2\n2\n1 3\n2\n\n")
    converted = open_graph(convert_graph(tmp_path / "g.graph", tmp_path / "a.pgraph", memory=1))
    assert (converted.vertices, converted.logical_edges) == (4, 2)
    save_graph(converted, tmp_path / "g.npz")
    again = open_graph(convert_graph(tmp_path / "g.npz", tmp_path / "b.pgraph"))
    assert again.fingerprint == converted.fingerprint


def test_nothing_is_left_after_an_error(tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n1 -2\n")
    with pytest.raises(RequestError, match=r"g\.txt:2"):
        convert_graph(tmp_path / "g.txt", tmp_path / "g.pgraph")
    (tmp_path / "g.txt").write_text("# nothing\n")
    with pytest.raises(RequestError, match="has no edges"):
        convert_graph(tmp_path / "g.txt", tmp_path / "g.pgraph")
    assert [path.name for path in tmp_path.iterdir()] == ["g.txt"]


@pytest.mark.parametrize("suffix", [".pgraph", ".npz"])
def test_disk_full(tmp_path, monkeypatch, suffix):
    graph = check_graph("star:n=9")
    stored = save_graph(graph, tmp_path / f"s{suffix}")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(JobError, match="failed: No space left on device"):
        save_graph(check_graph("star:n=5"), stored)
    assert [path.name for path in tmp_path.iterdir()] == [stored.name]
    assert check_graph(stored).fingerprint == graph.fingerprint


def test_more_vertices_than_the_limit(tmp_path):
    source = tmp_path / "path.txt"
    source.write_text("".join(f"{i} {i + 1}\n" for i in range(20)))
    with limited(vertices=10), pytest.raises(RequestError, match="has 21 vertices; accepted: up"):
        convert_graph(source, tmp_path / "out.pgraph")
    assert not (tmp_path / "out.pgraph").exists()


@pytest.mark.parametrize("directed", [None, False])
@pytest.mark.parametrize("text", ["rmat:scale=9,edge_factor=7,seed=3", "path:n=20"])
def test_what_a_generator_draws_is_converted_as_it_comes(tmp_path, text, directed):
    stored = open_graph(convert_graph(text, tmp_path / "r.pgraph", directed=directed, memory=9000))
    made = check_graph(text, directed=directed)
    assert stored.fingerprint == made.fingerprint
    assert stored.name == text


def test_of_a_generator_what_is_wrong_is_said(tmp_path):
    with pytest.raises(RequestError, match="scale of rmat is 40"):
        convert_graph("rmat:scale=40", tmp_path / "r.pgraph")
    assert list(tmp_path.iterdir()) == []
