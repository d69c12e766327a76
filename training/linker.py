"""Trains the schema linker that comes with the program, on Spider's training questions.

    python -m training.linker --bench FOLDER --out engine/models/linker_base --work FOLDER

The databases of `Part.LINKER` alone are trained on (`benchmarks.harness.linker_split`); those of `Part.PROBES` set the
slopes of the log-odds and give the figures. A run that was stopped goes on from its last checkpoint in `--work`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from benchmarks.harness.linker_split import Part
from engine.link.nodes import LEXICAL, SchemaInput, schema_input
from engine.link.schema_linker import FORMAT, NAME
from engine.models.linker import CALIBRATION, HEADS, LAYERS, SCALES, LinkerEncoder, collated, tokenized
from engine.models.linker_network import Found, Heads, Inputs
from engine.models.packaged import Packaged
from engine.question.question import Question
from engine.values.settings import EncoderSettings
from training.command import Making, parser, written
from training.linker_examples import Example, Neighbours, questions, unanswerable, varied
from training.linker_measures import Judged, calibration
from training.tuned import Tuned

TUNED = 4
"""Layers of the encoder that are trained, from the top."""

BATCH, GROUP = 8, 16
"""Examples a step; steps whose examples are sorted by length together."""

RATE = 1.5e-4
UNANSWERABLE, UNCOMPARED = 0.25, 0.15
"""Shares of questions with a schema that does not answer, and of those whose words are not compared with names."""

OUTSIDE = 0.2
"""Weight of the columns of tables that are not read."""

ALONE = 0.3
"""Weight of the scores before the schema's structure is looked at."""

CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True, slots=True)
class Progress:
    """Of a training: steps done, and seconds that they took."""

    step: int = 0
    seconds: float = 0.0


_DEEPEST = 127
"""The largest 8-bit integer that a weight becomes."""


