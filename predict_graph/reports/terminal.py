"""Text for a terminal whose encoding is not UTF-8: plainer where it must be."""

from __future__ import annotations

import codecs
from typing import Any

_SPECIAL, _PLAINER = "×…−–─²σκτε≥≤█━", "x ... - - - 2 sigma kappa tau epsilon >= <= # -"
_PLAIN = dict(zip(_SPECIAL, _PLAINER.split(), strict=True))


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
