"""A memory served over HTTP: REST under ``/v1``, and whatever else is mounted beside it, behind the same keys.

``app.create`` makes the application; ``access.Keys.verify`` says whose data a key opens, and ``Access.memory`` opens
that and nothing else. Everything that serves a memory to others goes through these two.
"""
