# SPDX-License-Identifier: GPL-2.0-only
"""VMs of other toolstacks: named by their UUID, without a configuration that libxl keeps."""

import pytest

from fake_machine import Domain, example

UUID = "5eab12f0-77c1-4f6e-9a4b-0242ac130003"
FOREIGN = "another toolstack has made it, and libxl switches these only for its own; a policy can be set"


def foreign():
    machine = example()
    machine.domains[1].uuid, machine.domains[1].foreign = UUID, True
    return machine


@pytest.mark.parametrize("uuid", [UUID, UUID.upper()])
@pytest.mark.parametrize("words", [["list"], ["show"], ["set", "round-2m"]], ids=" ".join)
def test_a_uuid_names_a_vm(xl, uuid, words):
    row, = xl.json(words[0], uuid, *words[1:], machine=foreign())["domains"]
    assert (row["id"], row["name"], row["uuid"]) == (3, "guest1", UUID)


def test_a_uuid_is_never_a_name(xl):
    """Or an administrator of one VM could have another one moved by a name."""
    machine = foreign()
    machine.domains[2].name = UUID
    assert xl.json("show", UUID, machine=machine)["domains"][0]["id"] == 3
    machine.domains[1].uuid = UUID.replace("5", "6")
    assert xl.bad("show", UUID, machine=machine) == f"no VM '{UUID}'; 'xl list' shows them"


@pytest.mark.parametrize("name", [UUID[:-1], UUID + "0", UUID.replace("-", ""), UUID.replace("-", "_"), "g" + UUID[1:],
                                  UUID[:8] + "0" + UUID[9:]])
def test_what_is_no_uuid_is_a_name(xl, name):
    assert xl.bad("show", name, machine=foreign()) == f"no VM '{name}'; 'xl list' shows them"
    machine = foreign()
    machine.domains[2].name = name
    assert xl.json("show", name, machine=machine)["domains"][0]["id"] == 4


@pytest.mark.parametrize("order", [[3, 7], [7, 3]])
def test_of_two_the_newer_one(xl, order):
    """While a VM reboots, or migrates to its own host."""
    machine = example()
    machine.domains = [Domain(number, f"of-{number}", uuid=UUID) for number in order]
    assert xl.json("show", UUID, machine=machine)["domains"][0]["name"] == "of-7"


def test_no_list_of_domains(xl):
    assert xl.bad("show", UUID, machine=foreign().fail("list", -3, "out of luck")) == "cannot look up the VM: out of luck"


def test_a_policy_needs_no_configuration(xl):
    assert xl.good("set", UUID, "round-2m", "--nodes", "2-3", machine=foreign()).startswith(
        "guest1 (id 3): round-2m on home nodes 2-3; ")
    machine = foreign()
    machine.memory = [("moved", 512)]
    assert xl.json("rebalance", UUID, "-q", machine=machine)["moved_bytes"] == 2 << 20


@pytest.mark.parametrize("args", [["+carrefour"], ["-auto"], ["round-2m", "+auto"]])
def test_switches_need_one(xl, args):
    """And the policy stays as it was."""
    doing = "set the policy of" if len(args) > 1 else "switch carrefour or auto of"
    assert xl.bad("set", UUID, *args, machine=foreign()) == f"cannot {doing} VM 'guest1': {FOREIGN}"


def test_it_is_hvm_as_xen_says(xl):
    """libxl has no record of what it was built as."""
    assert xl.json("show", UUID, machine=foreign())["domains"][0]["type"] == "HVM"