def packed(layers: Mapping[str, NDArray[Any]], heads: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of an artifact: the layers' weights as 8-bit integers, like the fast pass, the rest as halves."""
    found: dict[str, NDArray[Any]] = {}
    for name, value in layers.items():
        if value.ndim == 1:
            found[f"{LAYERS}.{name}"] = value.astype(np.float16)
            continue
        scale = np.abs(value).max(axis=1, keepdims=True).clip(1e-12) / _DEEPEST
        found[f"{LAYERS}.{name}"] = np.round(value / scale).astype(np.int8)
        found[f"{SCALES}.{name}"] = scale.astype(np.float32)
    return found | {f"{HEADS}.{name}": value.astype(np.float16) for name, value in heads.items()}


class Trainer:
    """The linker in training."""

    def __init__(self, seed: int, threads: int) -> None:
        self.tuned = Tuned(Heads, seed, threads, TUNED, RATE)

    def learn(self, given: Sequence[tuple[Example, SchemaInput]], done: float) -> tuple[float, float]:
        """One step at `done` of the training, in [0, 1); the losses of the links and of answerability before it."""
        inputs = [each for _, each in given]
        batch = collated(inputs, tokenized(self.tuned.tokenizer, inputs))
        links, answerable = losses(self._found(batch), batch, given)
        self.tuned.step(links + answerable, done)
        return float(links.detach()), float(answerable.detach())

    def _found(self, batch: Inputs) -> Found:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = self.tuned.lower(batch.ids, batch.mask)
            hidden = self.tuned.upper(hidden + self.tuned.heads.marks(batch).to(hidden.dtype), batch.mask)
        found: Found = self.tuned.heads(hidden.float(), batch)
        return found

    def artifact(self) -> dict[str, Any]:
        """The arrays of an artifact that is not calibrated."""
        layers, heads = (
            {name: value.detach().float().numpy() for name, value in part.state_dict().items()}
            for part in (self.tuned.layers, self.tuned.heads)
        )
        return packed(layers, heads) | {CALIBRATION: np.array([[1, 0]] * 3, dtype=np.float32)}

    def save(self, file: Path, progress: Progress) -> None:
        """Writes all that a later run needs to go on."""
        states = [part.state_dict() for part in self.tuned.parts]
        aside = file.with_suffix(".new")
        torch.save({"step": progress.step, "seconds": progress.seconds, "parts": states}, aside)
        aside.replace(file)

    def resume(self, file: Path) -> Progress:
        """Goes on from what `save` wrote."""
        saved = torch.load(file, weights_only=True)
        for part, state in zip(self.tuned.parts, saved["parts"], strict=True):
            part.load_state_dict(state)
        return Progress(int(saved["step"]), float(saved["seconds"]))


def losses(
    found: Found, batch: Inputs, given: Sequence[tuple[Example, SchemaInput]]
) -> tuple[Tensor, Tensor]:
    """The costs, for each question, of its set of tables and of its tables' columns, and of answerability."""
    truth, weights = torch.zeros_like(found.nodes), torch.zeros_like(found.nodes)
    for row, (example, schema) in enumerate(given):
        if example.answerable:
            read = np.array([node in example.gold for node in schema.nodes])
            inside = read[schema.table_of] | (schema.table_of == np.arange(len(read)))
            truth[row, : len(read)] = torch.from_numpy(read).float()
            weights[row, : len(read)] = torch.from_numpy(np.where(inside, 1.0, OUTSIDE)).float()
    costs = functional.binary_cross_entropy_with_logits(found.nodes, truth, reduction="none")
    alone = functional.binary_cross_entropy_with_logits(found.alone, truth, reduction="none")
    answerable = torch.tensor([float(example.answerable) for example, _ in given])
    links = ((costs + ALONE * alone) * weights * batch.present).sum() / answerable.sum().clamp_min(1)
    return links, functional.binary_cross_entropy_with_logits(found.answerable, answerable)


def batches(
    examples: Sequence[Example], neighbours: Neighbours, seed: int, first: int, steps: int
) -> Iterator[list[tuple[Example, SchemaInput]]]:
    """The batches from step `first` on: the same, wherever a run begins."""
    each, groups = BATCH * GROUP, -(-steps // GROUP)
    turns = -(-groups * each // len(examples))
    order = np.concatenate(
        [np.random.default_rng((seed, turn)).permutation(len(examples)) for turn in range(turns)]
    )
    for group in range(first // GROUP, groups):
        rng = np.random.default_rng((seed, 1_000 + group))
        made = [_made(examples[n], neighbours, rng) for n in order[group * each : (group + 1) * each]]
        made.sort(key=lambda pair: len(pair[1].nodes))
        for number, part in enumerate(rng.permutation(GROUP).tolist()):
            if first <= group * GROUP + number < steps:
                yield made[part * BATCH : (part + 1) * BATCH]


def _made(example: Example, neighbours: Neighbours, rng: np.random.Generator) -> tuple[Example, SchemaInput]:
    wrong = unanswerable(example, neighbours, rng) if rng.random() < UNANSWERABLE else None
    chosen = varied(wrong or example, rng)
    given = schema_input(Question(chosen.question), chosen.snapshot)
    if rng.random() < UNCOMPARED:
        features = given.features.copy()
        features[:, LEXICAL:] = 0
        given = replace(given, features=features, asked=np.zeros_like(given.asked))
    return chosen, given


def train(options: argparse.Namespace) -> tuple[Trainer, Progress]:
    """The trained linker. Ends after the steps or the minutes given; the rate comes down with what is nearer."""
    torch.set_num_threads(options.threads)
    examples = questions(options.bench, Part.LINKER)
    neighbours = Neighbours.of({each.snapshot.database: each.snapshot for each in examples})
    trainer = Trainer(options.seed, options.threads)
    options.work.mkdir(parents=True, exist_ok=True)
    checkpoint = options.work / CHECKPOINT
    before = trainer.resume(checkpoint) if checkpoint.is_file() else Progress()
    started = said = saved = time.monotonic()
    now, recent, done = before, [], 0.0
    for batch in batches(examples, neighbours, options.seed, before.step, options.steps):
        done = max(now.step / options.steps, now.seconds / (60 * options.minutes))
        if done >= 1:
            break
        recent.append(trainer.learn(batch, done))
        clock = time.monotonic()
        now = Progress(now.step + 1, before.seconds + clock - started)
        if clock - said > 30:  # noqa: PLR2004  seconds: often enough to watch
            costs = " ".join(f"{cost:.3f}" for cost in np.mean(recent, axis=0))
            print(
                f"step {now.step} done {done:.3f} links, answerable {costs} {now.seconds:.0f} s", flush=True
            )
            said, recent = clock, []
        if clock - saved > 120:  # noqa: PLR2004  seconds of work to lose
            trainer.save(checkpoint, now)
            saved = clock
    trainer.save(checkpoint, now)
    return trainer, now


def main() -> int:
    """Trains, calibrates, measures and writes; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("--work", type=Path, required=True, help="folder of checkpoints")
    made.add_argument("--steps", type=int, default=1700)
    made.add_argument("--minutes", type=float, default=35.0, help="of training at most")
    made.add_argument("--threads", type=int, default=2)
    options = made.parse_args()
    making, settings = Making("training.linker", NAME, FORMAT), EncoderSettings(threads=options.threads)
    trainer, progress = train(options)
    arrays, manifest = trainer.artifact(), making.manifest(progress.step * BATCH)
    raw = LinkerEncoder(Packaged(manifest, arrays), settings)
    judged = Judged.of_part(raw, options.bench, Part.PROBES, options.seed)
    arrays[CALIBRATION] = calibration(judged)
    figures = judged.rescaled(arrays[CALIBRATION]).figures()
    named = {f"probes_{name}": value for name, value in figures.items()}
    minutes = round(progress.seconds / 60, 1)
    written(options.out, replace(manifest, figures=named, minutes=minutes), arrays)
    return 0


if __name__ == "__main__":
    sys.exit(main())
