"""What a tool says about itself, and how its arguments are read (R9, R22, R23, R24)."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from bot.tools.declare import BadArguments, BadDeclaration, Tool, declare, wire
from casestore.states import Tier

if TYPE_CHECKING:  # so that the annotation cannot be resolved when the tool is declared
    from casestore.tx import Tx


async def refund(order: str, cents: int = 100, speed: Literal["fast", "slow"] = "slow") -> dict[str, object]:
    """Pay money back for an order."""
    return {"order": order, "cents": cents, "speed": speed}


def made(**changed: object) -> Tool:
    options: dict[str, object] = {
        "name": "shop.refund",
        "statement": "Pay {cents} cents back for order {order}",
        "effect_key": "refund:{order}",
        "may_change": {"cents"},
    }
    return declare(refund, **(options | changed))  # pyright: ignore[reportArgumentType] - one dict for all options


def test_a_tool_nobody_classified_is_consequential() -> None:
    assert made().tier is Tier.CONSEQUENTIAL


def test_the_provider_sees_no_dots_and_the_schema_of_the_signature() -> None:
    offered = made().definition()
    assert offered.name == "shop__refund"
    assert offered.description == "Pay money back for an order."
    assert offered.parameters_json_schema["required"] == ["order"]
    assert offered.parameters_json_schema["additionalProperties"] is False
    assert offered.parameters_json_schema["properties"]["speed"]["enum"] == ["fast", "slow"]


def test_arguments_come_back_with_their_defaults_filled_in() -> None:
    assert made().validate('{"order": "A-1"}') == {"order": "A-1", "cents": 100, "speed": "slow"}
    assert made().validate({"order": "A-1", "cents": 5}) == {"order": "A-1", "cents": 5, "speed": "slow"}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ('{"order": ', "not valid JSON"),
        ("[]", "one JSON object"),
        ("null", "one JSON object"),
        ("", 'it needs "order"'),
        ("   ", 'it needs "order"'),
        ("{}", 'it needs "order"'),
        ('{"order": 7}', '"order" should be a valid string'),
        ('{"order": "A", "cents": "5"}', '"cents" should be a valid integer'),
        ('{"order": "A", "cents": true}', '"cents" should be a valid integer'),
        ('{"order": "A", "cents": 5.5}', '"cents"'),
        ('{"order": "A", "cents": NaN}', "not valid JSON"),
        ('{"order": "A", "cents": 1e999}', "not valid JSON"),
        ('{"order": "A", "speed": "warp"}', "'fast' or 'slow'"),
        ('{"order": "A", "to": "me"}', 'it has no argument "to" (it takes cents, order, speed)'),
        ('{"order": "\\ud800"}', "half a character"),
        ("[" * 100_000, "not valid JSON"),
        ({"order": object()}, "not valid JSON"),
        ({"order": "A", "tx": 1}, 'it has no argument "tx"'),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_one_sentence(raw: str | dict[str, object], said: str) -> None:
    with pytest.raises(BadArguments) as refused:
        made().validate(raw)
    sentence = str(refused.value)
    assert said in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


@given(st.text(), st.integers())
def test_validated_arguments_stay_the_same_when_they_are_stored_and_validated_again(order: str, cents: int) -> None:
    tool = made()
    try:
        once = tool.validate({"order": order, "cents": cents})
    except BadArguments:
        return
    assert tool.validate(json.dumps(once)) == once == tool.validate(once)


async def test_the_call_gets_the_validated_arguments() -> None:
    tool = made()
    assert tool.call is not None
    assert tool.apply is None
    assert await tool.call(tool.validate('{"order": "A-1"}')) == {"order": "A-1", "cents": 100, "speed": "slow"}
    with pytest.raises(BadArguments):
        await tool.call({"order": "A-1", "more": 1})


def test_a_case_tool_acts_in_a_transaction_that_the_model_never_sees() -> None:
    def set_title(tx: "Tx", scene: object, title: str) -> object:
        """Name the case."""
        return (tx, scene, title)

    tool = declare(set_title, name="case.set_title", statement="Name the case {title}", applies=True)
    assert set(cast("dict[str, object]", tool.schema["properties"])) == {"title"}
    assert tool.call is None
    assert tool.apply is not None
    assert tool.apply("tx", "scene", tool.validate({"title": "Full"})) == ("tx", "scene", "Full")
    for stolen in ("tx", "scene"):
        with pytest.raises(BadArguments):
            tool.validate({"title": "Full", stolen: 1})


def test_exactly_one_of_call_and_apply_is_given() -> None:
    given_both = made()
    with pytest.raises(BadDeclaration, match="exactly one"):
        Tool(
            name="a.b",
            description="x",
            schema=given_both.schema,
            statement="x",
            check=given_both.check,
            call=given_both.call,
            apply=print,
        )
    with pytest.raises(BadDeclaration, match="exactly one"):
        Tool(name="a.b", description="x", schema=given_both.schema, statement="x", check=given_both.check)


def test_an_outside_tool_is_a_coroutine_and_a_case_tool_is_not() -> None:
    def plain(order: str) -> None:
        """Do it."""

    async def slow(tx: object, scene: object) -> None:
        """Do it."""

    with pytest.raises(BadDeclaration, match="coroutine"):
        declare(plain, name="a.b", statement="Do it")
    with pytest.raises(BadDeclaration, match="plain function"):
        declare(slow, name="a.b", statement="Do it", applies=True)


def test_the_statement_quotes_values_and_keeps_what_is_invisible() -> None:
    tool = made()
    args = tool.validate({"order": 'A" and all others\n\u202e', "cents": 5})
    assert tool.restate(args) == 'Pay 5 cents back for order "A\\" and all others\\n\u202e"'


@given(st.text(), st.text(), st.text(), st.text())
def test_two_different_intents_never_share_an_effect_key(a: str, b: str, c: str, d: str) -> None:
    async def pay(order: str, to: str) -> None:
        """Pay."""

    tool = declare(pay, name="shop.pay", statement="Pay", effect_key="{order}:{to}")
    one, other = tool.effect({"order": a, "to": b}), tool.effect({"order": c, "to": d})
    assert (one == other) is ((a, b) == (c, d))


@pytest.mark.parametrize(
    "template", ["{order.__class__}", "{order[0]}", "{order!r}", "{cents:>99}", "{nobody}", "{}", "{0}", "{order", "}"]
)
@pytest.mark.parametrize("where", ["statement", "effect_key"])
def test_a_template_can_only_name_arguments(template: str, where: str) -> None:
    with pytest.raises(BadDeclaration):
        made(**{where: f"Pay {template}"})


@pytest.mark.parametrize("name", ["a__b", "a_.b", "a._b", "_a", "a.", ".a", "a b", "", "a/b", "a." + "b" * 70])
def test_names_that_could_share_a_wire_name_or_that_providers_refuse_are_refused(name: str) -> None:
    with pytest.raises(BadDeclaration):
        made(name=name)


NAMES = st.from_regex(r"[ab_.]{1,6}", fullmatch=True)


@given(NAMES, NAMES)
def test_no_two_names_share_a_wire_name(one: str, other: str) -> None:
    try:
        made(name=one)
        made(name=other)
    except BadDeclaration:
        return
    assert (wire(one) == wire(other)) is (one == other)


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "shop.repay"},
        {"description": "Pay."},
        {"statement": "Pay {cents} for {order}"},
        {"tier": Tier.ROUTINE},
        {"reversible": True},
        {"effect_key": "refund:{order}:{cents}"},
        {"sensitive": True},
        {"verified": True},
    ],
)
def test_whatever_the_approver_was_shown_changes_the_version(changed: dict[str, object]) -> None:
    assert made(**changed).version != made().version
    assert len(made().version) == 16


def test_another_signature_is_another_version_and_a_new_start_is_not() -> None:
    async def other(order: str, cents: int = 200, speed: Literal["fast", "slow"] = "slow") -> None:
        """Pay money back for an order."""

    def as_declared(function: Callable[..., object]) -> Tool:
        return declare(function, name="shop.refund", statement="Pay {cents} cents back for order {order}")

    assert as_declared(other).version != as_declared(refund).version
    assert made(ttl_ms=5, idempotent=True, may_change=()).version == made().version


def test_the_operator_may_raise_or_lower_a_tier_and_the_rest_stays() -> None:
    changed = made().with_settings(tier=Tier.READ_ONLY, ttl_ms=60_000)
    assert (changed.tier, changed.ttl_ms) == (Tier.READ_ONLY, 60_000)
    assert changed.effect_key == "refund:{order}"
    assert changed.may_change == {"cents"}
    assert changed.call is made().call or changed.call is not None
    assert made().with_settings(sensitive=True, verified=True).version != made().version
    with pytest.raises(BadDeclaration, match="may_change"):
        made().with_settings(may_change=["amount"])
    with pytest.raises(BadDeclaration, match="effect_key"):
        made().with_settings(effect_key="{amount}")


def test_a_signature_that_could_not_refuse_an_unknown_argument_is_refused() -> None:
    class Order(BaseModel):
        number: str

    async def anything(**more: str) -> None:
        """Do it."""

    async def listed(*more: str) -> None:
        """Do it."""

    async def wrapped(order: Order) -> None:
        """Do it."""

    for function in (anything, listed, wrapped):
        with pytest.raises(BadDeclaration):
            declare(function, name="a.b", statement="Do it")


def test_a_tool_without_words_is_refused() -> None:
    async def silent(order: str) -> None: ...

    with pytest.raises(BadDeclaration, match="docstring"):
        declare(silent, name="a.b", statement="Do it")
    with pytest.raises(BadDeclaration, match="statement"):
        made(statement=" ")


def test_limits_of_an_argument_are_part_of_the_sentence() -> None:
    async def wait(days: Annotated[int, Field(ge=1, le=9)]) -> None:
        """Wait."""

    tool = declare(wait, name="a.wait", statement="Wait {days} days")
    with pytest.raises(BadArguments, match='"days" should be less than or equal to 9'):
        tool.validate({"days": 10})


def test_declaring_brings_no_model_layer_in_before_it_is_needed() -> None:
    """The command line lists tools and cases without the second that the model layer takes to load."""
    script = "import sys, bot.tools.host; print([name for name in sys.modules if name.startswith('pydantic_ai')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
