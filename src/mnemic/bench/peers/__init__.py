"""Other memory libraries under the same test: each in a virtual environment and a process of its own.

``recipes`` says which there are, ``environment`` installs one, ``system.Peer`` is one under test. The modules named
after a library (``mem0``, ``chroma``, ``txtai``, ``langgraph``) run in its environment only, started by
``bootstrap``; they embed with the embedder of the mnemic that runs here.
"""
