# SPDX-License-Identifier: GPL-2.0-only
"""What a plugin is run by, as XAPI's module of this name does it: one argument, a call in XML; on stdout the answer in XML."""

import os
import sys
from xmlrpc.client import dumps, loads

import __main__
import XenAPI


class Failure(Exception):
    def __init__(self, code, params):
        super().__init__()
        self.params = [code] + params

    def __str__(self):
        return str(self.params)


def answer(**what):
    print(dumps((what,), "", True))


def refuse(*words):
    answer(Status="Failure", ErrorDescription=list(words))


def dispatch(table):
    __main__.CONFIGURATION, __main__.APPLIED = os.environ["STUB_CONFIGURATION"], os.environ["STUB_APPLIED"]
    if len(sys.argv) != 2:
        raise RuntimeError("one argument, the call")
    (session, args), name = loads(sys.argv[1])
    if name not in table:
        refuse("UNKNOWN_XENAPI_PLUGIN_FUNCTION", name)
        return
    xapi = XenAPI.xapi_local()
    xapi._session = session
    try:
        answer(Status="Success", Value=table[name](xapi, args))
    except Failure as failure:
        refuse(*failure.params)
    except Exception as error:
        refuse("XENAPI_PLUGIN_FAILURE", name, type(error).__name__, str(error))
