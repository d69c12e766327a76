"""The allow-lists of the guard: nodes, functions, operators and types.

A name that is not here is refused, so that additions of a later PostgreSQL stay refused until they are reviewed.
Each function was checked against `pg_proc`: it exists, none of its overloads is volatile (`UNREPEATABLE` apart), and
none reads files, settings (`SETTINGS` apart), sequences, large objects, other sessions, the catalogs, or SQL given as
text (`ts_stat`, `query_to_xml`…). An integration test repeats that check.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STATEMENTS = frozenset({"SelectStmt"})
"""Parse trees of SELECT, VALUES, TABLE and WITH … SELECT."""

NODES = _words(
    """
    SelectStmt ResTarget ColumnRef A_Star String Integer Float Boolean BitString A_Const A_Expr BoolExpr
    NullTest BooleanTest TypeCast TypeName FuncCall NamedArgExpr A_Indirection A_Indices A_ArrayExpr
    CaseExpr CaseWhen CoalesceExpr MinMaxExpr RowExpr SubLink SQLValueFunction CollateClause GroupingFunc
    GroupingSet WindowDef SortBy RangeVar RangeSubselect RangeFunction RangeTableSample JoinExpr Alias
    ColumnDef WithClause CommonTableExpr CTESearchClause CTECycleClause JsonFuncExpr JsonArgument JsonTable
    JsonTableColumn JsonTablePathSpec JsonBehavior JsonOutput JsonReturning JsonFormat JsonValueExpr
    JsonKeyValue JsonObjectConstructor JsonArrayConstructor JsonArrayQueryConstructor JsonAggConstructor
    JsonObjectAgg JsonArrayAgg JsonIsPredicate JsonParseExpr JsonScalarExpr JsonSerializeExpr
    """
)

VARIANTS = {
    "SQLValueFunction": frozenset(
        f"SVFOP_{name}"
        for name in _words("""
        CURRENT_DATE CURRENT_TIME CURRENT_TIME_N CURRENT_TIMESTAMP CURRENT_TIMESTAMP_N LOCALTIME LOCALTIME_N
        LOCALTIMESTAMP LOCALTIMESTAMP_N CURRENT_ROLE CURRENT_USER USER CURRENT_CATALOG CURRENT_SCHEMA
        """)
    ),
    "SubLink": frozenset(f"{name}_SUBLINK" for name in _words("EXISTS ALL ANY ROWCOMPARE EXPR ARRAY")),
    "A_Expr": frozenset(
        f"AEXPR_{name}"
        for name in _words("""
        OP OP_ANY OP_ALL DISTINCT NOT_DISTINCT NULLIF IN LIKE ILIKE SIMILAR BETWEEN NOT_BETWEEN BETWEEN_SYM
        NOT_BETWEEN_SYM
        """)
    ),
}
"""Class → allowed members of the enumerations that change its meaning. Others only tune it (join type…)."""

_AGGREGATES = """
    any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp every
    json_agg json_agg_strict json_object_agg json_object_agg_strict json_object_agg_unique
    json_object_agg_unique_strict jsonb_agg jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict
    jsonb_object_agg_unique jsonb_object_agg_unique_strict max min mode percentile_cont percentile_disc
    range_agg range_intersect_agg regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
    regr_sxy regr_syy stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance
"""
_WINDOW = """
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
"""
_MATHEMATICS = """
    abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil ceiling cos cosd cosh cot
    cotd degrees div erf erfc exp factorial floor gamma gcd lcm lgamma ln log log10 min_scale mod pi pow power radians
    round scale sign sin sind sinh sqrt tan tand tanh trim_scale trunc width_bucket
"""
_STRINGS = """
    ascii bit_count bit_length btrim casefold char_length character_length chr concat concat_ws convert_from
    convert_to crc32 crc32c decode encode format get_bit get_byte initcap is_normalized left length
    like_escape lower lpad ltrim md5 normalize octet_length overlay position quote_ident quote_literal
    quote_nullable regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table regexp_substr repeat replace reverse right rpad rtrim sha224 sha256
    sha384 sha512 similar_escape similar_to_escape split_part starts_with string_to_array string_to_table
    strpos substr substring to_ascii to_bin to_hex to_oct translate unicode_assigned unistr upper
"""
_TIMES = """
    age date date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days
    justify_hours justify_interval make_date make_interval make_time make_timestamp make_timestamptz now
    overlaps statement_timestamp timezone to_char to_date to_number to_timestamp transaction_timestamp
    uuid_extract_timestamp uuid_extract_version
"""
_CONVERSIONS = "bool float4 float8 int2 int4 int8 interval numeric text time timestamp timestamptz varchar"
_SETS = "generate_series generate_subscripts unnest"
_JSON = """
    array_to_json json_array_element json_array_element_text json_array_elements json_array_elements_text
    json_array_length json_build_array json_build_object json_each json_each_text json_extract_path
    json_extract_path_text json_object json_object_field json_object_field_text json_object_keys
    json_populate_record json_populate_recordset json_strip_nulls json_to_record json_to_recordset
    json_typeof jsonb_array_element jsonb_array_element_text jsonb_array_elements jsonb_array_elements_text
    jsonb_array_length jsonb_build_array jsonb_build_object jsonb_contained jsonb_contains jsonb_each
    jsonb_each_text jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_extract_path
    jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_field jsonb_object_field_text
    jsonb_object_keys jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz
    jsonb_path_query jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first
    jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record jsonb_populate_recordset
    jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof
    row_to_json to_json to_jsonb
