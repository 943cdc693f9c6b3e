"""Any answer is read as results or as a failure, whatever a server, a proxy or a fault makes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retention.hosts.classify import Signal
from retention.hosts.d1 import D1
from retention.hosts.http import Reply, Wire
from retention.hosts.libsql import LibSQL
from retention.steps import Batch, Result, Statement

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6))
JSON = st.recursive(SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)))


def mapping(*keys: str) -> st.SearchStrategy[dict[str, Any]]:
    """Objects that have the right keys more often than chance would give, with anything in them."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(keys, JSON))


def either(shape: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(shape, JSON)


META = st.fixed_dictionaries({}, optional={k: either(st.integers(0, 9)) for k in ("changes", "rows_read", "rows_written", "duration")})
ROWS = st.lists(st.lists(either(st.lists(st.integers(-1, 300), max_size=3)), max_size=3), max_size=3)
RESULT = st.fixed_dictionaries({"results": either(st.fixed_dictionaries({"rows": either(ROWS)}))}, optional={"meta": either(META)})
D1_BODY = st.fixed_dictionaries(
    {"success": either(st.booleans())},
    optional={"result": either(st.lists(RESULT, max_size=2)), "errors": either(st.lists(mapping("code", "message"), max_size=2))},
)

TYPE = either(st.sampled_from(["null", "integer", "float", "text", "blob"]))
TYPED = st.fixed_dictionaries({"type": TYPE}, optional={"value": JSON, "base64": JSON})
TYPED_ROWS = st.lists(st.lists(TYPED, max_size=2), max_size=2)
STEP = either(st.fixed_dictionaries({"rows": either(TYPED_ROWS), "affected_row_count": either(st.integers(0, 9))}))
BATCH = st.fixed_dictionaries(
    {"step_results": either(st.lists(STEP, max_size=4)), "step_errors": either(st.lists(either(mapping("code", "message")), max_size=4))}
)
FIRST = st.one_of(
    st.fixed_dictionaries({"type": st.just("ok"), "response": either(st.fixed_dictionaries({"result": either(BATCH)}))}),
    st.fixed_dictionaries({"type": st.just("error"), "error": either(mapping("code", "message"))}),
)
HRANA_BODY = st.one_of(st.fixed_dictionaries({"results": either(st.lists(FIRST, max_size=2))}), mapping("error", "code", "message"))

ONE = Statement("SELECT 1")
BATCHES = [Batch((ONE,)), Batch((ONE, ONE), writes=True)]


def wire(name: str) -> Wire:
    made = D1("acc", "name", token="test-token") if name == "d1" else LibSQL("libsql://db.test")
    with made as host:
        return host._wire


WIRES = {"d1": (wire("d1"), D1_BODY), "libsql": (wire("libsql"), HRANA_BODY)}


@pytest.mark.parametrize("name", WIRES)
@settings(max_examples=60)
@given(data=st.data(), status=st.sampled_from([200, 200, 200, 400, 500]))
def test_json_of_any_form_is_a_result_or_a_failure(name, data, status):
    service, bodies = WIRES[name]
    body = json.dumps(data.draw(either(bodies))).encode()
    for batch in BATCHES:
        got = service.read(Reply(status, {}, body, 0.1), batch)
        assert isinstance(got, Signal) or [type(r) for r in got] == [Result] * len(batch.statements)
        assert status == 200 or isinstance(got, Signal)
        for result in [] if isinstance(got, Signal) else got:
            assert all(type(v) in (type(None), int, float, str, bytes) for row in result.rows for v in row)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", '"1"', "[]", "{}", "true"])
@pytest.mark.parametrize("field", ["changes", "rows_read", "rows_written", "duration"])
def test_a_meter_of_any_form_is_a_number_or_a_failure(field, number):
    body = f'{{"success": true, "result": [{{"results": {{"rows": []}}, "meta": {{"{field}": {number}}}}}]}}'
    got = WIRES["d1"][0].read(Reply(200, {}, body.encode(), 0.1), BATCHES[0])
    assert isinstance(got, Signal) or type(got[0].rows_read) in (int, type(None))


@pytest.mark.parametrize("name", WIRES)
@given(body=st.binary(max_size=40))
def test_bytes_of_any_kind_are_a_failure(name, body):
    service, _ = WIRES[name]
    for batch in BATCHES:
        assert isinstance(service.read(Reply(200, {"content-type": "text/html"}, body, 0.1), batch), Signal)


@settings(max_examples=40)
@given(data=st.data(), status=st.sampled_from([200, 404]))
def test_a_listing_of_any_form_finds_nothing_or_the_name(data, status):
    listing = st.fixed_dictionaries({"success": st.just(True), "result": either(st.lists(either(mapping("uuid", "name")), max_size=3))})
    service = wire("d1")
    got = service.found(Reply(status, {}, json.dumps(data.draw(listing)).encode(), 0.1))
    assert isinstance(got, Signal)
    assert service.lookup() is not None
