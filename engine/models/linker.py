"""The schema linker's encoder, loaded from an artifact: a question and a schema in, log-odds out.

The tuned layers take their places in a copy of the encoder. Light to import: torch comes with the first question.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.link.nodes import ASKED, NOTHING, Marks, NodeStates, SchemaInput, Window, schema_input, windows
from engine.models.bert import integer_pass
from engine.models.encoder import tuned_model
from engine.models.packaged import Packaged, fill, under
from engine.question.question import Question
from engine.values.elements import WHOLE_TABLE
from engine.values.settings import EncoderSettings
from schema_catalog.types import Snapshot

if TYPE_CHECKING:
    import torch

    from engine.models.linker_network import Heads, Inputs

    Forward: TypeAlias = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Iterator[torch.Tensor]]
    """Token ids (b, n), where a token is (b, n), what is added below the tuned layers (b, n, d) → each layer's
    states (b, n, d), from the embeddings up."""

LAYERS, SCALES, HEADS, CALIBRATION = "layers", "scales", "heads", "calibration"
"""Prefixes of the names of an artifact's arrays, and the name of one: a slope and a bias for the log-odds of tables,
of columns, and of the schema, (3, 2)."""

MOST_WINDOWS = 8
"""Windows of a schema at most: about a thousand columns."""

_LEAST = 1e-7
"""Probabilities nearer to 0 or 1 have no log-odds to speak of."""


class LinkerEncoder:
    """`engine.link.nodes.HiddenStates`; safe to call from several threads, which take turns."""

    def __init__(self, packaged: Packaged, settings: EncoderSettings | None = None) -> None:
        self._arrays = packaged.arrays
        self._settings = settings or EncoderSettings()
        self._lock = threading.Lock()
        self._built: tuple[Any, Forward, Heads] | None = None

    def read(self, question: Question, snapshot: Snapshot) -> NodeStates | None:
        """See `HiddenStates.read`; raises `EncoderUnavailableError`."""
        if not snapshot.tables:
            return None
        given = schema_input(question, snapshot)
        import torch  # noqa: PLC0415  heavy: loaded with the first question

        with self._lock, torch.inference_mode():
            tokenizer, forward, heads = self._loaded()
            split = tokenized(tokenizer, [given])
            if len(split[0]) > MOST_WINDOWS:
                return None
            inputs = collated([given], split)
            *_, last = forward(inputs.ids, inputs.mask, heads.marks(inputs))
            found = heads(last, inputs)
            log_odds, answerable = found.nodes[0].numpy(), float(found.answerable[0].double().sigmoid())
        raw = NodeStates(given.nodes, log_odds, answerable)
        return calibrated(raw, self._arrays[CALIBRATION])

    def _loaded(self) -> tuple[Any, Forward, Heads]:
        if self._built is None:
            from engine.models.linker_network import Heads  # noqa: PLC0415  as torch

            model, bert, tuned = tuned_model(self._settings, unpacked(self._arrays))
            heads = Heads(bert.config.hidden_size)
            fill(heads, under(HEADS, self._arrays))
            self._built = model.tokenizer, layered(bert, tuned), heads.eval()
        return self._built


def calibrated(states: NodeStates, scales: NDArray[np.float32]) -> NodeStates:
    """The states with their log-odds times a slope plus a bias: of tables, of columns, of the schema, (3, 2)."""
    kinds = np.array([node[2] != WHOLE_TABLE for node in states.nodes], dtype=np.intp)
    bounded = min(max(states.answerable, _LEAST), 1 - _LEAST)
    odds = math.log(bounded / (1 - bounded)) * float(scales[2, 0]) + float(scales[2, 1])
    return replace(
        states,
        log_odds=(states.log_odds * scales[kinds, 0] + scales[kinds, 1]).astype(np.float32),
        answerable=1 / (1 + math.exp(-odds)),
    )


def layered(bert: Any, tuned: int) -> Forward:
    """The pass of `bert` through all its layers, the fast one where there is one."""
    integers = integer_pass(bert)
    if integers is not None:
        at = len(bert.encoder.layer) - tuned
        return lambda ids, mask, added: integers.layers(ids, mask, (at, added))
    return lambda ids, mask, added: library_layers(bert, tuned, ids, mask, added)


def library_layers(
    bert: Any, tuned: int, ids: torch.Tensor, mask: torch.Tensor, added: torch.Tensor
) -> Iterator[torch.Tensor]:
    """The same by the library's own layers, which training can go through."""
    outside = (~mask[:, None, None, :]).float() * -1e4
    hidden = bert.embeddings(input_ids=ids)
    yield hidden
    below = len(bert.encoder.layer) - tuned
    for number, layer in enumerate(bert.encoder.layer):
        result = layer(hidden + added if number == below else hidden, outside)
        hidden = result[0] if isinstance(result, tuple) else result
        yield hidden


