"""What an engine and the deployments of its networks say to each other: MessagePack over HTTP, one request a POST."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.models.sentences import Encoded
from engine.routing import pointer_api
from schema_catalog.types import Snapshot

FINGERPRINT = "Pgparley-Models"
"""The header that names the networks a caller wants: `engine.calibration.fingerprint.networks`."""

DIFFERS, REFUSED = 409, 422
"""HTTP's status where the networks are others than those wanted, and where there is no such router version."""

T = TypeVar("T")


class Served(StrEnum):
    """The applications, by their paths below the address."""

    ENCODER = "encoder"
    ROUTER = "router"
    RANKER = "ranker"
    LINKER = "linker"


@dataclass(frozen=True, slots=True)
class Floats:
    """An array of 32-bit floats, `values` in little-endian order."""

    shape: tuple[int, ...]
    values: bytes

    @staticmethod
    def of(array: NDArray[np.float32]) -> Floats:
        """Copies it."""
        return Floats(array.shape, np.ascontiguousarray(array, dtype="<f4").tobytes())

    def array(self) -> NDArray[np.float32]:
        """Not writable: it shares the message's memory."""
        found = np.frombuffer(self.values, dtype="<f4").reshape(self.shape)
        return found if sys.byteorder == "little" else found.astype(np.float32)


@dataclass(frozen=True, slots=True)
class TextsRequest:
    """To the encoder: texts of schemas, or `questions`, whose tokens are wanted as well."""

    texts: tuple[str, ...]
    questions: bool = False


@dataclass(frozen=True, slots=True)
class RouterRequest:
    """Questions to the encoder of one version of the router; `sha256`: of its weights."""

    version: str
    sha256: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextVectors:
    """`sentences`: (n, d). `tokens`: of all questions one after the other, (sum of `lengths`, d); of schemas none."""

    sentences: Floats
    lengths: tuple[int, ...]
    tokens: Floats

    @staticmethod
    def of(encoded: Sequence[pointer_api.Encoded]) -> TextVectors:
        """At least one."""
        return TextVectors(
            Floats.of(np.stack([one.sentence for one in encoded])),
            tuple(len(one.tokens) for one in encoded),
            Floats.of(np.concatenate([one.tokens for one in encoded])),
        )

    def encoded(self) -> list[Encoded]:
        """The questions, in order."""
        ends = np.cumsum(self.lengths, dtype=np.intp)[:-1]
        tokens = np.split(self.tokens.array(), ends)
        return [Encoded(one, each) for one, each in zip(self.sentences.array(), tokens, strict=True)]


@dataclass(frozen=True, slots=True)
class RankerRequest:
    """To the cross-encoder: pairs of a question and a statement's phrases. The answer is `Floats`, (n, 2)."""

    pairs: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class LinkerRequest:
    """A question, and a schema as its asker may read it. The answer is `SchemaLinks` or None."""

    question: str
    snapshot: Snapshot


def encode(message: Any) -> bytes:
    """Any of the above."""
    return msgspec.msgpack.encode(message)


def decode(content: bytes, kind: type[T]) -> T:
    """Raises `msgspec.DecodeError`."""
    return msgspec.msgpack.decode(content, type=kind)
