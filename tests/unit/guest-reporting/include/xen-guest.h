/* SPDX-License-Identifier: GPL-2.0-only */
/* What the driver needs of Linux beside memory: Xen, xenstore, and where it shows what it does. */
#ifndef XEN_H
#define XEN_H

#include "linux.h"

#define XENMEM_page_events 29
#define XENMEM_PAGE_EVENTS_MAX 1024
#define XENMEM_PAGE_EVENT_ORDER_SHIFT 52
#define XENMEM_PAGE_EVENT_RELEASED BIT_ULL(63)
struct xen_page_events { u64 *events; u32 nr, done; };
#define set_xen_guest_handle(handle, p) ((handle) = (p))
int HYPERVISOR_memory_op(unsigned int op, void *arg);
#define xen_hvm_domain() true

struct xenbus_watch { const char *node; void (*callback)(struct xenbus_watch *, const char *path, const char *token); };
int register_xenbus_watch(struct xenbus_watch *watch);
unsigned int xenbus_read_unsigned(const char *dir, const char *node, unsigned int otherwise);
struct notifier_block { int (*notifier_call)(struct notifier_block *, unsigned long, void *); };
#define NOTIFY_DONE 0
int register_xenstore_notifier(struct notifier_block *nb);

#define page_poisoning_enabled_static() false
#define want_init_on_free() false

struct seq_file;
#define seq_printf(m, ...) ((void)(m))
#define DEFINE_SHOW_ATTRIBUTE(name) static int (*const name##_fops)(struct seq_file *, void *) = name##_show
#define debugfs_create_dir(name, parent) NULL
#define debugfs_create_file(name, mode, dir, data, fops) ((void)(fops))
#define local_clock() 0
#define trace_page_events_flush(nr, pages, result, ns) ((void)(ns))
#define trace_page_events_armed(...) ((void)0)
#define trace_page_events_report(pages, all) ((void)(pages))

#define late_initcall(fn) int start_driver(void) { return fn(); }
int start_driver(void);
extern uint *const batch_param, *const min_order_param;

#endif /* XEN_H */
