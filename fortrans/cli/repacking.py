"""The options of repacking, for the commands that rewrite."""

from __future__ import annotations

from typing import Any

import click

from fortrans.options import Options

_BYTES = click.IntRange(min=0)
_DEFAULTS = Options()

REPACKING = (
    click.option("--repack", default="", metavar="[=MODE]",
                 type=click.Choice(["", "innermost", "whole"]),
                 help="Pack assumed-shape dummy arguments whose first dimension (innermost), or any"
                 " (whole), is not contiguous."),
    click.option("--repack-only", "repack_only", multiple=True, metavar="NAME",
                 help="Repack in this procedure only. May be repeated."),
    click.option("--repack-when", type=click.Choice(["loop", "always"]), default="loop",
                 show_default=True, help="Repack where it pays, or wherever it is right."),
    click.option("--repack-min-size", type=_BYTES, default=_DEFAULTS.repack_min_size,
                 show_default=True, metavar="BYTES", help="Smaller arrays are not packed."),
    click.option("--repack-max-size", type=_BYTES, default=_DEFAULTS.repack_max_size,
                 metavar="BYTES", help="Larger arrays are not packed (0: no limit)."),
    click.option("--repack-max-element-size", type=_BYTES,
                 default=_DEFAULTS.repack_max_element_size, show_default=True, metavar="BYTES",
                 help="Arrays of larger elements are not packed (0: no limit)."),
    click.option("--repack-min-stride", type=_BYTES, default=_DEFAULTS.repack_min_stride,
                 metavar="BYTES", help="Arrays with elements closer than this are not packed; asks"
                 " with LOC, an extension (0: do not ask)."),
    click.option("--version-loops", is_flag=True,
                 help="Give procedures a version for contiguous arguments, without a copy."),
    click.option("--repack-calls", is_flag=True,
                 help="Pack sections with gaps around calls of procedures that are not repacked."),
    click.option("--openmp/--no-openmp", default=True, show_default=True,
                 help="Ask whether OpenMP threads run, and make no copy then; or promise that none do."),
)  # fmt: skip


def with_mode(args: list[str]) -> list[str]:
    """``--repack`` may stand alone: a mode follows it only behind an equals sign."""
    end = args.index("--") if "--" in args else len(args)
    return ["--repack=innermost" if arg == "--repack" else arg for arg in args[:end]] + args[end:]


def repacking_of(flags: dict[str, Any]) -> dict[str, Any]:
    """The fields of Options that these flags give."""
    names = (
        "repack repack_when repack_min_size repack_max_size repack_max_element_size repack_min_stride"
        " version_loops openmp repack_calls"
    )
    found = {name: flags[name] for name in names.split()}
    return {**found, "repack_only": ",".join(flags["repack_only"])}
