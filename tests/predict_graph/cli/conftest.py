import pytest


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    monkeypatch.setenv("PREDICT_GRAPH_HISTORY", "none")
    monkeypatch.setenv("COLUMNS", "200")
    # A slow machine would write lines of progress where errors are counted.
    monkeypatch.setattr("predict_graph.clock.display.PATIENCE", 3600.0)
