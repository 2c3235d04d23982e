"""Converts tables of other libraries to rows of measurements.

The library is recognized by attributes, without importing it. An object with columns is a frame, an
object with an index and values is a series, and one with dimensions and coordinates is an xarray
array.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from regionpredict.errors import InputError
from regionpredict.fit.input.variables import Measurement, number_of

_VALUES = ("value", "values", "time", "time_s", "seconds", "runtime", "runtime_s", "wall_s")
_REPETITIONS = ("repetition", "repetitions", "rep", "reps", "run", "sample", "trial")


def rows_of(
    data: Any, values: Sequence[str] | None = None, by: Sequence[str] | None = None
) -> list[Measurement]:
    """One row per measured number in `data`. See `regionpredict.api.fit_table`.

    Raises `InputError` for other objects, and for missing columns or columns of different lengths.
    """
    if hasattr(data, "data_vars") and hasattr(data, "dims"):
        names = list(values or data.data_vars)
        missing = [name for name in names if name not in data.data_vars]
        if missing:
            raise _no_column(missing[0], data.data_vars)
        return [row for name in names for row in _rows_of_array(data[name], str(name), by)]
    if hasattr(data, "dims") and hasattr(data, "coords"):
        return list(_rows_of_array(data, str(data.name or "value"), by))
    return list(_table_rows(_table_columns(data), values, by))


def _table_columns(data: Any) -> dict[str, list[Any]]:
    """Converts a table to a dictionary of columns of equal length."""
    if hasattr(data, "index") and hasattr(data, "reset_index"):
        if not hasattr(data, "columns"):
            data = data.rename(data.name if data.name is not None else "value")
            data = data.to_frame()
        if any(name is not None for name in data.index.names):
            data = data.reset_index()
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        columns = {str(name): list(data[name]) for name in data.columns}
    elif isinstance(data, Mapping):
        columns = {str(name): list(column) for name, column in data.items()}
    elif isinstance(data, Sequence) and data and all(isinstance(row, Mapping) for row in data):
        names = dict.fromkeys(str(name) for row in data for name in row)
        columns = {name: [row.get(name) for row in data] for name in names}
    else:
        raise InputError(
            f"a table cannot be a {type(data).__name__}",
            remedy="give a dictionary of columns, a list of dictionaries, or a frame",
        )
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise InputError(
            "the columns differ in length: "
            + ", ".join(f"{name} has {len(column)}" for name, column in columns.items()),
            remedy="give every row all of them",
        )
    return columns


def _table_rows(
    columns: Mapping[str, list[Any]], values: Sequence[str] | None, by: Sequence[str] | None
) -> Iterator[Measurement]:
    wanted = list(values) if values else [name for name in columns if name.lower() in _VALUES]
    if not wanted:
        raise InputError(
            "no column has a known name for measured values", remedy="name it: values='...'"
        )
    for name in (*wanted, *(by or ())):
        if name not in columns:
            raise _no_column(name, columns)
    others = [
        name for name in columns if name not in wanted and name.lower() not in _REPETITIONS
    ]  # fmt: skip
    for index in range(len(columns[wanted[0]])):
        cells = {name: _python_number(columns[name][index]) for name in others}
        for name in wanted:
            yield _make_row(name, cells, by, columns[name][index])


def _rows_of_array(array: Any, name: str, by: Sequence[str] | None) -> Iterator[Measurement]:
    """The numbers of an array whose axes are parameters, texts, or repetitions.

    An axis without coordinates, or with a name for repetitions, is not a parameter.
    """
    axes = []
    for axis in array.dims:
        known = axis in array.coords and str(axis).lower() not in _REPETITIONS
        axes.append(
            (str(axis), [_python_number(v) for v in array.coords[axis].values] if known else None)
        )
    flat = array.values.reshape(-1)
    for position, value in enumerate(flat.tolist()):
        coordinates: dict[str, object] = {}
        rest = position
        for (axis, labels), length in zip(axes[::-1], array.shape[::-1], strict=True):
            rest, index = divmod(rest, length)
            if labels is not None:
                coordinates[axis] = labels[index]
        yield _make_row(name, dict(reversed(coordinates.items())), by, value)


def _make_row(
    metric: str, cells: dict[str, object], by: Sequence[str] | None, value: object
) -> Measurement:
    """Makes one row of measurements. With `by`, these columns form the series' name, and other
    texts are dropped.
    """
    number = float("nan") if value is None else number_of(_python_number(value))
    if number is None:
        raise InputError(f"{metric}: {value!r} is not a number", remedy="leave the row out")
    callpath = ""
    if by is not None:
        callpath = " ".join(f"{name}={cells[name]}" for name in by)
        cells = {
            name: cell for name, cell in cells.items()
            if name not in by and number_of(cell) is not None
        }  # fmt: skip
    return Measurement(callpath, metric, cells, (number,))


def _python_number(value: Any) -> object:
    """Converts a NumPy number to a Python number."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _no_column(name: str, columns: Any) -> InputError:
    return InputError(
        f"there is no column '{name}'", remedy=f"the columns are {', '.join(map(str, columns))}"
    )
