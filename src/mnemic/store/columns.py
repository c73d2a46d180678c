"""What tables are made of: their columns, keys and names."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
)
from sqlalchemy.schema import SchemaItem

from mnemic.store.encodings import ExactText

tables = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def user() -> Column[str]:
    """Whose the row is."""
    return Column("user_id", ExactText, nullable=False)


def number(name: str, *, null: bool = False) -> Column[int]:
    """A large whole number."""
    return Column(name, BigInteger, nullable=null, autoincrement=False)


def small(name: str, *, null: bool = False) -> Column[int]:
    """A small one."""
    return Column(name, Integer, nullable=null, autoincrement=False)


def owner(table: str, *columns: str) -> ForeignKeyConstraint:
    """The row goes with that row of another table which has these columns."""
    mine = ("user_id", *columns)
    return ForeignKeyConstraint(mine, [f"{table}.{column}" for column in mine], ondelete="CASCADE")


def slim(name: str, *items: SchemaItem) -> Table:
    """A table of small rows: on SQLite they lie in the primary key's own tree."""
    return Table(name, tables, *items, sqlite_with_rowid=False)


def vectors(name: str, *key: Column[int], owner: ForeignKeyConstraint) -> Table:
    """A table of what embedders made of the things with these numbers."""
    names = ("user_id", *(column.name for column in key), "embedder")
    data = Column("data", LargeBinary, nullable=False)
    return Table(name, tables, user(), *key, small("embedder"), data, PrimaryKeyConstraint(*names), owner)
