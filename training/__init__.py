"""Trains mnemic's own embedder: prepares pairs, trains, evaluates. In the repository, not in the wheel.

``make train`` runs it; docs/decisions/0010-own-embedder.md says what was tried. What needs torch is in ``model``,
``objective``, ``embedder``, ``train`` and ``evaluate``; the rest needs what mnemic itself needs.
"""
