"""The loops of a Python function, from its syntax tree: which of them encloses a line."""

from __future__ import annotations

import ast
import inspect
import linecache
import tokenize
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType

COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")
"""Names of code objects that are one loop over their argument ``.0``."""

# Names of code objects without loops of their own. A module that is imported runs its file, and
# its syntax tree takes longer to make than the file takes to run.
_NO_FUNCTIONS = ("<module>", "<lambda>")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

Loop = ast.For | ast.While

PARSED: list[tuple[str, int]] = []
"""File and line of the functions whose syntax trees this process has made."""


def parse_ahead(functions: list[tuple[str, int]]) -> None:
    """Make syntax trees, so that a child process has them: an observation must not take long."""
    for file, line in functions:
        _function(file, line)


def enclosing_loops(code: CodeType, line: int | None) -> list[Loop]:
    """Return the loops of a code object that `line` is in, the outermost first.

    Examples
    --------
    >>> from predict_graph.functions import loops
    >>> loops.enclosing_loops(loops.parse_ahead.__code__, 0)
    []
    """
    if line is None:  # the interpreter is between two lines
        return []
    return [loop for loop in _loops(code) if loop.lineno <= line <= _last(loop)]


def body_holds(loop: Loop, line: int) -> bool:
    """Whether `line` is in the body of a loop."""
    return loop.body[0].lineno <= line <= _last(loop)


def _last(loop: Loop) -> int:
    return loop.body[-1].end_lineno or loop.body[-1].lineno


@lru_cache(maxsize=512)
def ends_early(loop: Loop) -> bool:
    """Whether a loop holds a ``break`` or ``return``: its last iteration may come early."""
    if any(isinstance(node, ast.Return) for node in _inside(loop.body, _FUNCTIONS)):
        return True
    own = _inside(loop.body, (*_FUNCTIONS, ast.For, ast.While))
    return any(isinstance(node, ast.Break) for node in own)


def bound_names(loop: Loop) -> set[str]:
    """Return the names that the body of a loop binds."""
    return {
        each.id
        for each in _inside(loop.body, ())
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del)
    }


@lru_cache(maxsize=512)
def _loops(code: CodeType) -> list[Loop]:
    """Return the loops of a code object, outer ones first; none where its source is not known."""
    if code.co_name in _NO_FUNCTIONS:
        return []
    root = _function(code.co_filename, code.co_firstlineno)
    if root is None:
        return []
    own = _inside(ast.iter_child_nodes(root), _FUNCTIONS)
    found: list[Loop] = [node for node in own if isinstance(node, Loop)]
    return sorted(found, key=lambda loop: (loop.lineno, -_last(loop)))


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
    nodes = (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return next(nodes, None)


def _inside(nodes: Iterable[ast.AST], excluded: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    """Yield nodes and those inside them, without the contents of the excluded types."""
    for node in nodes:
        yield node
        if isinstance(node, ast.comprehension):  # its variables are its own
            yield from _inside([node.iter, *node.ifs], excluded)
        elif not isinstance(node, excluded):
            yield from _inside(ast.iter_child_nodes(node), excluded)
