"""Tables of the console and how they look on the wire, in text and binary format."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum

from engine.values.messages import ErrorReply
from proxy.protocol import codec


class ColumnType(IntEnum):
    """The types of columns, by their OIDs."""

    TEXT = 25
    INT4 = 23
    INT8 = 20
    NUMERIC = 1700


_SIZES = {ColumnType.TEXT: -1, ColumnType.INT4: 4, ColumnType.INT8: 8, ColumnType.NUMERIC: -1}
_BINARY_INTEGERS = {ColumnType.INT4: struct.Struct(">i"), ColumnType.INT8: struct.Struct(">q")}
_INT4_MAX = 2**31 - 1

Value = str | int | float | None
TypedColumns = tuple[tuple[str, ColumnType], ...]


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows under named and typed columns."""

    columns: TypedColumns
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Done:
    """A command was carried out. `notice`: title and text to show before the tag."""

    tag: str
    notice: tuple[str, str] | None = None


CommandResult = ResultTable | Done | ErrorReply


def columns(types: str, names: str) -> TypedColumns:
    """Columns of `names` with a letter of `types` each: s text, i int4, q int8, N numeric."""
    letters = {"s": ColumnType.TEXT, "i": ColumnType.INT4, "q": ColumnType.INT8, "N": ColumnType.NUMERIC}
    return tuple((name, letters[letter]) for letter, name in zip(types, names.split(), strict=True))


def description(shape: TypedColumns, formats: tuple[int, ...]) -> bytes:
    """A RowDescription; `formats` as in Bind: none, one for all, or one each."""
    body = struct.pack(">h", len(shape))
    for index, (name, kind) in enumerate(shape):
        body += (
            name.encode()
            + b"\0"
            + struct.pack(">ihihih", 0, 0, kind, _SIZES[kind], -1, _format(formats, index))
        )
    return codec.message(b"T", body)


def row(values: tuple[Value, ...], shape: TypedColumns, formats: tuple[int, ...]) -> bytes:
    """A DataRow."""
    body = [struct.pack(">h", len(values))]
    for index, (value, (_, kind)) in enumerate(zip(values, shape, strict=True)):
        if value is None:
            body.append(struct.pack(">i", -1))
            continue
        data = _binary(value, kind) if _format(formats, index) else _text(value).encode("utf-8", "replace")
        body += [struct.pack(">i", len(data)), data]
    return codec.message(b"D", b"".join(body))


def _format(formats: tuple[int, ...], index: int) -> int:
    if len(formats) > 1:
        return formats[index] if index < len(formats) else 0
    return formats[0] if formats else 0


def _text(value: str | float) -> str:
    return (
        value
        if isinstance(value, str)
        else f"{value:.6f}".rstrip("0").rstrip(".")
        if value % 1
        else str(int(value))
    )


def _binary(value: str | float, kind: ColumnType) -> bytes:
    if kind is ColumnType.TEXT:
        return _text(value).encode("utf-8", "replace")
    if kind is ColumnType.NUMERIC:
        return _numeric(Decimal(_text(value)))
    number = int(value)
    return _BINARY_INTEGERS[kind].pack(min(number, _INT4_MAX) if kind is ColumnType.INT4 else number)


def _numeric(value: Decimal) -> bytes:
    """numeric_send: digits of base 10,000, the weight of the first, sign, and digits behind the point."""
    text = format(abs(value), "f")
    whole, _, fraction = text.partition(".")
    groups = [whole.zfill(-(-len(whole) // 4) * 4), fraction.ljust(-(-len(fraction) // 4) * 4, "0")]
    digits = [int(part[i : i + 4]) for part in groups for i in range(0, len(part), 4)]
    weight = len(groups[0]) // 4 - 1
    while digits and digits[0] == 0:
        digits.pop(0)
        weight -= 1
    while digits and digits[-1] == 0:
        digits.pop()
    sign = 0x4000 if value < 0 else 0
    head = struct.pack(">hhHh", len(digits), weight if digits else 0, sign, len(fraction))
    return head + struct.pack(f">{len(digits)}h", *digits)
