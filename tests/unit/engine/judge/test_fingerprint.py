"""What a calibration belongs to follows from what shapes answers; nobody counts versions."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.judge.fingerprint import SHAPING, counting, digest, pipeline_fingerprint, weights
from engine.values.model_settings import GrammarSupport, ModelSettings, Price, Provider, ServiceSettings
from engine.values.settings import (
    EncoderSettings,
    EngineSettings,
    GenerationSettings,
    GuardSettings,
    LearningSettings,
    Limits,
    SelectionSettings,
    UpstreamSettings,
)
from engine.values.shipped import ENGINE

SETTINGS = EngineSettings(Path("/run/engine.sock"), "postgresql://store")

NO_PART = frozenset(
    {
        "engine",
        "engine.values.errors",
        "engine.values.model_settings",
        "engine.values.settings",
        "engine.values.messages",
    }
) | {
    "engine.calibration",
    "engine.values.model_settings",
    "engine.values.conformal",
    "engine.judge.records",
    "engine.judge.splits",
}
"""Modules that stages use and that change no candidate and no score: vocabulary, and what is done with scores."""


@pytest.mark.parametrize(
    "other",
    [
        replace(SETTINGS, model=ModelSettings(model="another")),
        replace(SETTINGS, model=ModelSettings(grammar=GrammarSupport.NONE)),
        replace(SETTINGS, limits=Limits(calls=7)),
        replace(SETTINGS, limits=Limits(timeout=1.0)),
        replace(SETTINGS, limits=Limits(run_candidates=False)),
        replace(SETTINGS, learning=LearningSettings(alike=0.7)),
        replace(SETTINGS, generation=GenerationSettings(rules_off=("both",))),
        replace(SETTINGS, guard=GuardSettings(extensions=("postgis",))),
        replace(SETTINGS, upstream=UpstreamSettings(statement_timeout=1.0)),
        replace(SETTINGS, learned_router=False),
    ],
)
def test_a_setting_that_shapes_answers_is_part_of_it(other: EngineSettings) -> None:
    assert (
        pipeline_fingerprint(other)
        != pipeline_fingerprint(SETTINGS)
        == pipeline_fingerprint(replace(SETTINGS))
    )


@pytest.mark.parametrize(
    "other",
    [
        replace(SETTINGS, socket=Path("/elsewhere"), store_dsn="postgresql://other"),
        replace(SETTINGS, model=ModelSettings(base_url="http://localhost", api_key="secret")),
        replace(SETTINGS, model=ModelSettings(api_key_file="/key", api_key_env="KEY", price=Price(1.0))),
        replace(SETTINGS, model=ModelSettings(provider=Provider.AZURE, deployment="d", api_version="1")),
        replace(SETTINGS, model=ModelSettings(fallback=(ServiceSettings(base_url="http://localhost"),))),
        replace(SETTINGS, model=ModelSettings(circuit_failures=0, circuit_pause=1.0, circuit_patience=2.0)),
        replace(SETTINGS, limits=Limits(k=5, k_max=7, concurrent=1)),
        replace(SETTINGS, encoder=EncoderSettings(threads=2, batch=8)),
        replace(SETTINGS, selection=SelectionSettings(enabled=False, coverage=0.9)),
        replace(SETTINGS, upstream=UpstreamSettings(pool_size=2)),
    ],
)
def test_where_things_are_and_how_many_is_not(other: EngineSettings) -> None:
    assert counting(other) == counting(SETTINGS)
    assert pipeline_fingerprint(other) == pipeline_fingerprint(SETTINGS)


PARTS = (
    *("llm/prompts/generate_user.txt", "write/search/statement.lark", "findings/rules/repetition.py"),
    *("findings/rules/references.py", "judge/run.py", "judge/judge.py", "guard/policy.py"),
    *(
        f"models/{each}"
        for each in ("conditions_base/weights.npz", "ranker_base/manifest.json", "router_base/weights.npz")
    ),
)


def test_a_file_that_shapes_answers_is_part_of_it_wherever_it_is(tmp_path: Path) -> None:
    engine = Path(shutil.copytree(ENGINE, tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__")))
    met = [digest(engine)]
    for file in ("app/api.py", "upstream/rows.py", "models/ranker_base/README.md"):
        (engine / file).write_text("changed")
    assert digest(engine) == met[0], "other files are none"
    for file in PARTS:
        (engine / file).write_bytes((engine / file).read_bytes() + b"\n")
        met.append(digest(engine))
    assert len(set(met)) == 1 + len(PARTS)
    (tmp_path / "models").mkdir()
    shutil.move(engine / "models" / "ranker_base", tmp_path / "models" / "ranker_base")
    assert digest(engine) not in met
    assert digest(engine, tmp_path) == met[-1]


def test_every_module_that_a_stage_uses_is_part_of_it() -> None:
    """Else a rule could be moved to where nobody looks."""
    met = {"engine.app.pipeline"}
    left = list(met)
    while left:
        for name in _imported(left.pop()):
            if name not in met and name not in NO_PART:
                met.add(name)
                left.append(name)
    parts = tuple("engine." + part.removesuffix(".py").replace("/", ".") for part in SHAPING)
    assert len(met) > 50
    assert [
        name for name in sorted(met) if not f"{name}.".startswith(tuple(f"{part}." for part in parts))
    ] == []


def _imported(module: str) -> Iterator[str]:
    """The modules of the engine that one of them imports."""
    path = ENGINE.parent / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "engine":
            inside = [f"{node.module}.{name.name}" for name in node.names]
            yield from [node.module, *(each for each in inside if _is_module(each))]


def _is_module(name: str) -> bool:
    path = ENGINE.parent / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


def test_the_encoders_files_are_part_of_it(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, content in ((one, b"a"), (other, b"b")):
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(content)
    assert weights(one) != weights(other)
    assert pipeline_fingerprint(
        replace(SETTINGS, encoder=EncoderSettings(model=one))
    ) != pipeline_fingerprint(SETTINGS)
