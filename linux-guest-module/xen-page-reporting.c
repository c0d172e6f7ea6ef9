// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells Xen which memory is free, on kernels that do not do it themselves, on
 * top of free page reporting: that takes free blocks out of the page
 * allocator, calls report(), and puts them back.  While Xen takes a block
 * away nobody can allocate it, so this needs no lock and no mark, and Xen
 * never has to be told that a page was allocated.
 *
 * As in the kernels that do it themselves the toolstack says whether it is
 * wanted: each "1" in control/page-events of xenstore is for a report of all
 * free memory, too; "0", or nothing there, for none.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/build_bug.h>
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/page_reporting.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/workqueue.h>

#include <asm/xen/hypercall.h>
#include <xen/xen.h>
#include <xen/xenbus.h>

#include "forget-reported.h"
#include "page-events.h"

#ifdef CONFIG_XEN_NUMA_POLICY
#error "this kernel tells Xen of free pages itself"
#endif

static unsigned int order = 5;
module_param(order, uint, 0444);
MODULE_PARM_DESC(order,
		 "log2 of the smallest block of pages to tell Xen of (1 to 10)");

static void control(struct work_struct *work);
static DECLARE_WORK(control_work, control);

/* xenstore was written: all free memory is to be reported */
static bool asked;

/* of control() alone */
static bool reporting;
static int last_answer;	/* Xen's, to log each once */

/* of report(), which runs once at a time; read for people to look at */
static unsigned long told, batches;

static int hypercall(u64 *events, unsigned int nr)
{
	struct xen_page_events arg = { .nr = nr };

	set_xen_guest_handle(arg.events, events);
	return HYPERVISOR_memory_op(XENMEM_page_events, &arg);
}

/* Called without locks; the blocks are nobody's until this returns. */
static int report(struct page_reporting_dev_info *dev,
		  struct scatterlist *blocks, unsigned int nr)
{
	u64 events[PAGE_REPORTING_CAPACITY];
	unsigned long pages = 0;
	struct scatterlist *sg;
	unsigned int i;
	int rc;

	BUILD_BUG_ON(PAGE_REPORTING_CAPACITY > XENMEM_PAGE_EVENTS_MAX);
	for_each_sg(blocks, sg, nr, i) {
		u64 log = get_order(sg->length);

		events[i] = page_to_pfn(sg_page(sg)) |
			    log << XENMEM_PAGE_EVENT_ORDER_SHIFT |
			    XENMEM_PAGE_EVENT_RELEASED;
		pages += 1UL << log;
	}

	rc = hypercall(events, nr);
	/* nothing here sleeps, and a sixteenth of all memory may be ahead */
	cond_resched();
	if (rc) {
		/* the policy may have changed: look at it from elsewhere */
		schedule_work(&control_work);
		return rc;
	}
	WRITE_ONCE(told, told + pages);
	WRITE_ONCE(batches, batches + 1);
	return 0;
}

static struct page_reporting_dev_info device = { .report = report };

static void forget_all_reported(void)
{
	int nid, i;

	for_each_online_node(nid)
		for (i = 0; i < MAX_NR_ZONES; i++)
			if (populated_zone(&NODE_DATA(nid)->node_zones[i]))
				forget_reported(&NODE_DATA(nid)->node_zones[i]);
}

static void stop(void)
{
	if (!reporting)
		return;
	page_reporting_unregister(&device);
	reporting = false;
	pr_info("Xen is no longer told of free pages\n");
}

static void start(void)
{
	int rc;

	if (reporting)
		page_reporting_unregister(&device);
	forget_all_reported();
	rc = page_reporting_register(&device);
	if (rc == -EBUSY)
		pr_warn("another driver is told of free pages already, so Xen cannot be\n");
	else if (rc)
		pr_warn("cannot be told of free pages (%d)\n", rc);
	else if (!reporting)
		pr_info("Xen is told of free pages\n");
	reporting = !rc;
}

static bool wanted(void)
{
	u64 none;
	int rc;

	if (xenbus_read_unsigned("control", "page-events", 0) != 1)
		return false;

	/* with these, a free page is expected to keep what is in it */
	if (page_poisoning_enabled_static() || want_init_on_free()) {
		pr_warn_once("%s=1 excludes telling Xen of free pages\n",
			     want_init_on_free() ? "init_on_free" : "page_poison");
		return false;
	}

	rc = hypercall(&none, 0);
	if (rc && rc != last_answer)
		pr_info("this Xen takes no page events (%d)\n", rc);
	last_answer = rc;
	/* there may be memory in Xen later: report() finds out */
	return !rc || rc == -ENOMEM;
}

/* Whoever finds that something may have changed has this look at it. */
static void control(struct work_struct *work)
{
	if (!wanted())
		stop();
	else if (xchg(&asked, false))
		start();
}

static void written(struct xenbus_watch *watch, const char *path,
		    const char *token)
{
	WRITE_ONCE(asked, true);
	schedule_work(&control_work);
}

static struct xenbus_watch watch = {
	.node = "control/page-events",
	.callback = written,
};

static bool watching;

static int xenstore_is_there(struct notifier_block *notifier,
			     unsigned long event, void *data)
{
	int rc = register_xenbus_watch(&watch);

	if (rc)
		pr_err("cannot watch %s (%d)\n", watch.node, rc);
	watching = !rc;
	return NOTIFY_DONE;
}

static struct notifier_block xenstore_notifier = {
	.notifier_call = xenstore_is_there,
};

static struct dentry *debugfs;

static int page_events_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "armed %d\ntold %lu\nbatches %lu\n",
		   READ_ONCE(reporting), READ_ONCE(told), READ_ONCE(batches));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(page_events);

static int __init xen_page_reporting_init(void)
{
	/* a PV domain has no p2m of Xen's, and no policy */
	if (!xen_hvm_domain())
		return -ENODEV;
	device.order = clamp(order, 1U, (unsigned int)MAX_PAGE_ORDER);
	debugfs = debugfs_create_dir("xen_numa", NULL);
	debugfs_create_file("page_events", 0400, debugfs, NULL,
			    &page_events_fops);
	return register_xenstore_notifier(&xenstore_notifier);
}
module_init(xen_page_reporting_init);

static void __exit xen_page_reporting_exit(void)
{
	unregister_xenstore_notifier(&xenstore_notifier);
	if (watching)
		unregister_xenbus_watch(&watch);
	/* report() may still ask for another look, which then nobody takes */
	disable_work_sync(&control_work);
	if (reporting)
		page_reporting_unregister(&device);
	debugfs_remove(debugfs);
}
module_exit(xen_page_reporting_exit);

MODULE_DESCRIPTION("Tells Xen which memory is free, for its NUMA policies");
MODULE_LICENSE("GPL");
MODULE_VERSION("1");
