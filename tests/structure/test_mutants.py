"""The rules of `make mutants` stand in the tree, and so do the tests that they name."""

import re
from collections import defaultdict

import mutants


def test_each_rule_of_the_list_stands_in_a_function_and_names_a_test() -> None:
    rules = mutants.listed()
    of_file = defaultdict(list)
    for rule in rules:
        of_file[rule.file].append(rule)
    bad = [
        wrong
        for file, theirs in of_file.items()
        for wrong in mutants.switched((mutants.ROOT / file).read_text(), theirs)[1]
    ]
    assert bad == []
    tests = {
        name
        for file in (mutants.ROOT / "crates").rglob("*.rs")
        for name in re.findall(r"\bfn (\w+)", file.read_text())
    }
    assert [rule.words for rule in rules if rule.test and rule.test not in tests] == []
