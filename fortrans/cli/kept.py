"""What is kept between runs: settings and results."""

from __future__ import annotations

from pathlib import Path

import click

from fortrans.cli.configured import describe, fail
from fortrans.project import files
from fortrans.project.cache import Cache, folder
from fortrans.project.config import find as settings_of
from fortrans.remarks import InputError

_PATH = click.Path(path_type=Path, readable=False)


@click.command("config", short_help="Print the settings that hold.")
@click.argument("paths", nargs=-1, type=_PATH, metavar="[FILE|DIR...]")
@click.pass_context
def config(ctx: click.Context, paths: tuple[Path, ...]) -> None:
    """Print the settings that hold for files, and where each comes from.

    Settings stand in fortrans.toml, in [tool.fortrans] of pyproject.toml or in [extra.fortrans] of
    fpm.toml, the nearest above all the files given. Keys are the long options' names; a table
    [check] holds what is for `fortrans check` alone. The command line wins over the file.

    \b
    Examples:
      fortrans config
      fortrans config src/solver.f90
    """
    assert ctx.parent is not None and isinstance(ctx.parent.command, click.Group)
    commands = ctx.parent.command.commands
    try:
        settings = settings_of(paths or [Path.cwd()])
        lines = list(describe(settings, list(commands.values()), ctx))
    except InputError as problem:
        fail(problem)
    click.echo("\n".join(lines))


@click.command("cache", short_help="Show or clear the cache.")
@click.option("--clear", is_flag=True, help="Drop every result that is kept.")
def cache(clear: bool) -> None:
    """Show where results are kept between runs and how much room they take.

    FORTRANS_CACHE_DIR names another folder. Results are kept under the hash of the tool, the
    options, the file and the files it depends on; what was longest not used goes first.

    \b
    Examples:
      fortrans cache
      fortrans cache --clear
    """
    path = folder()
    found = Cache.open(path) if files.is_directory(path) else None
    if found is None:
        click.echo(f"{path}: no cache")
    elif clear:
        count = found.clear()
        click.echo(f"{path}: {count} {'result' if count == 1 else 'results'} dropped")
    else:
        count, size = found.size()
        room = f"{size / 1e6:.1f} of {found.limit / 1e6:.0f} MB"
        click.echo(f"{path}: {count} {'result' if count == 1 else 'results'}, {room}")
