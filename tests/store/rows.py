"""What a raw statement sees of the store, past every function: for the rules that the schema itself must keep."""

from casestore.tx import Tx


def columns(tx: Tx, table: str) -> list[str]:
    """The names of a table's columns, in order."""
    return [str(name) for name in tx.column("SELECT name FROM pragma_table_info(:name) ORDER BY cid", name=table)]


def copy_row(tx: Tx, table: str, key: int, **changes: object) -> int:
    """INSERT a copy of the row `key`, under a new id, with some columns changed; the rows inserted."""
    copied = [name for name in columns(tx, table) if name != "id"]
    values = [f":new_{name}" if name in changes else name for name in copied]
    return tx.run(
        f"INSERT INTO {table} ({', '.join(copied)}) SELECT {', '.join(values)} FROM {table} WHERE id = :key",
        key=key, **{f"new_{name}": value for name, value in changes.items()},
    )  # fmt: skip


def everything(tx: Tx) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table: two of these are equal where nothing at all was changed."""
    tables = tx.column("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return {str(table): _rows(tx, str(table)) for table in tables}


def _rows(tx: Tx, table: str) -> list[tuple[object, ...]]:
    names = columns(tx, table)
    pairs = ", ".join(f"'{name}', quote({name})" for name in names)  # JSON holds no blobs
    return [(text,) for text in tx.column(f"SELECT json_object({pairs}) FROM {table} ORDER BY rowid")]
