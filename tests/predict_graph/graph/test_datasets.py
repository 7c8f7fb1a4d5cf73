"""Named datasets, and graphs at addresses: local copies, the cache, servers of our own."""

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from predict_graph.cli.options import prepare
from predict_graph.graph import check_graph
from predict_graph.graph.datasets import CATALOGUE, dataset, dataset_path, fetch
from predict_graph.limits import limited
from tests.graphs import no_graph, served, zipped
from tests.refusals import failed, refused


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
    monkeypatch.setitem(CATALOGUE, name, replace(dataset(name), addresses=(address,), **changes))


def test_catalogue():
    refused("unknown dataset 'web'; accepted: amazon0601", dataset, "web")
    for described in map(dataset, CATALOGUE):
        for i, address in enumerate(described.addresses):
            known = described.sha256[i] if i < len(described.sha256) else None
            assert address.startswith("https://") or known


def test_local_copies_come_first(places, monkeypatch):
    folder, _ = places
    assert dataset_path("wiki-Vote") is None
    (folder / "data" / "graphs").mkdir()
    below = folder / "data" / "graphs" / "wiki-Vote.txt.gz"
    below.write_bytes(gzip.compress(b"0 1\n"))
    assert dataset_path("wiki-Vote") == fetch("wiki-Vote") == below
    direct = folder / "data" / "wiki-Vote.txt.gz"
    direct.write_bytes(gzip.compress(b"0 1\n1 2\n"))
    assert dataset_path("wiki-Vote") == direct
    (folder / "wiki-Vote").mkdir()  # a folder does not hide a dataset
    monkeypatch.chdir(folder)
    assert check_graph("wiki-Vote").edges == 2
    EDGES.to_parquet(folder / "wiki-Vote" / "a.parquet")  # but one of Parquet files does
    direct.unlink(), below.unlink()
    prepare(None, "wiki-Vote")
    assert check_graph("wiki-Vote").edges == 3
    monkeypatch.setenv("PREDICT_GRAPH_DATA", str(folder / "none"))
    refused(r"PREDICT_GRAPH_DATA is .*none', which is not a folder", dataset_path, "wiki-Vote")


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
    failed(r"wiki-Vote cannot be downloaded from .*404.*a copy called", fetch, "wiki-Vote")
    (folder / "server" / "wiki-Vote.txt.gz").write_bytes(b"other")
    serve(monkeypatch, "wiki-Vote", address + "wiki-Vote.txt.gz", sha256=("0" * 64,))
    failed("SHA256 hash", fetch, "wiki-Vote")
    assert dataset_path("wiki-Vote") is None


def test_sums_are_those_of_the_files(shared_file):
    for name in ("web-NotreDame", "soc-Epinions1", "uk-2007-05@100000"):
        described = dataset(name)
        for address, published in zip(described.addresses, described.sha256, strict=True):
            content = shared_file(address.rpartition("/")[2]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == published


# The published counts of real graphs come out exactly.


@pytest.mark.parametrize("name", [name for name in CATALOGUE if dataset_path(name)])
def test_counts(name):
    published, graph = dataset(name), check_graph(name)
    assert (graph.vertices, graph.logical_edges) == (published.vertices, published.edges)
    assert graph.directed is published.directed
    assert graph.read_seconds > 0


def test_webgraph_is_the_same_edge_for_edge(shared_file):
    decoded = check_graph(shared_file("uk-2007-05@100000.graph"))
    assert decoded.fingerprint == check_graph(shared_file("uk-2007-05@100000.txt.gz")).fingerprint
    assert decoded.self_loops == 15_670


def test_bytes_an_edge_with_the_reverse(shared_file):
    graph = check_graph(shared_file("web-NotreDame.txt.gz"))
    assert graph.nbytes + graph.reverse.nbytes <= 12 * graph.edges


# Addresses: of the web, of what pyarrow opens, and what goes wrong on the way.

EDGES = pd.DataFrame({"src": ["a", "a", "b"], "dst": ["b", "c", "c"]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("shop")
    EDGES.to_csv(made / "e.csv", index=False)
    EDGES.to_csv(made / "e.csv.gz", index=False)
    (made / "e.zip").write_bytes(zipped("e.csv", text=(made / "e.csv").read_bytes()))
    EDGES.to_parquet(made / "e.parquet")
    (made / "spark" / "part=1").mkdir(parents=True), (made / "part.csv").mkdir()
    EDGES[:1].to_parquet(made / "spark" / "a.parquet")
    EDGES[1:].to_parquet(made / "spark" / "part=1" / "b.parquet")
    (made / "spark" / "_SUCCESS").touch(), (made / "part.csv" / "part-3.csv").touch()
    for number, rows in enumerate((EDGES[:0], EDGES[:2], EDGES[2:])):
        rows.to_csv(made / "part.csv" / f"part-{number}.csv", index=False)
    return made


@pytest.fixture(scope="module")
def web(folder):
    with served(folder) as address:
        yield address


@pytest.mark.parametrize("name", ["e.csv", "e.csv.gz", "e.zip", "e.parquet", "e.csv.gz?key=1.2"])
def test_files_of_the_web(web, name):
    graph = check_graph(f"{web}/{name}")
    assert (graph.name, graph.edges, list(graph.labels)) == ("e", 3, ["a", "b", "c"])


@pytest.mark.parametrize("name", ["e.csv.gz", "e.parquet", "spark", "spark/", "part.csv"])
def test_files_and_folders_of_pyarrow(folder, name):
    graph = check_graph(f"file://{folder}/{name}")
    assert graph.fingerprint == check_graph(str(folder / "e.csv")).fingerprint


def test_what_goes_wrong(web, folder):
    no_graph(f"{web}/no.csv", rf"^{web}/no\.csv cannot be read: File not found")
    no_graph(f"file://{folder}/no.csv", r"no\.csv cannot be read: .*No such")
    no_graph("ftp-s://host/e.csv", "the scheme 'ftp-s'; accepted: s3, gs, ")
    no_graph("http://127.0.0.1:1/e.csv", "cannot be read: .*refused")
    (folder / "bad.parquet").write_text("x")
    no_graph(f"{web}/bad.parquet", rf"^{web}/bad\.parquet is not a Parquet file")
    no_graph(f"{web}/e.csv.gz?broken", "cannot be read: it ended 1000 bytes before its end")
    with limited(unpacked_bytes=3):  # it is not copied
        no_graph(f"file://{Path(__file__).parent}", "graph is a folder; accepted: a file, or a fo")
    with limited(unpacked_bytes=100):
        no_graph(f"{web}/e.parquet", "is too large; accepted: up to .*100")
    with limited(unpacked_bytes=10):
        no_graph(f"{web}/e.csv", "sends too much; accepted: up to .*10")
