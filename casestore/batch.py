"""Group commit: many functions, each under its own savepoint, one COMMIT for all (design, "Group commit")."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from casestore.errors import ConstraintBroken, StoreDamaged, StoreUnavailable
from casestore.remedy import damaged, primary, when_to_try_again
from casestore.tx import Tx

Job = Callable[[Tx], object]


@dataclass(frozen=True, slots=True)
class Done:
    """The function returned, and what it wrote is durable."""

    value: object


@dataclass(frozen=True, slots=True)
class Failed:
    """The function raised: nothing of it is stored. Or it could not be committed, which `StoreUnavailable` says.

    Nobody sees anything of a commit that failed, and the next one that succeeds overwrites what it left in the WAL.
    Only a process that ends before that leaves the outcome unknown: SQLite may find the transaction whole in the WAL.
    """

    error: BaseException


Result = Done | Failed


class _TransactionLost(Exception):
    """SQLite rolled the whole transaction back (disk full, I/O error, out of memory)."""


def commit_together(conn: sqlite3.Connection, nonce: Callable[[], str], jobs: Sequence[Job]) -> list[Result]:
    """Run the jobs in one transaction; a job that raises loses only its own savepoint.

    If SQLite has rolled back everything, or the COMMIT fails, nobody has succeeded: each job runs again, alone.
    """
    if len(jobs) == 1:
        return [commit_alone(conn, nonce, jobs[0])]
    tx = Tx(conn, nonce)
    results: list[Result] = []
    try:
        conn.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:  # alone they would not get in either, each after the whole busy timeout
        _rollback(conn)  # of a transaction that an earlier rollback could not end
        return [Failed(translated(error)) for _ in jobs]
    try:
        for job in jobs:
            results.append(_under_savepoint(conn, tx, job))
        conn.execute("COMMIT")
    except (_TransactionLost, sqlite3.Error):
        _rollback(conn)
        return [commit_alone(conn, nonce, job) for job in jobs]
    return results


def commit_alone(conn: sqlite3.Connection, nonce: Callable[[], str], job: Job) -> Result:
    """Run one job in a transaction of its own."""
    try:
        conn.execute("BEGIN IMMEDIATE")
        value = job(Tx(conn, nonce))
        if not conn.in_transaction:
            raise StoreUnavailable("The transaction was rolled back by SQLite; nothing of it is stored. Try again.")
        conn.execute("COMMIT")
    except BaseException as error:  # delivered to the caller who asked for it
        _rollback(conn)
        return Failed(translated(error))
    return Done(value)


def _under_savepoint(conn: sqlite3.Connection, tx: Tx, job: Job) -> Result:
    conn.execute("SAVEPOINT job")
    try:
        value = job(tx)
    except BaseException as error:  # delivered to the caller who asked for it
        if not conn.in_transaction:
            raise _TransactionLost from error
        conn.execute("ROLLBACK TO job")
        conn.execute("RELEASE job")
        return Failed(translated(error))
    if not conn.in_transaction:
        raise _TransactionLost
    conn.execute("RELEASE job")
    return Done(value)


def _rollback(conn: sqlite3.Connection) -> None:
    if conn.in_transaction:
        conn.execute("ROLLBACK")


def translated(error: BaseException) -> BaseException:
    """SQLite's errors in the words of this package: storage is "try again", a constraint is a bug (R15)."""
    if isinstance(error, sqlite3.IntegrityError):
        return ConstraintBroken(f"The store refused a row: {error}")
    if primary(error) in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA):
        return ConstraintBroken(f"The store does not understand a statement: {error}")
    if damaged(error):
        return StoreDamaged(
            f"The database cannot be read ({error}): its disk fails, or the file is damaged. Check the disk; if that "
            "works, keep the file as it is and restore a backup."
        )
    if isinstance(error, sqlite3.OperationalError | sqlite3.InternalError) or type(error) is sqlite3.DatabaseError:
        return StoreUnavailable(f"The store cannot answer now ({error}). {when_to_try_again(error)}")
    if isinstance(error, StopIteration):  # no future can carry one: whoever waits for it would wait for ever
        return RuntimeError("A function of a transaction let StopIteration out.")
    return error
