"""What a new prompt begins with: the prefix cache over a runtime that only remembers what it was told."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from pgparley_local.prefix_cache import PrefixCache, common
from pgparley_local.runtime import Runtime

SEQUENCES, CELLS = 3, 60


class RememberingRuntime:
    """The cells of each sequence as a list of tokens; `files`: what each file holds."""

    def __init__(self) -> None:
        self.sequences, self.cells = SEQUENCES, CELLS
        self.held: list[list[int]] = [[] for _ in range(SEQUENCES)]
        self.files: dict[Path, list[int]] = {}

    def truncate(self, sequence: int, length: int) -> None:
        del self.held[sequence][length:]

    def copy(self, source: int, target: int, length: int) -> None:
        assert not self.held[target], "copied over what is there"
        self.held[target] = self.held[source][:length]

    def load(self, sequence: int, path: Path) -> list[int]:
        assert not self.held[sequence]
        self.held[sequence] = list(self.files.get(path, ()))
        return self.held[sequence]


def cache_of(runtime: RememberingRuntime) -> PrefixCache:
    return PrefixCache(cast("Runtime", runtime))


def ask(
    cache: PrefixCache, runtime: RememberingRuntime, prompt: str, answer: str = "", kept: Path | None = None
) -> tuple[int, int]:
    """Computes a prompt and writes an answer, a token a letter; gives the sequence and how much was cached."""
    tokens = tuple(map(ord, prompt))
    number = cache.place(tokens, kept, len(answer), 0)
    cached = len(cache[number].tokens)
    new = [*tokens[cached:], *map(ord, answer)]
    runtime.held[number] += new
    cache[number].tokens.extend(new)
    return number, cached


def test_a_prompt_begins_with_the_longest_that_is_there() -> None:
    runtime = RememberingRuntime()
    cache = cache_of(runtime)
    first, cached = ask(cache, runtime, "schema: one", " 1")
    assert cached == 0
    other, cached = ask(cache, runtime, "schema: two", " 2")
    assert cached == len("schema: "), "shared while the first still runs"
    assert other != first
    cache.release(first)
    again, cached = ask(cache, runtime, "schema: one", " 1")
    assert cached == len("schema: on"), "its last token is computed: it chooses the first of the answer"
    assert again != first, "what the first one answered is kept"


def test_the_oldest_that_is_idle_is_forgotten_when_cells_run_short() -> None:
    runtime = RememberingRuntime()
    cache = cache_of(runtime)
    old, _ = ask(cache, runtime, "o" * 20)
    cache.release(old)
    busy, _ = ask(cache, runtime, "b" * 25)
    ask(cache, runtime, "n" * 25)
    assert not runtime.held[old]
    assert len(runtime.held[busy]) == 25
    assert not cache[old].tokens
    assert cache.has_room()


def test_a_schema_outlasts_the_ends_of_answers_that_came_after_it() -> None:
    runtime = RememberingRuntime()
    cache = cache_of(runtime)
    cache.release(ask(cache, runtime, "instructions, a long schema")[0])
    for question in ("one", "two", "six"):
        cache.release(ask(cache, runtime, f"instructions, {question}", "!")[0])
    assert ask(cache, runtime, "instructions, a long schema?")[1] == len("instructions, a long schema")


def test_a_file_is_read_where_it_has_more_and_not_where_memory_has_it(tmp_path: Path) -> None:
    runtime = RememberingRuntime()
    cache = cache_of(runtime)
    file = tmp_path / "prompt.kv"
    file.touch()
    runtime.files[file] = list(map(ord, "schema: one"))
    number, cached = ask(cache, runtime, "schema: one", kept=file)
    assert cached == len("schema: one") - 1
    cache.release(number)
    runtime.files[file] = []
    assert ask(cache, runtime, "schema: one", kept=file)[1] == len("schema: one") - 1


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(st.tuples(st.text("ab", min_size=1, max_size=12), st.text("xy", max_size=4), st.booleans())))
def test_it_knows_what_the_runtime_holds_and_touches_nothing_that_runs(
    asked: list[tuple[str, str, bool]],
) -> None:
    runtime = RememberingRuntime()
    cache = cache_of(runtime)
    running: dict[int, list[int]] = {}
    for prompt, answer, finished in asked:
        if not cache.has_room():
            cache.release(running.popitem()[0])
        number, cached = ask(cache, runtime, prompt, answer)
        assert number not in running
        assert cached < len(prompt)
        assert [cache[n].tokens for n in range(SEQUENCES)] == runtime.held
        running[number] = list(runtime.held[number])
        assert all(runtime.held[n] == tokens for n, tokens in running.items())
        assert runtime.held[number] == list(map(ord, prompt + answer))
        if finished:
            cache.release(number)
            del running[number]


@given(st.lists(st.integers(0, 1)), st.lists(st.integers(0, 1)))
def test_common(left: list[int], right: list[int]) -> None:
    length = common(left, right)
    assert left[:length] == right[:length]
    assert length == min(len(left), len(right)) or left[length] != right[length]
