"""A page explains itself: no network, a text for each picture, colours that can be read."""

import html.parser
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

import predict_graph
from predict_graph.answers import Answer, Table
from predict_graph.intervals import Interval
from predict_graph.outcome.verdict import PeakMemory, verdict_of
from predict_graph.pictures import LIGHT
from predict_graph.reports.page import command_to_repeat, page
from tests.python import python

GRAPH = "rmat:scale=11,edge_factor=8,seed=3"


@pytest.fixture(scope="module")
def written():
    found = predict_graph.validate("pagerank", GRAPH, seed=1, method="completion")
    command = command_to_repeat(["validate", "pagerank", GRAPH], found.prediction.seed)
    return found, page("pagerank", found.answer, found.pictures(), command=command)


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.found = [], []
        self.feed(text)
        self.ids = [attributes["id"] for _, attributes in self.found if "id" in attributes]
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_says_what_the_answer_says(written):
    found, text = written
    plain = html.unescape(text)
    assert found.answer.sentence in plain
    assert all(name in plain and value in plain for name, value in found.answer.facts)
    assert all(warning in plain for warning in found.answer.warnings)
    assert all(each in plain for each in ("predict-graph validate pagerank", "--seed 1", "numpy"))
    for title in ("Convergence", "Time of each iteration", "Where the time goes"):
        assert f"<h3>{title}</h3>" in text


def test_nothing_is_taken_from_the_network(written):
    text = written[1]
    assert not re.search(r"(https?:)?//[\w.]", text)
    elements = Elements(text)
    assert not {"link", "iframe", "img"} & {tag for tag, _ in elements.found}
    assert len(re.search("<script>.*</script>", text, re.DOTALL)[0]) < 3072
    assert len(text) < 500_000
    for _, attributes in elements.found:
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")
    for target in re.findall(r"url\(([^)]*)\)", text):
        assert target.startswith("#")


def test_every_reference_has_its_element_and_every_id_is_one(written):
    elements = Elements(written[1])
    assert len(elements.ids) == len(set(elements.ids))
    assert set(re.findall(r'(?:url\(|href=")#([\w.-]+)', written[1])) <= set(elements.ids)


def test_every_picture_has_a_text(written):
    found, text = written
    pictures = [attributes for tag, attributes in Elements(text).found if tag == "svg"]
    assert len(pictures) == len(found.pictures())
    assert "mathdefault" not in text  # no formula of a logarithmic axis
    for attributes in pictures:
        assert attributes["role"] == "img"
        said = re.search(rf'<title id="{attributes["aria-labelledby"]}">([^<]+)</title>', text)
        assert said is not None
        assert len(said[1]) > 40
        assert re.search(r"\d", said[1]) or "Degrees" in said[1]


def test_pictures_take_the_colours_of_the_page(written):
    body = written[1][written[1].index("<main>") :]
    screens = [dict(re.findall(r"(--\w+): (#\w{6})", each)) for each in roots(written[1])]
    assert screens[0].keys() == screens[1].keys() > LIGHT.named().keys()
    assert not {color for color in LIGHT.named().values() if color in body}
    for name in ("predicted", "actual", "ink"):
        assert f"var(--{name})" in body
    assert set(re.findall(r"var\((--\w+)\)", written[1])) - {"--tone"} <= screens[0].keys()


def roots(text):
    """Return the colours of light and of dark screens."""
    return re.findall(r":root \{ ([^}]*--paper[^}]*)\}", text.replace("light dark; ", " "))


