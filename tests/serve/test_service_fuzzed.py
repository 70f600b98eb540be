"""The service against its own description: whatever fits it or nearly fits it, there is no server error."""

import pytest
import schemathesis
from hypothesis import settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gareader.readers.settings import GatedAttentionConfig
from gareader.serve.openapi import description
from gareader.trained.predictor import untrained
from serve.serving import served

pytestmark = pytest.mark.slow

schema = schemathesis.openapi.from_dict(description(64))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def address():
    with served({"small": untrained(GatedAttentionConfig(hidden=4, hops=2))}) as address:
        yield address


@schema.parametrize()
@settings(max_examples=40, deadline=None)
def test_no_request_breaks_it(case, address):
    case.call_and_validate(base_url=address.removesuffix("/"), checks=CHECKS)
