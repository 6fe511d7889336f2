"""Settings in files: ``fortrans.toml``, ``pyproject.toml`` or ``fpm.toml``, found upward."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fortrans.project.files import exists, is_directory, reason
from fortrans.remarks import InputError

PLACES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("fortrans.toml", ()),
    ("pyproject.toml", ("tool", "fortrans")),
    ("fpm.toml", ("extra", "fortrans")),
)
"""The files looked for in a folder, in order, and the table of each that holds the settings."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one file, whose text is ``text``: ``path`` is None where no file was found."""

    path: Path | None = None
    table: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""

    @property
    def origin(self) -> str:
        """Where the settings stand, as a user names it."""
        if self.path is None:
            return "no file"
        return f"{self.path} [{self.table}]" if self.table else str(self.path)

    def error(self, message: str, *keys: str) -> InputError:
        """What is wrong with the settings, at the line of the key that ``keys`` lead to."""
        tables = self.table.split(".") if self.table else []
        return InputError(str(self.path), message, line_of(self.text, (*tables, *keys)))


def find(paths: Sequence[Path]) -> Settings:
    """The settings that hold for ``paths``: those nearest above all of them.

    Raises InputError for a file that cannot be read.
    """
    start = _above(paths)
    for folder in (start, *start.parents):
        for name, tables in PLACES:
            path = _short(folder / name)
            if exists(path) and not is_directory(path):
                text, found = _table(path, tables)
                if found is not None:
                    return Settings(path, ".".join(tables), found, text)
    return Settings()


def read(path: Path) -> Settings:
    """The settings of a file that the user names.  Raises InputError when it cannot be read."""
    tables = dict(PLACES).get(path.name, ())
    text, found = _table(path, tables)
    if found is None:
        raise InputError(str(path), f"File has no table [{'.'.join(tables)}]")
    return Settings(path, ".".join(tables), found, text)


_PART = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")


def line_of(text: str, keys: Sequence[str]) -> int | None:
    """The line of a TOML file on which the key stands that ``keys`` lead to, as far as lines tell.

    Of a key in an inline table, the line of that table.
    """
    table: list[str] = []
    wanted = list(keys)
    for number, line in enumerate(text.split("\n"), 1):
        if (header := _HEADER.match(line)) is not None:
            table = _parts(header[1])
            if table == wanted:
                return number
        elif (key := _KEY.match(line)) is not None:
            here = [*table, *_parts(key[1])]
            if here == wanted or (here == wanted[: len(here)] and "{" in line[key.end() :]):
                return number
    return None


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, dotted)]


def _above(paths: Sequence[Path]) -> Path:
    """The folder that holds all of ``paths``; the current one without any."""
    folders = [
        os.path.abspath(path if is_directory(path) else path.parent)  # noqa: PTH100 (no link is followed)
        for path in paths
    ]
    try:
        return Path(os.path.commonpath(folders)) if folders else Path.cwd()
    except ValueError:
        return Path.cwd()


def _short(path: Path) -> Path:
    """``path`` from the current folder, where it lies below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _table(path: Path, tables: Sequence[str]) -> tuple[str, Mapping[str, Any] | None]:
    """The text of a TOML file and what stands in one of its tables; None where there is no such table."""
    try:
        text = path.read_bytes().decode("utf-8").replace("\r\n", "\n")
        found: Any = tomllib.loads(text)
    except OSError as error:
        raise InputError(str(path), reason("read file", error)) from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), "File is not UTF-8 text, which TOML has to be") from error
    except tomllib.TOMLDecodeError as error:
        raise _syntax(path, error) from error
    for name in tables:
        found = found.get(name) if isinstance(found, dict) else None
    if found is not None and not isinstance(found, dict):
        raise InputError(str(path), f"'{'.'.join(tables)}' is not a table")
    return text, found


def _syntax(path: Path, error: tomllib.TOMLDecodeError) -> InputError:
    what, _, where = str(error).partition(" (at ")
    line = where.removeprefix("line ").partition(",")[0]
    return InputError(str(path), f"Syntax error in TOML, {what[:1].lower()}{what[1:]}",
                      int(line) if line.isdigit() else None)  # fmt: skip