@pytest.mark.parametrize("screen", [0, 1], ids=["light", "dark"])
def test_contrast_is_that_of_wcag_aa(written, screen):
    def luminance(color):
        parts = np.array([int(color[place : place + 2], 16) / 255.0 for place in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return 0.05 + linear @ (0.2126, 0.7152, 0.0722)

    colors = dict(re.findall(r"--(\w+): (#\w{6})", roots(written[1])[screen]))
    for name in colors.keys() - {"paper", "rule"}:
        dim, bright = sorted((luminance(colors[name]), luminance(colors["paper"])))
        assert bright / dim >= 4.5, name


def test_values_under_the_pointer_are_those_of_the_run(written):
    found, text = written
    drawn = [attributes for tag, attributes in Elements(text).found if tag == "svg"]
    sides, series = json.loads(drawn[1]["data-marks"])  # the time of each iteration
    assert [side[0].partition(",")[0] for side in sides] == ["iteration", "time of an iteration"]
    assert [one[0] for one in series] == ["predicted", "real"]
    unit = {"ms": 1e-3, "s": 1.0}[sides[1][0].rpartition(" ")[2]]
    np.testing.assert_allclose(np.array(series[1][2]) * unit, found.actual.iteration_seconds)


def test_tables_sort_by_numbers():
    rows = [["4 x a", "1 KiB", "58.3 s"], ["2 x a", "900 bytes", "2.5 min to 3 min (missed)"]]
    text = page("t", Answer("a", (), [Table("", ["name", "size", "time"], rows)]), [], command="")
    values = [at.get("data-value") for tag, at in Elements(text).found if tag == "td"]
    assert values[:6] == [None, "1024.0", "58.3", None, "900.0", "150.0"]


def test_a_badge_says_in_a_word_what_the_sentence_says():
    few, much, free = (Interval(x, x / 2, 2 * x) for x in (0.1, 100.0, 8e9))
    said = []
    for runtime, there in ((few, 2e10), (much, 2e10), (much, 8e9), (few, 1e9)):
        found = verdict_of(runtime, {"read": 1.0}, memory=PeakMemory(free, there))
        text = page("t", Answer(found.sentence, badge=found.badge), [], command="")
        said.append(re.search(r'aria-hidden="true">(.)</span> ([^<]*)</span>', text).groups())
        assert said[-1][1] in found.sentence
    fits = [("✓", "fits"), ("!", "may not fit"), ("✕", "does not fit")]
    assert said == [("✓", "just run it"), *((mark, f"{each} in memory") for mark, each in fits)]


def test_what_strangers_name_is_escaped():
    answer = Answer("<b>&", [("<i>", "<u>")], [Table("<t>", ["<c>"], [["<x>"]])], ["<w>"])
    text = page("<script>", answer, [], command="<cmd>")
    text = text[: text.index("<script>\nfor")]
    for tag in ("<b>", "<i>", "<u>", "<t>", "<c>", "<x>", "<w>", "<script>", "<cmd>"):
        assert tag not in text
        assert html.escape(tag) in text


MODEL = "model.json"
FILES = {
    "points.csv": "scale,machines,seconds\n"
    + "".join(f"1,{m},{5 + 90 / m + 0.3 * m}\n" for m in (1, 2, 4, 8, 16)),
    "types.csv": "machine_type,cores,memory_gb,price_per_hour\nsmall,2,4,0.1\nbig,8,32,0.4\n",
    "runs.csv": "machine_type,machines,seconds,outcome\nsmall,2,1022,ok\nbig,4,149,ok\n",
    "mine.py": "f = len",
    "graph.csv": "".join(f"{i},{(7 * i + k) % 40}\n" for i in range(40) for k in (1, 2, 3)),
}
REPORTS = {
    "predict": "predict pagerank graph.csv --history none --seed 1",
    "samplers": "compare-samplers graph.csv --samplers rj,brj --ratio 0.5 --seed 1",
    "functions": "compare-functions graph.csv networkx:degree ./mine.py:f --history none",
    "fit": "fit points.csv --model ernest",
    "plan": f"plan {MODEL} --machines 1:16 --deadline 1m",
    "next": "next runs.csv --candidates types.csv --machines 2,4",
}
IN_ONE_PROCESS = """
import json, sys
from predict_graph.cli import main
from predict_graph.clock import display

display.PATIENCE = 3600.0  # no line of progress on a slow machine
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as ended:
        assert not ended.code, words
"""


@pytest.fixture
def _files(tmp_path, monkeypatch, program):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    program("fit", "points.csv", "--model", "ernest", "--out", MODEL)


PLAIN = {
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONIOENCODING": "ascii",
    "COLUMNS": "40",
}


@pytest.mark.slow
@pytest.mark.usefixtures("_files")
def test_a_poor_terminal():
    """40 columns, and ASCII only."""
    asked = [f"{words} -v --report {name}.html".split() for name, words in REPORTS.items()]
    done = python("-c", IN_ONE_PROCESS, json.dumps(asked), env=os.environ | PLAIN)
    assert done.stdout.isascii()
    assert max(map(len, (done.stdout + done.stderr).splitlines())) <= 40
    for name in REPORTS:
        has_a_picture(f"{name}.html")


@pytest.mark.slow
@pytest.mark.usefixtures("_files")
def test_a_reader_that_goes_away():
    """A pipe that is closed after a line: the page is written."""
    asked = json.dumps([f"{REPORTS['fit']} --report b.html".split()])
    words = [sys.executable, "-c", IN_ONE_PROCESS, asked]
    script = f"set -o pipefail; {shlex.join(words)} | head -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    has_a_picture("b.html")


def has_a_picture(file):
    text = Path(file).read_text(encoding="utf-8")
    assert text.endswith("</html>")
    assert "svg" in [tag for tag, _ in Elements(text).found]
