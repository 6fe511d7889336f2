"""The house's laws: which room may import which, and which may import an outside library."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "fortrans"
FILES = sorted(PACKAGE.rglob("*.py"))

BASE = {"source", "remarks"}
"""What every room may import, and nothing else of the package: a span, a remark."""

TERMS = BASE | {"options", "ir"}
MEANING = TERMS | {"intrinsics"}
ALL = MEANING | {"polyhedral", "analysis", "transforms", "frontend", "emit"}

MAY_IMPORT = {
    "source": set(),
    "options": set(),
    "remarks": {"source"},
    "result": BASE,
    "ir": BASE,
    "intrinsics": BASE | {"ir"},
    "polyhedral": MEANING,
    "analysis": MEANING | {"polyhedral"},
    "transforms": MEANING | {"polyhedral", "analysis"},
    "frontend": MEANING,
    "emit": TERMS,
    "report": BASE | {"intrinsics", "emit"},
    "outcome": ALL | {"decision"},
    "decision": ALL | {"outcome"},
    "around_calls": ALL | {"outcome"},
    "repacking": ALL | {"outcome", "around_calls"},
    "pipeline": ALL | {"decision", "outcome", "repacking", "stages", "batch", "result"},
    "batch": ALL | {"pipeline", "outcome", "result"},
    "stages": ALL | {"decision", "outcome", "pipeline"},
    "loops": ALL | {"pipeline", "decision", "outcome"},
    "project": ALL | {"pipeline", "batch", "result"},
    "verify": ALL | {"pipeline", "batch", "result", "project", "report"},
    "cli": BASE
    | {"options", "pipeline", "batch", "result", "loops", "project", "report", "verify", "fortrans"},
    "__main__": {"cli"},
    "fortrans": {"options", "pipeline", "remarks"},
}
"""Room -> the rooms it may import (besides itself); 'fortrans' is the package's __init__."""

ONLY_IN = {"fparser": "frontend", "jinja2": "emit", "click": "cli", "islpy": "polyhedral"}

EXCEPT = {
    ("ir/arrays.py", "intrinsics"): "array constructors are arrays whose rules are intrinsics' in kind",
}
"""Imports against the order, each with its reason; they stand inside a function."""

LONG: dict[str, str] = {
    "verify/expressions.py": "the grammar of random expressions, one rule for each operation",
}
"""Files above 400 lines, each with the reason why it is one room."""


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "fortrans" if first == "__init__" else first


def imports(path: Path) -> Iterator[str]:
    """Dotted names imported anywhere in a file, under TYPE_CHECKING and in functions too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{alias.name}" for alias in names)


def rooms_imported(path: Path) -> set[str]:
    parts = (name.split(".") for name in imports(path))
    inner = {entry.stem for entry in PACKAGE.iterdir()}
    return {
        names[1] if len(names) > 1 and names[1] in inner | MAY_IMPORT.keys() else "fortrans"
        for names in parts
        if names[0] == "fortrans"
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_import_order(path: Path) -> None:
    here = room(path)
    assert here in MAY_IMPORT, "a new room needs its place in the order"
    name = path.relative_to(PACKAGE).as_posix()
    wrong = rooms_imported(path) - {here} - MAY_IMPORT[here]
    assert {other for other in wrong if (name, other) not in EXCEPT} == set()


def test_no_exception_outlives_its_use() -> None:
    for name, other in EXCEPT:
        assert other in rooms_imported(PACKAGE / name)


@pytest.mark.parametrize("library", ONLY_IN)
def test_each_library_has_one_address(library: str) -> None:
    rooms = {room(path) for path in FILES for name in imports(path) if name.split(".")[0] == library}
    assert rooms <= {ONLY_IN[library]}


def test_no_file_is_long_without_a_reason() -> None:
    long = {
        str(path.relative_to(PACKAGE)) for path in FILES if len(path.read_text("utf-8").splitlines()) > 400
    }
    assert long - LONG.keys() == set()
    assert LONG.keys() - long == set(), "no longer long"
    assert all(LONG.values())


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_is_cheap() -> None:
    heavy = {"fparser", "jinja2", "click", "dataclasses", "numpy"}
    assert loaded_by("import fortrans; fortrans.__version__; dir(fortrans)") & heavy == set()


def test_the_command_line_starts_without_parser_and_templates() -> None:
    loaded = loaded_by("import fortrans.cli")
    assert "click" in loaded and loaded & {"fparser", "jinja2", "numpy"} == set()


def test_public_names() -> None:
    import fortrans

    assert set(fortrans.__all__) <= set(dir(fortrans))
    assert fortrans.Options(all=True).all
    assert fortrans.Remark.__name__ == "Remark"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fortrans.nothing  # type: ignore[attr-defined]