def tokenized(tokenizer: Any, given: Sequence[SchemaInput]) -> list[list[Window]]:
    """The windows of each."""
    distinct = list(dict.fromkeys(text for each in given for text in (*each.words, *each.texts)))
    tokens = dict(zip(distinct, tokenizer(distinct, add_special_tokens=False)["input_ids"], strict=True))
    colon, comma = tokenizer.convert_tokens_to_ids([":", ","])
    marks = Marks(tokenizer.cls_token_id, tokenizer.sep_token_id, colon, comma)
    return [
        windows(
            [tokens[word] for word in each.words],
            [tokens[text] for text in each.texts],
            each.table_of.tolist(),
            marks,
        )
        for each in given
    ]


def collated(given: Sequence[SchemaInput], split: Sequence[Sequence[Window]]) -> Inputs:
    """One batch of inputs with their windows."""
    import torch  # noqa: PLC0415  heavy: loaded with the first question

    from engine.models.linker_network import Inputs  # noqa: PLC0415  as torch

    owner = np.array([number for number, each in enumerate(split) for _ in each], dtype=np.int64)
    every = [window for each in split for window in each]
    most = max(len(each.nodes) for each in given)
    shape = (len(every), max(len(window.ids) for window in every))
    ids, parts = np.zeros(shape, dtype=np.int64), np.full(shape, NOTHING, dtype=np.int64)
    mask, marked = np.zeros(shape, dtype=np.bool_), np.zeros((*shape, 2), dtype=np.float32)
    for row, (window, number) in enumerate(zip(every, owner.tolist(), strict=True)):
        length = len(window.ids)
        ids[row, :length], mask[row, :length] = window.ids, True
        own = np.array(window.parts, dtype=np.int64)
        parts[row, :length] = np.where(own >= 0, own + number * most, own)
        asked = np.flatnonzero(own == ASKED)
        marked[row, asked] = given[number].asked[np.array(window.places, dtype=np.int64)[asked]]
    joins = [each.joins + number * most for number, each in enumerate(given)]
    return Inputs(
        torch.from_numpy(ids),
        torch.from_numpy(mask),
        torch.from_numpy(parts),
        torch.from_numpy(marked),
        torch.from_numpy(owner),
        torch.from_numpy(_padded([each.features for each in given], (most,))),
        torch.from_numpy(_padded([each.relations for each in given], (most, most))),
        torch.from_numpy(_padded([each.table_of == np.arange(len(each.nodes)) for each in given], (most,))),
        torch.from_numpy(_padded([np.ones(len(each.nodes), dtype=np.bool_) for each in given], (most,))),
        torch.from_numpy(np.concatenate(joins).astype(np.int64)),
    )


def _padded(arrays: Sequence[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[Any]:
    found = np.zeros((len(arrays), *shape, *arrays[0].shape[len(shape) :]), dtype=arrays[0].dtype)
    for number, each in enumerate(arrays):
        found[number][tuple(map(slice, each.shape))] = each
    return found


def unpacked(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float32]]:
    """The layers' weights by name; the names begin with the layer's number among the tuned ones."""
    scales = under(SCALES, arrays)
    one = np.ones(1, dtype=np.float32)
    return {
        name: value.astype(np.float32) * scales.get(name, one)
        for name, value in under(LAYERS, arrays).items()
    }
