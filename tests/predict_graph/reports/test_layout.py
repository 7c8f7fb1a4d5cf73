"""The answer first, and no word of it cut: at 80 columns and at 40."""

import io
import json
import re
from operator import attrgetter

import pytest
from rich.console import Console

import predict_graph
from predict_graph.reports.tables import show_answer

GRAPH = "rmat:scale=11,edge_factor=8,seed=3"


@pytest.fixture(scope="module")
def comparison():
    return predict_graph.validate("pagerank", GRAPH, seed=1, method="completion")


def shown(answer, width, **level):
    file = io.StringIO()
    show_answer(Console(file=file, width=width, color_system=None), answer, **level)
    return file.getvalue()


def words(answer):
    texts = [answer.sentence, *(part for fact in answer.facts for part in fact), *answer.warnings]
    texts += [str(cell) for table in answer.tables for row in table.rows for cell in row]
    return {word for text in texts for word in text.split()}


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("name", ["prediction.answer", "answer", "actual.answer"])
def test_no_word_is_cut(comparison, name, width):
    answer = attrgetter(name)(comparison)
    text = shown(answer, width, verbose=True)
    assert words(answer) <= set(text.split())
    for line in text.splitlines():
        assert len(line) <= width or " " not in line.strip(), line


def test_the_sentence_is_first_and_alone_where_asked(comparison):
    answer = comparison.prediction.answer
    for level in ({}, {"quiet": True}, {"verbose": True}):
        assert shown(answer, 400, **level).splitlines()[0] == answer.sentence
    assert shown(answer, 400, quiet=True) == answer.sentence + "\n"
    plain, details = shown(answer, 80), shown(answer, 80, verbose=True)
    assert details.startswith(plain.split("\nwarning")[0].rstrip())
    assert ["fingerprint" in text for text in (plain, details)] == [False, True]


def test_sentence_text_html_and_json_say_the_same(comparison):
    for found in (comparison.prediction, comparison, comparison.actual):
        sentence = found.answer.sentence
        assert sentence in found._repr_html_()
        assert sentence in str(found.answer)
    said = comparison.prediction.to_dict()["verdict"]["sentence"]
    assert said == comparison.prediction.answer.sentence
    assert comparison.actual.to_dict()["verdict"]["sentence"] == comparison.actual.answer.sentence
    assert re.search(r"90% sure: .+ to .+\).* GiB", said)


def test_quiet_prints_the_sentence_and_verbose_the_rest(program, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    asked = ("predict", "pagerank", GRAPH, "--seed", 1)
    done = program(*asked, "-q")
    assert (done.status, len(done.out.splitlines()), done.err) == (0, 1, "")
    done = program(*asked, "-q", "--json", "-")
    assert json.loads(done.out)["verdict"]["sentence"] in " ".join(done.err.split())


def test_no_color(program, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    asked = ("run", "pagerank", GRAPH)
    assert "\x1b[" in program(*asked).out
    monkeypatch.setenv("NO_COLOR", "1")
    coloured = re.findall(r"\x1b\[([\d;]*)m", program(*asked).out)
    assert not [code for code in coloured if re.search(r"\b(3|4|9|10)\d\b", code)]
