"""docs/generated/coexistence.md has its shares of both orders of start: nothing is random."""

import re

import coexistence


def test_shares_beside_cubic_are_those_of_both_orders_of_start() -> None:
    page = coexistence.PAGE.read_text(encoding="utf-8")
    (before,) = re.findall(r"^\| `bbr3` \|(?: \d+% / \d+% \|){4}$", page, re.MULTILINE)
    *_, now = coexistence.beside_cubic(["bbr3"]).splitlines()[:-1]
    assert now == before, "scripts/coexistence.py writes it again"
