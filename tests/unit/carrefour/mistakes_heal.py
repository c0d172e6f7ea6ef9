# SPDX-License-Identifier: GPL-2.0-only
"""Mistakes in how the daemon looks at the host for heal: mistakes.py says how they are written."""

MISTAKES = {
    "heal looks when it is off": ("daemon/heal.c", "return d->config.heal && (", "return (", "test-healing", "off_asks_nothing"),
    "heal looks each period": ("daemon/heal.c", "d->now - d->healing.looked_at >= HEAL_NS", "true", "test-healing",
                               "advice_is_said_once_and_nothing_is_done"),
    "advice is said each minute": ("daemon/heal.c", "if (is_new(vm, a)) {", "if (true) {", "test-healing",
                                   "advice_is_said_once_and_nothing_is_done"),
    "advice is said once for ever": ("daemon/heal.c", "vm->left != LEFT_ACTED || ", "", "test-healing",
                                     "advice_is_said_once_and_nothing_is_done"),
    "named nodes are moved from": ("daemon/heal.c", "h->has_policy && !h->policy.follows_affinity", "0", "test-healing",
                                   "who_is_left_alone"),
    "pinned vCPUs are moved": ("daemon/heal.c", "(load->may & all) != all", "0", "test-healing", "who_is_left_alone"),
    "vNUMA is moved": ("daemon/heal.c", " || load->vnuma", "", "test-healing", "who_is_left_alone"),
    "PV is moved": ("daemon/heal.c", "h->xen.pv || !h->has_policy || ", "", "test-healing", "who_is_left_alone"),
    "heal beside Carrefour": ("daemon/heal.c", "guests_find(d, vm->id) != NULL", "false", "test-healing", "who_is_left_alone"),
    "one that is gone is an error": ("daemon/heal.c", "if (error == ESRCH)", "if (0)", "test-healing", "domains_come_and_go"),
    "a look that fails is said each minute": ("daemon/heal.c", "if (error && error != d->healing.error)", "if (error)",
                                              "test-healing", "trouble_is_said_once"),
    "the gone are remembered": ("guests/healing.c", "if (h->vm[i].there)", "if (1)", "test-healing", "domains_come_and_go"),
    "a number is a domain": ("guests/healing.c", " || cpu_ns < vm->cpu_ns", "", "test-healing", "loads_are_averages"),
    "threads are cores": ("guests/healing.c", "load[n].cpus - idle > load[n].cores", "load[n].cpus - idle > load[n].cpus",
                          "test-healing", "a_node_is_crowded_by_work_and_not_by_threads"),
    "without heal, all is remembered": ("daemon/heal.c", "healing_free(&d->healing);", ";", "test-healing",
                                        "domains_come_and_go"),
}
