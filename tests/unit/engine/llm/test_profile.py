"""What a model server can do, as a value, and which models are small by their names."""

from __future__ import annotations

import msgspec
import pytest

from engine.values.model_profile import EMBEDDED, UNKNOWN, ModelProfile, TokenField
from engine.values.model_settings import GrammarSupport, ModelSettings, Price, Provider, ServiceSettings

FULL = ModelProfile(
    logprobs=True,
    top_logprobs=True,
    grammar=GrammarSupport.LLGUIDANCE,
    continuation=True,
    schema=True,
    context=8_192,
)


@pytest.mark.parametrize("profile", [UNKNOWN, EMBEDDED, FULL, FULL.without("system").without("max_tokens")])
def test_json_there_and_back(profile: ModelProfile) -> None:
    assert ModelProfile.of_json(profile.to_json()) == profile


@pytest.mark.parametrize("text", ["", "[]", '{"tokens": "few"}', '{"context": "long"}'])
def test_what_another_version_has_kept_is_none(text: str) -> None:
    with pytest.raises(msgspec.MsgspecError):
        ModelProfile.of_json(text)


@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("logprobs", {"logprobs", "top_logprobs"}),
        ("top_logprobs", {"top_logprobs"}),
        ("temperature", {"temperature", "logprobs", "top_logprobs", "reasoning"}),
        ("max_tokens", {"tokens", "temperature", "logprobs", "top_logprobs", "reasoning"}),
        ("response_format", {"schema"}),
        ("grammar", {"grammar"}),
        ("continue_final_message", {"continuation"}),
        ("add_generation_prompt", {"continuation"}),
        ("system", {"system"}),
        ("user", set()),
    ],
)
def test_a_refused_field_takes_what_hangs_on_it(field: str, changed: set[str]) -> None:
    left = FULL.without(field)
    assert left.refused == {field}
    names = {name for name in ModelProfile.__slots__ if getattr(left, name) != getattr(FULL, name)}
    assert names - {"refused"} == changed


def test_a_refused_schema_leaves_json_and_a_refused_limit_its_other_name_to_be_tried_once() -> None:
    first = FULL.without("response_format", value=True)
    assert (first.schema, first.json_mode) == (False, True)
    assert not first.without("response_format", value=True).json_mode
    first = FULL.without("max_tokens")
    assert first.tokens is TokenField.MAX_COMPLETION_TOKENS
    assert first.without("max_completion_tokens").tokens is TokenField.NONE
    too_many = FULL.without("max_tokens", value=True)
    assert (too_many.tokens, too_many.reasoning) == (TokenField.NONE, False)


def test_a_model_that_thinks_has_room_for_it_and_calls_have_their_price() -> None:
    thinking = ModelProfile(reasoning=True)
    assert (FULL.room(100), thinking.room(100), thinking.room(1_000)) == (100, 4_196, 8_000)
    price = Price(prompt=0.5, completion=2.0, cached=0.1)
    assert price.of(1_000_000, 1_000_000, 500_000) == pytest.approx(1.6)
    assert Price(prompt=0.5).of(0, 1_000_000, 9) == pytest.approx(0.5)
    assert Price().of(9, 9, 9) == 0


def test_each_service_has_its_own_address_and_the_common_circuit() -> None:
    spare = ServiceSettings(base_url="http://me:pass@b:2/v1/", model="other", api_key="k2")
    settings = ModelSettings(
        base_url="http://a:1/v1",
        api_key="k1",
        fallback=(spare,),
        circuit_failures=9,
        grammar=GrammarSupport.NONE,
    )
    first, second = settings.services
    assert (first.place, second.place) == ("a:1/v1 none", "b:2/v1")
    assert (second.model, second.api_key, second.grammar, second.circuit_failures) == ("other", "k2", None, 9)
    assert first.fallback == second.fallback == ()
    with pytest.raises(ValueError, match="needs a base_url"):
        ModelSettings(fallback=(ServiceSettings(),))


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("qwen2.5-coder-1.5b-instruct-q4_k_m", True),
        ("meta-llama/Llama-3.2-3B-Instruct", True),
        ("qwen3:4b", True),
        ("Qwen/Qwen2.5-Coder-7B-Instruct", False),
        ("qwen3-30b-a3b", False),
        ("mixtral-8x7b", False),
        ("llama-3.3-70b-versatile", False),
        ("gpt-4o-mini", False),
        ("claude-opus-4-6", False),
    ],
)
def test_by_the_name(name: str, *, small: bool) -> None:
    assert ModelSettings(model=name).small is small
    assert ModelSettings(provider=Provider.AZURE, deployment=name).small is small
