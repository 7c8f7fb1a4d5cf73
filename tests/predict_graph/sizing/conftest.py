import os
import sys
from pathlib import Path

import pytest

# Sleeps for a time that depends on the scale and the machines, and prints what it was given.
JOB = """
import sys, time
scale, machines = float(sys.argv[1]), int(sys.argv[2])
time.sleep(0.02 + 0.1 * scale / machines)
print("did", *sys.argv[1:])
"""


@pytest.fixture
def job(tmp_path):
    """Command of a small job that takes {scale} and {machines}."""
    script = tmp_path / "job.py"
    script.write_text(JOB)
    return [sys.executable, str(script), "{scale}", "{machines}"]


@pytest.fixture
def written(tmp_path):
    """Write a file of a given text."""

    def write(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def cluster_file():
    """Find a file of measured cluster runs; skip when it is not there."""

    def find(name):
        path = Path(os.environ.get("PREDICT_GRAPH_DATA", ""), "cluster", name)
        if not path.is_file():
            pytest.skip(f"needs {name} in the folder that PREDICT_GRAPH_DATA names")
        return path

    return find
