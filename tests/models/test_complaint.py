"""What a provider says of a request that it does not take is for an operator to read, and holds no secret."""

import pytest

from bot.models.complaint import said

KEY = "sk-proj-abcdefghijklmnop1234"
LOGIN = "hunter2-and-more"

BODIES: dict[str, tuple[object, str]] = {
    # as these servers answer: Ollama's own API, OpenAI's, Anthropic's, Google's, FastAPI's (vLLM before a request is
    # looked at), a proxy with a list
    "ollama": ({"error": "registry.ollama.ai/library/gemma:2b does not support tools"},
               "registry.ollama.ai/library/gemma:2b does not support tools"),
    "openai": ({"error": {"message": "No such model.", "type": "invalid_request_error", "code": None}},
               "No such model."),
    "openai, inner": ({"message": "No such model.", "type": "invalid_request_error", "code": None}, "No such model."),
    "anthropic": ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "Overloaded"),
    "google": ([{"error": {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED"}}],
               "Quota exceeded."),
    "validation": ({"detail": [{"loc": ["body", "model"], "msg": "field required"}]}, "field required"),
    "oauth": ({"error_description": "The token is too old."}, "The token is too old."),
    "plain": ("upstream connect error", "upstream connect error"),
    "empty before full": ({"error": "", "message": "Full."}, "Full."),
}  # fmt: skip

SECRET: dict[str, tuple[str, str]] = {
    "the key": (f"Incorrect API key provided: {KEY}.", "Incorrect API key provided: ***."),
    "the key with its middle left out": ("Incorrect API key: sk-proj-********************1234.",
                                         "Incorrect API key: ***"),
    "a key that is not ours": ("Key AIzaSyA1234567890 is not enabled", "Key *** is not enabled"),
    "a token": ("We saw Bearer eyJhbGciOiJIUzI1NiJ9 there", "We saw Bearer *** there"),
    "its first half": ("of hunter2-and alone", "of *** alone"),
    "a login in an address": ("GET http://kim:letmein@10.0.0.1/v1 failed", "GET http://***@10.0.0.1/v1 failed"),
}  # fmt: skip


@pytest.mark.parametrize("which", BODIES)
def test_the_words_are_found_wherever_a_server_puts_them(which: str) -> None:
    body, words = BODIES[which]

    assert said(body, ()) == words


@pytest.mark.parametrize(
    "body", [None, 3, {}, [], {"error": None}, {"code": 3}, "<html>Please sign in.</html>", " \n ", [[[[["deep"]]]]]],
    ids=str,
)  # fmt: skip
def test_where_there_are_no_words_for_people_none_are_repeated(body: object) -> None:
    assert said(body, ()) is None


@pytest.mark.parametrize("which", SECRET)
def test_no_secret_is_repeated_whole_or_in_part(which: str) -> None:
    text, words = SECRET[which]

    assert said({"error": {"message": text}}, (KEY, LOGIN, "")) == words


def test_the_words_are_one_line_that_is_not_long() -> None:
    assert said("a\n\n  b\tc\x1b[31m\u202e", ()) == "a b c⟨U+001B⟩[31m⟨U+202E⟩"
    told = said("word " * 1_000, ())
    assert told is not None
    assert len(told) <= 301
    assert told.endswith("word…")


def test_a_secret_at_the_end_of_the_line_is_not_cut_into_pieces_that_show() -> None:
    told = said("x" * 290 + f" {KEY}", (KEY,))

    assert told == "x" * 290 + " ***"
