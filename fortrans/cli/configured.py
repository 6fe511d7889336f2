"""Commands whose options may stand in a file, too."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from fortrans.cli.repacking import with_mode
from fortrans.project import config
from fortrans.project.command import parse
from fortrans.project.config import Settings
from fortrans.remarks import InputError
from fortrans.report import streams, text

ONLY_GIVEN = frozenset(
    "output in_place diff depfile write_baseline config isolated help verbose quiet strict".split()
)
"""Parameters that one says for each run, never in a file."""


class Configured(click.Command):
    """A command that takes the defaults of its options from the settings nearest above its files.

    ``--config FILE`` names the file, ``--isolated`` takes none.  The command line wins over the
    file, the file over the built-in defaults.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = with_mode(args)
        ctx.meta["settings"] = settings = self._settings(ctx, args)
        try:
            ctx.default_map = {**(ctx.default_map or {}), **self.defaults(settings, ctx)}
        except InputError as problem:
            fail(problem)
        return super().parse_args(ctx, args)

    def _settings(self, ctx: click.Context, args: list[str]) -> Settings:
        try:
            given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        except click.UsageError:
            # The real parse says what is wrong.
            return Settings()
        if given.get("isolated") or given.get("help"):
            return Settings()
        named = given.get("config")
        paths, command = (_words(given.get(name)) for name in ("paths", "command"))
        paths = paths or _sources(command)
        try:
            if named:
                return config.read(Path(named))
            return config.find([Path(path) for path in paths])
        except InputError as problem:
            fail(problem)

    def defaults(self, settings: Settings, ctx: click.Context) -> dict[str, Any]:
        """The settings by the names of this command's parameters.

        A table ``[check]`` (``[rewrite]``, ...) holds what is for that command alone, and wins.
        One file serves all commands, so all of it is checked.
        Raises InputError for an unknown key and for a value of the wrong type.
        """
        mine, commands = keys(self), _commands(ctx)
        every = {key: option for command in commands.values() for key, option in keys(command).items()}
        found: dict[str, Any] = {}
        tables: list[tuple[tuple[str, ...], Mapping[str, object], Mapping[str, click.Option], bool]] = []
        shared = {key: value for key, value in settings.values.items() if key not in commands}
        tables.append(((), shared, every, True))
        for name, command in commands.items():
            own = settings.values.get(name, {})
            if not isinstance(own, dict):
                raise settings.error(f"'{name}' is a command, which needs a table '[{name}]'", name)
            tables.append(((name,), own, keys(command), name == self.name))
        for above, values, known, counts in tables:
            for key, value in values.items():
                if key not in known:
                    raise settings.error(f"Unknown key '{key}'{_meant(key, known)}", *above, key)
                try:
                    checked = _value(settings, key, value, known[key], ctx)
                except _Unfit as problem:
                    raise settings.error(problem.args[0], *above, key) from problem
                if counts and key in mine:
                    found[mine[key].name or ""] = checked
        return found


def _words(given: object) -> list[str]:
    """What was given for an argument; click has a mark of its own where nothing was."""
    return [word for word in given if isinstance(word, str)] if isinstance(given, list | tuple) else []


def _sources(words: Sequence[str]) -> list[str]:
    """The files that a compiler's command compiles."""
    found = parse(words) if words else None
    return [found.words[position] for position in found.sources] if found else []


def keys(command: click.Command) -> dict[str, click.Option]:
    """The options of a command that may stand in a file, by their key there."""
    return {
        max(option.opts, key=len).lstrip("-"): option
        for option in command.params
        if isinstance(option, click.Option) and option.name not in ONLY_GIVEN
    }


def _commands(ctx: click.Context) -> dict[str, click.Command]:
    group = ctx.parent.command if ctx.parent is not None else None
    commands = group.commands if isinstance(group, click.Group) else {}
    return {name: command for name, command in commands.items() if isinstance(command, Configured)}


def _meant(key: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(key.replace("_", "-"), known, 1)
    return f", did you mean '{near[0]}'" if near else ""


class _Unfit(Exception):
    """A value that an option cannot have; ``args[0]`` says why."""


def _value(settings: Settings, key: str, value: object, option: click.Option, ctx: click.Context) -> object:
    """A value of a file as the option has it, checked.  Raises _Unfit."""
    items = value if isinstance(value, list) else [value]
    if option.is_flag:
        if not isinstance(value, bool):
            raise _Unfit(f"'{key}' must be true or false")
        return value
    if option.multiple:
        if not all(isinstance(item, str) for item in items):
            raise _Unfit(f"'{key}' must be a list of strings")
    elif isinstance(value, list | dict | bool):
        numbers = click.types.IntParamType | click.types.FloatParamType
        kind = "a number" if isinstance(option.type, numbers) else "a string"
        raise _Unfit(f"'{key}' must be {kind}")
    if isinstance(option.type, click.Path):
        items = [path for item in items for path in _paths(settings, str(item))]
    for item in items:
        try:
            option.type.convert(item, option, ctx)
        except click.BadParameter as problem:
            raise _Unfit(f"Value of '{key}' is not right, {_clause(problem.message)}") from problem
    return items if option.multiple else items[0]


def _clause(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(".")


def _paths(settings: Settings, given: str) -> Iterator[str]:
    """A path of a file is from that file's folder; ``*``, ``?`` and ``**`` are patterns."""
    assert settings.path is not None
    folder = settings.path.parent
    if not any(character in given for character in "*?["):
        yield str(folder / given)
        return
    with suppress(NotImplementedError):
        yield from sorted(str(path) for path in folder.glob(given))


def describe(settings: Settings, commands: Sequence[click.Command], ctx: click.Context) -> Iterator[str]:
    """``key = value  # where from`` for each setting of ``commands``, as TOML."""
    seen: set[str] = set()
    for command in commands:
        if not isinstance(command, Configured):
            continue
        with click.Context(command, parent=ctx.parent) as inner:
            values = command.defaults(settings, inner)
        for key, option in keys(command).items():
            if key in seen:
                continue
            seen.add(key)
            given = option.name in values
            value = values[option.name or ""] if given else option.get_default(ctx)
            if given or _is_set(value):
                yield f"{key} = {_toml(value)}  # {settings.origin if given else 'default'}"
            else:
                yield f"# {key} is not set"


def _is_set(value: object) -> bool:
    return isinstance(value, bool | int | float | str | Path) or (
        isinstance(value, list | tuple) and bool(value)
    )


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case list() | tuple():
            return "[" + ", ".join(_toml(item) for item in value) + "]"
        case _:
            text_ = str(value).replace("\\", "\\\\").replace('"', '\\"')
            return f'"{text_}"'


def fail(problem: InputError) -> NoReturn:
    """Print what is wrong with a settings file, and leave with status 2."""
    click.echo(text.error(problem, streams.coloured(sys.stderr)), err=True)
    sys.exit(2)
