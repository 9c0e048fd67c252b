"""What somebody does to a case by hand: speaking, moving it, taking it over, binding it (R2, R3, R12)."""

from pathlib import Path

from casestore import bindings, cases, leases, messages
from casestore.models import Case
from casestore.scope import System
from casestore.states import CaseState, LeaseKind, Origin, Provenance
from tests.cli.command_line import Cli
from tests.conftest import World

THREAD = "memory:T1/C2/1710.003"


async def _now(world: World, case: Case) -> Case:
    return await world.store.read(cases.by_id, case.id)


async def _said(world: World, case: Case) -> list[tuple[Provenance, str]]:
    found = await world.store.read(messages.of_case, System(), case.id)
    return [(message.provenance, message.text) for message in found]


async def test_a_case_is_opened_from_the_command_line_for_whoever_acts(cli: Cli, world: World) -> None:
    told = await cli.done("case", "open", "the printer is on fire\nthird floor", "--as", "you")
    assert told.startswith("C-1001 is open: the printer is on fire\n")
    assert "casebound case show C-1001" in told
    case = await world.store.read(cases.get, System(), 1001)
    assert (case.origin, case.requester, case.state) == (Origin.CLI, world.people.you.id, CaseState.NEW)
    assert await _said(world, case) == [(Provenance.REQUESTER, "the printer is on fire\nthird floor")]
    assert await world.store.read(leases.has_work, case.id), "the assistant answers it"
    await cli.done("case", "open", "x", "--title", "A better title")
    assert (await world.store.read(cases.get, System(), 1002)).title == "A better title"


async def test_who_speaks_decides_what_it_is(cli: Cli, world: World) -> None:
    case = await world.case()
    await cli.done("case", "say", case.label, "it is urgent", "--as", "you")
    await cli.done("case", "say", case.label, "I look at it")
    assert await _said(world, case) == [
        (Provenance.REQUESTER, "it is urgent"), (Provenance.OPERATOR, "I look at it"),
    ]  # fmt: skip


async def test_nothing_is_said_in_a_case_that_is_over(cli: Cli, world: World) -> None:
    case = await world.case()
    await cli.done("case", "cancel", case.label, "--reason", "by mistake")
    assert f"{case.label} is cancelled" in (await cli("case", "say", case.label, "hello?")).line
    assert "nothing to say" in (await cli("case", "say", case.label, "  ")).line
    assert (await world.store.read(leases.has_work, case.id)) is False


async def test_a_case_is_moved_by_hand_and_a_move_that_is_none_is_refused(cli: Cli, world: World) -> None:
    case = await world.case()
    for verb, state in (("resolve", "resolved"), ("reopen", "in_progress"), ("close", "closed")):
        assert f"is {state.replace('_', ' ')}" in await cli.done("case", verb, case.label, "--reason", f"why {verb}")
        assert (await _now(world, case)).state == state
    for verb in ("reopen", "resolve", "cancel"):
        refused = (await cli("case", verb, case.label)).line
        assert refused == f"{case.label} is closed, for good. Open a new case."
    assert (await cli("case", "close", case.label)).line == f"{case.label} is closed already."
    told = await cli.done("case", "show", case.label)
    assert "operator closed the case: why close" in told


async def test_a_requester_may_end_their_own_case_and_not_close_it(cli: Cli, world: World) -> None:
    case = await world.case()
    refused = (await cli("case", "close", case.label, "--as", "you")).line
    assert refused == "you is a requester; only an operator may close a case. Name one with --as."
    await cli.done("case", "resolve", case.label, "--as", "you")
    assert (await _now(world, case)).state == "resolved"
    for verb in ("take", "release"):
        assert "only an operator" in (await cli("case", verb, case.label, "--as", "you")).line


async def test_a_case_gets_another_title(cli: Cli, world: World) -> None:
    case = await world.case()
    await cli.done("case", "title", case.label, "  apache, not nginx ")
    assert (await _now(world, case)).title == "apache, not nginx"
    assert "title is empty" in (await cli("case", "title", case.label, " ")).line


