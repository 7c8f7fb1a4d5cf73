"""What the commands print and write."""

import json

import numpy as np
import pytest

GRAPH = "rmat:scale=11,edge_factor=8,seed=3"


COMMANDS = [
    (["predict", "pagerank", GRAPH, "--method", "completion"], "90% sure"),
    (["run", "pagerank", GRAPH], "took"),
    (["validate", "pagerank", GRAPH], "prediction and truth"),
    (["compare-samplers", GRAPH, "--samplers", "rj, brj"], "brj"),
]


@pytest.mark.parametrize(("arguments", "table"), COMMANDS)
def test_json_on_standard_output_is_pure(program, arguments, table):
    result = program(*arguments, "--json", "-")
    assert result.answer
    assert table in result.err


def test_sample_writes_edges_with_their_own_ids(program, tmp_path):
    source, out, report = (tmp_path / n for n in ("graph.txt", "sample.txt", "report.json"))
    edges = {(1000 + v, 1000 + (v * 7 + k) % 60) for v in range(60) for k in range(1, 4)}
    source.write_text("".join(f"{s} {t}\n" for s, t in sorted(edges)))
    asked = f"sample {source} --sampler rj --ratio 0.5 --out {out} --seed 1 --json {report}"
    result = program(*asked.split(), status=0)
    kept = {tuple(row) for row in np.loadtxt(out, dtype=int, comments="#", ndmin=2).tolist()}
    assert set() < kept <= edges
    found = json.loads(report.read_text())
    assert [*map(found.get, ("vertices", "edges", "sampler", "seed"))] == [30, len(kept), "rj", 1]
    assert set(found["fidelity"]["d_statistics"]) == {"in_degree", "out_degree", "hop_plot"}
    assert "in-degree" in result.out


def test_a_sample_without_a_seed_can_be_drawn_again(program, tmp_path):
    out, report = tmp_path / "a.txt", tmp_path / "a.json"
    program("sample", GRAPH, "--out", out, "--json", report)
    first, seed = out.read_text(), json.loads(report.read_text())["seed"]
    program("sample", GRAPH, "--out", out, "--seed", seed)
    assert out.read_text() == first


def test_the_history_from_end_to_end(program, tmp_path):
    first, second, export = (tmp_path / n for n in ("1.sqlite", "2.sqlite", "runs.sqlite"))
    for _ in range(2):
        program("run", "pagerank", GRAPH, "--history", first, status=0)
    runs = program("history", "list", "--history", first, "--json", "-").answer
    assert [run["kind"] for run in runs] == ["run", "run"]
    listed = program("history", "list", "--history", first).out.splitlines()
    assert [line.split()[0] for line in listed] == ["runs", "id", "──", "2", "1"]  # in a pipe
    record = program("history", "show", runs[0]["id"], "--history", first, "--json", "-").answer
    assert record["iterations"] == runs[0]["iterations"]
    assert sum(record["phases"].values()) == pytest.approx(runs[0]["seconds"], rel=1e-9)
    assert len(record["table"]) == 4 * record["iterations"]
    assert "2 runs" in program("history", "export", export, "--history", first).out
    assert "2 runs added" in program("history", "import", export, "--history", second).out
    assert "0 runs added, 2 were" in program("history", "import", export, "--history", second).out
    assert "1 run forgotten" in program("history", "prune", "--keep", 1, "--history", second).out
    program("history", "prune", "--keep", "9" * 20, "--history", second).is_refused("64 bits")
    assert len(program("history", "list", "--history", second, "--json", "-").answer) == 1


def test_shared_runs_do_not_show_whose_they_are(program, tmp_path):
    from benchmarks.atlas import informative

    own, runs, shared = tmp_path / "secret.py", tmp_path / "runs.sqlite", tmp_path / "a.ndjson"
    own.write_text("def mine(G):\n    return sum(G.degree(v) for v in G)\n")
    export = ("history", "export", shared, "--share", "--history", runs)
    for call in ((f"{own}:mine",), ("networkx:pagerank", "--arg", "weight=salary")):
        program("predict", *call, "cycle:n=300", "--history", runs, status=0)
    program("run", "networkx:betweenness_centrality", "cycle:n=1200", "--history", runs, status=0)
    program(*export).is_refused("no run that can be shared")
    program("predict", "networkx:pagerank", "cycle:n=300", "--history", runs)
    assert "runs written" in program(*export).out
    rows = [json.loads(line) for line in shared.read_text().splitlines()]
    assert {row["function"] for row in informative(rows)} == {"networkx:pagerank"}
    assert all(row["drivers"]["edges"] > 1 and row["seconds"] > 0 < row["unit"] for row in rows)
    assert not any(text in shared.read_text() for text in ("secret", "salary", "cycle", "tmp"))
    program(*export[:2], tmp_path / "a.csv", *export[3:]).is_refused("accepted: .ndjson")


def test_a_dataset_is_listed_and_found_by_its_name(program, shared_file):
    assert "soc-LiveJournal1" in program("datasets", "list").out
    result = program("datasets", "path", "wiki-Vote")
    assert (result.status, result.out.strip()) == (0, str(shared_file("wiki-Vote.txt.gz")))
    found = program("predict", "pagerank", "wiki-Vote", "--json", "-", "--seed", 1)
    assert found.answer["graph"]["vertices"] == 7115


def test_help_and_version(program, monkeypatch):
    program("--help", status=0)
    assert program("--version", status=0).out.startswith("predict-graph ")
    assert "--seed" in program("predict", "--help").out
    for arguments in ([], ["history"], ["datasets"]):  # a wrong request
        assert "Usage" in program(*arguments, status=2).err
    monkeypatch.setenv("COLUMNS", "0")  # as of a terminal that does not know its width
    assert "same-threshold" in program("list", "transforms").out
    monkeypatch.setattr("sys.stdout", None)  # as Python has it where a shell was given >&-
    program("list", "transforms", status=0)


def test_text_ids_survive_a_plain_sample_file(program, tmp_path):
    source, out = tmp_path / "source.csv", tmp_path / "sample.txt"
    source.write_text('a,"us;er 1"\n"us;er 1",b\nb,a\n')
    options = ["--ids", "string", "--seed", 1]
    program("sample", source, "--ratio", 1, "--out", out, *options, status=0)
    program("run", "pagerank", out, *options, status=0)
    assert sorted(out.read_text().splitlines()) == ["a\tus;er 1", "b\ta", "us;er 1\tb"]
