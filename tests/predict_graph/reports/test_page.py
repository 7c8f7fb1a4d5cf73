"""A page explains itself: no network, a text for each picture, colours that can be read."""

import html.parser
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

import predict_graph
from predict_graph.answers import Answer, Table
from predict_graph.pictures.palette import DARK, LIGHT
from predict_graph.reports.page import command_to_repeat, page

GRAPH = "rmat:scale=11,edge_factor=8,seed=3"


@pytest.fixture(scope="module")
def written():
    found = predict_graph.validate("pagerank", GRAPH, seed=1, history="none", method="completion")
    command = command_to_repeat(["validate", "pagerank", GRAPH], found.prediction.seed)
    return found, page("pagerank", found.answer, found.pictures(), command=command)


class Elements(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.ids = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in ("meta", "br", "img", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_says_what_the_answer_says(written):
    found, text = written
    plain = html.unescape(text)
    assert found.answer.sentence in plain
    assert all(name in plain and value in plain for name, value in found.answer.facts)
    assert all(warning in plain for warning in found.answer.warnings)
    assert "predict-graph validate pagerank" in plain
    assert "--seed 1" in plain
    assert "numpy" in plain
    for title in ("Convergence", "Time of each iteration", "Where the time goes"):
        assert f"<h3>{title}</h3>" in text


def test_nothing_is_taken_from_the_network(written):
    text = written[1]
    assert not re.search(r"(https?:)?//[\w.]", text)
    elements = Elements(text)
    assert not {"script", "link", "iframe", "img"} & {tag for tag, _ in elements.found}
    for _, attributes in elements.found:
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")
    for target in re.findall(r"url\(([^)]*)\)", text):
        assert target.startswith("#")


def test_every_reference_has_its_element_and_every_id_is_one(written):
    elements = Elements(written[1])
    assert len(elements.ids) == len(set(elements.ids))
    used = set(re.findall(r'(?:url\(|href=")#([\w.-]+)', written[1]))
    assert used <= set(elements.ids)


def test_every_picture_has_a_text(written):
    found, text = written
    pictures = [attributes for tag, attributes in Elements(text).found if tag == "svg"]
    assert len(pictures) == len(found.pictures())
    for attributes in pictures:
        assert attributes["role"] == "img"
        name = attributes["aria-labelledby"]
        said = re.search(rf'<title id="{name}">([^<]+)</title>', text)
        assert said is not None
        assert len(said[1]) > 40
        assert re.search(r"\d", said[1]) or "Degrees" in said[1]


def test_pictures_take_the_colours_of_the_page(written):
    body = written[1][written[1].index("<main>") :]
    assert not {color for color in LIGHT.named().values() if color in body}
    assert "var(--series-1)" in body
    assert "var(--ink)" in body
    for name in set(re.findall(r"var\((--[\w-]+)\)", written[1])):
        assert name in LIGHT.named()
        assert name in DARK.named()


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_is_that_of_wcag_aa(palette):
    def luminance(color):
        parts = np.array([int(color[place : place + 2], 16) / 255.0 for place in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return 0.05 + linear @ (0.2126, 0.7152, 0.0722)

    for color in (palette.ink, palette.muted, *palette.series):
        dim, bright = sorted((luminance(color), luminance(palette.paper)))
        assert bright / dim >= 4.5, color


def test_what_strangers_name_is_escaped():
    answer = Answer("<b>&", [("<i>", "<u>")], [Table("<t>", ["<c>"], [["<x>"]])], ["<w>"])
    text = page("<script>", answer, [], command="<cmd>")
    for tag in ("<b>", "<i>", "<u>", "<t>", "<c>", "<x>", "<w>", "<script>", "<cmd>"):
        assert tag not in text
        assert html.escape(tag) in text


def test_secrets_are_left_out():
    said = command_to_repeat(
        ["predict", "--conf=spark.hadoop.fs.s3a.access.key=ABC", "--conf", "a.password=DEF"], 3
    )
    assert "ABC" not in said
    assert "DEF" not in said
    assert said.endswith("--seed 3")
    assert command_to_repeat(["next", "r.csv", "--", "job", "{x}"], 5) == (
        "predict-graph next r.csv --seed 5 -- job '{x}'"
    )


MODEL = "model.json"
FILES = {
    "points.csv": "scale,machines,seconds\n"
    + "".join(f"1,{m},{5 + 90 / m + 0.3 * m}\n" for m in (1, 2, 4, 8, 16)),
    "types.csv": "machine_type,cores,memory_gb,price_per_hour\nsmall,2,4,0.1\nbig,8,32,0.4\n",
    "runs.csv": "machine_type,machines,seconds,outcome\nsmall,2,1022,ok\nbig,4,149,ok\n",
    "graph.csv": "".join(f"{i},{(7 * i + k) % 40}\n" for i in range(40) for k in (1, 2, 3)),
}
REPORTS = {  # a command, and the file that it reads
    "predict": ("predict pagerank {} --history none --seed 1", "graph.csv"),
    "compare-samplers": ("compare-samplers {} --samplers rj,brj --ratio 0.5 --seed 1", "graph.csv"),
    "compare-functions": (
        "compare-functions {} networkx:degree networkx:clustering --history none --seed 1",
        "graph.csv",
    ),
    "fit": ("fit {} --model ernest", "points.csv"),
    "plan": ("plan {} --machines 1:16 --deadline 1m", MODEL),
    "next": ("next runs.csv --candidates {} --machines 2,4", "types.csv"),
}


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
@pytest.mark.parametrize("command", REPORTS)
@pytest.mark.usefixtures("_files")
def test_a_poor_terminal(command, process):
    """40 columns, and ASCII only."""
    asked, read = REPORTS[command]
    words = asked.format(read).split()
    done = process(*words, "-v", "--report", "a.html", env=os.environ | PLAIN)
    assert done.status == 0, done
    assert done.out.isascii()
    assert max(map(len, done.lines + done.out.splitlines())) <= 40
    has_a_picture("a.html")


@pytest.mark.slow
@pytest.mark.usefixtures("_files")
def test_a_reader_that_goes_away():
    """A pipe that is closed after a line: the page is written."""
    program = f"{sys.executable} -m predict_graph fit points.csv --model ernest --report b.html"
    script = f"set -o pipefail; {program} | head -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    has_a_picture("b.html")


def has_a_picture(file):
    text = Path(file).read_text(encoding="utf-8")
    assert text.endswith("</html>")
    assert "svg" in [tag for tag, _ in Elements(text).found]


@pytest.mark.slow
def test_a_function_has_a_report_and_a_picture(tmp_path, program):
    pytest.importorskip("networkx")
    path, drawn = tmp_path / "f.html", tmp_path / "f.svg"
    graph = "barabasi-albert:n=300,m=4,seed=1"
    asked = ("--seed", 1, "--history", "none", "--report", path, "--plot", drawn)
    assert program("predict", "networkx:clustering", graph, *asked).status == 0
    text = path.read_text()
    assert "networkx:clustering" in text
    assert "Memory at the peak" in text
    assert drawn.read_text().count("<svg") == 1