async def test_who_takes_a_case_over_speaks_to_its_threads_until_they_hand_it_back(cli: Cli, world: World) -> None:
    """R12, R9."""
    asked = await world.ask(await world.working(case=await world.case(address="memory:S/R/T")))
    case = asked.case
    told = await cli.done("case", "take", case.label, "--as", "kim")
    assert f"casebound case release {case.label}" in told
    lease = await world.store.read(leases.of_case, case.id)
    assert (lease.kind, lease.principal) == (LeaseKind.HUMAN, world.people.kim.id)
    assert (await world.gate(asked.gate.id)).state == "withdrawn"
    assert "with kim" in (await cli("case", "take", case.label)).line
    assert "goes on" not in await cli.done("case", "say", case.label, "I am on it", "--as", "kim")
    assert (Provenance.OPERATOR, "I am on it") in await _said(world, case)
    assert "kim has the case" in await cli.done("case", "show", case.label)
    assert (await cli("case", "show", case.label, "--json")).json["taken_over_by"] == "kim"
    await cli.done("case", "release", case.label, "--as", "kim")
    assert (await world.store.read(leases.of_case, case.id)).kind is None
    assert "not taken over" in (await cli("case", "release", case.label)).line


async def test_who_hands_a_case_back_hears_whether_the_assistant_has_anything_to_go_on_with(
    cli: Cli, world: World
) -> None:  # fmt: skip
    case = await world.case(address="memory:S/R/T")
    for said in (False, True):
        await cli.done("case", "take", case.label, "--as", "kim")
        if said:
            await cli.done("case", "say", case.label, "And now?", "--as", "you")
        told = await cli.done("case", "release", case.label, "--as", "kim")
        assert ("goes on with it" in told) is said
        assert (f"To have it go on, say what it shall do:\ncasebound case say {case.label} TEXT" in told) is not said


async def test_a_case_is_assigned_to_an_operator_or_to_nobody(cli: Cli, world: World) -> None:
    case = await world.case()
    await cli.done("case", "assign", case.label, "kim")
    assert (await _now(world, case)).assignee == world.people.kim.id
    assert "Assigned   kim" in await cli.done("case", "show", case.label)
    assert "you is no operator here" in (await cli("case", "assign", case.label, "you")).line
    assert "No principal named joe" in (await cli("case", "assign", case.label, "joe")).line
    await cli.done("case", "assign", case.label, "nobody")
    assert (await _now(world, case)).assignee is None


async def test_a_case_is_bound_to_a_further_thread_and_lets_go_of_it(cli: Cli, world: World) -> None:
    """R3."""
    case, other = await world.case(), await world.case()
    await cli.done("case", "bind", case.label, THREAD)
    assert THREAD in await cli.done("case", "show", case.label)
    assert "bound to another case" in (await cli("case", "bind", other.label, THREAD)).line
    assert f"{other.label} is not bound to {THREAD}" in (await cli("case", "unbind", other.label, THREAD)).line
    unknown = (await cli("case", "bind", case.label, "slak:T1/C2/1710.003")).line
    assert 'No channel is called "slak". Use one of: ' in unknown
    assert "is not an address" in (await cli("case", "bind", case.label, "slack")).line
    await cli.done("case", "unbind", case.label, THREAD)
    assert await world.store.read(bindings.of_case, case.id) == []
    assert (await _now(world, case)).state == "new", "the case lives on"


async def test_text_that_no_file_can_hold_is_stored_so_that_it_can_be_shown(cli: Cli, world: World) -> None:
    await cli.done("case", "open", "bad byte \udcff and 𝄞 é", "--title", "title \udcfe")
    await cli.done("case", "open", "also in a title that nobody gave: \udcff")
    await cli.done("case", "say", "C-1001", "more \udcfd")
    await cli.done("case", "resolve", "C-1001", "--reason", "why \udcfc")
    assert (await cli("case", "list", "--as", "\udcff")).line.startswith("No principal named")
    shown = await cli.done("case", "show", "C-1001")
    assert "𝄞 é" in shown
    assert "\udcff" not in shown
    assert (await cli("case", "show", "C-1001", "--json")).json["title"].startswith("title ")


async def test_a_megabyte_is_stored_and_shown(cli: Cli, world: World, tmp_path: Path) -> None:
    case = await world.case()
    text = "line of text\n" * 9_000  # what one argument of a command can carry
    await cli.done("case", "say", case.label, text)
    assert (await _said(world, case))[0][1] == text
    assert "line of text" in await cli.done("case", "show", case.label)
