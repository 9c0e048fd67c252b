"""Every read and write of a case takes a scope, and outside of it there is nothing (R21)."""

import inspect
import pkgutil
from collections.abc import Callable, Sequence
from importlib import import_module

import pytest

import casestore
from casestore import attachments, cases, deciding, gates, messages, principals, runs, steps, trail
from casestore.db import Store
from casestore.deciding import Decision
from casestore.errors import BadRequest, NotFound
from casestore.models import CaseId, GateId, Principal, PrincipalId, RunId
from casestore.scope import Own, Scope, System, Tenant, parameters
from casestore.states import Origin, Role, Verb
from casestore.tx import Tx
from tests.conftest import NOW, Asked, World
from tests.store.rows import everything

Read = Callable[[Tx, Scope, Asked], object]


def decide(tx: Tx, scope: Scope, gate_id: GateId, who: Principal) -> object:
    return deciding.decide(tx, NOW, scope, gate_id, who, Decision(Verb.APPROVE, "0" * 64, "web"))


def refusal(tx: Tx, scope: Scope, gate_id: GateId, who: Principal) -> object:
    return deciding.refusal(tx, NOW, scope, gate_id, who, Decision(Verb.APPROVE, "0" * 64, "web"))


READS: dict[str, Read] = {
    "attachments.content": lambda tx, scope, it: attachments.content(tx, scope, it.case.id, 1),
    "cases.get": lambda tx, scope, it: cases.get(tx, scope, it.case.number),
    "cases.listing": lambda tx, scope, it: [c for c in cases.listing(tx, scope) if c.id == it.case.id],
    "gates.get": lambda tx, scope, it: gates.get(tx, scope, it.gate.id),
    "gates.listing": lambda tx, scope, it: [g for g in gates.listing(tx, scope, only_open=False) if g.id == it.gate.id],
    "deciding.decide": lambda tx, scope, it: decide(tx, scope, it.gate.id, principals.by_name(tx, "kim")),
    "deciding.refusal": lambda tx, scope, it: refusal(tx, scope, it.gate.id, principals.by_name(tx, "kim")),
    "messages.of_case": lambda tx, scope, it: messages.of_case(tx, scope, it.case.id),
    "runs.get": lambda tx, scope, it: runs.get(tx, scope, it.run.id),
    "runs.listing": lambda tx, scope, it: runs.listing(tx, scope, case_id=it.case.id),
    "steps.of_run": lambda tx, scope, it: steps.of_run(tx, scope, it.run.id),
    "trail.read": lambda tx, scope, it: trail.read(tx, scope, it.case.id),
    "trail.verify": lambda tx, scope, it: trail.verify(tx, scope, it.case.id),
}


def answer(tx: Tx, name: str, scope: Scope, it: Asked) -> object:
    """What a function answers; for an error its words, with the numbers taken out."""
    try:
        return READS[name](tx, scope, it)
    except NotFound as error:
        return "".join(character for character in str(error) if not character.isdigit())


def scoped_functions() -> set[str]:
    """Every public function of the package that takes a scope."""
    found: set[str] = set()
    for module in pkgutil.iter_modules(casestore.__path__):
        for name, fn in inspect.getmembers(import_module(f"casestore.{module.name}"), inspect.isfunction):
            ours = fn.__module__ == f"casestore.{module.name}" and not name.startswith("_")
            if ours and any(p.annotation is Scope for p in inspect.signature(fn).parameters.values()):
                found.add(f"{module.name}.{name}")
    return found - {"scope.parameters"}


def test_every_function_that_takes_a_scope_is_in_the_matrix() -> None:
    assert scoped_functions() == set(READS)


def test_no_function_has_a_scope_by_default() -> None:
    for name in READS:
        module, _, function = name.partition(".")
        fn = getattr(import_module(f"casestore.{module}"), function)
        assert inspect.signature(fn).parameters["scope"].default is inspect.Parameter.empty


@pytest.fixture
async def asked(world: World) -> Asked:
    """A case of `you` in the tenant `local` with something of everything."""
    asked = await world.ask()
    await world.store.write(_with_a_file, world.now, asked)
    return asked


def _with_a_file(tx: Tx, now: int, asked: Asked) -> None:
    message = messages.of_case(tx, System(), asked.case.id)[0]
    attachments.add(tx, message, [attachments.Attachment("slack", "F1", "a", "text/plain", 1)])
    (file,) = attachments.of_message(tx, message.id)
    attachments.keep(tx, now, file, b"a", name="", media_type="")


@pytest.fixture
async def others(world: World, store: Store) -> dict[str, PrincipalId]:
    """Somebody else in the same tenant, and somebody in another."""
    add = principals.add
    guest = await store.write(add, world.now, tenant="local", name="guest", role=Role.REQUESTER)
    stranger = await store.write(add, world.now, tenant="elsewhere", name="stranger", role=Role.REQUESTER)
    return {"guest": guest.id, "stranger": stranger.id, "you": world.people.you.id}


