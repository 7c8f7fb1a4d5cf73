"""Text that moves no cursor, wherever it comes from.

File names, the output of jobs and imported histories can contain control characters that make a
terminal hide text, write elsewhere, or worse. They are shown instead of obeyed.
"""

from __future__ import annotations

import re

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
