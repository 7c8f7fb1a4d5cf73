"""Edge lists in Parquet files and folders of them: two columns of ids, perhaps one of weights.

The columns are found by their names; see :mod:`predict_graph.graph.columns`. Text columns are read
as dictionaries, as they are stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from predict_graph.errors import RequestError, explained
from predict_graph.graph.columns import find_columns
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeBlock, EdgeSource
from predict_graph.graph.readers.streams import Content
from predict_graph.graph.tables import edge_block, ids_are_text, is_number, is_text, value_type
from predict_graph.limits import check_size, check_unpacked
from predict_graph.stopwatch import imported


def open_parquet(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open a Parquet file.

    Raises
    ------
    RequestError
        If it is no Parquet file, or its columns are not those of an edge list.
    """
    content.close()
    return open_tables(content.path, wanted)


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and those below it, but those of other programs."""
    found = (path for suffix in ("parquet", "pq") for path in folder.rglob(f"*.{suffix}"))
    return sorted(
        path
        for path in found
        if not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    )


def open_tables(path: Path, wanted: EdgeList) -> EdgeSource:
    """Open a Parquet file, or a folder of them, as Spark and others write it.

    Raises
    ------
    RequestError
        If there is none in it, or one is not an edge list like the others.
    """
    files = parquet_files(path) if path.is_dir() else [path]
    if not files:
        raise RequestError(f"{path} is a folder; accepted: a file, or a folder of Parquet files")
    imported("pyarrow"), imported("pyarrow.parquet")
    tables = [_table(file) for file in files]
    check_size(f"{path}: the table", edges=sum(table.metadata.num_rows for table in tables))
    for file, table in zip(files, tables, strict=True):
        groups = [table.metadata.row_group(i) for i in range(table.metadata.num_row_groups)]
        size = file.stat().st_size
        check_unpacked(str(file), sum(group.total_byte_size for group in groups), size)
    names = tables[0].schema_arrow.names
    kinds = [value_type(kind) for kind in tables[0].schema_arrow.types]
    usable = [is_text(kind) or is_number(kind) for kind in kinds]
    found = find_columns(names, str(path), wanted, usable)
    chosen, types = ([each[at] for at in found.places] for each in (names, kinds))
    for name in chosen:
        if names.count(name) > 1:
            raise RequestError(f"{path} has more than one column {name!r}; accepted: one")
    texts = ids_are_text(str(path), chosen, types, wanted)
    for file, table in zip(files, tables, strict=True):
        other = table.schema_arrow
        if any(
            name not in other.names or value_type(other.field(name).type) != kind
            for name, kind in zip(chosen, types, strict=True)
        ):
            raise RequestError(f"{file} has other columns than {files[0].name}")
    blocks = (block for file in files for block in _blocks(file, chosen, texts))
    notes = found.notes(names, wanted)
    if found.kind is not None and names[found.kind].lower() == "directed":
        notes += (f"the column {names[found.kind]!r} of a Parquet file is not read",)
    return EdgeSource(blocks, bipartite=found.bipartite, notes=notes)


def _table(file: Path, texts: Sequence[str] = ()) -> Any:
    import pyarrow.parquet as pq

    with explained(f"{file} is not a Parquet file that can be read"):
        table = pq.ParquetFile(file, read_dictionary=list(texts))
        _ = table.schema_arrow.names, [chunk.path_in_schema for chunk in _chunks(table)]
    return table


def _blocks(file: Path, chosen: list[str], as_text: bool) -> Iterator[EdgeBlock]:
    done, unpacked, packed = 0, 0, file.stat().st_size
    rows, texts = 1 << 19, chosen[:2] if as_text else []
    chunks = (chunk for chunk in _chunks(_table(file)) if chunk.path_in_schema in texts)
    if any("DELTA_BYTE_ARRAY" in chunk.encodings for chunk in chunks):
        # Texts that are stored as what differs from the one before can be unpacked to as many times
        # their size as there are rows. pyarrow reads no dictionaries of them.
        rows, texts = 256, []
    table = _table(file, texts)
    with explained(f"{file} is damaged"):
        for batch in table.iter_batches(batch_size=rows, columns=chosen):
            batch.validate(full=True)
            unpacked += batch.nbytes
            check_unpacked(str(file), unpacked, packed)
            columns = [batch.column(name) for name in chosen]
            yield edge_block(str(file), chosen, columns, texts=as_text, row=done)
            done += len(batch)


def _chunks(table: Any) -> Iterator[Any]:
    """Yield what the file says of each column of each group of rows."""
    facts = table.metadata
    for group in range(facts.num_row_groups):
        for column in range(facts.num_columns):
            yield facts.row_group(group).column(column)
