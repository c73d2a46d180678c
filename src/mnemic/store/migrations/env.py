"""Run by Alembic: migrates on the connection, and in the transaction, that ``store/schema.py`` hands over."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
