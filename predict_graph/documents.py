"""JSON documents that say what they are: kind, schema, and maybe a seal against changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from predict_graph.errors import RequestError
from predict_graph.files import write_text
from predict_graph.inputs import check_there, read_json


@dataclass(frozen=True)
class DocumentKind:
    """One kind of document."""

    kind: str
    name: str
    written_by: str
    sealed: bool = False
    schema = 1  # by definition

    def complete(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return a document of this kind with that content."""
        document = {"kind": self.kind, "schema": self.schema, **content}
        return {**document, "checksum": _checksum(document)} if self.sealed else document

    def write(self, document: Mapping[str, Any], path: str | PathLike[str]) -> None:
        """Write a document; what was there stays if that fails."""
        write_text(path, json.dumps(document, indent=2, allow_nan=False) + "\n")

    def read(self, path: str | PathLike[str], content: Any = None) -> dict[str, Any]:
        """Read a document, or check its content, where that has been read."""
        wrote = f"a file that {self.written_by} wrote"
        document = read_document(path, self.name, wrote) if content is None else content
        if not isinstance(document, dict) or document.get("kind") != self.kind:
            raise RequestError(f"{path} is no {self.name}; accepted: {wrote}")
        schema = document.get("schema")
        if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
            raise RequestError(f"{path} has the schema {schema!r}; accepted: {self.schema}")
        if schema > self.schema:
            raise RequestError(
                f"{path} has schema {schema}, written by predict-graph "
                f"{document.get('version', 'of another version')}, which is newer than this one; "
                f"accepted: schema {self.schema}"
            )
        if self.sealed and document.get("checksum") != _checksum(document):
            raise RequestError(
                f"{path} was changed after it was written: its checksum does not match; accepted: "
                f"{wrote}, as it was, so write it again"
            )
        return document


@contextmanager
def usable(path: str | PathLike[str], what: str) -> Iterator[None]:
    """Refuse a document whose content is not what was expected."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise RequestError(f"{path} holds no usable {what}: {error}") from error


def read_document(path: str | PathLike[str], name: str, accepted: str) -> Any:
    """Return the content of a JSON file that a command wrote."""
    check_there(path, accepted)
    try:
        return read_json(Path(path))
    except RequestError:
        raise
    except ValueError:
        raise RequestError(f"{path} is no {name}; accepted: {accepted}") from None


def _checksum(document: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in document.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