def outside(others: dict[str, PrincipalId]) -> Sequence[Scope]:
    return (
        Tenant("elsewhere"), Tenant("LOCAL"), Tenant("Local"), Tenant("local "), Tenant("%"), Tenant("loca_"),
        Own("local", others["guest"]), Own("elsewhere", others["stranger"]), Own("elsewhere", others["you"]),
        Own("LOCAL", others["you"]), Own("local", PrincipalId(0)), Own("local", PrincipalId(-1)),
    )  # fmt: skip


def gone(asked: Asked) -> Asked:
    """The same questions about a case that does not exist."""
    nowhere = asked.begun.case.model_copy(update={"id": CaseId(4711), "number": 4711})
    run = asked.begun.run.model_copy(update={"id": RunId(4711)})
    begun = type(asked.begun)(asked.begun.lease, nowhere, asked.begun.turn, run, ())
    gate = asked.gate.model_copy(update={"id": GateId(4711)})
    return Asked(begun, asked.model_step, asked.steps, gate=gate)


@pytest.mark.parametrize("name", READS)
async def test_outside_the_scope_the_answer_is_that_of_a_case_that_does_not_exist(
    store: Store, asked: Asked, others: dict[str, PrincipalId], name: str
) -> None:
    nothing = await store.read(answer, name, System(), gone(asked))
    before = await store.read(everything)
    for scope in outside(others):
        assert await store.write(answer, name, scope, asked) == nothing, scope
    assert await store.read(everything) == before


@pytest.mark.parametrize("name", READS)
async def test_inside_the_scope_there_is_an_answer(store: Store, asked: Asked, name: str) -> None:
    """Or the test above could not fail."""
    nothing = await store.read(answer, name, System(), gone(asked))
    for scope in (System(), Tenant("local"), Own("local", asked.case.requester or PrincipalId(0))):
        assert await store.write(answer, name, scope, asked) not in (nothing, []), scope


@pytest.mark.parametrize("name", READS)
async def test_no_scope_is_an_error_and_never_everything(store: Store, asked: Asked, name: str) -> None:
    with pytest.raises((TypeError, BadRequest)):
        await store.write(READS[name], None, asked)  # pyright: ignore[reportArgumentType]


HOLES: list[tuple[type[Own] | type[Tenant], tuple[object, ...]]] = [
    (Tenant, (None,)), (Tenant, ("",)), (Tenant, (7,)), (Own, (None, 1)), (Own, ("", 1)), (Own, ("local", None)),
    (Own, ("local", "you")), (Own, (None, None)), (Own, ("local", True)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "parts"), HOLES)
def test_a_scope_with_a_hole_in_it_cannot_be_made(kind: Callable[..., Scope], parts: tuple[object, ...]) -> None:
    """A principal nobody knows must not become "all principals"."""
    with pytest.raises(BadRequest, match="scope"):
        kind(*parts)


def test_only_the_system_has_no_limits() -> None:
    assert None not in parameters(Own("local", PrincipalId(1))).values()
    assert parameters(Tenant("local"))["scope_tenant"] == "local"
    assert set(parameters(System()).values()) == {None}


async def test_a_case_without_a_requester_is_nobodys_own(world: World, store: Store) -> None:
    opening = cases.Opening(tenant="local", title="disk full", origin=Origin.ALERT)
    case = await store.write(cases.open_case, world.now, opening, actor="alert")
    for who in (world.people.you, world.people.kim):
        with pytest.raises(NotFound):
            await store.read(cases.get, Own("local", who.id), case.number)
    assert await store.read(cases.get, Tenant("local"), case.number) == case


async def test_a_canary_in_each_tenant_is_seen_by_nobody_elsewhere(world: World, store: Store) -> None:
    stranger = await store.write(principals.add, world.now, tenant="elsewhere", name="their-you", role=Role.REQUESTER)
    theirs = await world.case(requester=stranger, title="canary-elsewhere")
    await world.say(theirs, "canary-elsewhere", by=stranger)
    ours = await world.case(title="canary-local")
    await world.say(ours, "canary-local")
    for tenant, other in (("local", "elsewhere"), ("elsewhere", "local")):
        scope = Tenant(tenant)
        texts = [str(await store.read(cases.listing, scope)), str(await store.read(runs.listing, scope))]
        for case in (ours, theirs):
            texts += [str(await store.read(read, scope, case.id)) for read in (messages.of_case, trail.read)]
        assert any(f"canary-{tenant}" in text for text in texts)
        assert not any(f"canary-{other}" in text for text in texts)
