"""The command `reproduce`, and the papers by name: for `list` and for completion."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from bentpipe.command_line.options import Folder, command_line, json_option, threads_option
from bentpipe.command_line.terminal import print_json
from bentpipe.errors import InputError
from bentpipe_papers.reproduction import papers

if TYPE_CHECKING:
    from bentpipe.catalogue import Entry
    from bentpipe_papers.reproduction.finished import Cache

_folder = Folder()


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


@click.command(short_help="Compare a paper's numbers and claims with ours.")
@click.argument("what", metavar="[PAPER[/ITEM]]", default="", shell_complete=reproductions)
@click.option(
    "--report",
    type=_folder,
    help="Write index.html, a page with a picture of each item, and result.json here.",
)
@click.option(
    "--cache",
    type=_folder,
    help="Folder for finished runs, from which a second call continues; "
    "~/.cache/bentpipe/reproduce by default.",
)
@click.option("--no-cache", is_flag=True, help="Run everything again.")
@click.option(
    "--readings",
    is_flag=True,
    help="Also with each other reading of what a paper leaves open: which rows it moves.",
)
@click.option(
    "--live",
    "is_live",
    is_flag=True,
    help="Also in real time under this machine's TCP: afc's table 2 and figures 3 to 5; needs root.",
)
@threads_option
@json_option
def reproduce(
    what: str,
    report: Path | None,
    cache: Path | None,
    no_cache: bool,
    readings: bool,
    is_live: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Run a paper's scenarios and compare its numbers and claims with ours; all papers by default."""
    from bentpipe.show.table import console
    from bentpipe_papers.reproduction import reproduce
    from bentpipe_papers.reproduction.finished import Cache
    from bentpipe_papers.reproduction.table import print_reproduction

    if is_live:
        if report is not None:
            raise InputError("--live: expected no --report beside it, which shows what was simulated")
        _reproduce_live(what, Cache.at(cache, off=no_cache), threads, as_json=as_json)
        return
    outcome = reproduce.reproduce(
        what,
        Cache.at(cache, off=no_cache),
        threads=threads,
        report=report,
        command=command_line(),
        otherwise=readings,
    )
    if as_json:
        print_json(reproduce.as_json(outcome))
    else:
        print_reproduction(outcome, console())
    if report is not None:
        click.echo(f"Wrote {report / 'index.html'}", err=True)


def _reproduce_live(what: str, cache: "Cache", threads: int | None, *, as_json: bool) -> None:
    from bentpipe import _core
    from bentpipe.show.table import console
    from bentpipe_papers.reproduction import reproduce
    from bentpipe_papers.reproduction.table import print_live

    found = reproduce.reproduce_live(what, cache, threads=threads)
    release = _core.kernel_release()
    if as_json:
        print_json(reproduce.live_as_json(found, release))
    else:
        print_live(found, release, console())
