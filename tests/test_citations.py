"""Nothing cites a file, a page or a name that is not in the repository."""

import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("predict_graph", "samplers", "costmodels")
FOLDERS = (*PACKAGES, "benchmarks", "docs", "tests")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = [source for folder in FOLDERS for source in sorted((ROOT / folder).rglob("*.py"))]
TEXTS = [ROOT / "Makefile", ROOT / "pyproject.toml", *PAGES, *SOURCES]

ADDRESS = re.compile(r"\w+://\S+")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
# A path that begins in a folder of ours and ends in a file, and whatever is called a page.
PATH = re.compile(
    rf"(?<![\w./<>{{}}-])(?:\.\./)*(?:{'|'.join(FOLDERS)})/(?:[\w.-]+/)*[\w-]+\.(?:py|md|png|csv|json)\b"
)
PAGE = re.compile(r"(?<![\w{}])(?:[\w.-]+/)*[\w-]+\.md\b")
NAME = re.compile(rf":(?:class|func|mod|meth|data|attr):`~?((?:{'|'.join(PACKAGES)})\b[\w.]*)`")


def read(file):
    return ADDRESS.sub("", file.read_text(encoding="utf-8"))


def missing(file, found):
    """Return what is neither beside a file nor where pages and files are looked for."""
    places = (file.parent, ROOT, ROOT / "docs", ROOT / "docs" / "studies")
    return sorted({path for path in found if not any((place / path).exists() for place in places)})


def test_files_and_pages_that_are_cited_or_linked_exist():
    wrong = {}
    for file in TEXTS:
        text = read(file)
        links = LINK.findall(text) if file in PAGES else []
        gone = missing(file, PATH.findall(text) + PAGE.findall(text) + links)
        if gone and file != Path(__file__):
            wrong[str(file.relative_to(ROOT))] = gone
    assert wrong == {}


@pytest.mark.parametrize("cited", ["docs/no-such-page.md", "samplers/no_such_module.py", "gone.md"])
def test_a_citation_of_nothing_would_be_found(cited):
    text = f"see ({cited}, fact 4)"
    assert missing(ROOT / "README.md", PATH.findall(text) + PAGE.findall(text)) == [cited]


def test_names_that_docstrings_refer_to_exist():
    """Names with a module; one without stands for what is beside it."""
    wrong = []
    for file in SOURCES:
        for name in NAME.findall(read(file)):
            try:
                pkgutil.resolve_name(name)
            except (ImportError, AttributeError):
                wrong.append(f"{file.relative_to(ROOT)}: {name}")
    assert wrong == []


def test_what_is_cited_is_this_version():
    said = tomllib.loads(read(ROOT / "pyproject.toml"))
    project = said["project"]
    cited = dict(re.findall(r"^(title|version|license): (.+)$", read(ROOT / "CITATION.cff"), re.M))
    assert cited == {
        "title": project["name"],
        "version": said["tool"]["setuptools_scm"]["fallback_version"],
        "license": project["license"],
    }
