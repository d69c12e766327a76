"""Where statements and constants end."""

from __future__ import annotations

import pytest

from proxy.protocol.lexer import TokenKind, dollar_quoted, split, string_value, tokens

STATEMENTS = {
    "": [""],
    ";": ["", ""],
    "a;b": ["a", "b"],
    "a;b;": ["a", "b", ""],
    "';';b": ["';'", "b"],
    "'a'';';b": ["'a'';'", "b"],
    "'a\\';b": ["'a\\'", "b"],
    "E'a\\';';b": ["E'a\\';'", "b"],
    "e'\\\\';b": ["e'\\\\'", "b"],
    "E'a'\n'\\';';b": ["E'a'\n'\\';'", "b"],
    "E'a' -- c\n'\\';';b": ["E'a' -- c\n'\\';'", "b"],
    "E'a' -- c\n -- d\n'\\';';b": ["E'a' -- c\n -- d\n'\\';'", "b"],
    "E'a' '\\';b": ["E'a' '\\'", "b"],
    "U&'\\0027;';b": ["U&'\\0027;'", "b"],
    "x';';b": ["x';'", "b"],
    '";";b': ['";"', "b"],
    '"a"";";b': ['"a"";"', "b"],
    "$$;$$;b": ["$$;$$", "b"],
    "$a$;$$;$a$;b": ["$a$;$$;$a$", "b"],
    "$a$;$b$;$a$;b": ["$a$;$b$;$a$", "b"],
    "x$$;$$;b": ["x$$", "$$;b"],
    "$1;b": ["$1", "b"],
    "-- ;\n;b": ["-- ;\n", "b"],
    "/* ; */;b": ["/* ; */", "b"],
    "/* /* ; */ ; */;b": ["/* /* ; */ ; */", "b"],
    "/* ' */;b": ["/* ' */", "b"],
    "-- '\n;b": ["-- '\n", "b"],
    "a - - ';';b": ["a - - ';'", "b"],
    "(a;b);c": ["(a;b)", "c"],
    "nl (a;b);c": ["nl (a", "b)", "c"],
    "a);b": ["a)", "b"],
    "';b": ["';b"],
    "/* ;b": ["/* ;b"],
    "$$;b": ["$$;b"],
    "ü;ß": ["ü", "ß"],
    "$ü$;$ü$;b": ["$ü$;$ü$", "b"],
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_split(text: str) -> None:
    assert [text[s.start : s.end] for s in split(text)] == STATEMENTS[text]


@pytest.mark.parametrize("text", ["'a", "'a''", "E'\\'", '"a', "U&'a", "$$a", "/* /* */", "x'"])
def test_unclosed(text: str) -> None:
    assert [token.closed for token in tokens(text)] == [False]


@pytest.mark.parametrize("text", ["''", "'a'''", "E'\\\\'", "E'a'\n''", '""""', "$$$$", "/**/", "N'a'"])
def test_closed(text: str) -> None:
    assert [token.closed for token in tokens(text)] == [True]


VALUES = {
    "'it''s'": "it's",
    "'a\\n'": "a\\n",
    "E'a\\n\\'\\\\'": "a\n'\\",
    "E'\\x41\\101\\u00e9\\U0001F600'": "AAé😀",
    "E'a'\n  'b'": "ab",
    "U&'\\0041\\+00004a\\\\'": "AJ\\",
    "$$it's$$": "it's",
    "$q$$$$q$": "$$",
    "N'x'": "x",
    '"x"': None,
    "x'41'": None,
    "5": None,
    "'open": None,
}


@pytest.mark.parametrize("text", VALUES)
def test_string_value(text: str) -> None:
    assert string_value(text, next(tokens(text))) == VALUES[text]


def test_backslashes_without_standard_strings() -> None:
    (token,) = tokens("'a\\''", standard_strings=False)
    assert token.kind is TokenKind.STRING
    assert string_value("'a\\''", token, standard_strings=False) == "a'"


@pytest.mark.parametrize("value", ["", "a", "$nl0$", "$nl0", "$", "$nl0$ $nl1$", "x$nl0", "'\\"])
def test_dollar_quoting_cannot_be_left(value: str) -> None:
    text = dollar_quoted(value) + ";"
    first, semicolon = tokens(text)
    assert string_value(text, first) == value
    assert text[semicolon.start :] == ";"
