"""A name is asked for once; its addresses take turns; a dead one goes last.  No sockets."""

import socket

import pytest

from loadgen.transport.addresses import Addresses
from loadgen.transport.connection import Phases

V6 = [(socket.AF_INET6, (f"fd00::{n}", 80, 0, 0)) for n in (1, 2)]
V4 = [(socket.AF_INET, (f"10.0.0.{n}", 80)) for n in (1, 2, 3)]


class Resolver:
    """A name server with the given answers, each a list of addresses or an error, one by one."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), 0

    def __call__(self, host, port, family, kind):
        assert (host, port, family, kind) == ("server", 80, 0, socket.SOCK_STREAM)
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [(family, kind, 6, "", address) for family, address in answer]


def known(*answers):
    resolver = Resolver(*answers)
    return Addresses("server", 80, resolver), resolver


def test_a_name_is_looked_up_once_and_only_that_call_has_a_time():
    addresses, resolver = known(V4)
    phases = [Phases(), Phases()]
    assert [set(addresses.get(p)) for p in phases] == [set(V4), set(V4)]
    assert resolver.asked == 1
    assert phases[0].dns_ns > 0
    assert phases[1].dns_ns is None


@pytest.mark.parametrize("literal", ["10.1.2.3", "::1", "fe80::1%lo"])
def test_an_address_needs_no_lookup_neither_at_first_nor_later(literal):
    addresses = Addresses(literal, 80, Resolver())
    phases = Phases()
    (address,) = addresses.get(phases)
    assert address[1][:2] == (literal.replace("%lo", ""), 80) or "%" in literal
    addresses.worked(address, is_open=False)
    assert addresses.renew([address], phases) == []
    assert addresses.get(phases) == [address]
    assert phases.dns_ns is None


def test_the_addresses_of_the_first_family_take_turns():
    addresses, _ = known(V6 + V4)
    orders = [addresses.get(Phases()) for _ in range(4)]
    assert [order[0] for order in orders] == [V6[0], V6[1], V6[0], V6[1]]
    assert all(order[2:] == V4 for order in orders)


def test_a_family_that_fails_goes_last_and_the_other_takes_turns():
    addresses, _ = known(V6 + V4)
    for address in V6:
        addresses.worked(address, is_open=False)
    orders = [addresses.get(Phases()) for _ in range(3)]
    assert [order[0] for order in orders] == V4
    assert all(order[3:] == V6 for order in orders)


def test_when_every_address_failed_all_are_tried_again():
    addresses, _ = known(V4)
    for address in V4:
        addresses.worked(address, is_open=False)
    assert set(addresses.get(Phases())) == set(V4)


def test_after_all_failed_the_name_is_asked_again_and_only_new_addresses_are_worth_trying():
    addresses, resolver = known(V4[:2], V4[1:])
    phases = Phases()
    tried = addresses.get(Phases())
    assert addresses.renew(tried, phases) == [V4[2]]
    assert phases.dns_ns > 0
    assert resolver.asked == 2
    assert set(addresses.get(Phases())) == set(V4[1:])


def test_others_that_failed_meanwhile_share_that_second_lookup():
    addresses, resolver = known(V4[:2], V4[2:])
    tried = addresses.get(Phases())
    assert [addresses.renew(tried, Phases()) for _ in range(5)] == [[V4[2]]] * 5
    assert resolver.asked == 2


def test_a_server_that_is_gone_does_not_make_us_ask_for_every_connection():
    addresses, resolver = known(V4, V4)
    tried = addresses.get(Phases())
    assert [addresses.renew(tried, Phases()) for _ in range(5)] == [[]] * 5
    assert resolver.asked == 2


def test_a_name_server_that_fails_later_leaves_the_old_addresses():
    addresses, _ = known(V4, socket.gaierror(socket.EAI_AGAIN, "no answer"))
    tried = addresses.get(Phases())
    phases = Phases()
    with pytest.raises(socket.gaierror):
        addresses.renew(tried, phases)
    assert phases.dns_ns > 0
    assert set(addresses.get(Phases())) == set(V4)


def test_a_failed_first_lookup_has_its_time_and_the_next_asks_again():
    addresses, resolver = known(socket.gaierror(socket.EAI_NONAME, "unknown"), V4)
    phases = Phases()
    with pytest.raises(socket.gaierror):
        addresses.get(phases)
    assert phases.dns_ns > 0
    assert len(addresses.get(Phases())) == 3
    assert resolver.asked == 2
