"""Looking at an installation: what is configured, what is missing, and what to do about it. It changes nothing."""

from collections.abc import AsyncIterator, Mapping, Sequence

from bot.errors import SettingsError
from bot.models import prompt
from bot.settings import Settings
from bot.tools.mcp.server import Server
from bot.tools.mcp.servers import Servers
from casestore import principals
from casestore.db import Store
from casestore.errors import StoreError
from casestore.locks import service_holder
from casestore.migrate import newest, version_of
from casestore.models import Account, Principal
from casestore.tx import Tx
from channels.card import Argument, Card
from channels.findings import Acquainted, Examined, Finding
from channels.port import Channel

SAMPLE = Card(
    gate_id=999_999_999_999_999, digest8="00000000", verbs=("approve", "deny"), heading="A test",
    statement="Nothing is asked: this is `casebound doctor`, which takes it away again", case_label="C-0",
    case_title="no case", origin="doctor", tool="none", tier_note="nothing is run",
    arguments=(Argument(name="nothing", value="<!channel> & \u202eshown as it is"),), asked_by="casebound doctor",
    decides="nobody", if_nobody="it is gone in a moment",
)  # fmt: skip
"""A card that asks nothing: its gate does not exist, so that a press on it is only ever refused."""

_ACCOUNTS = {
    "slack": (
        "slack:SPACE/ID",
        "SPACE is the workspace's id (T…), and ID a person's (U…): their profile in Slack, ⋮, Copy member ID.",
    ),
    "discord": (
        "discord:ID",
        "ID is a person's: in Discord, Settings, Advanced, Developer Mode on; then their menu, Copy User ID.",
    ),
}
"""How an account is written on a channel, and where a person finds the ids."""


def of_alerts(settings: Settings) -> Finding:
    """Who may send them."""
    if settings.alerts.token is None:
        return Finding("alerts", "Taken from programs of this machine alone, since [alerts] token is not set.")
    return Finding("alerts", "Taken with the token of [alerts].")


def of_servers(servers: Servers, settings: Settings) -> list[Finding]:
    """Each MCP server: how many tools it has, or what hinders it; and what the settings say of tools it has not."""
    return [_of_server(server, settings) for server in servers.all.values()]


def _of_server(server: Server, settings: Settings) -> Finding:
    what = f"mcp: {server.name}"
    if server.trouble is not None:
        return Finding(what, f"It cannot be used: {server.trouble}.", f"Correct [mcp.{server.name}], or the server.")
    gone = [name for name in settings.tools if name.partition(".")[0] == server.name and name not in server.names]
    if gone:
        return Finding(what, f"It has no tool {gone[0]}.", "Correct its name in [tools]; see: casebound tools list")
    if server.refused:
        return Finding(what, " ".join(server.refused), "Have its tools mended, or do without them.")
    many = "one tool" if len(server.names) == 1 else f"{len(server.names)} tools"
    return Finding(what, f"It has {many}. See: casebound tools list")


def of_refused(what: str, refused: Exception) -> Finding:
    """A part that the settings name and that cannot be put together."""
    return Finding(what, _ended(str(refused)), "Mend that: the service does not start like this.")


def of_prompt(settings: Settings) -> list[Finding]:
    """Whether the house prompt can be read, where one is named."""
    file = settings.prompt.house
    if file is None:
        return []
    try:
        text = prompt.house(settings)
    except SettingsError as error:
        return [of_refused("prompt", error)]
    if not text:
        return [Finding("prompt", f"{file} is empty.", "Write into it, or take house out of [prompt].")]
    return [Finding("prompt", f"{file} has {len(text)} characters. See: casebound prompt show")]


def of_profiles(strange: Sequence[str]) -> list[Finding]:
    """What they name that is not there; nothing where all is."""
    return [Finding("profiles", _ended(one), "Correct that name in the settings.") for one in strange]


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."


