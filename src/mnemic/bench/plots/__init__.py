"""The pictures of a report, one file each; every one of them draws plain numbers and knows nothing of systems.

Each ``figure`` returns a matplotlib figure that ``style.save`` writes as a PNG. matplotlib comes with the extra
``bench`` and is loaded when the first figure is made; its global state (pyplot) is never touched.
"""
