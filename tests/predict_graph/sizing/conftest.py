import os
from pathlib import Path

import pytest


@pytest.fixture
def job():
    """Command of a small job that takes {scale} and {machines}, and prints what it was given."""
    return ["sh", "-c", 'echo did "$1" "$2"', "sh", "{scale}", "{machines}"]


@pytest.fixture
def cluster_file():
    """Find a file of measured cluster runs; skip when it is not there."""

    def find(name):
        path = Path(os.environ.get("PREDICT_GRAPH_DATA", ""), "cluster", name)
        if not path.is_file():
            pytest.skip(f"needs {name} in the folder that PREDICT_GRAPH_DATA names")
        return path

    return find
