import pytest


@pytest.fixture
def job():
    """Command of a small job that takes {scale} and {machines}, and prints what it was given."""
    return ["sh", "-c", 'echo did "$1" "$2"', "sh", "{scale}", "{machines}"]
