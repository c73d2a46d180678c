"""Coverage-guided fuzzing (atheris) of all that reads what others wrote: ``python -m fuzz TARGET [SECONDS]``.

A target is a module of this package with

* ``check(given)``: what must hold for any input, asserted; errors are the documented ones only,
* ``WORDS``: pieces of input that chance would not find, for the fuzzer's dictionary,
* ``SEEDS``: inputs to begin with.

No part of the wheel. What a fuzzer found is kept as a test in ``tests/fault/test_fuzzed.py``.
"""
