// SPDX-License-Identifier: GPL-2.0-only
/* Another driver that is told of free pages, as virtio-balloon is: there can be only one at a time. */
#include <linux/module.h>
#include <linux/page_reporting.h>

static int report(struct page_reporting_dev_info *dev,
		  struct scatterlist *blocks, unsigned int nr)
{
	return 0;
}

static struct page_reporting_dev_info device = { .report = report };

static int __init hold_reporting_init(void)
{
	return page_reporting_register(&device);
}
module_init(hold_reporting_init);

static void __exit hold_reporting_exit(void)
{
	page_reporting_unregister(&device);
}
module_exit(hold_reporting_exit);

MODULE_DESCRIPTION("Test: holds free page reporting");
MODULE_LICENSE("GPL");
