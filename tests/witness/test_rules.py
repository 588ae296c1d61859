"""Profile linux beside what Linux made of a scenario for each of its rules (docs/witness/linux.md)."""

import kernels
import pytest
import rules

KEPT = kernels.Kept(rules.KEPT)


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.case.name.replace(" ", "-"))
def test_a_rule_of_linux_gives_the_kernels_numbers(rule: rules.Rule) -> None:
    ours = kernels.simulated(rule.case)
    found = {name: ours[name] for name in rules.apart_from(rule, KEPT, ours)}
    assert found == {} or rule.case.name in rules.APART, found


def test_what_is_apart_is_a_rule() -> None:
    assert {rule.case.name for rule in rules.RULES} >= rules.APART