"""
_ARRAYS = """
    array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position array_positions
    array_prepend array_remove array_replace array_reverse array_sort array_to_string array_upper
    cardinality trim_array num_nonnulls num_nulls
"""
_RANGES = """
    datemultirange daterange int4multirange int4range int8multirange int8range isempty lower_inc lower_inf
    multirange nummultirange numrange range_merge tsmultirange tsrange tstzmultirange tstzrange upper_inc
    upper_inf
"""
_TEXT_SEARCH = """
    array_to_tsvector jsonb_to_tsvector json_to_tsvector numnode phraseto_tsquery plainto_tsquery querytree
    setweight strip to_tsquery to_tsvector ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsquery_phrase
    tsvector_to_array websearch_to_tsquery
"""
_NETWORK = """
    abbrev broadcast family host hostmask inet_merge inet_same_family macaddr8_set7bit masklen netmask
    network set_masklen
"""
_GEOMETRY = """
    area box center circle diagonal diameter height isclosed isopen line lseg npoints path pclose point
    polygon popen radius slope width
"""

_ENUMS = "enum_first enum_last enum_range"
_INFORMATION = """
    current_database current_schema current_schemas hashtext hashtextextended pg_client_encoding
    pg_column_size pg_size_bytes pg_size_pretty pg_typeof version
"""
"""Facts about a value or the own session; nothing about other sessions or hidden settings."""

UNREPEATABLE = _words(
    """
    array_sample array_shuffle clock_timestamp gen_random_uuid random random_normal timeofday uuidv4 uuidv7
    """
)
"""Volatile and harmless: they read a clock or random numbers. Their rows prove nothing (`engine.statement.tree`)."""

FUNCTIONS = UNREPEATABLE | _words(
    f"{_AGGREGATES} {_WINDOW} {_MATHEMATICS} {_STRINGS} {_TIMES} {_CONVERSIONS} {_SETS} {_JSON} {_ARRAYS} {_RANGES} "
    f"{_TEXT_SEARCH} {_NETWORK} {_GEOMETRY} {_ENUMS} {_INFORMATION} current_setting"
)
"""Functions of `pg_catalog` by name, every overload; `current_setting` for `SETTINGS` alone."""

DEAR = FUNCTIONS - _words(
    f"""
    {_AGGREGATES} {_WINDOW} {_MATHEMATICS} {_TIMES} {_CONVERSIONS} {_SETS} {_RANGES} {_NETWORK} {_ENUMS} {_INFORMATION}
    array_append array_cat array_prepend array_to_string concat concat_ws format json_build_array json_build_object
    jsonb_build_array jsonb_build_object lpad repeat rpad
    """
)
"""Functions that may compare every part of one argument with every part of another: all that are not known to be
linear."""

SETTINGS = _words(
    """
    block_size client_encoding datestyle default_transaction_isolation integer_datetimes intervalstyle lc_collate
    lc_ctype lc_messages lc_monetary lc_numeric lc_time max_identifier_length max_index_keys search_path
    server_encoding server_version server_version_num standard_conforming_strings timezone transaction_isolation
    transaction_read_only
    """
)
"""Settings that drivers read when they connect. Not among them: paths, hosts, and custom settings."""

CONFIGURED = _words(
    """
    json_to_tsvector jsonb_to_tsvector phraseto_tsquery plainto_tsquery to_tsquery to_tsvector ts_headline
    websearch_to_tsquery
    """
)
"""Functions whose first argument may name a text search configuration."""

OPERATORS = _words(
    """
    + - * / % ^ |/ ||/ @ & | # ~ << >> = <> != < <= > >= || ~~ !~~ ~~* !~~* ~* !~ !~* ^@ -> ->> #> #>> @> <@
    ? ?| ?& #- @? @@ && &< &> -|- <<= >>= !! <-> ~= <^ >^ ## ?- ?# ?-| ?|| <<| |>> &<| |&>
    """
)
"""Operators by name. `=` also stands for IN, `~~` for LIKE, and so on, as the parser writes them."""

DEAR_ALONE = frozenset({"is_normalized", "jsonb_pretty", "normalize"})
"""Those that do so with the parts of one argument: marks on a letter are sorted, lines indented by their depth."""

DEAR_OPERATORS = OPERATORS - _words("+ - * / % ^ = <> < <= > >= || -> ->> #> #>> <->")
"""The same of operators."""

DEAR_OF = {"-": ("json",), "<->": ("path", "polygon")}
"""Operators that are linear except for types whose names hold these words."""

CONSTRUCT_OPERATORS = frozenset({"BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC"})
"""The parser's operator names for these constructs."""

TYPES = _words(
    """
    bool boolean int2 int4 int8 smallint integer int bigint float4 float8 real numeric decimal money text
    varchar bpchar char name bytea bit varbit date time timetz timestamp timestamptz interval uuid json
    jsonb jsonpath inet cidr macaddr macaddr8 point line lseg box path polygon circle tsvector tsquery
    int4range int8range numrange tsrange tstzrange daterange int4multirange int8multirange nummultirange
    tsmultirange tstzmultirange datemultirange
    """
)
"""Built-in types whose input reads nothing but its text: no `reg*` (they look names up), `xml`, `oid`."""

SAMPLING = frozenset({"system", "bernoulli"})

COLLATIONS = _words("C POSIX ucs_basic unicode und-x-icu default pg_c_utf8 pg_unicode_fast")
"""Built-in collations; more of the operating system's are allowed by pattern in the policy."""

SOURCE_COLUMNS = frozenset({"key", "value", "ordinality", "lexeme", "positions", "weights"})
"""Column names that allowed functions in FROM give themselves."""
