"""The reference pages are what the code says today."""

from __future__ import annotations

import pytest
from test_docs import DOCS, script

reference = script("reference")


@pytest.mark.parametrize("name", ["python.md", "rest.md", "mcp.md"])
def test_the_page_is_made_from_the_code_as_it_is(name):
    made = reference.pages()[name]
    assert (DOCS / "reference" / name).read_text(encoding="utf-8") == made, "python scripts/reference.py writes it"


def test_a_method_is_shown_with_its_defaults_its_arguments_and_its_errors():
    page = reference.python()
    assert "    threshold: float | None = None,\n" in page.partition("### search\n")[2].partition("### ")[0]
    added = page.partition("### add\n")[2].partition("### ")[0]
    assert "*Raises:* InvalidInput" in added
    assert (
        "add(\n    messages: str | Mapping[str, object] | Sequence[Mapping[str, object]],\n    *,\n    user_id" in added
    )
