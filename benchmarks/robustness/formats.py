"""The readers under test: a valid file of each format, and what reading it gives."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from benchmarks.robustness import webgraph
from predict_graph import sizing
from predict_graph.engines.spark.log.importing import record_of_log
from predict_graph.graph import check_graph, save_graph
from predict_graph.graph.build import from_edges
from predict_graph.history import History, RunRecord
from predict_graph.resources.profile import Measured, ResourceProfile, read_profile, write_profile
from predict_graph.sizing.planning.predicted import read_job_model
from predict_graph.sizing.table_file import read_table
from predict_graph.sizing.tasks.model import read_runs
from predict_graph.table import Table

Read = Callable[[Path], object]


@dataclass(frozen=True)
class Format:
    """One format.

    Parameters
    ----------
    name : str
    file : str
        Name of the file that is read, or of the folder.
    kind : str
        How it is damaged: ``bytes``, ``text``, ``packed``, ``json``, ``webgraph``, ``folder``,
        ``npz``, ``sqlite``.
    read : callable
        Reads it, and uses it; returns its content, or a digest of it.
    checked : bool
        Whether a checksum covers the content, so that damage to bytes has to be seen.
    every : int
        Read in each so many rounds: the readers of whole tables take 20 ms a file, and what is
        compiled, where damage is worst, takes one.
    """

    name: str
    file: str
    kind: str
    read: Read
    checked: bool = False
    every: int = 1


def _graph(**options: Any) -> Read:
    def read(path: Path) -> str:
        graph = check_graph(path, **options)
        # What is accepted is used by compiled code.
        digest = hashlib.sha256(graph.fingerprint.encode())
        if graph.labels is not None:
            digest.update(repr(graph.labels.tolist()).encode())
        assert graph.reverse.edges == graph.edges
        graph.subgraph(np.arange(0, graph.vertices, 2))
        assert int(graph.in_degrees.sum()) == graph.edges
        return digest.hexdigest()

    return read


def _model(path: Path) -> str:
    table = np.array([[1.0, 4.0], [1.0, 8.0]])
    return repr(np.asarray(sizing.load_model(path).estimator.predict(table)).tolist())


def _plan(path: Path) -> object:
    table = pd.DataFrame({"scale": [1.0], "machines": [4.0]})
    return read_job_model(path, None, None).estimator.predict(table)


def _event_log(path: Path) -> str:
    record, _ = record_of_log(path, vertices=40, edges=200)
    return record.uid


def _history(path: Path) -> str:
    history = History(path)
    runs = history.runs()
    for number in runs["id"]:
        history.table(int(number))
    history.training_runs("pagerank", {"name": "local"}, "any")
    return hashlib.sha256(runs.to_json().encode()).hexdigest()


def _design(path: Path) -> object:
    return sizing.read_design(path).experiments(["true", "{machines}", "{scale}"])


_TEXT = {"ids": "string"}

FORMATS = (
    Format("webgraph", "g.graph", "webgraph", _graph()),
    Format("npz of ours, weights", "w.npz", "npz", _graph(), checked=True),
    Format("npz of ours, text ids", "t.npz", "npz", _graph(), checked=True),
    Format("npz of scipy, csr", "csr.npz", "npz", _graph(), checked=True),
    Format("npz of scipy, coo", "coo.npz", "npz", _graph(), checked=True),
    Format("npz of scipy, bsr", "bsr.npz", "npz", _graph(), checked=True),
    Format("text", "g.txt", "text", _graph()),
    Format("text, weights", "w.csv", "text", _graph()),
    Format("text, text ids", "t.csv", "text", _graph(**_TEXT)),
    Format("text, undirected", "u.tsv", "text", _graph(directed=False)),
    Format("text, gzip", "g.txt.gz", "packed", _graph(), checked=True),
    Format("text, bzip2", "g.txt.bz2", "packed", _graph(), checked=True),
    Format("text, zstandard", "g.txt.zst", "packed", _graph()),
    Format("text, xz", "g.txt.xz", "packed", _graph(), checked=True),
    Format("text, zip", "g.zip", "bytes", _graph()),
    Format("text, as it is", "header.csv", "text", _graph()),
    Format("text, KONECT", "out.konect", "text", _graph()),
    Format("text, attributes", "g.edgelist", "text", _graph()),
    Format("adjacency list", "g.adjlist", "text", _graph()),
    Format("DIMACS", "g.gr", "text", _graph()),
    Format("GraphML", "g.graphml", "text", _graph(), every=10),
    Format("GEXF", "g.gexf", "text", _graph(), every=10),
    Format("GML", "g.gml", "text", _graph(), every=10),
    Format("Pajek", "g.net", "text", _graph(), every=10),
    Format("JSON of nodes and links", "g.json", "text", _graph(), every=10),
    Format("npz of scipy, dia", "dia.npz", "npz", _graph(), checked=True),
    Format("Matrix Market", "g.mtx", "text", _graph()),
    Format("METIS", "g.metis", "text", _graph()),
    Format("Parquet", "g.parquet", "bytes", _graph()),
    Format("Parquet, text ids", "t.parquet", "bytes", _graph(**_TEXT)),
    Format("model", "model.json", "json", _model, checked=True),
    Format("prediction", "prediction.json", "json", _plan),
    Format("profile", "profile.json", "json", read_profile),
    Format("event log", "app-7", "text", _event_log, every=10),
    Format("event log, zstandard", "app-7.zst", "packed", _event_log, every=10),
    Format("history", "h.sqlite", "sqlite", _history, every=10),
    Format("design", "design.csv", "text", _design),
    Format("measured points", "points.csv", "text", sizing.read_measurements),
    Format("prices", "prices.csv", "text", sizing.read_types),
    Format("runs of a task", "runs.csv", "text", lambda path: read_runs(read_table(path))),
)


def rows_of(seed: int = 7, n: int = 60) -> list[list[int]]:
    """Return the ascending rows of a small graph with runs and with rows that are alike."""
    random = np.random.default_rng(seed)
    rows: list[list[int]] = []
    for v in range(n):
        row = set(random.integers(0, n, random.integers(0, 9)).tolist())
        if v % 3 == 0:
            begin = int(random.integers(0, n - 8))
            row |= set(range(begin, begin + 6))
        if v % 2 and rows[-1]:
            row |= set(rows[-1][::2])
        rows.append(sorted(row))
    rows[0] = rows[0] or [1]
    return rows


def write_seeds(folder: Path) -> None:
    """Write a valid file of every format."""
    _write_graphs(folder)
    _write_given_back(folder)


def _write_graphs(folder: Path) -> None:
    rows = rows_of()
    n, m = len(rows), sum(map(len, rows))
    (folder / "g.graph").write_bytes(webgraph.packed(webgraph.symbols_of(rows)))
    (folder / "g.properties").write_text(webgraph.properties(n, m))
    sources = np.repeat(np.arange(n), [len(row) for row in rows])
    targets = np.array([target for row in rows for target in row])
    weights = np.linspace(0.5, 9, m).astype(np.float32)
    names = np.array([f"page {v}" + "é" * (v % 3) for v in range(n)], dtype=object)
    graph = from_edges(sources, targets, vertices=n, name="g")
    weighted = from_edges(sources, targets, vertices=n, weights=weights, directed=False, name="w")
    labelled = from_edges(sources, targets, vertices=n, labels=names, name="t")
    save_graph(weighted, folder / "w.npz")
    save_graph(labelled, folder / "t.npz")
    matrix = graph.to_scipy()
    sparse.save_npz(folder / "csr.npz", sparse.csr_array(matrix))
    sparse.save_npz(folder / "coo.npz", sparse.coo_array(matrix))
    sparse.save_npz(folder / "bsr.npz", sparse.bsr_array(matrix, blocksize=(2, 2)))
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    lines = "".join(f"{s} {t}\n" for s, t in pairs)
    (folder / "g.txt").write_text("# a comment\n\n" + lines)
    (folder / "u.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs))
    listed = zip(pairs, weights.tolist(), strict=True)
    (folder / "w.csv").write_text(
        "source,target,weight\n" + "".join(f"{s},{t},{w:.3g}\n" for (s, t), w in listed)
    )
    (folder / "t.csv").write_text(
        "from,to\n" + "".join(f'"{names[s]}",x{t}\r\n' for s, t in pairs), encoding="utf-8"
    )
    (folder / "g.txt.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
    (folder / "g.txt.bz2").write_bytes(bz2.compress(lines.encode()))
    (folder / "g.txt.zst").write_bytes(pa.compress(lines.encode(), codec="zstd", asbytes=True))
    (folder / "g.mtx").write_text(
        f"%%MatrixMarket matrix coordinate pattern general\n% c\n{n} {n} {m}\n"
        + "".join(f"{s + 1} {t + 1}\n" for s, t in pairs)
    )
    made = nx.gnm_random_graph(40, 90, seed=3)
    (folder / "g.metis").write_text(
        "% c\n40 90 011\n"
        + "".join(
            " ".join(["1", *(f"{u + 1} {1 + (u + v) % 5}" for u in made[v])]) + "\n" for v in made
        )
    )
    pq.write_table(
        pa.table({"src": sources, "dst": targets, "weight": weights}), folder / "g.parquet"
    )
    texts = pa.table({"from": names[sources].tolist(), "to": names[targets].tolist()})
    pq.write_table(texts, folder / "t.parquet")
    (folder / "g.txt.xz").write_bytes(lzma.compress(lines.encode()))
    with zipfile.ZipFile(folder / "g.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("g.txt"), lines)
    (folder / "header.csv").write_text(
        "ts,userId,movieId\n" + "".join(f"{900 + s},{s},{t}\n" for s, t in pairs)
    )
    (folder / "out.konect").write_text(
        "% bip weighted\n% 9 9 9\n" + "".join(f"{s + 1} {t + 1} 2 1254192988\n" for s, t in pairs)
    )
    sparse.save_npz(folder / "dia.npz", sparse.dia_array(matrix))
    _write_by_networkx(folder, nx.gnm_random_graph(25, 50, seed=3, directed=True))


def _write_by_networkx(folder: Path, graph: Any) -> None:
    for place, (s, t) in enumerate(graph.edges):
        graph[s][t]["weight"] = 0.5 + place
    nx.write_edgelist(graph, folder / "g.edgelist")
    # Not write_adjlist: its comments hold the time and the command.
    (folder / "g.adjlist").write_text("\n".join(["# a comment", *nx.generate_adjlist(graph), ""]))
    nx.write_graphml_xml(graph, folder / "g.graphml")
    nx.write_gexf(graph, folder / "g.gexf")
    nx.write_gml(graph, folder / "g.gml")
    nx.write_pajek(graph, folder / "g.net")
    (folder / "g.json").write_text(json.dumps(nx.node_link_data(graph)))
    (folder / "g.gr").write_text(
        f"c\np sp {len(graph)} {graph.number_of_edges()}\n"
        + "".join(f"a {s + 1} {t + 1} {s + t}\n" for s, t in graph.edges)
    )


def _write_given_back(folder: Path) -> None:
    points = "scale,machines,seconds\n" + "".join(
        f"{s},{m},{5 + 90 * s / m + 0.8 * m}\n" for s in (0.25, 0.5, 1) for m in (1, 2, 4, 8)
    )
    (folder / "points.csv").write_text(points)
    sizing.save_model(
        sizing.fit_job(sizing.read_measurements(folder / "points.csv"), "ernest"),
        folder / "model.json",
    )
    (folder / "design.csv").write_text("machines,scale,repeats\n1,0.1,2\n2,0.1,1\n4,0.5,3\n")
    (folder / "prices.csv").write_text("type,cores,usd_per_hour\nm5,2,0.096\nc5,4,0.17\n")
    (folder / "runs.csv").write_text(
        "started,seconds,utilization,data_bytes,network_share,edges,cpu\n"
        + "".join(f"2026-01-0{i},{i * 1.5},0.8,{i * 1000},0.1,{i * 100},2.5\n" for i in range(1, 9))
    )
    prediction = {
        "schema": 1,
        "version": "0.1.0",
        "warnings": ["one"],
        "cost_model": {"machines": [1, 2]},
        "by_machines": [
            {"machines": m, "predicted": 60 / m, "low": 50 / m, "high": 80 / m} for m in (1, 2, 4)
        ],
    }
    (folder / "prediction.json").write_text(json.dumps(prediction))
    measured = {
        "cpu_speed": Measured(2.5, "GHz", 0.1, 5),
        "network_latency": Measured(1, "ms", 0, 3),
    }
    write_profile(
        ResourceProfile(machine="m", measured="2026-01-01", seconds=3.0, attributes=measured),
        folder / "profile.json",
    )
    log = _event_log_text()
    (folder / "app-7").write_text(log)
    (folder / "app-7.zst").write_bytes(pa.compress(log.encode(), codec="zstd", asbytes=True))
    history = History(folder / "h.sqlite")
    for number in range(4):
        history.add(_record(number))


def _record(number: int) -> Any:
    rows = Table(
        {
            "iteration": np.repeat(np.arange(3), 2),
            "worker": np.tile(np.arange(2), 3),
            "active_vertices": np.arange(6) + number,
            "seconds": np.linspace(0.1, 0.7, 6),
        }
    )
    return RunRecord(
        kind="run" if number % 2 else "sample",
        algorithm="pagerank",
        parameters={"epsilon": 0.001},
        graph=f"web {number}",
        fingerprint=f"f{number}",
        vertices=100,
        edges=900,
        directed=True,
        engine={"name": "local", "workers": 2},
        phases={"setup": 0.1, "superstep": 2.0},
        iterations=3,
        converged=True,
        rows=rows,
        sample={"sampler": "brj", "ratio": 0.1} if number % 2 == 0 else None,
        machine="any",
        time=datetime(2026, 1, 1 + number, tzinfo=UTC),
        uid=f"run-{number}",
    )


def _event_log_text() -> str:
    def event(kind: str, **fields: Any) -> str:
        content = {"Event": f"SparkListener{kind}", **fields}
        return json.dumps(content, separators=(",", ":")) + "\n"

    lines = [
        event("ApplicationStart", **{"App Name": "ranks", "App ID": "app-7", "Timestamp": 9000}),
        event("EnvironmentUpdate", **{"Spark Properties": {"spark.master": "spark://far:7077"}}),
    ]
    names = ["count at a.py:3", *["collect at a.py:9"] * 4, "save at a.py:12"]
    for number, name in enumerate(names):
        at = 10_000 + 1000 * number
        info = {"Stage ID": number, "Stage Attempt ID": 0, "Stage Name": name}
        info |= {"Number of Tasks": 1, "Parent IDs": [], "RDD Info": []}
        task = {"Task ID": number, "Index": 0, "Executor ID": "0", "Host": "far.example"}
        task |= {"Launch Time": at, "Finish Time": at + 900, "Failed": False, "Killed": False}
        read = {"Total Records Read": 100, "Local Bytes Read": 300, "Remote Bytes Read": 900}
        metrics = {"Executor Run Time": 800, "Shuffle Read Metrics": read}
        start = {"Job ID": number, "Submission Time": at, "Stage IDs": [number], "Properties": {}}
        lines += [
            event("JobStart", **start),
            event("StageSubmitted", **{"Stage Info": info}),
            event("TaskEnd", **{"Stage ID": number, "Task Info": task, "Task Metrics": metrics}),
            event("JobEnd", **{"Job ID": number, "Completion Time": at + 1000}),
        ]
    return "".join(lines)
