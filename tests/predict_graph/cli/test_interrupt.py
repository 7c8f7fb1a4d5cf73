"""Ctrl-C: exit status 130, one line, nothing left behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

# A long path mixes slowly: with next to no jumps this would run for hours.
ENDLESS = ["pagerank", "path:n=300000", "-p", "damping=0.999999", "-p", "tolerance=1e-300"]
LIMIT = ["-p", "max_iterations=1000000000"]


def interrupted(arguments, folder, after):
    started = subprocess.Popen(
        [sys.executable, "-m", "predict_graph", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"PREDICT_GRAPH_HISTORY": "none"},
    )
    try:
        time.sleep(after)
        assert started.poll() is None, started.communicate()
        started.send_signal(signal.SIGINT)
        asked = time.perf_counter()
        out, err = started.communicate(timeout=30)
        return started.returncode, out, err, time.perf_counter() - asked
    finally:
        started.kill()


@pytest.mark.parametrize("after", [0.4, 2.5])
def test_a_run_is_interrupted(tmp_path, after):
    arguments = ["run", *ENDLESS, *LIMIT, "--out", "ranks.csv", "--json", "out.json"]
    status, out, err, seconds = interrupted(arguments, tmp_path, after)
    assert status == 130
    assert [line for line in err.splitlines() if line] == [
        "error: interrupted; nothing is half written"
    ]
    assert out == ""
    assert seconds < 10
    assert os.listdir(tmp_path) == []


def test_a_validation_is_interrupted(tmp_path):
    arguments = ["validate", "pagerank", "rmat:scale=20,edge_factor=16,seed=1", "--json", "o.json"]
    status, _, err, _ = interrupted(arguments, tmp_path, 2.5)
    assert status == 130
    assert "Traceback" not in err
    assert err.count("error: interrupted") == 1
    assert os.listdir(tmp_path) == []
