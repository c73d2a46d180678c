"""Systems whose memory a language model writes: A-MEM-style notes, SeCom-style segments, and mem0 with ``infer=True``.

They ask only where a person named them and a model. ``model`` is what they ask: every reply is kept on disk, so that a
run that was cut goes on without paying twice, and counted by purpose. What they return is mapped back to the turns it
came from, so that the same recall is measured of them as of all others.
"""
