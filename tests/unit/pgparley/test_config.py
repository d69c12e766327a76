"""Reading the configuration."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.values.model_settings import Effort, GrammarSupport, Provider
from pgparley.config import ConfigError, load
from proxy.settings import described


def write(folder: Path, text: str) -> Path:
    file = folder / "pgparley.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_defaults_need_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load(None, {"XDG_CACHE_HOME": "/cache", "XDG_RUNTIME_DIR": "/run/me"})
    assert config.gateway.listen_port == 6432
    assert config.gateway.engine == str(config.engine.socket)
    assert config.engine.socket.parent == Path("/run/me")
    assert config.embedded_model.path == Path(
        "/cache/pgparley/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    )


def test_a_file_sets_what_it_names(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        'workers = 2\n[gateway]\nlisten_port = 7000\n[model]\ngrammar = "none"\n[engine]\nsocket = "/s"\n'
        '[[upstream.caps]]\ndatabase = "sales"\nanswer_bytes = 5\n',
    )
    config = load(file, {})
    assert (config.workers, config.gateway.listen_port, config.gateway.engine) == (2, 7000, "/s")
    assert (config.model.grammar, config.engine.socket) == (GrammarSupport.NONE, Path("/s"))
    (caps,) = config.upstream.caps
    assert (caps.database, caps.role, caps.answer_bytes) == ("sales", "*", 5)
    with pytest.raises(ConfigError, match="cannot read"):
        load(tmp_path / "none.toml", {})


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, "[gateway]\nlisten_port = 7000\n")
    environment = {
        "PGPARLEY_GATEWAY_LISTEN_PORT": "7001",
        "PGPARLEY_GATEWAY_REUSE_PORT": "true",
        "PGPARLEY_EMBEDDED_MODEL_PORT": "9000",
        "PGPARLEY_MODEL_BASE_URL": "http://localhost/v1",
        "PGPARLEY_WORKERS": "3",
    }
    config = load(file, environment)
    assert config.gateway.listen_port == 7001
    assert config.gateway.reuse_port is True
    assert config.embedded_model.port == 9000
    assert config.model.base_url == "http://localhost/v1"
    assert config.workers == 3


DIGITS = "9" * 4_301
ENDLESS = ("nan", "inf", "-inf", "1e999")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gateway]\nlisten_prot = 1\n", 'unknown key "gateway.listen_prot"; did you mean "listen_port"'),
        ("[gatewy]\n", 'unknown key "gatewy"; did you mean "gateway"'),
        ('[gateway]\nlisten_port = "x"\n', "listen_port"),
        ("[gateway\n", "is not TOML"),
        (f"workers = {DIGITS}\n", "is not TOML"),
        *(
            (f"[gateway]\nnl_timeout = {each}\n", "gateway.nl_timeout is no finite number")
            for each in ENDLESS
        ),
        ("[[upstream.caps]]\nanswer_byte = 5\n", 'answer_byte"; did you mean "answer_bytes"'),
        ("[model]\nprice = {completions = 2}\n", "did you mean"),
        ('[model]\nfallback = [{base_url = "http://b", modell = "m"}]\n', "did you mean"),
        ('[model]\nfallback = [{model = "m"}]\n', "needs a base_url"),
        ('[guard]\nextensions = ["dblink"]\n', 'extension "dblink" cannot be allowed as a whole'),
        ('[guard]\nfunctions = ["similarity"]\n', 'write it as "public.similarity"'),
        ('[guard.databases.shop]\ntypes = ["mood"]\n', 'write it as "public.mood"'),
        ("[guard.databases.shop]\nfunction = []\n", 'unknown key "guard.databases.shop.function"'),
        ("[guard]\ndatabases = 1\n", "databases"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        load(write(tmp_path, text), {})


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        *(("LIMITS_TIMEOUT", each, "limits.timeout is no finite number") for each in ENDLESS),
        ("WORKERS", DIGITS, "configuration: Expected `int`"),
    ],
)
def test_a_wrong_variable_says_what_is_wrong(tmp_path: Path, variable: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        load(write(tmp_path, ""), {f"PGPARLEY_{variable}": value})


def test_the_guard_is_told_for_all_databases_and_for_one(tmp_path: Path) -> None:
    text = """
    [guard]
    extensions = ["pg_trgm"]
    functions = ["public.twice"]
    [guard.databases.shop]
    operators = ["public.<=>"]
    extensions = ["vector"]
    """
    guard = load(write(tmp_path, text), {}).engine_settings().guard
    assert guard.of("other").extensions == ("pg_trgm",)
    shop = guard.of("shop")
    assert shop.extensions == ("pg_trgm", "vector")
    assert shop.functions == ("public.twice",)
    assert shop.operators == ("public.<=>",)


MODEL = """
[model]
base_url = "http://a/v1"
api_key_file = "{file}"
price = {{prompt = 0.5, completion = 2}}
effort = "thorough"
[[model.fallback]]
base_url = "https://b.openai.azure.com"
provider = "azure"
deployment = "mine"
api_key_env = "SPARE_KEY"
"""


def test_keys_come_from_files_and_variables_and_are_shown_nowhere(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("first\n", encoding="utf-8")
    config = load(write(tmp_path, MODEL.format(file=key)), {})
    assert config.model.api_key == "none", "only who asks the model needs them"
    model = config.model_with_keys({"SPARE_KEY": " second "})
    first, spare = model.services
    assert (first.api_key, spare.api_key) == ("first", "second")
    assert (model.effort, model.price.completion, spare.called) == (Effort.THOROUGH, 2.0, "mine")
    assert spare.provider is Provider.AZURE
    assert "first" not in repr(model)
    assert "second" not in repr(model)
    assert "SPARE_KEY" not in str(described(config.gateway)), "SHOW CONFIG tells nothing of the model"


@pytest.mark.parametrize(
    ("content", "environment", "problem"),
    [
        (None, {"SPARE_KEY": "k"}, "api_key_file cannot be read"),
        ("", {"SPARE_KEY": "k"}, "there is no key in the file"),
        ("k", {}, "there is no key in the variable SPARE_KEY"),
    ],
)
def test_a_key_that_is_not_there_is_an_error(
    tmp_path: Path, content: str | None, environment: dict[str, str], problem: str
) -> None:
    key = tmp_path / "key"
    if content is not None:
        key.write_text(content, encoding="utf-8")
    config = load(write(tmp_path, MODEL.format(file=key)), {})
    with pytest.raises(ConfigError, match=problem):
        config.model_with_keys(environment)
