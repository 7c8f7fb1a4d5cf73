"""What the repository says of itself: citations, constants, dependencies and imports."""

import pkgutil
import re
import tomllib
from pathlib import Path

import grimp
import networkx as nx
import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("predict_graph", "samplers", "costmodels")
FOLDERS = (*PACKAGES, "benchmarks", "docs", "tests")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def sources(*folders):
    return [source for folder in folders for source in sorted((ROOT / folder).rglob("*.py"))]


def read(file):
    return file.read_text(encoding="utf-8")


PROJECT = tomllib.loads(read(ROOT / "pyproject.toml"))


# Nothing cites a file, a page or a name that is not in the repository.

TEXTS = [ROOT / "Makefile", ROOT / "pyproject.toml", *PAGES, *sources(*FOLDERS)]
ADDRESS = re.compile(r"\w+://\S+")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
# A path that begins in a folder of ours and ends in a file, and whatever is called a page.
PATH = re.compile(
    rf"(?<![\w./<>{{}}-])(?:\.\./)*(?:{'|'.join(FOLDERS)})/(?:[\w.-]+/)*[\w-]+\.(?:py|md|png|csv|json)\b"
)
PAGE = re.compile(r"(?<![\w{}])(?:[\w.-]+/)*[\w-]+\.md\b")
NAME = re.compile(rf":(?:class|func|mod|meth|data|attr):`~?((?:{'|'.join(PACKAGES)})\b[\w.]*)`")


def missing(file, found):
    """Return what is neither beside a file nor where pages and files are looked for."""
    places = (file.parent, ROOT, ROOT / "docs", ROOT / "docs" / "studies")
    return sorted({path for path in found if not any((place / path).exists() for place in places)})


def test_files_and_pages_that_are_cited_or_linked_exist():
    wrong = {}
    for file in TEXTS:
        text = ADDRESS.sub("", read(file))
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
    for file in sources(*FOLDERS):
        for name in NAME.findall(ADDRESS.sub("", read(file))):
            try:
                pkgutil.resolve_name(name)
            except (ImportError, AttributeError):
                wrong.append(f"{file.relative_to(ROOT)}: {name}")
    assert wrong == []


def test_what_is_cited_is_this_version():
    cited = dict(re.findall(r"^(title|version|license): (.+)$", read(ROOT / "CITATION.cff"), re.M))
    assert cited == {
        "title": PROJECT["project"]["name"],
        "version": PROJECT["tool"]["setuptools_scm"]["fallback_version"],
        "license": PROJECT["project"]["license"],
    }


# Every named number states its source: a study, a paper, a definition, or what it limits.

# A page or a program (whether it exists is asked above), a place in a paper, a year; what it
# limits or trades off; or words that say that nothing was measured.
SOURCE = re.compile(
    r"\b(?:docs|benchmarks|tests)/[\w/.-]+\w"
    r"|[Ss]ection \d|[Ee]quation \d|[Tt]able \d|\((?:[\w .,&]+, )?(?:19|20)\d\d\)"
    r"|judgement|\ba (?:choice|baseline)\b|not tuned|\b(?:measured|calibrated)\b"
    r"|\b(?:[Ll]imits|[Bb]ounds|[Tt]rades off)\b"
    r"|by (?:definition|default of)|\bas (?:above|below|those|the two|for those|for all)\b"
    r"|\bsee below\b|[Kk]nuth",
    re.IGNORECASE,
)
# Not the names of places or kinds, such as `A, B = 0, 1`.
CONSTANT = re.compile(
    r"^ {0,4}(_?[A-Z][A-Z0-9_]*(?:, _?[A-Z][A-Z0-9_]*)*)(?:: [^=\n]+)? = "
    r"(?![\d_]+(?:, [\d_]+)+(?:  #.*)?$)[-(\[{]*\d",
    re.MULTILINE,
)


def without_source(text):
    """Return the constants of a module in whose paragraph nothing says where they come from."""
    return [
        found[1]
        for paragraph in text.split("\n\n")
        for found in CONSTANT.finditer(paragraph)
        if not SOURCE.search(paragraph)
    ]


def test_every_constant_says_where_it_comes_from():
    wrong = {path: without_source(read(path)) for path in sources(*PACKAGES)}
    assert {path: names for path, names in wrong.items() if names} == {}


BARE = [
    "_STD = 0.3",
    "_STD = 0.3  # of the logarithm",
    "LEVELS = (1, 2)",
    "_A, _B = 0.3, 2.0",
    "# Set in docs/studies/overhead.md.\n_STD = 0.3\n\n_OTHER = 0.4",
    "class Model:\n    SHARE: float = 1 / 9",
]


@pytest.mark.parametrize("bare", BARE)
def test_a_constant_without_a_source_would_be_found(bare):
    assert without_source(bare)


def test_the_conda_recipe_has_the_dependencies_of_the_wheel():
    recipe = read(ROOT / "packaging" / "recipe.yaml")
    listed = {}
    for part, lines in re.findall(r"  (host|run):\n((?:    - .*\n)+)", recipe):
        listed[part] = {line.strip(" -").replace(" ", "") for line in lines.splitlines()}
    python = "python" + PROJECT["project"]["requires-python"]
    assert listed["run"] == {*PROJECT["project"]["dependencies"], python}
    assert listed["host"] == {*PROJECT["build-system"]["requires"], python, "pip"}
    (command,) = PROJECT["project"]["scripts"].items()
    assert f"- {' = '.join(command)}\n" in recipe


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_imports_one_that_imports_it(package):
    """At whatever line, types apart: data flow one way."""
    graph = grimp.build_graph(package, exclude_type_checking_imports=True)
    imports = nx.DiGraph(
        (module, other)
        for module in graph.modules
        for other in graph.find_modules_directly_imported_by(module)
    )
    assert [part for part in nx.strongly_connected_components(imports) if len(part) > 1] == []
