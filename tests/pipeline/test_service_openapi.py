"""The OpenAPI document, tried by schemathesis: nothing makes the server fail, and it replies as it says it does."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mnemic import Memory
from mnemic.service.settings import Settings
from service_kit import Served

EXAMPLES = 8
"""Requests of each operation: all of them in about a minute."""
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
SAID = [
    {"id": "m1", "role": "user", "name": "Ana", "content": "I moved to Lisbon in May. The landlord keeps bees."},
    {"id": "m2", "role": "user", "name": "Ana", "content": "I'm allergic to bee stings.", "session_id": "s2"},
]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    path = tmp_path_factory.mktemp("openapi") / "m.db"
    with Memory.open(path, embedder=None) as memory:
        memory.add(SAID, user_id="ana")
        yield Served(memory, Settings(rate=1e6, burst=10**6))


@pytest.fixture(scope="module")
def key(here):
    return here.key()


@pytest.fixture(scope="module")
def document(here):
    return schemathesis.openapi.from_asgi("/openapi.json", here.app)


schema = schemathesis.pytest.from_fixture("document")


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
def test_it_replies_as_it_says(case, key):
    response = case.call(headers={"Authorization": f"Bearer {key}"})
    case.validate_response(response, checks=CHECKS)


def test_the_checks_see_a_status_that_is_not_described(here, key, document):
    """The test above can fail."""
    operation = document["/v1/notice"]["GET"]
    case = operation.Case(query={})
    response = case.call(headers={"Authorization": f"Bearer {key}"})
    response.status_code = 418
    with pytest.raises(FailureGroup):
        case.validate_response(response, checks=CHECKS)
