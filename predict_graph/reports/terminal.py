"""Text for a terminal: what comes from files, other programs and other people moves no cursor.

File names, the output of jobs and imported histories can hold control characters, with which a
terminal is told to hide text, to write elsewhere, or worse. They are shown, not obeyed.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

__all__ = ["printable", "written_anywhere"]

# C0 but tab and line end, DEL, C1, and what changes the direction of text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""Return `text` with its control characters written out, as Python writes them.

    Examples
    --------
    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    shown = _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
    # A name that is no UTF-8 has surrogates, which cannot be written.
    return shown.encode("utf-8", "backslashreplace").decode("utf-8")


_PLAIN = {
    "×": "x",
    "…": "...",
    "−": "-",
    "–": "-",
    "─": "-",
    "²": "2",
    "σ": "sigma",
    "κ": "kappa",
    "τ": "tau",
    "ε": "epsilon",
    "≥": ">=",
    "≤": "<=",
    "█": "#",
    "━": "-",
}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding has not."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    found = "".join(_PLAIN.get(letter, ascii(letter)[1:-1]) for letter in text)
    return found, error.end


codecs.register_error("predict_graph.plainly", _plainly)


def written_anywhere(stream: Any) -> None:
    """Let a stream whose encoding is not UTF-8 write every text: plainer where it must be.

    Examples
    --------
    >>> "3 × small, R²".encode("ascii", "predict_graph.plainly")
    b'3 x small, R2'
    """
    encoding = (getattr(stream, "encoding", None) or "").lower().replace("_", "-")
    if encoding not in ("utf-8", "utf8") and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="predict_graph.plainly")
