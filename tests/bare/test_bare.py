# SPDX-License-Identifier: GPL-2.0-only
"""What stock survives, we survive; and but for placement the outcome is the same.

Without the policy's option in Xen (`off`) all is as with stock; with it (`debug`, `release`) a program's promises are kept, too.
"""

import pytest
from cases import CASES, EPT, Differs

# with the series; fault is debug with allocations that fail when a program wants it
OURS = "debug", "release", "fault"


def pairs(ours):
    """Cases and hypervisors, with their marks."""
    for case in CASES:
        for hypervisor in case.on:
            if case.ours != ours or ours and hypervisor not in OURS:
                continue
            marks = []
            if case.slow or hypervisor != case.on[0]:
                marks.append(pytest.mark.soak)
            if case.finding and hypervisor in case.red_on:
                marks.append(pytest.mark.xfail(strict=True, raises=case.red, reason=case.finding))
            yield pytest.param(case, hypervisor, id=f"{case.name}-{hypervisor}", marks=marks)


def check_promises(report):
    broken = [name for name, kept in report.promise.items() if not kept]
    if broken:
        raise Differs(f"broken: {'; '.join(broken)}\n{report}")


@pytest.mark.parametrize("case, hypervisor", pairs(ours=False))
def test_as_on_stock(boot, of_stock, case, hypervisor):
    if case.name not in of_stock:
        of_stock[case.name] = boot(case, "stock")
    stock, report = of_stock[case.name], boot(case, hypervisor)
    if report.outcome != stock.outcome:
        raise Differs(f"the outcome is {report.outcome}, on stock it is {stock.outcome}")
    assert stock.outcome, "the program has no outcome"
    if hypervisor in OURS:
        check_promises(report)


@pytest.mark.parametrize("case, hypervisor", pairs(ours=True))
def test_promises(boot, case, hypervisor):
    report = boot(case, hypervisor)
    assert report.promise, "the program promises nothing"
    check_promises(report)


def with_ept():
    for case in CASES:
        if case.ept:
            yield pytest.param(case, id=case.name, marks=[] if case.ept_soon else [pytest.mark.soak])


@pytest.mark.modest
@pytest.mark.parametrize("case", with_ept())
def test_with_ept(boot, case):
    report = boot(case, "debug", EPT)
    check_promises(report)
    if not case.ours:
        assert report.outcome == boot(case, "stock", EPT).outcome
