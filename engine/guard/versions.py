"""From which PostgreSQL on the parser's reading of a construct, or a built-in's name, holds.

Owns the data alone. The guard's parser is PostgreSQL 18's. An older server reads some constructs differently:
`JSON_VALUE(a, b)` as a call of a user's function `json_value`, `0x1F` as `0 AS x1F`. Constructs that an older server
refuses are not listed. Sources: the release notes of 14 to 18, section E.1.3; the names were compared
with the catalogs of a server of version 15.
"""

from __future__ import annotations

OLDEST = 13
"""The oldest server that the lists cover."""

NUMBERS = 16
"""0x1F, 0o17, 0b11 and 1_000 (docs 4.1.2.6): 14 and older read an alias behind a zero or a one."""


def _since(table: dict[int, str]) -> dict[str, int]:
    return {name: version for version, names in table.items() for name in names.split()}


NODES = _since(
    {
        16: "JsonObjectConstructor JsonArrayConstructor JsonArrayQueryConstructor JsonObjectAgg JsonArrayAgg "
        "JsonIsPredicate",
        17: "JsonFuncExpr JsonTable JsonParseExpr JsonScalarExpr JsonSerializeExpr",
    }
)
"""Class → the version before which its text was a plain function call."""

FUNCTIONS = _since(
    {
        14: "bit_count bit_xor date_bin datemultirange int4multirange int8multirange multirange nummultirange "
        "range_agg range_intersect_agg string_to_table trim_array tsmultirange tstzmultirange unistr",
        15: "regexp_count regexp_instr regexp_like regexp_substr",
        16: "any_value array_sample array_shuffle date_add date_subtract erf erfc json_agg_strict "
        "json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict jsonb_agg_strict "
        "jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict random_normal",
        17: "to_bin to_oct unicode_assigned uuid_extract_timestamp uuid_extract_version",
        18: "array_reverse array_sort casefold crc32 crc32c gamma lgamma uuidv4 uuidv7",
    }
)
"""Functions that an older server lacks: there a user's function may have the name."""

TYPES = _since(
    {14: "datemultirange int4multirange int8multirange nummultirange tsmultirange tstzmultirange"},
)
"""The same of types."""

OPERATORS = {"!!": 14}
"""Before 14 `!! 100000` is a factorial, which takes the server minutes."""
