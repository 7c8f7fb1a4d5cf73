"""The loops of a Python function, from its syntax tree: which of them encloses a line."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

__all__ = ["COMPREHENSIONS", "Loop", "enclosing_loops", "parse_ahead", "parsed_files"]

COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")
"""Names of code objects that are one loop over their argument ``.0``."""


@dataclass(frozen=True)
class Loop:
    """One loop of a function.

    Parameters
    ----------
    header : int
        Line of ``for`` or ``while``.
    first, last : int
        Lines of its body.
    target, iterable : ast.expr or None
        Of a ``for``; None for ``while``.
    early : bool
        Whether the body holds a ``break`` or ``return``: its last round may come early.
    bound : frozenset of str
        Names that the body binds.
    """

    header: int
    first: int
    last: int
    target: ast.expr | None
    iterable: ast.expr | None
    early: bool
    bound: frozenset[str]

    @property
    def is_while(self) -> bool:
        """Whether nothing says how many rounds there will be."""
        return self.iterable is None

    def body_holds(self, line: int) -> bool:
        """Whether `line` is in the body."""
        return self.first <= line <= self.last


@lru_cache(maxsize=512)
def _loops(code: CodeType) -> tuple[Loop, ...]:
    """Return the loops of a code object, outer ones first; none where its source is not known."""
    root = _functions(code.co_filename).get(code.co_firstlineno)
    if root is None:
        return ()
    found = [_loop(node) for node in _own_nodes(root) if isinstance(node, ast.For | ast.While)]
    return tuple(sorted(found, key=lambda loop: (loop.header, -loop.last)))


def _loop(node: ast.For | ast.While) -> Loop:
    return Loop(
        header=node.lineno,
        first=node.body[0].lineno,
        last=max(node.body[-1].end_lineno or 0, node.body[0].lineno),
        target=node.target if isinstance(node, ast.For) else None,
        iterable=node.iter if isinstance(node, ast.For) else None,
        early=_ends_early(node.body),
        bound=_stored(node.body),
    )


_PARSED: list[str] = []


def parsed_files() -> list[str]:
    """Return the files whose syntax trees this process has made."""
    return list(_PARSED)


def parse_ahead(files: list[str]) -> None:
    """Make syntax trees before they are needed, so that a child process has them."""
    for file in files:
        _functions(file)


@lru_cache(maxsize=128)
def _functions(file: str) -> dict[int, ast.AST]:
    """Return the functions of a file by the line they begin on, decorators included."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return {}
    _PARSED.append(file)
    found: dict[int, ast.AST] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = [node.lineno, *(each.lineno for each in node.decorator_list)]
            found[min(lines)] = node
    return found


def enclosing_loops(code: CodeType, line: int | None) -> list[Loop]:
    """Return the loops of a code object that `line` is in, the outermost first.

    Examples
    --------
    >>> from predict_graph.functions import loops
    >>> [loop.is_while for loop in loops.enclosing_loops(loops._own_nodes.__code__, 0)]
    []
    """
    if line is None:  # the interpreter is between two lines
        return []
    return [loop for loop in _loops(code) if loop.header <= line <= loop.last]


def _own_nodes(root: ast.AST) -> list[ast.AST]:
    """Return the nodes of a function, those of functions inside it left out."""
    nodes: list[ast.AST] = []
    waiting = list(ast.iter_child_nodes(root))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        nodes.append(node)
        waiting.extend(ast.iter_child_nodes(node))
    return nodes


def _ends_early(body: list[ast.stmt]) -> bool:
    """Whether a loop with this body can end before its last element."""
    waiting: list[tuple[ast.AST, bool]] = [(statement, True) for statement in body]
    while waiting:
        node, direct = waiting.pop()
        if isinstance(node, ast.Return) or (isinstance(node, ast.Break) and direct):
            return True
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        inner = direct and not isinstance(node, ast.For | ast.While)
        waiting.extend((child, inner) for child in ast.iter_child_nodes(node))
    return False


def _stored(body: list[ast.stmt]) -> frozenset[str]:
    """Return the names that a body binds."""
    return frozenset(
        node.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del)
    )
