"""A page for each scheme: its explanation, documents, options, where it runs, what tests it."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bentpipe import _core
from bentpipe.catalogue import entries
from scenario_reference import option_table

ROOT = Path(__file__).resolve().parents[1]
EXPLANATION = ROOT / "docs" / "explanation"

KINDS = {
    "control": ("controls", "crates/tcp/src/control"),
    "recovery": ("recoveries", "crates/tcp/src/recovery"),
    "start": ("starts", "crates/tcp/src/slow_start"),
    "queue": ("queues", "crates/path/src/queue"),
    "gateway": ("gateways", "crates/path/src/gateway"),
}
"""By the kind's name: what `bentpipe list` calls it, and where its code is."""

HEADINGS = {"rack": "rack-tlp", "spoof": "ack-spoofing", "sack-linux-2.4": "recovery-of-2.4"}
"""Names of headings that are not the scheme's."""


def pages() -> dict[str, str]:
    """Give each page by its name, and one that lists them."""
    found = {
        f"schemes/{kind}-{one.name}.md": "\n".join(_page(kind, one.name, one.summary))
        for kind, (what, _) in KINDS.items()
        for one in entries(what)
    }
    return {"schemes.md": "\n".join(_list()), **found}


def _list() -> Iterator[str]:
    yield "# Schemes\n"
    yield "After this page you can find any scheme, its options, where it runs and what tests it.\n"
    for kind, (what, _) in KINDS.items():
        yield f"## {what.capitalize()}\n"
        yield from (f"- [{one.name}](schemes/{kind}-{one.name}.md): {one.summary}" for one in entries(what))
        yield ""
    yield "```{toctree}\n:hidden:\n:glob:\n\nschemes/*\n```"


def _page(kind: str, name: str, summary: str) -> Iterator[str]:
    yield f"# {name} ({kind})\n"
    yield f"After this page you can choose `{name}`, and know its options and where it runs.\n"
    yield f"{summary[0].upper()}{summary[1:]}.\n"
    yield from explained(name)
    documents = list(_documents(kind, name))
    if documents:
        yield "## Documents\n"
        yield from documents
        yield ""
    yield "## Options\n"
    yield options(kind, name).replace("](#", "](../scenario-reference.md#") or "None.\n"
    yield "## Where it runs\n"
    yield from _places(kind, name)
    yield "\n## Rules with a test that fails without them\n"
    yield "\n".join(rules(kind, name)) or "None is listed in `scripts/mutants.toml`."


def explained(name: str) -> list[str]:
    """Give what the explanation says of a scheme: its section, or else what begins with its name."""
    # What is around another control stands on the page of the outer one.
    wanted = HEADINGS.get(name, name.rpartition("+")[2] or name)
    for path in sorted(EXPLANATION.glob("*.md")):
        parts = re.split(r"(?m)^(?=##+ )", path.read_text(encoding="utf-8"))[1:]
        for place, part in enumerate(parts):
            if wanted in _names(part.partition("\n")[0]):
                level = len(part) - len(part.lstrip("#"))
                ends = (
                    at
                    for at, other in enumerate(parts)
                    if at > place and not other.startswith("#" * (level + 1))
                )
                whole = parts[place : next(ends, len(parts))]
                return [
                    "## Explanation\n",
                    _linked("".join([part.partition("\n")[2], *whole[1:]]).strip(), path),
                    "",
                ]
    path = EXPLANATION / "tcp.md"
    found = [_linked(block, path) for block in _blocks(path.read_text(encoding="utf-8"), name)]
    return (
        ["## Explanation\n", "\n\n".join(found), f"\nFrom [{path.name}](../../explanation/{path.name}).\n"]
        if found
        else []
    )


def _names(heading: str) -> set[str]:
    """Give the schemes that a heading names: `## EWA and WINTRAC` names two."""
    words = re.split(r",? and |, ", heading.strip("# ").lower())
    return {re.sub(r"^tcp[ -]| tcp$", "", word).replace(" ", "-") for word in words}


