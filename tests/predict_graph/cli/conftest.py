import pytest

CORES = {"small": 2, "big": 8, "lean": 8}
PRICES = {"small": 0.1, "big": 0.4, "lean": 0.3}
COUNTS = (2, 4, 8, 16)  # of machines
TYPES = "machine_type,cores,memory_gb,price_per_hour\nsmall,2,4,0.1\nbig,8,32,0.4\nlean,8,8,0.3\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder of commands, which has a table of machine types."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "types.csv").write_text(TYPES)
    return tmp_path
