"""The wheel: what `pip install .` brings."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fortrans

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("hatchling", reason="the build back end comes with the dev extra")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_the_package_with_templates_and_codes(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "fortrans").rglob("*.py")}
    templates = {f"fortrans/templates/{path.name}" for path in (ROOT / "templates").glob("*.j2")}
    assert templates
    assert (
        modules | templates | {"fortrans/py.typed", "fortrans/codes.toml", "fortrans/cmake/Fortrans.cmake"}
        <= names
    )
    tops = {name.split("/")[0] for name in names}
    assert tops == {"fortrans", f"fortrans-{fortrans.__version__}.dist-info"}


def test_the_wheel_works_by_itself(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    code = "from fortrans.cli import main; main()"
    command = [sys.executable, "-c", code, "explain", "FT101"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("FT101 array-assignment\n")
    code = "from fortrans.emit.environment import folder; print(folder())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert Path(done.stdout.strip()) == (tmp_path / "fortrans" / "templates").resolve()
