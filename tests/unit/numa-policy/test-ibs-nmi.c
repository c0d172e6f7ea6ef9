/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose an NMI is on a CPU that is sampled by IBS: a sample's, perhaps that of a sample that was on its way as sampling ended, or somebody
 * else's, whom it must reach.  And what the firmware has in the local APIC stays there.
 */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine.h"
#include "ibs-cpu.h"
#include <asm/ibs.h>

#define KHZ 2000000U
#define TICKS(us) ((uint64_t)(us) * KHZ / 1000)
#define LVT 0x510U		/* the one that IbsCtl names below */
#define FIXED 0x31U		/* an interrupt that is no NMI, and not masked */
#define SIZE 16U

extern int (*const test_ibs_init)(void);

struct cpuinfo_x86 boot_cpu_data = { .x86 = 0x19, .x86_vendor = X86_VENDOR_AMD, .extended_cpuid_level = 0x8000001b };
unsigned int cpu_khz = KHZ;
bool test_in_guest;
cpumask_t cpu_online_map;
const char svm_stgi_label[1];

static struct ibs_ring ring;
static struct domain dom;
static struct vcpu vcpu = { .domain = &dom, .arch.ibs_ring = &ring }, *vcpus[] = { &vcpu };
static uint64_t time_now, op_ctl;
static uint32_t lvt;
static unsigned int msrs;	/* looked at or written */
static const struct cpu_user_regs regs;

s_time_t NOW(void) { return 0; }
uint64_t rdtsc(void) { return time_now; }
unsigned int cpuid_eax(unsigned int leaf) { return IBS_CAPS_AVAILABLE | IBS_CAPS_OP_SAMPLING; }
int share_lapic_nmi(void) { return 0; }
void unshare_lapic_nmi(void) {}

uint64_t test_rdmsr(unsigned int msr)
{
	msrs++;
	return msr == MSR_IBS_OP_CTL ? op_ctl : msr == MSR_IBS_CTL ? IBS_CTL_LVT_OFFSET_VALID | 1 : 0;
}

void test_wrmsr(unsigned int msr, uint64_t value)
{
	assert_int_equal(msr, MSR_IBS_OP_CTL);
	msrs++;
	op_ctl = value;
}

uint32_t apic_read(uint32_t reg)
{
	assert_int_equal(reg, LVT);
	return lvt;
}

void apic_write(uint32_t reg, uint32_t value)
{
	assert_int_equal(reg, LVT);
	lvt = value;
}

void on_selected_cpus(const cpumask_t *selected, void (*func)(void *info), void *info, int wait)
{
	func(info);
}

static void sample_is_there(void)
{
	assert_true(op_ctl & IBS_OP_CTL_ENABLE);
	op_ctl |= IBS_OP_CTL_VALID;
}

static int begin(void **unused)
{
	static struct ibs_sample samples[SIZE];

	dom = (struct domain){ .vcpu = vcpus, .max_vcpus = 1 };
	current = &vcpu;
	lvt = APIC_LVT_MASKED;
	time_now = TICKS(1000000);
	assert_int_equal(test_ibs_init(), 0);
	assert_true(ibs_op_caps);
	ibs_ring_init(&ring, samples, SIZE, 7);
	ibs_ring_grant(&ring, SIZE, IBS_OP_SHORTEST);
	return 0;
}

/* And long enough after that nobody believes to have one on its way. */
static int end(void **unused)
{
	if (this_cpu(ibs_ring))
		ibs_end();
	time_now += TICKS(1000000);
	ibs_nmi(&regs);
	op_ctl = 0;
	return 0;
}

static void who_is_not_sampled_has_none(void **unused)
{
	msrs = 0;
	assert_int_equal(ibs_nmi(&regs), IBS_NMI_NOT);
	assert_int_equal(msrs, 0);
}

static void a_sample_is_one(void **unused)
{
	ibs_begin(&vcpu);
	assert_int_equal(lvt, APIC_DM_NMI);
	for (unsigned int i = 1; i <= SIZE; i++) {
		sample_is_there();
		assert_int_equal(ibs_nmi(&regs), IBS_NMI_SAMPLE);
		assert_int_equal(ring.taken, i);
		/* No more than were granted. */
		assert_int_equal(!!(op_ctl & IBS_OP_CTL_ENABLE), i < SIZE);
	}
}

