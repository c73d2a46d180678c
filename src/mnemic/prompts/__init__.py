"""One page a prompt: its text, the schema of its output, ``render``, ``parse``, and its version.

Pure: a page makes a ``Completion`` from texts and reads a ``Reply``; who asks whom is decided elsewhere. The required
contents are those of methods.md 1.6 and 2; the wording is mnemic's own. A version is the digest of all that is sent
besides the data, so no change of a prompt goes without a change of its version.
"""
