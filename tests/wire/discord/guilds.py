"""Guilds (in Discord's own words: servers), their roles and members."""

from dataclasses import dataclass, field

from tests.wire.discord.payload import Json
from tests.wire.discord.people import Person
from tests.wire.discord.permissions import EVERYTHING, NOTHING, May

# topics/permissions#permissions-for-timed-out-members: they "lose all permissions except" these.
IN_TIME_OUT = May.VIEW_CHANNEL | May.READ_MESSAGE_HISTORY


@dataclass(eq=False)
class Role:
    """https://docs.discord.com/developers/topics/permissions#role-object"""

    id: str
    name: str
    permissions: May
    mentionable: bool = False

    def as_json(self, position: int) -> Json:
        """#role-object-role-structure"""
        return {
            "id": self.id, "name": self.name, "color": 0, "hoist": False, "position": position,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "permissions": str(int(self.permissions)), "managed": False, "mentionable": self.mentionable, "flags": 0,
        }  # fmt: skip


@dataclass(eq=False)
class Guild:
    """One guild. `members`: who is in it, with the ids of their roles. `away`: an outage of Discord has taken it."""

    id: str
    name: str
    owner: Person
    joined_at: str
    everyone: Role
    roles: dict[str, Role] = field(default_factory=dict[str, Role])
    members: dict[str, set[str]] = field(default_factory=dict[str, "set[str]"])
    people: dict[str, Person] = field(default_factory=dict[str, Person])
    away: bool = False
    timed_out: set[str] = field(default_factory=set[str])

    def add(self, person: Person, *roles: Role) -> None:
        """Somebody comes in, or gets these roles too."""
        self.people[person.id] = person
        self.members.setdefault(person.id, set()).update(role.id for role in roles)

    def may_still(self, person: Person, permissions: May) -> May:
        """What is left to somebody in a time-out. "Owners and admin users … are exempt"."""
        return permissions & IN_TIME_OUT if person.id in self.timed_out and permissions != EVERYTHING else permissions

    def remove(self, person: Person) -> None:
        """Somebody is gone."""
        self.members.pop(person.id, None)

    def base(self, person: Person) -> May:
        """What somebody may do before a room's own rules. topics/permissions, `compute_base_permissions`."""
        if person.id not in self.members:
            return NOTHING
        if person is self.owner:
            return EVERYTHING
        permissions = self.everyone.permissions
        for role in self.members[person.id]:
            permissions |= self.roles[role].permissions
        return EVERYTHING if May.ADMINISTRATOR in permissions else permissions

    def member_json(self, person: Person, *, with_user: bool = True) -> Json:
        """https://docs.discord.com/developers/resources/guild#guild-member-object

        gateway-events#message-create: `member` there comes without the user.
        """
        shown: Json = {
            "roles": sorted(self.members.get(person.id, ())), "nick": None, "avatar": None, "joined_at": self.joined_at,
            "premium_since": None, "deaf": False, "mute": False, "flags": 0, "pending": False,
            "communication_disabled_until": None,
        }  # fmt: skip
        return {"user": person.as_json(), **shown} if with_user else shown

    def as_json(self) -> Json:
        """https://docs.discord.com/developers/resources/guild#guild-object"""
        roles = [self.everyone, *self.roles.values()]
        return {
            "id": self.id, "name": self.name, "owner_id": self.owner.id, "icon": None, "splash": None,
            "discovery_splash": None, "banner": None, "description": None, "vanity_url_code": None, "region": "",
            "roles": [role.as_json(place) for place, role in enumerate(roles)], "emojis": [], "stickers": [],
            "features": [], "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
            "mfa_level": 0, "afk_timeout": 60, "afk_channel_id": None, "premium_tier": 0, "nsfw_level": 0,
            "premium_progress_bar_enabled": False, "preferred_locale": "en-US", "system_channel_id": None,
            "system_channel_flags": 0, "rules_channel_id": None, "public_updates_channel_id": None,
            "safety_alerts_channel_id": None, "application_id": None, "premium_subscription_count": 0,
        }  # fmt: skip
