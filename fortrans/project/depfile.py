"""Dependency files: what make and ninja read to know when to run again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def text(rules: Mapping[str, Sequence[str]]) -> str:
    """A rule ``output: inputs`` for each output, in make's syntax.

    Inputs are targets without a recipe, too, so that one that is gone does not stop the build.
    """
    lines = [f"{_name(output)}: {' '.join(map(_name, inputs))}\n" for output, inputs in rules.items()]
    needed = dict.fromkeys(name for inputs in rules.values() for name in inputs)
    return "".join([*lines, *(f"{_name(name)}:\n" for name in needed if name not in rules)])


def _name(path: str) -> str:
    """A file's name as make and ninja read it in a dependency file."""
    return "".join({" ": "\\ ", "#": "\\#", "$": "$$"}.get(letter, letter) for letter in path)
