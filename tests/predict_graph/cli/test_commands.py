"""What the commands print and write."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from predict_graph.engines import COUNTERS
from predict_graph.graph import check_graph

GRAPH = "rmat:scale=11,edge_factor=8,seed=3"
PREDICTION = {
    "schema": int,
    "verdict": dict,
    "algorithm": dict,
    "graph": dict,
    "engine": dict,
    "seed": int,
    "iterations": dict,
    "runtime_seconds": dict,
    "phases": dict,
    "features_total": dict,
    "per_iteration": list,
    "samples": list,
    "cost_model": dict,
    "overhead": dict,
    "warnings": list,
}


def written(path):
    return json.loads(path.read_text())


def has_every_field(found):
    for name, kind in PREDICTION.items():
        assert isinstance(found[name], kind), name
    assert found["schema"] == 1
    assert found["algorithm"]["name"] == "pagerank"
    assert found["algorithm"]["parameters"]["epsilon"] == 0.001
    assert found["graph"] == check_graph(GRAPH).describe()
    assert found["engine"]["name"] == "local"
    for name in ("iterations", "runtime_seconds"):
        figures = found[name]
        assert figures["low"] <= figures["predicted"] <= figures["high"]
    assert set(found["phases"]) == {"setup", "read", "superstep", "write"}
    assert set(found["features_total"]) == set(COUNTERS)
    rows = found["per_iteration"]
    assert [row["iteration"] for row in rows] == list(
        range(1, found["iterations"]["predicted"] + 1)
    )
    assert all({"seconds", *COUNTERS} <= set(row) for row in rows)
    wanted = {"sampler", "ratio", "vertices", "edges", "iterations", "seconds"}
    assert all(wanted <= set(sample) for sample in found["samples"])
    assert {"name", "terms", "r2"} <= set(found["cost_model"])
    assert {"seconds", "fraction_of_predicted"} <= set(found["overhead"])


def test_predict_writes_every_field(program, tmp_path):
    path = tmp_path / "out.json"
    asked = f"predict pagerank {GRAPH} -p epsilon=0.001 --json {path} --method completion -v"
    result = program(*asked.split())
    assert result.status == 0
    has_every_field(written(path))
    assert "actual" not in written(path)
    predicted = written(path)["iterations"]["predicted"]
    assert f"{predicted} (" in result.out
    assert "cost model" in result.out


def test_validate_writes_every_field(program, tmp_path):
    path = tmp_path / "out.json"
    result = program("validate", "pagerank", GRAPH, "-p", "epsilon=0.001", "--json", path)
    assert result.status == 0
    found = written(path)
    has_every_field(found)
    actual, errors = found["actual"], found["errors"]
    assert len(actual["per_iteration"]) == actual["iterations"]
    assert set(actual["phases"]) == set(found["phases"])
    assert set(actual["features_total"]) == set(errors["features_total"]) == set(COUNTERS)
    assert errors["iterations"] == pytest.approx(
        found["iterations"]["predicted"] / actual["iterations"] - 1
    )
    assert errors["runtime_seconds"] == pytest.approx(
        found["runtime_seconds"]["predicted"] / actual["runtime_seconds"] - 1
    )
    assert "prediction and truth" in result.out
    assert f"{errors['iterations']:+.1%}" in result.out


@pytest.mark.parametrize(
    ("arguments", "table"),
    [
        (["predict", "pagerank", GRAPH, "--method", "completion"], "90% sure"),
        (["run", "pagerank", GRAPH], "took"),
        (["validate", "pagerank", GRAPH], "prediction and truth"),
        (["compare-samplers", GRAPH, "--samplers", "rj,brj"], "brj"),
    ],
)
def test_json_on_standard_output_is_pure(program, arguments, table):
    result = program(*arguments, "--json", "-")
    assert result.status == 0
    assert json.loads(result.out)
    assert table in result.err


def without_times(value):
    """Leave out what is measured with a clock, and how many threads there were."""
    measured = {"seconds", "runtime_seconds", "phases", "overhead", "threads"}
    measured |= {"cost_model", "evidence", "verdict"}
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in measured}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return value


def test_same_seed_same_json_whatever_the_threads(program, tmp_path):
    found = []
    for number, (seed, threads) in enumerate([(5, 1), (5, 1), (5, 2), (6, 1)]):
        path = tmp_path / f"{number}.json"
        asked = ("--seed", seed, "--threads", threads, "--method", "completion", "--json", path)
        program("predict", "pagerank", GRAPH, *asked)
        found.append(without_times(written(path)))
    assert found[0] == found[1] == found[2]
    assert found[0] != found[3]
    assert len(found[0]["samples"]) > 5


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_run_writes_a_value_for_each_vertex(program, tmp_path, ending):
    graph = tmp_path / "graph.txt"
    graph.write_text("".join(f"{v * 10} {v * 10 + 10}\n" for v in range(20)))
    path = tmp_path / f"ranks{ending}"
    assert program("run", "pagerank", graph, "--out", path).status == 0
    if ending == ".parquet":
        table = pq.read_table(path).to_pydict()
        vertices, values = table["vertex"], table["value"]
    else:
        with path.open(newline="") as file:
            rows = list(csv.reader(file, delimiter="," if ending == ".csv" else "\t"))
        assert rows[0] == ["vertex", "value"]
        vertices = [int(row[0]) for row in rows[1:]]
        values = [float(row[1]) for row in rows[1:]]
    assert sorted(vertices) == [v * 10 for v in range(21)]
    assert sum(values) == pytest.approx(1.0)


def test_sample_writes_edges_with_their_own_ids(program, tmp_path):
    source, out, report = (tmp_path / n for n in ("graph.txt", "sample.txt", "report.json"))
    edges = {(1000 + v, 1000 + (v * 7 + k) % 60) for v in range(60) for k in range(1, 4)}
    source.write_text("".join(f"{s} {t}\n" for s, t in sorted(edges)))
    asked = f"sample {source} --sampler rj --ratio 0.5 --out {out} --seed 1 --json {report}"
    result = program(*asked.split())
    assert result.status == 0
    kept = {tuple(row) for row in np.loadtxt(out, dtype=int, comments="#", ndmin=2).tolist()}
    assert kept
    assert kept <= edges
    found = written(report)
    assert (found["vertices"], found["edges"]) == (30, len(kept))
    assert (found["sampler"], found["seed"]) == ("rj", 1)
    assert set(found["fidelity"]["d_statistics"]) == {"in_degree", "out_degree", "hop_plot"}
    assert "in-degree" in result.out


def test_a_sample_without_a_seed_can_be_drawn_again(program, tmp_path):
    out, report = tmp_path / "a.txt", tmp_path / "a.json"
    program("sample", GRAPH, "--out", out, "--json", report)
    first, seed = out.read_text(), written(report)["seed"]
    program("sample", GRAPH, "--out", out, "--seed", seed)
    assert out.read_text() == first


def test_the_history_from_end_to_end(program, tmp_path):
    first, second, export = (tmp_path / n for n in ("1.sqlite", "2.sqlite", "runs.parquet"))
    for _ in range(2):
        assert program("run", "pagerank", GRAPH, "--history", first).status == 0
    listed = program("history", "list", "--history", first, "--json", "-")
    runs = json.loads(listed.out)
    assert [run["kind"] for run in runs] == ["run", "run"]
    shown = program("history", "show", runs[0]["id"], "--history", first, "--json", "-")
    record = json.loads(shown.out)
    assert record["iterations"] == runs[0]["iterations"]
    assert len(record["table"]) == 4 * record["iterations"]
    assert "2 runs" in program("history", "export", export, "--history", first).out
    assert "2 runs added" in program("history", "import", export, "--history", second).out
    again = program("history", "import", export, "--history", second)
    assert "0 runs added, 2 were here" in again.out
    assert "1 runs forgotten" in program("history", "prune", "--keep", 1, "--history", second).out
    left = json.loads(program("history", "list", "--history", second, "--json", "-").out)
    assert len(left) == 1


def test_datasets_are_listed(program):
    result = program("datasets", "list")
    assert result.status == 0
    assert "web-NotreDame" in result.out
    assert "soc-LiveJournal1" in result.out


def test_a_dataset_is_found_by_its_name(program, shared_graph_file):
    path = shared_graph_file("wiki-Vote.txt.gz")
    result = program("datasets", "path", "wiki-Vote")
    assert (result.status, result.out.strip()) == (0, str(path))
    found = program("predict", "pagerank", "wiki-Vote", "--json", "-", "--seed", 1)
    assert json.loads(found.out)["graph"]["vertices"] == 7115


def test_help_and_version(program):
    assert program("--help").status == 0
    result = program("--version")
    assert result.status == 0
    assert result.out.startswith("predict-graph ")
    for command in ("predict", "run", "validate", "sample", "compare-samplers"):
        shown = program(command, "--help")
        assert shown.status == 0
        assert "--seed" in shown.out
        assert "--json" in shown.out


def test_no_command_shows_the_help_and_is_a_wrong_request(program):
    for arguments in ([], ["history"], ["datasets"]):
        result = program(*arguments)
        assert result.status == 2
        assert "Usage" in result.out + result.err
        assert "internal error" not in result.err


def test_the_python_module_is_the_program(new_process):
    assert new_process("list", "samplers").out.count("built-in") >= 5
    assert new_process("list", "nothing").status == 2


def test_text_ids_survive_a_plain_sample_file(program, tmp_path):
    source, out = tmp_path / "source.csv", tmp_path / "sample.txt"
    source.write_text('a,"us;er 1"\n"us;er 1",b\nb,a\n')
    options = ["--ids", "string", "--seed", 1]
    assert program("sample", source, "--ratio", 1, "--out", out, *options).status == 0
    assert program("run", "pagerank", out, *options).status == 0
    assert sorted(out.read_text().splitlines()) == ["a\tus;er 1", "b\ta", "us;er 1\tb"]


def test_an_id_that_a_plain_file_cannot_hold_is_refused(program, tmp_path):
    source, out = tmp_path / "source.csv", tmp_path / "sample.txt"
    source.write_text('a,"tab\there"\n"tab\there",b\nb,a\n')
    result = program("sample", source, "--ids", "string", "--ratio", 1, "--out", out)
    assert result.status == 2
    assert "holds a tab" in result.err
    assert not out.exists()
