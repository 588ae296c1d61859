"""`bentpipe demo`: one lossy GEO transfer under four TCPs, as a table and a picture."""

import time
from pathlib import Path

import click

from bentpipe.command_line.options import Command, File, option


@click.command(cls=Command)
@option("--out -o", File(), "The picture, .png, .svg or .pdf; demo.png by default.")
def demo(out: Path | None) -> None:
    """Simulate GEO transfers with four TCPs, print a table and draw a picture: see what bentpipe does."""
    from bentpipe.demo import picture
    from bentpipe.files.output import Staging
    from bentpipe.show.style import picture_format
    from bentpipe.show.table import console

    out = out or Path("demo.png")
    picture_format(out)
    started = time.monotonic()
    with Staging() as staging:
        drawn = staging.file(out, "--out")
        subjects = {scheme: picture.three_drops(scheme) for scheme in picture.SCHEMES}
        lossy = {scheme: picture.random_losses(scheme) for scheme in picture.SCHEMES}
        to = console()
        to.print(
            "\n[bold]2 MB over a GEO satellite[/bold]: 1.536 Mbit/s, RTT 255 ms, three drops in one window"
        )
        to.print(picture.comparison(subjects, lossy))
        picture.draw(subjects, lossy, drawn)
    runs = len(subjects) * (1 + len(picture.LOSSES) * picture.REPLICATIONS)
    to.print(f"\n{runs} runs in {time.monotonic() - started:.1f} s.", highlight=False)
    click.echo(f"Wrote {out}", err=True)
