"""What `[profiles]` names that is not there: a profile about it would leave everybody what it was to take away."""

import difflib
from collections.abc import Collection

from bot.settings import Settings
from bot.settings.profiles import matches
from casestore import principals
from casestore.tx import Tx


def people(tx: Tx, settings: Settings) -> list[str]:
    """A sentence for each profile that is about nobody who is known here; names are compared exactly (R21)."""
    known = [person.name for person in principals.listing(tx, tenant=settings.service.tenant)]
    return [
        f'[profiles.principals."{name}"] holds for nobody: no principal is called {name}'
        f"{_hint(name, known, '; see: casebound principal list')}"
        for name in settings.profiles.principals
        if name not in known
    ]


def tools(settings: Settings, there_are: Collection[str], server: str | None = None) -> list[str]:
    """A sentence for each tool of a profile that there is not: of this server's, or of those that no server has.

    Which tools a server has is not known before it was reached.
    """
    return [
        f"[{where}] names {named}, and there is no such tool{_hint(named, there_are, '; see: casebound tools list')}"
        for where, profile in settings.profiles.every().items()
        for named in (*(profile.tools or ()), *profile.without)
        if _server_of(named, settings) == server and not matches(named, there_are)
    ]


def _server_of(named: str, settings: Settings) -> str | None:
    first = named.partition(".")[0]
    return first if first in settings.mcp else None


def _hint(name: str, known: Collection[str], otherwise: str) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {near[0]}?" if near else otherwise
