// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guest-pit DOMID: lets a PVH guest see something at the port of a timer that it has not.  Before Linux asks Xen how fast the
 * TSC is, it waits there for a change, for 50000 rounds of two exits each: half a minute of an emulator that interprets.
 * What it reads instead, the status of the machine's keyboard controller, ends that at once.
 */
#include <stdio.h>
#include <stdlib.h>

#include <xenctrl.h>

#define PIT_CHANNEL_2 0x42
#define KEYBOARD_STATUS 0x64

int main(int argc, char **argv)
{
	xc_interface *xch = xc_interface_open(NULL, NULL, 0);

	if (!xch || argc != 2) {
		fprintf(stderr, "usage: guest-pit DOMID, in dom0\n");
		return 2;
	}
	if (xc_domain_ioport_mapping(xch, atoi(argv[1]), PIT_CHANNEL_2, KEYBOARD_STATUS, 1, 1)) {
		perror("guest-pit");
		return 1;
	}
	return 0;
}
