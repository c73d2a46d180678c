"""The benchmark's data sets, read where they lie: LoCoMo, PersonaMem, LongMemEval, or a file in the form of one.

``download`` fetches them, ``notes`` reads notes given with them; both are imported where they are used.
"""

from mnemic.bench.datasets.loading import FILES, load

__all__ = ["FILES", "load"]
