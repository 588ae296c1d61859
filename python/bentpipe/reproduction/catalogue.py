"""The papers and their items by name: for `list` and for completion."""

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from bentpipe.reproduction import papers

if TYPE_CHECKING:
    from bentpipe.catalogue import Entry


def entries() -> "list[Entry]":
    """List the papers."""
    # Not before: help comes without the Rust module, which the catalogue asks.
    from bentpipe.catalogue import Entry

    return [Entry(paper.name, f"{paper.title} ({paper.citation})") for paper in papers.all_papers()]


def reproductions(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem[Any]]:
    """Offer papers, and the items of one whose name is there."""
    paper, slash, item = incomplete.partition("/")
    known = papers.all_papers()
    if not slash:
        return [CompletionItem(one.name, help=one.title) for one in known if one.name.startswith(paper)]
    items = [one.name for found in known if found.name == paper for one in found.module().ITEMS]
    return [CompletionItem(f"{paper}/{name}") for name in items if name.startswith(item)]
