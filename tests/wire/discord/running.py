"""What a client sends when somebody runs a command that the bot has registered.

https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-application-command-data-structure
"""

from tests.wire.discord import showing
from tests.wire.discord.commands_api import CHAT_INPUT, MESSAGE, SUB_COMMAND, SUB_COMMAND_GROUP
from tests.wire.discord.messages import Message
from tests.wire.discord.payload import Json, several
from tests.wire.discord.people import Person
from tests.wire.discord.places import Place
from tests.wire.discord.world import World

STRING, INTEGER, BOOLEAN, USER = 3, 4, 5, 6


def command(world: World, place: Place, name: str, kind: int) -> Json:
    """A command that is offered in a place, or the test is wrong: of its guild first, then of everywhere.

    application-commands#interaction-contexts: 0 is a guild, 1 the direct conversation with the bot.
    """
    of_guild = [] if place.guild is None else world.commands.get(place.guild.id, [])
    for offered in [*of_guild, *world.commands.get("", [])]:
        contexts = offered.get("contexts")
        fits = contexts is None or (0 if place.guild is not None else 1) in contexts
        alone = place.guild is None and offered.get("dm_permission") is False
        if offered["name"] == name and offered["type"] == kind and fits and not alone:
            return offered
    raise AssertionError(f"No command {name} is offered here; there are: {world.commands}")


def chosen(world: World, place: Place, words: list[str], options: dict[str, object]) -> Json:
    """The data of a slash command, `words` being its name and those of its subcommands."""
    offered = command(world, place, words[0], CHAT_INPUT)
    people: list[Person] = []
    data: Json = {"id": offered["id"], "name": offered["name"], "type": CHAT_INPUT}
    if "guild_id" in offered:
        data["guild_id"] = offered["guild_id"]
    data["options"] = _options(offered, words[1:], options, people)
    if people:
        data["resolved"] = {"users": {person.id: person.as_json() for person in people}}
        guild = place.guild
        if guild is not None:
            data["resolved"]["members"] = {
                person.id: {**guild.member_json(person, with_user=False), "permissions": str(int(place.may(person)))}
                for person in people
            }
    return data


def _options(offered: Json, words: list[str], options: dict[str, object], people: list[Person]) -> list[Json]:
    known: dict[str, Json] = {option["name"]: option for option in several(offered.get("options"))}
    if words:
        sub = known.get(words[0])
        assert sub is not None, f"no subcommand {words[0]}"
        return [{"name": words[0], "type": sub["type"], "options": _options(sub, words[1:], options, people)}]
    nested = [name for name, option in known.items() if option["type"] in (SUB_COMMAND, SUB_COMMAND_GROUP)]
    assert not nested, f"One of its subcommands has to be chosen: {nested}"
    assert not options.keys() - known.keys(), f"There are no such options: {options.keys() - known.keys()}"
    missing = [name for name, option in known.items() if option.get("required") and name not in options]
    assert not missing, f"Discord does not send it without: {missing}"
    return [_option(known[name], value, people) for name, value in options.items()]


def _option(option: Json, value: object, people: list[Person]) -> Json:
    """One option, within what the bot has said it takes."""
    kind = int(option["type"])
    if choices := option.get("choices"):
        assert value in [choice["value"] for choice in choices], f"{value} is no choice of {option['name']}"
    if kind == STRING:
        least, most = option.get("min_length") or 0, option.get("max_length") or 6000
        assert isinstance(value, str), f"{option['name']} takes text"
        assert least <= len(value) <= most, f"{option['name']} takes {least}-{most} characters"
    if kind == INTEGER:
        assert isinstance(value, int), f"{option['name']} takes a whole number"
    if isinstance(value, Person):
        people.append(value)
        value = value.id
    return {"name": option["name"], "type": kind, "value": value}


def resolved_message(world: World, place: Place, name: str, on: Message) -> Json:
    """The data of a message's menu: the message comes along, with its content also without the intent for it."""
    offered = command(world, place, name, MESSAGE)
    data: Json = {
        "id": offered["id"], "name": offered["name"], "type": MESSAGE, "target_id": on.id,
        "resolved": {"messages": {on.id: showing.message(world, on)}},
    }  # fmt: skip
    if "guild_id" in offered:
        data["guild_id"] = offered["guild_id"]
    return data
