"""The OpenAPI document, tried by schemathesis: nothing makes the server fail, and it replies as it says it does."""

from __future__ import annotations

from itertools import repeat

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mnemic import Memory
from mnemic.models.doubles import ScriptedModel
from mnemic.service.examples import examples
from mnemic.service.settings import Settings
from service_kit import Served

EXAMPLES = 8
"""Requests of each operation: all of them in about a minute."""
CHECKS = (status_code_conformance, content_type_conformance, response_schema_conformance)
SAID = [
    {"id": "m1", "role": "user", "name": "Ana", "content": "I moved to Lisbon in May. The landlord keeps bees."},
    {"id": "m2", "role": "user", "name": "Ana", "content": "I'm allergic to bee stings.", "session_id": "s2"},
]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    path = tmp_path_factory.mktemp("openapi") / "m.db"
    model = {"answer": ScriptedModel(repeat('{"answer": "The landlord.", "sources": [1]}'))}
    with Memory.open(path, embedder=None, model=model) as memory:
        memory.add(SAID, user_id="ana")
        yield Served(memory, Settings(rate=1e6, burst=10**6))


@pytest.fixture(scope="module")
def key(here):
    return here.key()


@pytest.fixture(scope="module")
def document(here):
    return schemathesis.openapi.from_asgi("/openapi.json", here.app)


@pytest.mark.parametrize("name", sorted(examples()))
def test_it_replies_as_it_says(document, key, name):
    method, path = name.split(" ")

    @given(case=document[path][method].as_strategy())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    def ask(case):
        response = case.call(headers={"Authorization": f"Bearer {key}"})
        assert response.status_code != 500
        case.validate_response(response, checks=CHECKS)

    ask()


def test_every_operation_is_tried(here):
    served = {f"{method.upper()} {path}" for path, methods in here.app.openapi()["paths"].items() for method in methods}
    assert served == set(examples())


def test_the_checks_see_a_status_that_is_not_described(here, key, document):
    """The test above can fail."""
    operation = document["/v1/notice"]["GET"]
    case = operation.Case(query={})
    response = case.call(headers={"Authorization": f"Bearer {key}"})
    response.status_code = 418
    with pytest.raises(FailureGroup):
        case.validate_response(response, checks=CHECKS)
