"""CPU time by role: a process that is ending keeps its role, a role nobody had is no 0."""

import pytest

from bench.group_cpu import GroupCpu, role_of


def test_a_process_is_what_its_command_line_says():
    assert role_of(["python", "-m", "loadgen.lead", "RUN"], None) == "leader"
    # Between fork and exec a decoder still has the leader's command line.
    assert role_of(["python", "-m", "loadgen.decoder", "RUN", "0"], "leader") == "decoder"
    assert role_of(["sleep", "1"], None) == "other"


def test_a_process_whose_command_line_is_gone_as_it_ends_keeps_its_role():
    assert role_of([], "decoder") == "decoder"
    assert role_of([], None) == "other"


def test_the_cpu_of_a_role_that_no_process_had_is_an_error_and_not_0():
    with pytest.raises(AssertionError, match="no process was seen that is a decoder"):
        GroupCpu(1).used_s("decoder", 0)
