"""What README and the pages of docs show is what comes out: benchmarks/pages.py says how."""

import re
import shutil

import pytest

import predict_graph
from benchmarks.pages import ROOT, Different, check_page, pages, read_blocks
from predict_graph.graph.datasets import CATALOGUE, dataset_path

TEXTS = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in pages()}
RUN = {
    name: "\n".join(
        block.text for block in read_blocks(text) if block.kind in ("console", "python")
    )
    for name, text in TEXTS.items()
}
# The gallery's verdicts hold on a machine that does nothing else.
MARKS = {"docs/tutorials/spark.md": [pytest.mark.spark], "docs/gallery.md": [pytest.mark.long]}

# The same with smaller graphs and budgets: a quarter of the time.
INSTEAD = {
    "README.md": {
        "semi-clustering web-NotreDame": "semi-clustering soc-Epinions1 --budget 300ms",
        "semi-clustering on web-NotreDame": "semi-clustering on soc-Epinions1",
        "_centrality soc-Epinions1 --arg k=200 --budget 10s": (
            "_centrality wiki-Vote --arg k=200 --budget 2s"
        ),
        "_centrality on soc-Epinions1": "_centrality on wiki-Vote",
    },
    "docs/index.md": {"graph, seed=1)": "graph, budget='1s', seed=1)"},
}


def _needs(text):
    """Return what the commands of a page take and is not on this machine."""
    named = [name for name in CATALOGUE if re.search(rf"(?<![\w-]){name}(?![\w-])", text)]
    missing = [name for name in named if dataset_path(name) is None]
    return missing + [tool for tool in ("jq",) if f"| {tool} " in text and not shutil.which(tool)]


SHOWN = [pytest.param(name, marks=MARKS.get(name, [])) for name, code in RUN.items() if code]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_a_page_shows_what_comes_out(name, request, quick_java, monkeypatch, tmp_path):
    if pytest.mark.spark in MARKS.get(name, []):
        request.getfixturevalue("spark_here")
        monkeypatch.setenv("JDK_JAVA_OPTIONS", quick_java)
    missing = _needs(RUN[name])
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    text, page = TEXTS[name], tmp_path / name
    for shown, run in INSTEAD.get(name, {}).items():
        assert shown in text
        text = text.replace(shown, run)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
    monkeypatch.setattr("benchmarks.pages.ROOT", tmp_path)
    assert check_page(page) > 0


def test_commands_of_ours_are_shown_as_run_or_the_page_says_why_not():
    """A block that begins with a prompt is run, whatever it is fenced as."""
    left = [
        (name, block.text.splitlines()[0])
        for name, text in TEXTS.items()
        for block in read_blocks(text)
        if block.text.startswith("$ predict-graph") and block.kind != "console" and not block.why
    ]
    assert left == []


def test_names_of_ours_that_are_called_are_there():
    """Where `import predict_graph` is all that a page says before it calls them."""
    called = {
        (name, dotted)
        for name, text in TEXTS.items()
        for dotted in re.findall(r"\bpredict_graph\.([\w.]+)\(", text)
    }
    assert len(called) > 10
    assert [each for each in sorted(called) if each[1] not in predict_graph.__all__] == []


FAILING = [
    ("```console\n$ false\n```", "$ false"),
    ("```console\n$ true\nerror: no\n```", "$ true"),
    ("```python\nraise KeyError('gone')\n```", "gone"),
    ("```python\nprint(1)\n```\n\n```text\none\n```", "-one"),
    ("```console\n$ echo 12 stones\n7 stones\n$ echo a\n7\n```", "README.md:1: $ echo a\n"),
    ("```console\n$ echo 12 stones\n7 stones\n$ echo a\n7\n```", "-#\n+a"),
]


@pytest.mark.parametrize(("block", "wrong"), FAILING)
def test_what_fails_is_told(written, tmp_path, monkeypatch, block, wrong):
    monkeypatch.setattr("benchmarks.pages.ROOT", tmp_path)
    with pytest.raises(Different, match=re.escape(wrong)):
        check_page(written(f"{block}\n", "README.md"))
