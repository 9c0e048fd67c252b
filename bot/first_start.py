"""What a first start leaves beside and in the file: two principals, an API token, a cache to practise on.

Every part is made only where it is missing, and whole or not at all, so a start that was cut off is finished by the
next. Only the process that holds the service lock makes any of it.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from bot import ids
from bot.settings import Settings
from casestore import principals
from casestore.locks import beside
from casestore.states import Role
from casestore.tx import Tx

OPERATOR = "operator"
REQUESTER = "you"
DEMO_CACHE = "casebound-demo"
_DEMO_FILES = {
    "README.txt": b"These files exist to be cleared: casebound asks before it does. They hold nothing.\n",
    "thumbnails/one.bin": b"\0" * 300_000,
    "thumbnails/two.bin": b"\0" * 500_000,
    "pages/index.html.cache": b"<p>cached</p>\n" * 2_000,
}


def principals_of_first_start(tx: Tx, now: int, tenant: str) -> bool:
    """`operator` (admin, the default of every command) and `you` (who speaks in `casebound chat`): four eyes hold.

    Whether they were missing: then this is the first start, whatever one that was cut off has left.
    """
    if principals.listing(tx):
        return False
    admin = principals.add(tx, now, tenant=tenant, name=OPERATOR, role=Role.ADMIN)
    you = principals.add(tx, now, tenant=tenant, name=REQUESTER, role=Role.REQUESTER)
    principals.bind(tx, now, you.id, channel="console", space="local", account_id=REQUESTER, bound_by=admin.id)
    return True


def demo_cache(db: Path) -> Path:
    """The practice cache of a file: a folder beside it."""
    return beside(db.resolve(), ".demo-cache")


def fill_demo_cache(db: Path) -> Path:
    """Make the practice cache with a few files in it, before the file itself: who has taken it away gets no other."""
    folder, unfinished = demo_cache(db), beside(db.resolve(), ".demo-cache.new")
    if not folder.exists():
        shutil.rmtree(unfinished, ignore_errors=True)
        for name, content in _DEMO_FILES.items():
            path = unfinished / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        unfinished.rename(folder)
    return folder


def caches(settings: Settings, db: Path) -> Mapping[str, Path]:
    """The caches `host.clear_cache` may clear: the settings', and the practice cache while its folder is there."""
    demo = demo_cache(db)
    return {**({DEMO_CACHE: demo} if demo.is_dir() else {}), **settings.host.caches}


def token_file(db: Path) -> Path:
    """Where the API token lies."""
    return beside(db, ".token")


def api_token(settings: Settings, db: Path) -> str:
    """The API's bearer token, never empty: from the settings, else from the file beside the database.

    That one is made on the first start; a blank file is a missing one.
    """
    if settings.api.token is not None:
        return settings.api.token.get_secret_value()
    path = token_file(db)
    if path.exists() and (kept := path.read_text().strip()):
        return kept
    made, unfinished = ids.token(), beside(db, ".token.new")
    unfinished.unlink(missing_ok=True)
    fd = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w") as file:
        file.write(made + "\n")
        file.flush()
        os.fsync(fd)
    unfinished.replace(path)
    return made
