"""Settings in files: ``fortrans.toml``, ``pyproject.toml`` or ``fpm.toml``, found upward."""

from __future__ import annotations

import os
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
    """The settings of one file: ``path`` is None where no file was found."""

    path: Path | None = None
    table: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Where the settings stand, as a user names it."""
        if self.path is None:
            return "no file"
        return f"{self.path} [{self.table}]" if self.table else str(self.path)

    def error(self, message: str) -> InputError:
        """What is wrong with the settings."""
        return InputError(str(self.path), message)


def find(paths: Sequence[Path]) -> Settings:
    """The settings that hold for ``paths``: those nearest above all of them.

    Raises InputError for a file that cannot be read.
    """
    start = _above(paths)
    for folder in (start, *start.parents):
        for name, tables in PLACES:
            path = _short(folder / name)
            if exists(path) and not is_directory(path):
                found = _table(path, tables)
                if found is not None:
                    return Settings(path, ".".join(tables), found)
    return Settings()


def read(path: Path) -> Settings:
    """The settings of a file that the user names.  Raises InputError when it cannot be read."""
    tables = dict(PLACES).get(path.name, ())
    found = _table(path, tables)
    if found is None:
        raise InputError(str(path), f"File has no table [{'.'.join(tables)}]")
    return Settings(path, ".".join(tables), found)


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


def _table(path: Path, tables: Sequence[str]) -> Mapping[str, Any] | None:
    """What stands in a table of a TOML file; None where there is no such table."""
    try:
        found: Any = tomllib.loads(path.read_bytes().decode("utf-8"))
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
    return found


def _syntax(path: Path, error: tomllib.TOMLDecodeError) -> InputError:
    what, _, where = str(error).partition(" (at ")
    line = where.removeprefix("line ").partition(",")[0]
    return InputError(str(path), f"Syntax error in TOML, {what[:1].lower()}{what[1:]}",
                      int(line) if line.isdigit() else None)  # fmt: skip
