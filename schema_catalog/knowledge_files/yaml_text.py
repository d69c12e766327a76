"""YAML as people write it for a program: lists, mappings and text, and the line that each stands in.

Anchors, aliases, tags, a second document and a key given twice are refused: a file means what it shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

Plain: TypeAlias = "str | list[Plain] | dict[str, Plain] | None"

_DEEPEST = 12
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
# libyaml's, where PyYAML was built with it, is some eight times faster.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_TAG = "tag:yaml.org,2002:"


class YAMLTextError(Exception):
    """Not the YAML that is taken; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def parse(text: str) -> Plain:
    """What `text` holds; raises `YAMLTextError`."""
    return _Reader(text).document()


def line_of(text: str, path: str) -> int:
    """The line of what stands at `path`, such as `$.databases[0].name`, in a `text` that `parse` takes."""
    reader = _Reader(text, path)
    reader.document()
    return reader.line


def dump(value: object) -> str:
    """`value` as YAML that `parse` reads; a text without line breaks, and a sequence of texts, stand on one line."""
    text: str = yaml.serialize(_node(value), Dumper=_DUMPER, allow_unicode=True, width=1_000_000)
    return text


def _node(value: object) -> yaml.Node:
    if isinstance(value, dict):
        pairs = [(_node(key), _node(each)) for key, each in value.items()]
        return yaml.MappingNode(f"{_TAG}map", pairs, flow_style=False)
    if isinstance(value, list | tuple):
        flow = all(isinstance(each, str) for each in value)
        return yaml.SequenceNode(f"{_TAG}seq", [_node(each) for each in value], flow_style=flow)
    if isinstance(value, bool | int):
        kind = "bool" if isinstance(value, bool) else "int"
        return yaml.ScalarNode(f"{_TAG}{kind}", str(value).lower())
    return yaml.ScalarNode(f"{_TAG}str", str(value), style="|" if "\n" in str(value) else None)


@dataclass(slots=True)
class _Reader:
    """`line`: of what stands at `wanted`, once the document is read."""

    text: str
    wanted: str = "$"
    line: int = 1
    _events: Iterator[Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._events = yaml.parse(self.text, Loader=_LOADER)

    def document(self) -> Plain:
        try:
            self._next()  # the stream
            if isinstance(start := self._next(), yaml.StreamEndEvent):
                raise YAMLTextError("there is nothing in it", _line(start))
            value = self._value(self._next(), "$", 0)
            self._next()  # the document's end
            if not isinstance(end := self._next(), yaml.StreamEndEvent):
                raise YAMLTextError("a second document begins; one is taken", _line(end))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise YAMLTextError(f"this is no YAML: {error.problem}", mark.line + 1 if mark else 1) from None
        except yaml.YAMLError as error:
            raise YAMLTextError(f"this is no YAML: {str(error).splitlines()[0]}", 1) from None
        return value

    def _next(self) -> Any:
        event = next(self._events)
        if getattr(event, "anchor", None) is not None:
            raise YAMLTextError("anchors and aliases (& and *) are not taken; write it out", _line(event))
        if getattr(event, "tag", None) is not None:
            raise YAMLTextError("tags (!) are not taken; leave it out", _line(event))
        return event

    def _value(self, event: Any, path: str, depth: int) -> Plain:
        if path == self.wanted:
            self.line = _line(event)
        if depth > _DEEPEST:
            raise YAMLTextError(f"it goes deeper than {_DEEPEST} levels", _line(event))
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path, depth + 1)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path, depth + 1)
        if _NO_TEXT.search(event.value):
            raise YAMLTextError("a character is in it that no text in PostgreSQL can hold", _line(event))
        nothing = event.style in (None, "") and event.value in ("", "~", "null")
        return None if nothing else str(event.value)

    def _sequence(self, path: str, depth: int) -> Plain:
        found: list[Plain] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            found.append(self._value(event, f"{path}[{len(found)}]", depth))
        return found

    def _mapping(self, path: str, depth: int) -> Plain:
        found: dict[str, Plain] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise YAMLTextError("a key is a word", _line(event))
            if event.value in found:
                raise YAMLTextError(f'the key "{event.value}" is given twice', _line(event))
            found[event.value] = self._value(self._next(), f"{path}.{event.value}", depth)
        return found


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
