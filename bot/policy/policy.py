"""What is done with a call: free, asked, or refused. Permissions intersect, they never add (design, section 7)."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.policy import profiles
from bot.settings import Settings, Verdict
from bot.settings.profiles import Profile
from bot.tools.declare import Tool
from casestore import asking
from casestore.models import Case, Principal, Step
from casestore.states import GateKind, OnExpiry, Role, Tier


@dataclass(frozen=True, slots=True)
class Free:
    """It may run now; `effect_key` names what it does, if it has one."""

    effect_key: str | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """A person is asked first. `earlier` is a call with the same effect key, which the card names."""

    kind: GateKind
    effect_key: str | None = None
    earlier: Step | None = None


@dataclass(frozen=True, slots=True)
class Refuse:
    """It is not made; the sentence goes to the model."""

    why: str


Judged = Free | Ask | Refuse


def judge(
    tool: Tool, settings: Settings, *, case: Case, actor: Principal | None, consented: bool, earlier: Step | None,
    effect_key: str | None,
) -> Judged:  # fmt: skip
    """The verdict on one valid call. `consented`: the requester has said yes; `earlier`: same effect key, already made.

    Order: what is refused outright, then consent, then approval; an effect made before always asks again.
    """
    if actor is not None and actor.revoked_at is not None:
        return Refuse("refused: the person this is done for has been revoked")
    narrowing = profiles.of(settings, actor)
    if (why := withheld(tool, settings, narrowing)) is not None:
        return Refuse(f"refused: {why}")
    if tool.verified and case.verified_at is None:
        return Refuse("refused: the requester has not been verified; verify them first")
    if tool.sensitive and not consented:
        if case.requester is None:
            return Refuse("refused: this needs the consent of a requester, and the case has none")
        return Ask(GateKind.CONSENT, effect_key, earlier)
    if explain(tool, settings, narrowing) == "gate" or earlier is not None:
        return Ask(GateKind.APPROVAL, effect_key, earlier)
    return Free(effect_key)


def of_gate(settings: Settings, now: int, kind: GateKind, ttl_ms: int | None) -> asking.Policy:
    """The rules a gate is asked under; `ttl_ms`: the tool's own, if it has one.

    Consent is the requester's alone, whatever their role (R5).
    """
    rules = settings.gates
    ttl = rules.ttl if ttl_ms is None else ttl_ms
    return asking.Policy(
        roles=tuple(Role) if kind is GateKind.CONSENT else rules.roles, four_eyes=rules.four_eyes,
        on_expiry=OnExpiry(rules.on_expiry), expires_at=now + ttl,
        reminders=[now + int(ttl * part) for part in rules.reminders],
        also_at=() if kind is GateKind.CONSENT else settings.approval_rooms(),
    )  # fmt: skip


def withheld(tool: Tool, settings: Settings, narrowing: Mapping[str, Profile] = profiles.NONE) -> str | None:
    """Why calls of a tool are refused outright under these profiles; None where they are not.

    Asked when a call is judged, and again before an approval is spent: settings and people change while it waits.
    """
    if _surface(tool, settings) == "refuse":
        return f"the policy does not allow {tool.tier.replace('_', ' ')} tools here"
    if settings.policy.observe and tool.tier is not Tier.READ_ONLY:
        return "this installation only observes, nothing with an effect is run"
    for where, profile in narrowing.items():
        if profiles.narrowed(tool, "free", [profile]) == "refuse":
            return f"[{where}] does not allow {tool.name}"
    return None


def explain(tool: Tool, settings: Settings, narrowing: Mapping[str, Profile] = profiles.NONE) -> Verdict:
    """What the policy does with a tool; `narrowing`: and what these profiles leave of that."""
    if withheld(tool, settings, narrowing) is not None:
        return "refuse"
    return profiles.narrowed(tool, _surface(tool, settings), narrowing.values())


def offered(
    tool: Tool, settings: Settings, narrowing: Mapping[str, Profile] = profiles.NONE, *, beside: bool = False
) -> bool:  # fmt: skip
    """Whether the model hears of a tool at all: those that are always refused are not offered.

    `beside`: in a turn beside a parked one, where it hears of those that only look.
    """
    return only_looks(tool, settings, narrowing) if beside else explain(tool, settings, narrowing) != "refuse"


def only_looks(tool: Tool, settings: Settings, narrowing: Mapping[str, Profile] = profiles.NONE) -> bool:
    """Whether it only looks, at nothing that needs anybody's yes, and outside of the store."""
    free = explain(tool, settings, narrowing) == "free"
    return tool.tier is Tier.READ_ONLY and free and not (tool.sensitive or tool.verified) and tool.call is not None


def _surface(tool: Tool, settings: Settings) -> Verdict:
    match tool.tier:
        case Tier.READ_ONLY:
            return settings.policy.read_only
        case Tier.ROUTINE:
            return settings.policy.routine
        case Tier.CONSEQUENTIAL:
            return settings.policy.consequential
