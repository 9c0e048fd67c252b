"""Application commands: https://docs.discord.com/developers/interactions/application-commands"""

import re
from typing import cast

from tests.wire.discord.endpoints import Answer, Endpoint
from tests.wire.discord.payload import Json, invalid, length, several
from tests.wire.discord.refusals import missing_access, unknown_guild
from tests.wire.discord.shapes import (
    Check,
    an_object,
    anything,
    boolean,
    listing,
    nullable,
    number,
    one_of,
    shape,
    snowflake,
    string,
)  # fmt: skip
from tests.wire.discord.world import Call, World

CHAT_INPUT, MESSAGE = 1, 3
SUB_COMMAND, SUB_COMMAND_GROUP = 1, 2
# #application-command-object-application-command-naming: lower case, letters, digits, `-`, `_` and `'`.
NAME = re.compile(r"[-_'\w]{1,32}")
# #registering-a-command: "An app can have … 100 global CHAT_INPUT commands"; of the others the fewest it ever allowed.
MOST = {CHAT_INPUT: 100, 2: 5, MESSAGE: 5}
# "maximum of 8000 characters … name, description, and value properties of each command".
MOST_CHARACTERS = 8000


def _name(value: object, where: str) -> None:
    string(32, 1)(value, where)
    if NAME.fullmatch(str(value)) is None or str(value) != str(value).lower():
        raise invalid(where, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")


_described: dict[str, Check] = {"name": _name, "description": string(100, 1), "type": number(1, 11)}
_translated: dict[str, Check] = {
    "name_localizations": nullable(anything),
    "description_localizations": nullable(anything),
}
_choice = shape({"name": string(100, 1), "value": anything}, _translated)
_bounds: dict[str, Check] = {
    "min_length": nullable(number(0, 6000)), "max_length": nullable(number(1, 6000)), "min_value": anything,
    "max_value": anything, "autocomplete": boolean, "channel_types": anything, "required": boolean,
    "choices": nullable(listing(_choice, 25)),
}  # fmt: skip
_option = shape(_described, {**_translated, **_bounds})


def _suboption(depth: int) -> Check:
    """An option, or a subcommand with its own: a group, then subcommands, then options. #subcommands-and-groups"""
    inside: Check = listing(_suboption(depth - 1), 25) if depth else anything
    nested = shape(_described, {**_translated, "options": inside, "nsfw": boolean})

    def check(value: object, where: str) -> None:
        kind = an_object(value, where).get("type")
        (nested if kind in (SUB_COMMAND, SUB_COMMAND_GROUP) and depth else _option)(value, where)

    return check


_set: dict[str, Check] = {
    **_translated, "type": one_of(1, 2, 3), "nsfw": boolean, "dm_permission": nullable(boolean),
    "default_member_permissions": nullable(anything), "default_permission": nullable(boolean),
    "contexts": nullable(listing(number(0, 2), 3)), "integration_types": nullable(listing(number(0, 1), 2)),
    "id": snowflake, "handler": anything,
}  # fmt: skip
_slash = shape(
    {"name": _name, "description": string(100, 1)}, {**_set, "options": listing(_suboption(2), 25)}
)  # fmt: skip
_menu = shape({"name": string(32, 1)}, {**_set, "description": string(0)})


def _command(value: object, where: str) -> None:
    """#create-global-application-command: of a menu the description is empty."""
    command = an_object(value, where)
    (_slash if command.get("type", CHAT_INPUT) == CHAT_INPUT else _menu)(value, where)
    options = several(command.get("options"))
    if characters(command) > MOST_CHARACTERS:
        raise invalid(where, "APPLICATION_COMMAND_TOO_LARGE", f"Command exceeds maximum size ({MOST_CHARACTERS})")
    _in_order(options, f"{where}.options")


def _in_order(options: list[Json], where: str) -> None:
    """ "Required options must be listed before optional options", each name once."""
    seen_optional = False
    for index, option in enumerate(options):
        if option["type"] in (SUB_COMMAND, SUB_COMMAND_GROUP):
            _in_order(several(option.get("options")), f"{where}.{index}.options")
            continue
        if option.get("required") and seen_optional:
            raise invalid(f"{where}.{index}", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options first")
        seen_optional = seen_optional or not option.get("required")
    names = [option["name"] for option in options]
    if len(set(names)) != len(names):
        raise invalid(where, "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists")


def characters(command: Json) -> int:
    """What counts of one command."""
    inner = sum(characters(option) for option in several(command.get("options")))
    choices = sum(length(f"{choice['name']}{choice['value']}") for choice in several(command.get("choices")))
    return inner + choices + length(f"{command['name']}{command.get('description') or ''}")


def overwrite(world: World, call: Call) -> Answer:
    """#bulk-overwrite-global-application-commands, and of one guild: what is not in the list is gone."""
    place = _place(world, call)
    commands = cast("list[Json]", call.body.get("", []))
    listing(_command, sum(MOST.values()))(commands, "")
    kinds = [int(command.get("type", CHAT_INPUT)) for command in commands]
    for kind, most in MOST.items():
        if kinds.count(kind) > most:
            raise invalid("", "APPLICATION_COMMANDS_MAX", f"Maximum number of application commands reached ({most})")
    names = [(kind, command["name"]) for kind, command in zip(kinds, commands, strict=True)]
    if len(set(names)) != len(names):
        raise invalid("", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
    ids = {(command["type"], command["name"]): command["id"] for command in world.commands.get(place, [])}
    world.commands[place] = [
        {
            "options": [], "description": "", "default_member_permissions": None, "nsfw": False, **command,
            "type": kind, "application_id": world.app, "version": world.clock.snowflake(),
            "id": ids.get((kind, command["name"])) or world.clock.snowflake(),
            **({"guild_id": place} if place else {}),
        }
        for kind, command in zip(kinds, commands, strict=True)
    ]  # fmt: skip
    return 200, world.commands[place]


def registered(world: World, call: Call) -> Answer:
    """#get-global-application-commands"""
    return 200, world.commands.get(_place(world, call), [])


def _place(world: World, call: Call) -> str:
    """The guild that is meant; empty: everywhere."""
    if call.params["app"] != world.app:
        raise missing_access()
    guild = call.params.get("guild", "")
    if guild and guild not in world.guilds:
        raise unknown_guild()
    if guild and world.bot.id not in world.guilds[guild].members:
        raise missing_access()
    return guild


_GLOBAL, _OF_GUILD = "/applications/{app}/commands", "/applications/{app}/guilds/{guild}/commands"
_LISTED = ("with_localizations",)
ENDPOINTS = (
    Endpoint("overwrite_commands", "PUT", _GLOBAL, overwrite),
    Endpoint("get_commands", "GET", _GLOBAL, registered, _LISTED),
    Endpoint("overwrite_guild_commands", "PUT", _OF_GUILD, overwrite),
    Endpoint("get_guild_commands", "GET", _OF_GUILD, registered, _LISTED),
)
