"""Finds out what a model server can do, by at most four small calls.

The first asks for everything that is of use, and is made again without what the server refuses; what it answers tells
which of the rest it keeps to. Only of servers that say they are vLLM or `llama-server` it is tried whether they take a
grammar: no other takes one in Lark.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

import openai

from engine.llm.call import Call
from engine.llm.reading import TOLD, Reply, completion, is_cut_short, thinks
from engine.llm.refusals import Refusal, says, without_refused
from engine.values.model_profile import EMBEDDED, ModelProfile
from engine.values.model_settings import OWNER, GrammarSupport
from engine.values.ports import Prompt

CALLS = 4
"""Calls at most. What they do not tell is found out when a question meets it."""

_TOKENS = 512
"""Of an answer at most: a word, for which some models think a while."""

_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["answer"],
    "additionalProperties": False,
}
_QUESTION = Prompt("You answer questions.", "Is two more than one? Answer yes or no.")
_IN_JSON = Prompt(
    "You answer questions.", 'Is two more than one? Answer with JSON: {"answer": "yes"} or "no".'
)
_BEGUN = Prompt("You write SQL.", "The number one.", "```sql\n")
_WORD = "pgparley"
_ASKED = Call(_QUESTION, _TOKENS, others=2, schema=_SCHEMA)
_CONSTRAINED = Call(_BEGUN, _TOKENS, grammar=f'start: "{_WORD}"')
_HOPED = ModelProfile(logprobs=True, top_logprobs=True, schema=True)

_GRAMMARS = {
    "vllm": (GrammarSupport.STRUCTURED_OUTPUTS, GrammarSupport.GUIDED_GRAMMAR, GrammarSupport.NONE),
    "llamacpp": (GrammarSupport.LLGUIDANCE, GrammarSupport.NONE),
}
"""Who a server says it is (`owned_by` of its models) → how it may take a grammar behind an answer's beginning."""

_CONTEXT = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx")
"""Names under which servers tell of a model how many tokens it takes."""

_MOST_CONTEXT = 2**31

Post = Callable[[Call, ModelProfile], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as a server lists it. `about`: what it tells beside the protocol's fields."""

    name: str
    owner: str
    about: Mapping[str, object]

    @classmethod
    def of(cls, listed: Mapping[str, object]) -> ListedModel:
        """Any field may be missing, or of another type."""
        name, owner = (listed.get(key) for key in ("id", "owned_by"))
        return cls(_short(name), _short(owner), listed)

    @property
    def context(self) -> int | None:
        """Tokens that it takes, where the server tells."""
        meta = self.about.get("meta")
        told = {**self.about, **(meta if isinstance(meta, dict) else {})}
        found = (told.get(name) for name in _CONTEXT)
        return next((each for each in found if type(each) is int and 0 < each <= _MOST_CONTEXT), None)


class Discovery:
    """Of one server, once. `post` makes a call as a profile says; raises `openai.OpenAIError`."""

    def __init__(self, post: Post, grammar: GrammarSupport | None, listed: ListedModel | None) -> None:
        """`grammar`: as configured. `listed`: the model, where the server lists it."""
        self._post = post
        self._grammar = grammar
        self._listed = listed
        self._left = CALLS

    async def find_out(self) -> ModelProfile:
        """Raises the `openai.OpenAIError` of a server that answers nothing, however little it is asked for."""
        if self._grammar is None and self._listed is not None and self._listed.owner == OWNER:
            return EMBEDDED
        profile, reply = await self._asked(_ASKED, _HOPED)
        if reply is not None:
            profile = _kept(profile, reply)
        profile = await self._under_grammar(profile)
        return replace(profile, context=self._listed.context if self._listed else None)

    async def _asked(self, call: Call, profile: ModelProfile) -> tuple[ModelProfile, Reply | None]:
        """What the server leaves of `profile`, and its answer; None where no call is left."""
        while self._left:
            self._left -= 1
            if profile.json_mode:
                # Services refuse the mode where the word is not in the prompt.
                call = replace(call, prompt=_IN_JSON)
            try:
                return profile, await self._post(call, profile)
            except openai.OpenAIError as problem:
                left = without_refused(profile, problem, call.body(profile))
                if left == profile and call is not _CONSTRAINED and says(problem) is Refusal.REQUEST:
                    left = ModelProfile(temperature=False, refused=profile.refused)
                if left == profile:
                    raise
                profile = left
        return profile, None

    async def _under_grammar(self, profile: ModelProfile) -> ModelProfile:
        ways = _GRAMMARS.get(self._listed.owner if self._listed else "", ())
        if self._grammar not in (None, GrammarSupport.NONE):
            return replace(profile, grammar=self._grammar, continuation=True)
        for way in ways if self._grammar is None else ways[-1:]:
            hoped = replace(profile, grammar=way, continuation=True)
            with contextlib.suppress(openai.APIStatusError):
                found, reply = await self._asked(_CONSTRAINED, hoped)
                profile = replace(profile, refused=found.refused)
                obeyed = way is GrammarSupport.NONE or (
                    reply is not None and completion(reply, _BEGUN.prefix).text == _WORD
                )
                if reply is not None and found.grammar is way and obeyed:
                    return found
        return profile


def _kept(profile: ModelProfile, reply: Reply) -> ModelProfile:
    """`profile`, less what the server has taken and not kept to."""
    told = reply.choices[0].logprobs
    tokens = (told.content or ()) if told else ()
    reasoning = profile.reasoning or thinks(reply)
    return replace(
        profile,
        temperature=profile.temperature and not reasoning,
        logprobs=profile.logprobs and bool(tokens),
        top_logprobs=profile.top_logprobs and any(token.top_logprobs for token in tokens),
        schema=profile.schema and (is_cut_short(reply) or _is_of_schema(completion(reply).text)),
        reasoning=reasoning,
    )


def _short(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= TOLD else ""


def _is_of_schema(text: str) -> bool:
    try:
        found = json.loads(text.rpartition("</think>")[2])
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "answer" in found
