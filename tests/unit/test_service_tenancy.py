"""Tenants and stored user ids: reversible, without two that are stored alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput, InvalidScope
from mnemic.service.tenancy import DEFAULT, Tenant

NAMES = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,20}", fullmatch=True)
USERS = st.one_of(
    st.text(min_size=1, max_size=40), st.sampled_from(["tenant/", "tenant/acme/ana", "/", "*", "%", "a/b"])
)


@given(NAMES, USERS, NAMES, USERS)
def test_two_users_are_stored_alike_only_where_they_are_the_same(tenant, user, other_tenant, other_user):
    stored = []
    for name, one in ((tenant, user), (other_tenant, other_user)):
        try:
            stored.append(Tenant(name).stored(one))
        except InvalidScope:
            return
    assert (stored[0] == stored[1]) == ((tenant, user) == (other_tenant, other_user))
    assert Tenant(tenant).shown(stored[0]) == user
    assert Tenant(tenant).owns(stored[0])
    assert Tenant(other_tenant).owns(stored[0]) == (tenant == other_tenant)


def test_users_of_the_default_tenant_are_stored_as_they_are():
    assert Tenant().stored("ana") == "ana"
    assert Tenant("acme").stored("ana") == "tenant/acme/ana"


def test_the_default_tenant_has_no_user_with_another_ones_mark():
    with pytest.raises(InvalidScope, match="must not begin"):
        Tenant(DEFAULT).stored("tenant/acme/ana")


def test_an_id_that_has_no_room_for_the_tenant_is_refused_with_how_long_it_may_be():
    Tenant("acme").stored("x" * 500)
    with pytest.raises(InvalidScope, match="at most 500 characters, not 501"):
        Tenant("acme").stored("x" * 501)


@pytest.mark.parametrize("name", ["", "A", "a/b", "-a", "a b", "a" * 64, "ä"])
def test_a_name_that_could_be_read_as_something_else_is_refused(name):
    with pytest.raises(InvalidInput, match="tenant"):
        Tenant(name)
