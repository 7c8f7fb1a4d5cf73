"""What machines cost: a small table of the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from predict_graph.errors import RequestError, unknown_name
from predict_graph.sizing.table_file import positive, read_table

COLUMNS = ("type", "cores", "usd_per_hour")


@dataclass(frozen=True)
class Price:
    """One type of machine.

    Attributes
    ----------
    machine_type : str
    cores : float
        Of one machine.
    usd_per_hour : float
        Of one machine; billed by the second.
    """

    machine_type: str
    cores: float
    usd_per_hour: float


def example_prices() -> Path:
    """Return the table that comes with the package: an example, whose date its first line says."""
    return Path(str(files("predict_graph.sizing.planning") / "example-prices.csv"))


def read_prices(path: Path) -> dict[str, Price]:
    """Read prices by type from a CSV with the columns ``type``, ``cores``, ``usd_per_hour``.

    Raises
    ------
    RequestError
        If a column is missing, a value is wrong, or a type comes twice; file, line and value are
        named.
    """
    table = read_table(path)
    for column in COLUMNS:
        table.needs(column, "prices")
    found: dict[str, Price] = {}
    for row in table.rows:
        name = row.cells["type"]
        if not name:
            raise RequestError(f"{row.place}: the type is empty; accepted: a name")
        if name in found:
            raise RequestError(f"{row.place}: the type {name!r} comes twice")
        cores = positive(row, "cores")
        if cores != int(cores):
            raise RequestError(
                f"{row.place}: cores is {row.cells['cores'][:60]!r}; accepted: a whole number "
                "above 0"
            )
        found[name] = Price(name, int(cores), positive(row, "usd_per_hour"))
    return found


def price_of(prices: Mapping[str, Price], machine_type: str | None) -> Price:
    """Return the price of a type.

    Raises
    ------
    RequestError
        If the type is not in the table, or not known.
    """
    if machine_type is None:
        raise RequestError(
            "the model does not say which machines it was measured on; "
            f"accepted: TYPE=MODEL.json with one of: {', '.join(prices)}"
        )
    if machine_type not in prices:
        raise unknown_name("machine type", machine_type, prices)
    return prices[machine_type]
