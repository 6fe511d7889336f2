"""Where templates lie, and how they are run."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fortrans.remarks import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2.lexer import Token, TokenStream
    from jinja2.sandbox import SandboxedEnvironment


def folder() -> Path:
    """The shipped templates: inside the package when installed, else the repository's own."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


def run(template: str, user: str | None, upper: bool, **context: object) -> str:
    """The text of ``template`` (a stem, ``assignment``) for a context of finished strings.

    A template of the folder ``user`` comes before the shipped one of that name.  Raises
    InputError when a template is missing, malformed, or asks for what the context lacks.
    """
    from jinja2 import TemplateError, TemplateNotFound, TemplateSyntaxError

    file = f"{template}.f90.j2"
    path = str(Path(user or folder()) / file)
    try:
        return environment(user, upper).get_template(file).render(**context)
    except TemplateSyntaxError as error:
        raise InputError(error.filename or path, f"{error.message}", error.lineno) from error
    except TemplateNotFound as error:
        raise InputError(path, f"Template '{error.name}' is not found") from error
    except (TemplateError, TypeError, ValueError, ArithmeticError, OSError) as error:
        raise InputError(path, f"Template cannot be rendered: {error}") from error


def page(template: str, **context: object) -> str:
    """A page of HTML (``templates/<template>.html.j2``), every text in it escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader([folder()]),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return made.get_template(f"{template}.html.j2").render(**context)


@cache
def environment(user: str | None, upper: bool) -> SandboxedEnvironment:
    """One environment, with its compiled templates, for each folder and letter case.

    Templates are written in lower case; ``upper`` raises what they say themselves (never what
    they are given), so that one template serves both kinds of file.
    """
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.ext import Extension
    from jinja2.lexer import Token
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class UpperCase(Extension):
        def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
            for token in stream:
                raised = token.type == "data"
                yield Token(token.lineno, token.type, token.value.upper()) if raised else token

    folders = [folder()] if user is None else [Path(user), folder()]
    made = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        extensions=[UpperCase] if upper else [],
    )
    made.filters["indented"] = indented
    return made


def indented(text: str, step: str) -> str:
    """Every line that is not empty, one ``step`` further in.

    Jinja's own filter takes NEL and form feed, which may stand in a character literal, for line ends.
    """
    return "\n".join(step + line if line else line for line in text.split("\n"))
