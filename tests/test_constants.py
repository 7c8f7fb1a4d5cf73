"""Every named number states its source: a study, a paper, a definition, or what it limits."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = [
    path
    for package in ("samplers", "costmodels", "predict_graph")
    for path in sorted((ROOT / package).rglob("*.py"))
]

# A page or a program (whether it exists is asked in test_citations.py), a place in a paper, a
# year; what it limits or trades off; or words that say that nothing was measured.
SOURCE = re.compile(
    r"\b(?:docs|benchmarks|tests)/[\w/.-]+\w"
    r"|[Ss]ection \d|[Ee]quation \d|[Tt]able \d|\((?:[\w .,&]+, )?(?:19|20)\d\d\)"
    r"|judgement|\ba (?:choice|baseline)\b|not tuned|\b(?:measured|calibrated)\b"
    r"|\b(?:[Ll]imits|[Bb]ounds|[Tt]rades off)\b"
    r"|by (?:definition|default of)|\bas (?:above|below|those|the two|for those|for all)\b"
    r"|\bsee below\b|[Kk]nuth",
    re.IGNORECASE,
)
ASSIGNED = re.compile(r"^(?: {4})?_?[A-Z][A-Z0-9_]*\b[^=\n]*= ", re.MULTILINE)
EMPTY = ("np.empty", "fixed", "range")  # arrays that hold nothing; names of places


def is_number(node):
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return bool(node.elts) and all(map(is_number, node.elts))
    if isinstance(node, ast.Dict):
        return bool(node.values) and all(map(is_number, node.values))
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) not in EMPTY and any(map(is_number, node.args))
    return False


def named(statement):
    """Return the names that a statement gives to numbers, as they are written."""
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target = statement.target
    else:
        return []
    names = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
    enumerated = isinstance(target, ast.Tuple) and not _has_float(statement.value)
    if not is_number(statement.value) or enumerated:
        return []
    return [name for name in names if name.isupper()]


def _has_float(node):
    return any(
        isinstance(each, ast.Constant) and isinstance(each.value, float) for each in ast.walk(node)
    )


def constants(source):
    """Yield each constant of a module, and what its comments and the text below it say."""
    if not ASSIGNED.search(source):
        return
    lines = source.splitlines()
    tree = ast.parse(source)
    bodies = [tree.body]
    bodies += [
        node.body
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and not any("Enum" in ast.unparse(base) for base in node.bases)
    ]
    for body in bodies:
        for place, statement in enumerate(body):
            for name in named(statement):
                own = lines[statement.lineno - 1 : statement.end_lineno]
                said = [line.partition("#")[2] for line in own]
                below = body[place + 1] if place + 1 < len(body) else None
                if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                    said.append(str(below.value.value))
                yield name, " ".join([*_above(lines, statement.lineno - 2), *said])


def _above(lines, at):
    """Return the comment above a block of constants without an empty line."""
    found = []
    while at >= 0 and lines[at].strip():
        comment = lines[at].lstrip().startswith("#")
        if found and not comment:  # that is of another constant
            break
        if comment:
            found.insert(0, lines[at].partition("#")[2])
        elif not re.match(r"\s*_?[A-Z][A-Z0-9_, ]*(: [\w\[\], .]+)? = |\s*\)", lines[at]):
            break
        at -= 1
    return found


def without_source(source):
    return [name for name, said in constants(source) if not SOURCE.search(said)]


def test_every_constant_says_where_it_comes_from():
    wrong = {
        str(path.relative_to(ROOT)): names
        for path in MODULES
        if (names := without_source(path.read_text(encoding="utf-8")))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    "bare",
    [
        "_STD = 0.3",
        "_STD = 0.3  # of the logarithm",
        "LEVELS = (1, 2)",
        "_A, _B = 0.3, 2.0",
        "# Set in docs/studies/overhead.md.\n_STD = 0.3\n\n_OTHER = 0.4",
        "class Model:\n    SHARE: float = 1 / 9",
    ],
)
def test_a_constant_without_a_source_would_be_found(bare):
    assert without_source(bare)
