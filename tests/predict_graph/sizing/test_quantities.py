import pytest

from predict_graph.errors import RequestError
from predict_graph.sizing import parse_counts, parse_duration, parse_money


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("10m", 600),
        ("10min", 600),
        ("1h30m", 5400),
        ("1h 30m 5s", 5405),
        ("0.5h", 1800),
        (" 2D ", 172800),
        (".25", 0.25),
    ],
)
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "0", "0s", "-5", "5x", "ten", "1h30", "30 20", "nan", "inf", "s"]
)
def test_what_is_no_duration(text):
    with pytest.raises(RequestError, match="deadline is") as error:
        parse_duration(text, "deadline")
    assert repr(text) in str(error.value)
    assert "accepted" in str(error.value)


@pytest.mark.parametrize(
    ("text", "counts"),
    [("8", [8]), ("2:5", [2, 3, 4, 5]), ("2:9:3", [2, 5, 8]), ("8,2,4:5,4", [2, 4, 5, 8])],
)
def test_counts(text, counts):
    assert parse_counts(text) == counts


@pytest.mark.parametrize("text", ["", "0", "0:4", "a:b", "1:2:3:4", "2.5", "-1:4", "2:", "1:4:0"])
def test_what_are_no_counts(text):
    with pytest.raises(RequestError, match="machines are") as error:
        parse_counts(text)
    assert repr(text) in str(error.value)


def test_a_range_upside_down():
    with pytest.raises(RequestError, match="from 8 down to 2"):
        parse_counts("8:2")


def test_a_range_without_end():
    with pytest.raises(RequestError, match="more than 100,000 counts"):
        parse_counts("1:999999999")


@pytest.mark.parametrize(("text", "usd"), [("15", 15), ("$5.60", 5.6), ("1e2 USD", 100)])
def test_money(text, usd):
    assert parse_money(text) == usd


@pytest.mark.parametrize("text", ["", "0", "-1", "5 EUR", "nan", "inf"])
def test_what_is_no_money(text):
    with pytest.raises(RequestError, match="budget is") as error:
        parse_money(text)
    assert repr(text) in str(error.value)
