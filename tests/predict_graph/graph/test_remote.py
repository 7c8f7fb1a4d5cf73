"""Graphs at addresses: of the web, of what pyarrow opens, and what goes wrong on the way."""

import pandas as pd
import pytest

from predict_graph.graph import check_graph
from predict_graph.limits import limited
from tests.graphs import refused, served, zipped

EDGES = pd.DataFrame({"src": [5, 5, 8], "dst": [8, 9, 9]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("shop")
    EDGES.to_csv(made / "e.csv", index=False)
    EDGES.to_csv(made / "e.csv.gz", index=False)
    (made / "e.zip").write_bytes(zipped("e.csv", text=(made / "e.csv").read_bytes()))
    EDGES.to_parquet(made / "e.parquet")
    (made / "spark" / "part=1").mkdir(parents=True)
    EDGES[:1].to_parquet(made / "spark" / "a.parquet")
    EDGES[1:].to_parquet(made / "spark" / "part=1" / "b.parquet")
    (made / "spark" / "_SUCCESS").touch()
    return made


@pytest.fixture(scope="module")
def web(folder):
    with served(folder) as address:
        yield address


@pytest.mark.parametrize("name", ["e.csv", "e.csv.gz", "e.zip", "e.parquet", "e.csv.gz?key=1.2"])
def test_files_of_the_web(web, name):
    graph = check_graph(f"{web}/{name}")
    assert (graph.name, graph.edges, list(graph.labels)) == ("e", 3, [5, 8, 9])


@pytest.mark.parametrize("name", ["e.csv.gz", "e.parquet", "spark", "spark/"])
def test_files_and_folders_of_pyarrow(folder, name):
    graph = check_graph(f"file://{folder}/{name}")
    assert graph.fingerprint == check_graph(str(folder / "e.csv")).fingerprint


def test_what_goes_wrong(web, folder):
    refused(f"{web}/no.csv", rf"^{web}/no\.csv cannot be read: File not found")
    refused(f"file://{folder}/no.csv", r"no\.csv cannot be read: .*No such")
    refused("ftp-s://host/e.csv", "the scheme 'ftp-s'; accepted: s3, gs, ")
    refused("http://127.0.0.1:1/e.csv", "cannot be read: .*refused")
    refused(f"{web}/e.csv.gz?broken", "cannot be read: it ended 1000 bytes before its end")
    with limited(unpacked_bytes=100):
        refused(f"{web}/e.parquet", "is too large; accepted: up to .*100")
    with limited(unpacked_bytes=10):
        refused(f"{web}/e.csv", "sends too much; accepted: up to .*10")
