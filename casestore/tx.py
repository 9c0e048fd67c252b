"""A transaction, as the functions of this package see it."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from casestore.errors import StoreUnavailable
from casestore.models import Row

R = TypeVar("R", bound=Row)
Params = Mapping[str, object]


class Tx:
    """Runs statements with named parameters inside one open transaction.

    It refuses to run outside of one: after some errors SQLite has already rolled everything back, and a
    statement that followed would commit by itself (design, "Group commit").
    """

    __slots__ = ("_conn", "nonce")

    def __init__(self, conn: sqlite3.Connection, nonce: Callable[[], str]) -> None:
        self._conn = conn
        self.nonce = nonce
        """A fresh random text, the only randomness a transaction may use; fixed by tests."""

    def _execute(self, sql: str, params: Params) -> sqlite3.Cursor:
        if not self._conn.in_transaction:
            raise StoreUnavailable("The transaction was rolled back by SQLite; nothing of it is stored. Try again.")
        return self._conn.execute(sql, params)

    def run(self, sql: str, /, **params: object) -> int:
        """Run a statement; the number of rows it changed."""
        return self._execute(sql, params).rowcount

    def insert(self, sql: str, /, **params: object) -> int:
        """Run an INSERT … RETURNING id; the id."""
        return cast("int", self._execute(sql, params).fetchall()[0][0])

    def maybe(self, model: type[R], sql: str, /, **params: object) -> R | None:
        """The first row, or None."""
        rows = self.all(model, sql, **params)
        return rows[0] if rows else None

    def one(self, model: type[R], sql: str, /, **params: object) -> R:
        """The row that is certainly there, such as that of INSERT … RETURNING *."""
        return self.all(model, sql, **params)[0]

    def all(self, model: type[R], sql: str, /, **params: object) -> list[R]:
        """Every row, as `model`; columns are matched by name."""
        cursor = self._execute(sql, params)
        rows = cast("list[tuple[object, ...]]", cursor.fetchall())
        if not rows:
            return []
        names = [column[0] for column in cursor.description]
        # what `model_validate` calls in the end
        validated = cast("Callable[[object], R]", model.__pydantic_validator__.validate_python)
        return [validated(dict(zip(names, row, strict=True))) for row in rows]

    def tuples(self, sql: str, /, **params: object) -> list[tuple[object, ...]]:
        """Every row as it is, unchecked: for what is read by the hundred."""
        return cast("list[tuple[object, ...]]", self._execute(sql, params).fetchall())

    def value(self, sql: str, /, **params: object) -> object:
        """The first column of the first row, or None."""
        rows = cast("list[tuple[object, ...]]", self._execute(sql, params).fetchall())
        return rows[0][0] if rows else None

    def integer(self, sql: str, /, **params: object) -> int:
        """The first column of the first row as a number; 0 where it is empty."""
        return cast("int", self.value(sql, **params) or 0)

    def column(self, sql: str, /, **params: object) -> list[object]:
        """The first column of every row."""
        return [row[0] for row in cast("list[tuple[object, ...]]", self._execute(sql, params).fetchall())]
