"""Files of other tools, YAML or JSON, read within limits. A struct names the parts used; all else is passed over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from schema_catalog.knowledge_files.format import MOST_BYTES, Place, located, utf8
from schema_catalog.knowledge_files.yaml_text import YAMLTextError, line_of, parse
from schema_catalog.store import CatalogError

MOST_JSON_BYTES = 50_000_000
MOST_FILES = 5_000
MOST_IN_ALL = 100_000_000
"""Bytes of all files of one import."""

YAML_ENDINGS = (".yml", ".yaml")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read; `name` for messages."""

    name: str
    text: str
    is_json: bool

    @property
    def place(self) -> Place:
        """The whole of it."""
        return Place(self.name, "$", None if self.is_json else self.text)

    def as_(self, kind: type[T]) -> T:
        """What it holds as `kind`, without what that does not name; raises `CatalogError` with the place."""
        try:
            if self.is_json:
                return msgspec.json.decode(self.text, type=kind, strict=False)
            return msgspec.convert(parse(self.text) or {}, kind, strict=False)
        except YAMLTextError as error:
            raise CatalogError(f"{self.name}, line {error.line}: {error}") from None
        except msgspec.ValidationError as error:
            message, path = located(error)
            where = path if self.is_json else f"line {line_of(self.text, path)}"
            raise CatalogError(f"{self.name}, {where}: {message} ({path})") from None
        except msgspec.DecodeError as error:
            raise CatalogError(f"{self.name}: this is no JSON: {error}") from None
        except RecursionError:
            raise CatalogError(f"{self.name}: it is nested too deeply") from None


def read_documents(paths: Iterable[tuple[str, Path]]) -> tuple[Document, ...]:
    """The files, each by the name for messages; raises `CatalogError` and `OSError`."""
    found: list[Document] = []
    room = MOST_IN_ALL
    for name, path in paths:
        is_json = path.suffix == ".json"
        text = _read(name, path, min(room, MOST_JSON_BYTES if is_json else MOST_BYTES), room)
        room -= len(text)
        found.append(Document(name, text, is_json))
        if len(found) > MOST_FILES:
            raise CatalogError(f"there are more than {MOST_FILES:,} files; name a folder further down")
    return tuple(found)


def _read(name: str, path: Path, most: int, room: int) -> str:
    with path.open("rb") as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        what = "the files together are" if most == room else f"{name} is"
        raise CatalogError(f"{what} too large: {most // 1_000_000} MB are allowed")
    return utf8(name, raw)


def yaml_files(folder: Path) -> list[tuple[str, Path]]:
    """All YAML files below a folder, by name, without those of hidden folders and links."""
    found = [
        (str(path.relative_to(folder)), path)
        for path in folder.rglob("*")
        if path.suffix in YAML_ENDINGS and path.is_file() and not path.is_symlink()
    ]
    return sorted(each for each in found if not any(part.startswith(".") for part in Path(each[0]).parts))


def words_in(meta: Mapping[str, object], key: str) -> tuple[str, ...]:
    """A list of texts at `key`, or one text with commas; nothing where something else stands there."""
    value = meta.get(key)
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list | tuple):
        return ()
    texts = (each.strip() for each in value if isinstance(each, str))
    return tuple(dict.fromkeys(filter(None, texts)))
