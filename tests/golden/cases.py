"""What the golden file holds: answers that depend on seeds, and not on how fast a machine is."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

from predict_graph.algorithms import ALGORITHMS
from predict_graph.builtin.graphx.definition import GRAPHX
from predict_graph.cli.app import app, main
from tests.steps import predict_by_formula

GRAPHS = (
    "rmat:scale=12,edge_factor=8,seed=3",
    "grid:rows=60,columns=70",
    "barabasi-albert:n=5000,m=4,seed=2",
)
LAWS = {
    "constant": lambda n: 0.4,
    "linear": lambda n: 1e-4 * n,
    "square": lambda n: 3e-5 * n**2,
    "cube": lambda n: 2e-7 * n**3,
    "quartic": lambda n: 1e-9 * n**4,
}
"""Seconds of a call by the vertices of its graph."""
CLUSTER = "--engine spark --master spark://cluster:7077 --machines 4 --budget 0"
FIT = "fit runs.csv --model {} --out {}.json"
TASKS = {
    **{f"fit {model}": FIT.format(model, model) for model in ("ernest", "masha", "auto")},
    "fit types": "fit clusters.csv --types types.csv",
    "plan deadline": "plan ernest.json --machines 1:32 --scale 4 --deadline 60s",
    "plan budget": "plan m=ernest.json --machines 1:32 --scale 4 --budget 0.2 --prices prices.csv",
    "plan frontier": "plan ernest.json --machines 1:32 --scale 4",
    "design a": "design --scale 0.05:0.2 --machines 1:16 --budget 20",
    "design i": "design --scale 0.05:0.2 --machines 1:16 --budget 20 --criterion i --target 1@8:32",
    "next": "next clusters.csv --candidates types.csv --machines 2:16",
}
TABLES = {
    "prices.csv": "type,cores,usd_per_hour\nm,4,0.2\n",
    "types.csv": (
        "machine_type,cores,memory_gb,price_per_hour\n"
        "small,2,8,0.1\nlarge,8,32,0.4\nmemory,4,64,0.35\n"
    ),
    "clusters.csv": "machine_type,machines,seconds\nsmall,4,310\nlarge,4,95\nsmall,12,140\n",
}
FILE = Path(__file__).with_name("expected.ndjson")
"""The answers that are kept: a line for each case."""


def stored():
    """Return the answers that are kept, by the names of their cases."""
    return dict(json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines())


def names():
    """Return the name of every case."""
    ours = ALGORITHMS.names()
    graphx = [f"graphx:{name}" for name in GRAPHX.names()]
    return [
        *(f"local {name} {graph}" for graph in GRAPHS for name in ours),
        *(f"cluster {name} {graph}" for graph in GRAPHS[:2] for name in (*ours, *graphx)),
        *(f"function {law} {budget}" for law in LAWS for budget in ("5%", "1s")),
        *(f"sizing {name}" for name in TASKS),
        "options",
    ]


def answer(name, folder):
    """Return the answer of one case, made in a folder."""
    kind, _, rest = name.partition(" ")
    if kind == "options":
        return options()
    if kind == "sizing":
        tables(folder)
        if rest.startswith("plan"):
            called(TASKS["fit ernest"], folder)
        return rounded(timeless(called(TASKS[rest], folder)))
    if kind == "function":
        law, budget = rest.split()
        found = predict_by_formula(LAWS[law], GRAPHS[2], budget=budget).to_dict()
        return rounded({key: found[key] for key in ("processor_seconds", "samples", "evidence")})
    job, graph = rest.split()
    engine = "--budget unlimited" if kind == "local" else CLUSTER
    found = called(f"predict {job} {graph} --seed 1 --history none {engine}", folder)
    kept = ["iterations", "features_total", "algorithm", "graph", "method"]
    if kind == "cluster":
        kept += ["runtime_seconds", "phases"]
    rows = pd.DataFrame(found["per_iteration"])
    counters = [each for each in rows if each not in ("iteration", "seconds", "convergence")]
    supersteps = {each: digest(rows[each].to_numpy(np.float64)) for each in counters}
    return rounded({**{key: found[key] for key in kept}, "per_iteration": supersteps})


def digest(values):
    """Return what tells a column of supersteps from another."""
    return {"first": values[0], "last": values[-1], "sum": values.sum(), "most": values.max()}


def called(command, folder):
    """Run a command in a folder, and return what it writes as JSON."""
    path = folder / "answer.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with pytest.raises(SystemExit) as exit_:
            main([*command.split(), "--json", str(path)])
    assert not exit_.value.code, command
    return json.loads(path.read_text(encoding="utf-8"))


def tables(folder):
    """Write the tables that the sizing commands read."""
    scales, machines = (axis.ravel() for axis in np.meshgrid([1.0, 2.0, 4.0], [1, 2, 4, 8, 16]))
    noise = 1.0 + 0.03 * np.sin(np.arange(len(scales)))
    seconds = (8.0 + 90.0 * scales / machines + 2.0 * np.log(machines) + 0.4 * machines) * noise
    runs = pd.DataFrame({"scale": scales, "machines": machines, "seconds": seconds})
    runs.to_csv(folder / "runs.csv", index=False)
    for name, text in TABLES.items():
        (folder / name).write_text(text)


def options():
    """Return the options and arguments of every command."""
    return dict(sorted(_commands(typer.main.get_command(app), "")))


def _commands(command, name):
    words = sorted(word for each in command.params for word in (*each.opts, *each.secondary_opts))
    yield name, words
    context = typer.Context(command)
    for part in getattr(command, "list_commands", lambda _: [])(context):
        yield from _commands(command.get_command(context, part), f"{name} {part}".strip())


def timeless(found):
    """Return JSON without what only this call took, or was."""
    dropped = ("overhead", "version", "path", "file", "created", "sources", "history")
    if isinstance(found, dict):
        return {key: timeless(value) for key, value in found.items() if key not in dropped}
    return [timeless(each) for each in found] if isinstance(found, list) else found


def rounded(found):
    """Return JSON with five digits of each number, and of long lists the length and the head."""
    if isinstance(found, dict):
        return {key: rounded(value) for key, value in found.items()}
    if isinstance(found, list):
        return [rounded(each) for each in (found if len(found) < 8 else [len(found), *found[:3]])]
    return float(f"{found:.5g}") if isinstance(found, float) else found
