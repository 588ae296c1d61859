"""Each scheme has a page: its explanation, its options, and the rules that tests hold."""

import re

import scheme_pages

PAGES = scheme_pages.pages()


def test_every_scheme_has_a_page_with_an_explanation() -> None:
    assert len(PAGES) > 40
    bare = [name for name, text in PAGES.items() if name != "schemes.md" and "## Explanation" not in text]
    assert bare == []
    assert scheme_pages.explained("no-such-scheme") == []


def test_a_section_a_paragraph_and_a_row_are_found() -> None:
    assert "as over a round trip" in PAGES["schemes/control-hybla.md"]
    assert "max(RTT/RTT0, 1)" in "".join(scheme_pages.explained("hybla"))
    assert "**`cubic`** is CUBIC (RFC 9438)" in "".join(scheme_pages.explained("cubic"))
    newreno = "".join(scheme_pages.explained("newreno"))
    assert "| `newreno` (RFC 6582) |" in newreno
    assert "| `tahoe` |" not in newreno


def test_options_rules_and_kernel_are_those_of_the_scheme() -> None:
    assert "| `rtt0` |" in scheme_pages.options("control", "hybla")
    assert "| `max_p` |" in scheme_pages.options("queue", "red")
    assert scheme_pages.options("start", "standard") == ""
    assert any("max_window" in rule for rule in scheme_pages.rules("control", "hybla"))
    assert "a BPF program" in PAGES["schemes/control-afc.md"]
    assert "a BPF program" not in PAGES["schemes/control-hybla.md"]
    assert re.search(r"`xfwa`, section", PAGES["schemes/gateway-xfwa.md"])
