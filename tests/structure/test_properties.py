"""Property tests draw the same cases in each `make test`, and others in `make fuzz`."""

import re
import tomllib

from conftest import ROOT


def test_the_seed_of_property_tests_is_fixed_in_make_test_and_others_are_tried_in_make_fuzz() -> None:
    cargo = tomllib.loads((ROOT / ".cargo" / "config.toml").read_text())
    assert cargo["env"]["PROPTEST_RNG_SEED"] == "1"
    makefile = (ROOT / "Makefile").read_text()
    rules = dict(re.findall(r"^([\w-]+):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE))
    assert "PROPTEST_RNG_SEED=$$seed" in rules["fuzz"]
    assert [name for name, rule in rules.items() if "PROPTEST" in rule] == ["fuzz"]
