"""Settings in documents, as a reader would copy them: each block, and each service of docs/models.md, is loaded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgparley.config import load
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}: {block.partition(chr(10))[0]}")
    for page in PAGES
    for block in re.findall(r"^```(?:toml)?\n(\[.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
]
SERVICES = re.findall(
    r"^\| (.+?) \| (`base_url = .+?) \|", (ROOT / "docs" / "models.md").read_text("utf-8"), re.MULTILINE
)


def test_there_are_such_blocks_and_services() -> None:
    assert len(BLOCKS) > 5
    assert {"OpenAI", "Ollama", "vLLM"} <= {service for service, _ in SERVICES}


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_is_loaded(block: str, tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    file.write_text(block, "utf-8")
    load(file, {"OPENAI_API_KEY": "k", "GROQ_API_KEY": "k"})


@pytest.mark.parametrize(("service", "lines"), SERVICES)
def test_a_service_is_loaded(service: str, lines: str, tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    settings = re.findall(r"(\w+ = \"[^\"]*\")", lines)
    file.write_text("\n".join(["[model]", *settings, 'api_key = "k"']), "utf-8")
    model = load(file, {}).model
    assert model.base_url, service
    assert model.model or model.deployment, service