def of_the_file(settings: Settings) -> Finding:
    """Whether the database is there, and one that this version works with."""
    db = settings.service.db
    try:
        version = version_of(db)
    except StoreError as error:
        return Finding("database", str(error), "Until then nothing can be stored.")
    if not version:
        to_do = "Start the service once, which makes it: casebound up. Then look again: who may decide is kept in it."
        return Finding("database", f"{db} is not there yet, as before the first start.", to_do)
    if version != newest():
        found = f"{db} has version {version}, and this casebound works with {newest()}."
        return Finding("database", found, "Back it up, then: casebound db migrate")
    holder = service_holder(db)
    serves = "no service runs" if holder is None else f"{holder} serves it"
    return Finding("database", f"{db}, version {version}; {serves}.")


def listened_to(settings: Settings) -> Mapping[str, Sequence[str]]:
    """By a channel's name, the spaces that are listened to, for each whose accounts are in one (R20)."""
    return {"slack": settings.slack.teams}


async def of_people(
    store: Store, channels: Mapping[str, Channel], spaces: Mapping[str, Sequence[str]]
) -> AsyncIterator[Finding]:
    """Whether somebody can decide from each channel: without a bound operator every approval there expires.

    `spaces`: those that are `listened_to`.
    """
    for name, channel in channels.items():
        able = await store.read(operators_on, name, spaces.get(name))
        if able:
            yield Finding(f"{name}: operators", f"Bound, so that they can decide there: {', '.join(able)}.")
        else:
            account, where = _ACCOUNTS.get(name, (f"{name}:SPACE/ID", ""))
            to_do = (
                f"casebound principal add NAME --role operator, then casebound principal bind NAME {account}. {where}"
            )
            yield Finding(f"{name}: operators", "No operator's account is bound, so nobody can approve there.", to_do)
        if isinstance(channel, Acquainted):
            async for finding in _absent(name, channel, await store.read(_accounts_on, name, spaces.get(name))):
                yield finding


async def _absent(
    name: str, channel: Acquainted, bound: Sequence[tuple[str, Account]]
) -> AsyncIterator[Finding]:  # fmt: skip
    """Operators whose account is nobody's there, as after a slip in its id."""
    whose = {account.account_id: (person, account) for person, account in bound}
    for account_id, why in (await channel.absent([*whose])).items():
        person, account = whose[account_id]
        written = principals.written(account.channel, account.space, account.account_id)
        example, where = _ACCOUNTS.get(name, (f"{name}:SPACE/ID", ""))
        to_do = f"casebound principal unbind {written}, then casebound principal bind {person} {example}. {where}"
        yield Finding(f"{name}: account of {person}", f"{written} {why}, so {person} cannot decide from it.", to_do)


async def of_channels(channels: Mapping[str, Channel], rooms: Mapping[str, str | None]) -> AsyncIterator[Finding]:
    """What each channel says of its own set-up; `rooms`: by its name, where a card of it may be tried."""
    if not channels:
        yield Finding("channels", "None is configured; cases come from alerts, the API, the terminal and the CLI.")
    for name, channel in channels.items():
        if isinstance(channel, Examined):
            async for finding in channel.examine(SAMPLE, rooms.get(name)):
                yield Finding(f"{name}: {finding.what}", finding.found, finding.to_do)


def operators_on(tx: Tx, channel: str, spaces: Sequence[str] | None = None) -> list[str]:
    """The names of those who can decide from this channel; `spaces`: those of it that are listened to, or None."""
    return [*dict.fromkeys(name for name, _ in _accounts_on(tx, channel, spaces))]


def _accounts_on(tx: Tx, channel: str, spaces: Sequence[str] | None = None) -> list[tuple[str, Account]]:
    """The accounts from which somebody can decide, each with the name of who that is."""
    return [
        (person.name, account)
        for person in principals.listing(tx)
        if _may_decide(person)
        for account in principals.accounts_of(tx, person.id)
        if _speaks(account, channel, spaces)
    ]


def _may_decide(person: Principal) -> bool:
    return person.is_operator and person.revoked_at is None


def _speaks(account: Account, channel: str, spaces: Sequence[str] | None) -> bool:
    """Whether what the account says is heard: in a space that is not listed nobody is (R20)."""
    heard = spaces is None or account.space in spaces
    return account.channel == channel and heard and account.revoked_at is None
