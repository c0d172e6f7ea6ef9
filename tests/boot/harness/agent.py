# SPDX-License-Identifier: GPL-2.0-only
"""The protocol on the second serial line, between the harness and images/agent in dom0.

    host    NONCE COMMAND-IN-BASE64
    dom0    @begin NONCE COUNT
            standard output, gzip, base64; nothing if there is none
            @err
            standard error, likewise
            @end NONCE COUNT STATUS SHA256        the hash is over output and error, one after the other

dom0 opens with `@hello BOOT-NONCE IMAGE-ID` and ends with `@bye BOOT-NONCE COUNT`.  Every command has a fresh nonce and both
sides count, so that an answer which is cut, late, repeated or made up cannot pass for a result.
"""

import base64
import binascii
import gzip
import hashlib
import re
import secrets
import zlib
from dataclasses import dataclass


class ProtocolError(Exception):
    """What dom0 said is no valid answer: the boot proves nothing."""


@dataclass
class Result:
    command: str
    status: int
    out: str
    err: str


ANSWER = re.compile(rb"@begin (\S+) (\d+)\r?\n(.*?)@err\r?\n(.*?)@end (\S+) (\d+) (\d+) (\S+)\r?\n", re.S)
HELLO = re.compile(rb"@hello (\S+) (\S+)\r?\n")
BYE = re.compile(rb"@bye (\S+) (\d+)\r?\n")


def new_nonce():
    return secrets.token_hex(8)


def request(nonce, command):
    return b"%s %s\n" % (nonce.encode(), base64.b64encode(command.encode()))


def unpack(section):
    if not section:
        return b""
    try:
        return gzip.decompress(base64.b64decode(section, validate=False))
    except (binascii.Error, EOFError, OSError, zlib.error) as error:
        raise ProtocolError(f"output is damaged or cut: {error}") from error


def parse_answer(match, nonce, count, command):
    """The Result in a match of ANSWER, or ProtocolError."""
    nonce1, count1, out, err, nonce2, count2, status, digest = match.groups()
    if {nonce1, nonce2} != {nonce.encode()}:
        raise ProtocolError(f"answer bears nonce {nonce1.decode()}/{nonce2.decode()}, the command had {nonce}")
    if {int(count1), int(count2)} != {count}:
        raise ProtocolError(f"dom0 counts {int(count2)} commands, {count} were sent")
    out, err = unpack(out), unpack(err)
    if hashlib.sha256(out + err).hexdigest().encode() != digest:
        raise ProtocolError("output does not have the hash that was announced")
    return Result(command, int(status), out.decode(errors="replace"), err.decode(errors="replace"))


def check_bye(match, boot, count):
    nonce, said = match.groups()
    if nonce != boot.encode():
        raise ProtocolError(f"final record bears nonce {nonce.decode()}, the boot had {boot}")
    if int(said) != count:
        raise ProtocolError(f"final record counts {int(said)} commands, {count} were sent")
