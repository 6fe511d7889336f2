"""A compiler's command line, as far as a launcher has to understand it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fortrans.project.files import FREE_FORM

WITH_VALUE = frozenset(
    "-o -I -J -L -l -x -D -U -include -imacros -isystem -iquote -idirafter -isysroot -MF -MT -MQ -Xlinker"
    " -Xassembler -Xpreprocessor -Xclang -Xflang -T -u -z -B -specs -module-dir -module -arch -target"
    " --param -mllvm -e -aux-info -dumpbase -dumpdir -A".split()
)
"""Options whose value may be the next word, of gfortran and flang."""

NOT_COMPILING = frozenset("-E -M -MM -### --version --help -dumpversion -dumpmachine".split())
"""With one of these the source is not compiled, or something else is printed about it."""

DEPENDENCIES = frozenset("-MD -MMD".split())


@dataclass(frozen=True, slots=True)
class Command:
    """A compiler's command: the program and its words.

    ``sources``: positions of free-form Fortran files among the words.  ``folders``: what ``-I``,
    ``-J`` and ``-module-dir`` name.  ``output``: what ``-o`` names.
    """

    words: tuple[str, ...]
    sources: tuple[int, ...] = ()
    folders: tuple[Path, ...] = ()
    output: str | None = None
    compiles: bool = False

    @property
    def debugs(self) -> bool:
        """Whether the object gets debug information (``-g`` and its kin, not ``-g0``)."""
        kinds = [word for word in self.words if word.startswith("-g") and not word.startswith("-gen")]
        return bool(kinds) and kinds[-1] != "-g0"

    @property
    def backslashes(self) -> bool:
        """Whether a backslash in a string may hide the quote after it (gfortran's ``-fbackslash``)."""
        words = [word for word in self.words if word in ("-fbackslash", "-fno-backslash", "-Mbackslash")]
        return bool(words) and words[-1] == "-fbackslash"

    @property
    def program(self) -> str:
        """The compiler, as it was named."""
        return self.words[0]

    def depfile(self) -> Path | None:
        """The file of dependencies that the compiler writes on the side."""
        if not DEPENDENCIES & set(self.words):
            return None
        for position, word in enumerate(self.words):
            if word == "-MF" and position + 1 < len(self.words):
                return Path(self.words[position + 1])
            if word.startswith("-MF") and len(word) > 3:
                return Path(word[3:])
        if self.output is not None:
            return Path(self.output).with_suffix(".d")
        return Path(Path(self.words[self.sources[0]]).with_suffix(".d").name)


def parse(words: Sequence[str]) -> Command:
    """Read a command.  Words that are not understood only mean that the command is passed on."""
    words = tuple(_expanded(words))
    sources: list[int] = []
    folders: list[Path] = []
    output: str | None = None
    free = True
    position = 1
    while position < len(words):
        word = words[position]
        if word in WITH_VALUE:
            value = words[position + 1] if position + 1 < len(words) else ""
            if word == "-o":
                output = value
            elif word in ("-I", "-J", "-module-dir", "-module"):
                folders.append(Path(value))
            elif word == "-x":
                free = value in ("f95", "f95-cpp-input", "none")
            position += 2
            continue
        if word.startswith(("-I", "-J")) and len(word) > 2:
            folders.append(Path(word[2:]))
        elif word.startswith("-o") and len(word) > 2:
            output = word[2:]
        elif word in ("-ffixed-form", "-Mfixed", "-fixed"):
            free = False
        elif not word.startswith("-") and Path(word).suffix.lower() in FREE_FORM:
            sources.append(position)
        position += 1
    compiles = free and bool(sources) and not NOT_COMPILING & set(words)
    return Command(words, tuple(sources), tuple(folders), output, compiles)


def _expanded(words: Sequence[str], depth: int = 0) -> Iterator[str]:
    """The words, with those of response files (``@file``) in their place."""
    for word in words:
        path = Path(word[1:])
        if not word.startswith("@"):
            yield word
            continue
        try:
            inner = shlex.split(path.read_text("utf-8", "surrogateescape"))
        except (OSError, ValueError):  # the compiler says what is wrong with it
            yield word
        else:
            yield from _expanded(inner, depth + 1) if depth < 10 else inner


def replaced(command: Command, files: dict[int, Path], more: Sequence[str] = ()) -> list[str]:
    """The command with other files at some positions, and ``more`` options.

    The folder of each original goes before all others: what it includes lies beside it.
    """
    words = [str(files[i]) if i in files else word for i, word in enumerate(command.words)]
    beside = dict.fromkeys(f"-I{Path(command.words[i]).parent}" for i in files)
    return [words[0], *more, *beside, *words[1:]]