def _blocks(text: str, name: str) -> Iterator[str]:
    """Give the paragraphs, items and rows of a page that begin with a scheme's name."""
    for block in re.split(r"\n\n|\n(?=- )", re.sub(r"^#.*$", "", text, flags=re.MULTILINE)):
        if block.startswith("| ") and (
            rows := re.findall(rf"^\| `{re.escape(name)}`.*$", block, re.MULTILINE)
        ):
            yield "\n".join([*block.splitlines()[:2], *rows])
        begin = re.match(r"(?:- )?(?:\*\*`?([^`*]+)`?\*\*|([A-Z][\w+]+(?: and [A-Z]\w+)?) )", block)
        if begin and name in {re.sub(" ", "-", one.lower()) for one in (begin[1] or begin[2]).split(" and ")}:
            yield block


def _linked(text: str, page: Path) -> str:
    """Give the text with links that lead from the folder of the schemes."""

    def moved(link: re.Match[str]) -> str:
        target = (
            link[1]
            if link[1].startswith("../")
            else f"../explanation/{page.name if link[1].startswith('#') else ''}{link[1]}"
        )
        return link[0] if re.match(r"[a-z]+:", link[1]) else f"](../{target})"

    return re.sub(r"\]\(([^)\s]+)\)", moved, text)


def _documents(kind: str, name: str) -> Iterator[str]:
    page = ROOT / "docs" / "reference" / "named-schemes.md"
    kinds = "variant|control" if kind == "control" else "variant|recovery" if kind == "recovery" else kind
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 5 and re.search(rf"(?:{kinds}) `{re.escape(name)}`", cells[3]):
            yield f"- {cells[0]}, section {cells[1]}: {cells[2]}"


def options(kind: str, name: str) -> str:
    """Give the table of a scheme's options; empty without any."""
    types: dict[str, Any] = json.loads(_core.schema())["$defs"]
    if kind in ("queue", "gateway"):
        forms = types["ActiveSpec" if kind == "queue" else "GatewaySpec"]["oneOf"]
        return "".join(
            option_table(form) for form in forms if form["properties"].get("scheme", {}).get("const") == name
        )
    named = types["TcpFile"]["properties"].get(name, {})
    # Two kinds may have schemes of one name: options say whose they are.
    if "$ref" not in named or f"of the {'slow start' if kind == 'start' else kind} " not in named.get(
        "description", ""
    ):
        return ""
    return option_table(types[named["$ref"].rpartition("/")[2]])


def _places(kind: str, name: str) -> Iterator[str]:
    yield "- in the simulator: `bentpipe run`, `compare`, `sweep`"
    if kind in ("control", "recovery", "start"):
        yield "- on a real wire: [`bentpipe live interop`](../../how-to/testbed.md#our-tcp-on-a-real-wire)"
    if (ROOT / "bpf" / f"{name}.bpf.c").exists():
        page = "explanation/gateways.md#in-a-linux-gateway" if kind == "gateway" else "how-to/server.md"
        yield f"- in a Linux kernel, as [a BPF program](../../{page})"


def rules(kind: str, name: str) -> list[str]:
    """Give the rules of a scheme's files in the list of mutants, each with its test."""
    files = tomllib.loads((ROOT / "scripts" / "mutants.toml").read_text(encoding="utf-8"))
    module = re.sub(r"[-.]", "_", name.replace("++", "_plus_plus"))
    own = re.compile(rf"{KINDS[kind][1]}/{re.escape(module)}(\.rs|/)")
    listed = [
        one
        for file, found in files.items()
        for one in found["rules"]
        if own.match(file)
        or (file.startswith(KINDS[kind][1]) and one["rule"].lower().startswith(f"{name}: "))
    ]
    return [f"- {one['rule']} (`{one['test']}`)" for one in listed if "test" in one]
