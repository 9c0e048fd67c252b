"""Who is in the workspace: members, guests, members of other workspaces, bots."""

from dataclasses import dataclass
from enum import StrEnum

from tests.wire.slack.payload import Json


class Standing(StrEnum):
    """What a person is in the workspace of the app."""

    MEMBER = "member"
    GUEST = "guest"
    """Multi-channel guest."""
    ONE_ROOM_GUEST = "one_room_guest"
    """Single-channel guest."""


@dataclass(eq=False)
class Person:
    """One account. `bot_id` is empty for people; another `team` than the app's makes a stranger (Slack Connect)."""

    id: str
    team: str
    name: str
    enterprise: str | None = None
    bot_id: str = ""
    app_id: str = ""
    standing: Standing = Standing.MEMBER
    deactivated: bool = False

    def as_json(self, home: str) -> Json:
        """As users.info shows it to an app of the workspace `home`.

        https://docs.slack.dev/reference/objects/user-object: `is_restricted` is a guest, `is_ultra_restricted` a
        guest of one room (who has both), `is_stranger` a member of another workspace. A deactivated account has
        no `is_*` fields but these.
        """
        shown: Json = {
            "id": self.id,
            "team_id": self.team,
            "name": self.name,
            "real_name": self.name.title(),
            "deleted": self.deactivated,
            "is_bot": bool(self.bot_id),
            "is_app_user": False,
            "updated": 1_700_000_000,
            "profile": {"real_name": self.name.title(), "display_name": self.name, "team": self.team},
        }
        if self.bot_id:
            shown["profile"] |= {"bot_id": self.bot_id, "api_app_id": self.app_id}
        if not self.deactivated:
            shown |= {
                "tz": "Europe/Berlin",
                "tz_offset": 3600,
                "is_admin": False,
                "is_owner": False,
                "is_primary_owner": False,
                "is_restricted": self.standing is not Standing.MEMBER,
                "is_ultra_restricted": self.standing is Standing.ONE_ROOM_GUEST,
            }
        if self.team != home:
            shown["is_stranger"] = True
        if self.enterprise is not None:
            shown["enterprise_user"] = {
                "id": self.id, "enterprise_id": self.enterprise, "enterprise_name": "Grid", "is_admin": False,
                "is_owner": False, "teams": [self.team],
            }  # fmt: skip
        return shown