/* Between two of its own, it is another one's. */
static void another_one_passes(void **unused)
{
	ibs_begin(&vcpu);
	for (unsigned int i = 0; i < 5; i++) {
		time_now += TICKS(1);
		assert_int_equal(ibs_nmi(&regs), IBS_NMI_NOT);
	}
	assert_int_equal(ring.taken, 0);
	sample_is_there();
	assert_int_equal(ibs_nmi(&regs), IBS_NMI_SAMPLE);
}

/* When sampling has ended, one within a moment may have been on its way; one only. */
static void a_late_one_is_one(void **unused)
{
	ibs_begin(&vcpu);
	ibs_end();
	assert_int_equal(op_ctl, 0);
	time_now += TICKS(90);
	assert_int_equal(ibs_nmi(&regs), IBS_NMI_LATE);
	assert_int_equal(ibs_nmi(&regs), IBS_NMI_NOT);

	ibs_begin(&vcpu);
	ibs_end();
	time_now += TICKS(110);
	assert_int_equal(ibs_nmi(&regs), IBS_NMI_NOT);
	assert_int_equal(ibs_nmi(&regs), IBS_NMI_NOT);
}

/* A vCPU that had enough takes none when it is descheduled: there is nothing to be late. */
static void who_has_had_enough_is_not_late(void **unused)
{
	ibs_ring_grant(&ring, 0, IBS_OP_SHORTEST);
	ibs_begin(&vcpu);
	assert_false(op_ctl & IBS_OP_CTL_ENABLE);
	ibs_end();
	assert_int_equal(ibs_nmi(&regs), IBS_NMI_NOT);
}

/* Its interrupt has come through, and its sample after it was switched off. */
static void what_comes_through_afterwards_is_cleared(void **unused)
{
	ibs_begin(&vcpu);
	ibs_end();
	op_ctl = IBS_OP_CTL_VALID;
	time_now += TICKS(1000);
	assert_int_equal(ibs_nmi(&regs), IBS_NMI_LATE);
	assert_int_equal(op_ctl, 0);
}

/* Such as its threshold interrupt, on a CPU that nobody has asked. */
static void what_the_firmware_has_stays(void **unused)
{
	lvt = FIXED;
	assert_int_equal(ibs_reserve(), -EBUSY);
	ibs_begin(&vcpu);
	assert_int_equal(lvt, FIXED);
	assert_null(this_cpu(ibs_ring));
	assert_int_equal(op_ctl, 0);
	assert_int_equal(ibs_nmi(&regs), IBS_NMI_NOT);
	lvt = APIC_LVT_MASKED;
	assert_int_equal(ibs_reserve(), 0);
	ibs_release();
}

/* What __stop_this_cpu() calls before a crash kernel begins. */
static void who_stops_takes_no_more(void **unused)
{
	ibs_begin(&vcpu);
	assert_true(op_ctl & IBS_OP_CTL_ENABLE);
	ibs_switch_from();
	assert_int_equal(op_ctl, 0);
	assert_null(this_cpu(ibs_ring));
}

static void who_is_attached_and_detached(void **unused)
{
	struct ibs_ring rings[1] = { ring };

	vcpu.arch.ibs_ring = NULL;
	ibs_attach(&dom, rings);
	assert_ptr_equal(this_cpu(ibs_ring), rings);
	assert_true(op_ctl & IBS_OP_CTL_ENABLE);
	ibs_detach(&dom);
	assert_null(this_cpu(ibs_ring));
	assert_int_equal(op_ctl, 0);
	vcpu.arch.ibs_ring = &ring;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_is_not_sampled_has_none),
		TEST(a_sample_is_one),
		TEST(another_one_passes),
		TEST(a_late_one_is_one),
		TEST(who_has_had_enough_is_not_late),
		TEST(what_comes_through_afterwards_is_cleared),
		TEST(what_the_firmware_has_stays),
		TEST(who_stops_takes_no_more),
		TEST(who_is_attached_and_detached),
	};

	return cmocka_run_group_tests_name("ibs-nmi", tests, NULL, NULL);
}
