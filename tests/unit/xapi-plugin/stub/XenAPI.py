# SPDX-License-Identifier: GPL-2.0-only
"""XAPI for plugins: VMs and their other-config, kept in the file that STUB_XAPI names; errors as XAPI has them."""

import json
import os
from types import SimpleNamespace

SESSION = "OpaqueRef:5e55"


class Failure(Exception):
    def __init__(self, details):
        super().__init__()
        self.details = details

    def __str__(self):
        return str(self.details)


class VMs:
    """{"UUID": {key: value}}; a reference is not the UUID."""

    def __init__(self, session):
        self.session = session
        with open(os.environ["STUB_XAPI"]) as file:
            self.vms = json.load(file)

    def check(self):
        if self.session._session != SESSION:
            raise Failure(["SESSION_INVALID", self.session._session])

    def of(self, reference):
        self.check()
        uuid = reference.partition(":")[2]
        if not reference.startswith("OpaqueRef:") or uuid not in self.vms:
            raise Failure(["HANDLE_INVALID", "VM", reference])
        return self.vms[uuid]

    def save(self):
        if os.environ.get("STUB_READ_ONLY"):
            raise Failure(["RBAC_PERMISSION_DENIED", "vm.add_to_other_config"])
        with open(os.environ["STUB_XAPI"], "w") as file:
            json.dump(self.vms, file)

    def get_by_uuid(self, uuid):
        self.check()
        if uuid not in self.vms:
            raise Failure(["UUID_INVALID", "VM", uuid])
        return "OpaqueRef:" + uuid

    def get_other_config(self, reference):
        return dict(self.of(reference))

    def remove_from_other_config(self, reference, key):
        self.of(reference).pop(key, None)
        self.save()

    def add_to_other_config(self, reference, key, value):
        config = self.of(reference)
        if key in config:
            raise Failure(["MAP_DUPLICATE_KEY", "VM", "other_config", reference, key])
        assert isinstance(value, str)
        config[key] = value
        self.save()


class Session:
    _session = ""

    @property
    def xenapi(self):
        return SimpleNamespace(VM=VMs(self))


def xapi_local():
    return Session()
