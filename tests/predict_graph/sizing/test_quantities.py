import pytest

from predict_graph.durations import parse_duration
from predict_graph.errors import RequestError
from predict_graph.sizing.quantities import parse_counts, parse_money

READ = {
    parse_duration: {
        **{"90": 90, "90s": 90, "10m": 600, "10min": 600, "1h30m": 5400, "1h 30m 5s": 5405},
        **{"0.5h": 1800, " 2D ": 172800, ".25": 0.25},
    },
    parse_counts: {"8": [8], "2:5": [2, 3, 4, 5], "2:9:3": [2, 5, 8], "8,2,4:5,4": [2, 4, 5, 8]},
    parse_money: {"15": 15, "$5.60": 5.6, "1e2 USD": 100},
}
REFUSED = {
    parse_duration: ["", "0", "0s", "-5", "5x", "ten", "1h30", "30 20", "nan", "inf", "s"],
    parse_counts: [
        *("", "0", "0:4", "a:b", "1:2:3:4", "2.5", "-1:4", "2:", "1:4:0", "8:2", "1:999999"),
        "99999999999999",
    ],
    parse_money: ["", "0", "-1", "5 EUR", "nan", "inf"],
}


@pytest.mark.parametrize(
    ("parse", "text", "value"), [(p, t, v) for p, table in READ.items() for t, v in table.items()]
)
def test_quantities_as_people_write_them(parse, text, value):
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text"), [(p, text) for p, texts in REFUSED.items() for text in texts]
)
def test_other_texts_are_refused(parse, text):
    with pytest.raises(RequestError, match=r"what (is|are) .*accepted") as error:
        parse(text, "what")
    assert repr(text) in str(error.value)
