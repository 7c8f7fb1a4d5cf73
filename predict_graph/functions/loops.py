"""The loops of a Python function, from its syntax tree: which of them encloses a line."""

from __future__ import annotations

import ast
import inspect
import linecache
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")
"""Names of code objects that are one loop over their argument ``.0``."""

# Names of code objects without loops of their own. A module that is imported runs its file, and
# its syntax tree takes longer to make than the file takes to run.
_NO_FUNCTIONS = ("<module>", "<lambda>")


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
    condition : ast.expr or None
        Of a ``while``; None for ``for``.
    early : bool
        Whether the body holds a ``break`` or ``return``: its last round may come early.
    bound : set of str
        Names that the body binds.
    """

    header: int
    first: int
    last: int
    target: ast.expr | None
    iterable: ast.expr | None
    condition: ast.expr | None
    early: bool
    bound: set[str]

    @property
    def is_while(self) -> bool:
        """Whether only its condition ends it."""
        return self.iterable is None

    def body_holds(self, line: int) -> bool:
        """Whether `line` is in the body."""
        return self.first <= line <= self.last


@lru_cache(maxsize=512)
def _loops(code: CodeType) -> tuple[Loop, ...]:
    """Return the loops of a code object, outer ones first; none where its source is not known."""
    if code.co_name in _NO_FUNCTIONS:
        return ()
    root = _function(code.co_filename, code.co_firstlineno)
    if root is None:
        return ()
    own = _inside(ast.iter_child_nodes(root), _FUNCTIONS)
    found = [_loop(node) for node in own if isinstance(node, ast.For | ast.While)]
    return tuple(sorted(found, key=lambda loop: (loop.header, -loop.last)))


def _loop(node: ast.For | ast.While) -> Loop:
    return Loop(
        header=node.lineno,
        first=node.body[0].lineno,
        last=max(node.body[-1].end_lineno or 0, node.body[0].lineno),
        target=node.target if isinstance(node, ast.For) else None,
        iterable=node.iter if isinstance(node, ast.For) else None,
        condition=node.test if isinstance(node, ast.While) else None,
        early=_ends_early(node.body),
        bound={
            each.id
            for each in _inside(node.body, ())
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del)
        },
    )


PARSED: list[tuple[str, int]] = []
"""File and line of the functions whose syntax trees this process has made."""


def parse_ahead(functions: list[tuple[str, int]]) -> None:
    """Make syntax trees, so that a child process has them: an observation must not take long."""
    for file, line in functions:
        _function(file, line)


@lru_cache(maxsize=512)
def _function(file: str, line: int) -> ast.AST | None:
    """Return the function that begins on a line, decorators included; the rest is not parsed."""
    lines = linecache.getlines(file)[line - 1 :]
    try:
        block = inspect.getblock(lines)
        # An indented block needs something that it is inside of.
        inside = bool(block) and block[0][:1].isspace()
        tree = ast.parse("".join(["if 1:\n", *block] if inside else block))
    except (SyntaxError, ValueError, tokenize.TokenError):
        return None
    PARSED.append((file, line))
    ast.increment_lineno(tree, line - (2 if inside else 1))
    for node in tree.body[0].body if inside else tree.body:  # type: ignore[attr-defined]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return node
    return None


def enclosing_loops(code: CodeType, line: int | None) -> list[Loop]:
    """Return the loops of a code object that `line` is in, the outermost first.

    Examples
    --------
    >>> from predict_graph.functions import loops
    >>> [loop.is_while for loop in loops.enclosing_loops(loops._ends_early.__code__, 0)]
    []
    """
    if line is None:  # the interpreter is between two lines
        return []
    return [loop for loop in _loops(code) if loop.header <= line <= loop.last]


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def _inside(nodes: Iterable[ast.AST], excluded: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    """Yield nodes and those inside them, without the contents of the excluded types."""
    for node in nodes:
        yield node
        if isinstance(node, ast.comprehension):  # its variables are its own
            yield from _inside([node.iter, *node.ifs], excluded)
        elif not isinstance(node, excluded):
            yield from _inside(ast.iter_child_nodes(node), excluded)


def _ends_early(body: list[ast.stmt]) -> bool:
    """Whether a loop with this body can end before its last element."""
    if any(isinstance(node, ast.Return) for node in _inside(body, _FUNCTIONS)):
        return True
    own = _inside(body, (*_FUNCTIONS, ast.For, ast.While))
    return any(isinstance(node, ast.Break) for node in own)
