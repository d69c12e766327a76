"""A linker whose states are kept between runs: reading schemas is most of what training and measuring take."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.schema_linking.nodes import HiddenStates, NodeStates
from schema_catalog.types import Snapshot


@dataclass(frozen=True, slots=True)
class Remembered:
    """`engine.schema_linking.nodes.HiddenStates`: `model`'s, kept in `folder`; states in half precision."""

    model: HiddenStates
    folder: Path

    @property
    def version(self) -> str:
        """The model's."""
        return self.model.version

    def read(self, question: str, snapshot: Snapshot) -> NodeStates | None:
        """See `HiddenStates.read`; what does not fit the model is asked again each time."""
        name = f"{self.version}\n{snapshot.fingerprint}\n{question}"
        file = self.folder / f"{hashlib.sha256(name.encode()).hexdigest()}.npz"
        kept = _kept(file)
        if kept is not None:
            return kept
        states = self.model.read(question, snapshot)
        if states is not None:
            _keep(states, file)
        return states


def _kept(file: Path) -> NodeStates | None:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            nodes = tuple((str(schema), str(table), str(column)) for schema, table, column in arrays["nodes"])
            states = arrays["states"].astype(np.float32)
            return NodeStates(nodes, states, arrays["log_odds"], float(arrays["answerable"]))
    except (FileNotFoundError, zipfile.BadZipFile):
        return None


def _keep(states: NodeStates, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_suffix(".new.npz")
    np.savez(
        aside,
        nodes=np.array(states.nodes),
        states=states.states.astype(np.float16),
        log_odds=states.log_odds,
        answerable=np.array(states.answerable),
    )
    aside.replace(file)
