"""Named datasets: local copies, the cache, downloads from a server of our own."""

import gzip
import hashlib
from dataclasses import replace

import pytest

from predict_graph.errors import JobError, RequestError
from predict_graph.graph import check_graph
from predict_graph.graph.datasets import CATALOGUE, dataset, dataset_names, dataset_path, fetch
from tests.graphs import served, zipped


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Empty folders for the data, the cache and the server, and the server's address."""
    for name in ("data", "cache", "server"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("PREDICT_GRAPH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PREDICT_GRAPH_CACHE", str(tmp_path / "cache"))
    with served(tmp_path / "server") as address:
        yield tmp_path, f"{address}/"


def serve(monkeypatch, name, address, **changes):
    described = replace(dataset(name), addresses=(address,), **changes)
    monkeypatch.setitem(CATALOGUE, name, described)


def test_catalogue():
    with pytest.raises(RequestError, match="unknown dataset 'web'; accepted: amazon0601"):
        dataset("web")
    for described in map(dataset, dataset_names()):
        for i, address in enumerate(described.addresses):
            known = described.sha256[i] if i < len(described.sha256) else None
            assert address.startswith("https://") or known


def test_local_copies_come_first(places, monkeypatch):
    folder, _ = places
    assert dataset_path("wiki-Vote") is None
    (folder / "data" / "graphs").mkdir()
    below = folder / "data" / "graphs" / "wiki-Vote.txt.gz"
    below.write_bytes(gzip.compress(b"0 1\n"))
    assert dataset_path("wiki-Vote") == below
    assert fetch("wiki-Vote") == below
    direct = folder / "data" / "wiki-Vote.txt.gz"
    direct.write_bytes(gzip.compress(b"0 1\n1 2\n"))
    assert dataset_path("wiki-Vote") == direct
    (folder / "wiki-Vote").mkdir()  # a folder does not hide a dataset
    monkeypatch.chdir(folder)
    assert check_graph("wiki-Vote").edges == 2
    monkeypatch.setenv("PREDICT_GRAPH_DATA", str(folder / "none"))
    with pytest.raises(RequestError, match=r"PREDICT_GRAPH_DATA is .*none', which is not a folder"):
        dataset_path("wiki-Vote")


def test_a_download_is_kept(places, monkeypatch):
    folder, address = places
    (folder / "server" / "wiki-Vote.txt.gz").write_bytes(gzip.compress(b"0 1\n1 2\n"))
    serve(monkeypatch, "wiki-Vote", address + "wiki-Vote.txt.gz")
    assert fetch("wiki-Vote") == folder / "cache" / "wiki-Vote.txt.gz"
    (folder / "server" / "wiki-Vote.txt.gz").unlink()
    assert check_graph("wiki-Vote").edges == 2


def test_archive(places, monkeypatch):
    folder, address = places
    packed = zipped("git_web_ml/musae_git_edges.csv", text=b"id_1,id_2\n0,1\n1,2\n")
    (folder / "server" / "git.zip").write_bytes(packed)
    serve(monkeypatch, "musae_git", address + "git.zip")
    graph = check_graph("musae_git")
    assert (graph.logical_edges, graph.directed) == (2, False)
    assert [p.name for p in (folder / "cache").iterdir()] == ["musae_git_edges.csv"]


def test_failing_downloads(places, monkeypatch):
    folder, address = places
    serve(monkeypatch, "wiki-Vote", address + "none.txt.gz")
    with pytest.raises(JobError, match=r"wiki-Vote cannot be downloaded from .*404.*a copy called"):
        fetch("wiki-Vote")
    (folder / "server" / "wiki-Vote.txt.gz").write_bytes(b"other")
    serve(monkeypatch, "wiki-Vote", address + "wiki-Vote.txt.gz", sha256=("0" * 64,))
    with pytest.raises(JobError, match="SHA256 hash"):
        fetch("wiki-Vote")
    assert dataset_path("wiki-Vote") is None


def test_sums_are_those_of_the_files(shared_file):
    for name in ("web-NotreDame", "soc-Epinions1", "uk-2007-05@100000"):
        described = dataset(name)
        for address, published in zip(described.addresses, described.sha256, strict=True):
            content = shared_file(address.rpartition("/")[2]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == published
