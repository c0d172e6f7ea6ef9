# SPDX-License-Identifier: GPL-2.0-only
"""The console of a guest: its root types there, and the guest answers.

`xl console` reads a keyboard only if it has a terminal, so that nothing that is piped into it reaches the guest.  And it shows first
what the guest has said before, which proves no life: each answer has a word that nobody has said yet.
"""

import shlex

from harness import agent

TYPED = """tty=$(xenstore-read /local/domain/$(xl domid {})/console/tty) && [ -e "$tty" ] &&
printf '%s\\r' {} >$tty && timeout 5 cat $tty 2>/dev/null | grep -q {}"""
WORK = "while :; do ls -lR /usr >/dev/null; done"


class GuestConsole:
    def __init__(self, name):
        self.name = name
        self.kept = None        # what the shell of the guest's root has in a variable

    def _typed(self, host, line, answer, seconds):
        """Again, until there is that answer: whoever should read it may not be there yet."""
        host.until(TYPED.format(self.name, shlex.quote(line), shlex.quote(answer)), seconds)

    def log_in(self, host, seconds):
        """And keeps the guest busy from there on: of an idle one there is nothing to sample."""
        self.kept = agent.new_nonce()
        self._typed(host, "root", f"root@{self.name}:", seconds)
        self._typed(host, f"kept={self.kept}; {WORK} & echo is-$kept", f"is-{self.kept}", 60)

    def check_alive(self, host):
        """The same shell, though the guest may have been saved meanwhile: it starts programs, and writes to the guest's disk."""
        word = agent.new_nonce()
        self._typed(host, f"echo $kept >kept; sync && echo {word}-$(cat kept)", f"{word}-{self.kept}", 120)
