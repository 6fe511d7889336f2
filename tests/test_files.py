"""Files on disk: what is found, read and written, and that nothing is lost on the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fortrans.project.files import Entry, File, clashes, destination, find, is_directory, read, write
from fortrans.remarks import InputError

PROGRAM = b"program p\nend program p\n"


def entry(path: Path) -> Entry:
    return Entry(path, Path(path.name))


def put(path: Path, data: bytes = PROGRAM) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def found(*arguments: Path, without: Path | None = None) -> list[str]:
    return [str(item.path) for item in find(arguments, without) if isinstance(item, Entry)]


# --- finding ---


def test_directory_is_walked_sorted_and_hidden_names_are_skipped(tmp_path: Path) -> None:
    wanted = [put(tmp_path / name) for name in ("a.f90", "b/x.F90", "b/y.f03", "c.f95", "d.F95", "e.f08")]
    for name in (".hidden.f90", ".git/h.f90", "b/.cache/z.f90", "notes.txt", "old.f", "x.inc"):
        put(tmp_path / name)
    assert found(tmp_path) == [str(path) for path in wanted]


def test_order_of_a_directory_does_not_depend_on_creation_order(tmp_path: Path) -> None:
    for name in ("z.f90", "a/z.f90", "m.f90", "a/b.f90"):
        put(tmp_path / name)
    assert [Path(path).relative_to(tmp_path).as_posix() for path in found(tmp_path)] == [
        "a/b.f90",
        "a/z.f90",
        "m.f90",
        "z.f90",
    ]


def test_a_file_named_twice_is_found_once(tmp_path: Path) -> None:
    path = put(tmp_path / "a.f90")
    (tmp_path / "link.f90").symlink_to(path)
    assert found(path, tmp_path, path) == [str(path)]


def test_an_output_directory_inside_an_input_directory_is_not_searched(tmp_path: Path) -> None:
    put(tmp_path / "a.f90")
    put(tmp_path / "out" / "a.f90")
    assert found(tmp_path, without=tmp_path / "out") == [str(tmp_path / "a.f90")]


def test_directory_without_fortran_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "readme.txt")
    (error,) = find([tmp_path])
    assert isinstance(error, InputError) and "no free-form Fortran file" in error.message


def test_a_link_that_leads_round_to_itself_costs_only_itself(tmp_path: Path) -> None:
    (tmp_path / "loop.f90").symlink_to(tmp_path / "loop.f90")
    path = put(tmp_path / "z.f90")
    assert found(tmp_path) == [str(tmp_path / "loop.f90"), str(path)]
    with pytest.raises(InputError, match="Cannot read file, too many levels of symbolic links"):
        read(entry(tmp_path / "loop.f90"))


def test_a_place_that_may_not_be_searched_is_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", fail)
    assert not is_directory(tmp_path)
    assert found(tmp_path) == [str(tmp_path)]


# --- reading ---


@pytest.mark.parametrize(
    ("name", "data", "line", "message"),
    [
        ("a.f90", b"", None, "empty, it holds no program unit"),
        ("a.f90", b" \r\n\t\n", None, "empty, it holds no program unit"),
        ("a.f90", b"program p\nend\0program\n", 2, "binary"),
        ("a.f90", "program p\n".encode("utf-16"), 1, "binary"),
        ("a.f", PROGRAM, None, "Fixed source form"),
        ("a.FOR", PROGRAM, None, "Fixed source form"),
    ],
)
def test_unusable_file(tmp_path: Path, name: str, data: bytes, line: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(entry(put(tmp_path / name, data)))
    assert caught.value.line == line
    assert caught.value.path == str(tmp_path / name)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Cannot read file, no such file or directory"):
        read(entry(tmp_path / "none.f90"))


def test_latin_1_and_byte_order_mark(tmp_path: Path) -> None:
    latin = read(entry(put(tmp_path / "l.f90", b"! Gr\xf6\xdfe\nend\n")))
    assert (latin.encoding, latin.source.text) == ("latin-1", "! Größe\nend\n")
    marked = read(entry(put(tmp_path / "m.f90", b"\xef\xbb\xbfend\n")))
    assert (marked.mark, marked.source.text) == (True, "end\n")


@given(st.binary(min_size=1))
def test_every_text_comes_back_byte_for_byte(data: bytes) -> None:
    data = b"end\r\n" + data.replace(b"\0", b"")
    for content in (data, b"\xef\xbb\xbf" + data):
        file = _read_bytes(content)
        assert file.encode(file.source.text) == content
        assert "".join(file.source.lines) == file.source.text


def _read_bytes(content: bytes) -> File:
    class Given:
        suffix = ".f90"

        def read_bytes(self) -> bytes:
            return content

        def __str__(self) -> str:
            return "given.f90"

    return read(Entry(Given(), Path("given.f90")))  # type: ignore[arg-type]


def test_a_character_that_latin_1_lacks_is_reported(tmp_path: Path) -> None:
    file = read(entry(put(tmp_path / "l.f90", b"! \xf6\nend\n")))
    with pytest.raises(InputError, match="'→' cannot be written to a Latin-1 file") as caught:
        file.encode("! ö\n! →\nend\n")
    assert caught.value.line == 2


# --- writing ---


def test_write_keeps_mode_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = put(tmp_path / "a.f90")
    path.chmod(0o640)
    assert write(path, b"new\n")
    assert path.read_bytes() == b"new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_gets_the_usual_mode(tmp_path: Path) -> None:
    usual = put(tmp_path / "usual.f90")
    write(tmp_path / "deep" / "new.f90", PROGRAM)
    assert (tmp_path / "deep" / "new.f90").stat().st_mode == usual.stat().st_mode


def test_the_same_bytes_are_not_written_again(tmp_path: Path) -> None:
    path = put(tmp_path / "a.f90")
    os.utime(path, ns=(1, 1))
    inode = path.stat().st_ino
    assert not write(path, PROGRAM)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (1, inode)


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    target = put(tmp_path / "target" / "a.f90")
    link = tmp_path / "link.f90"
    link.symlink_to(target)
    write(link, b"new\n")
    assert link.is_symlink() and target.read_bytes() == b"new\n"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("step", ["fsync", "fchmod"])
def test_a_failed_write_leaves_the_old_content_and_no_debris(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = put(tmp_path / "a.f90")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(InputError, match="Cannot write file, no space left on device"):
        write(path, b"new\n")
    assert path.read_bytes() == PROGRAM
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(pipe, PROGRAM)
        assert os.read(reader, 100) == PROGRAM
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_writing_below_a_file_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "a")
    with pytest.raises(InputError, match="Cannot write file"):
        write(tmp_path / "a" / "b.f90", PROGRAM)


# --- destinations ---


def test_a_directory_mirrors_the_tree(tmp_path: Path) -> None:
    put(tmp_path / "src" / "a" / "x.f90")
    target = destination(str(tmp_path / "out"), [tmp_path / "src"])
    (item,) = find([tmp_path / "src"])
    assert isinstance(item, Entry)
    assert target.of(item) == tmp_path / "out" / "a" / "x.f90"


def test_a_single_file_goes_to_a_file_or_into_a_directory(tmp_path: Path) -> None:
    source = put(tmp_path / "x.f90")
    assert destination(str(tmp_path / "y.f90"), [source]).of(entry(source)) == tmp_path / "y.f90"
    assert destination(f"{tmp_path}/new/", [source]).of(entry(source)) == tmp_path / "new" / "x.f90"
    assert destination(str(tmp_path), [source]).of(entry(source)) == source


def test_an_output_that_is_an_input_is_refused_by_any_name(tmp_path: Path) -> None:
    source = put(tmp_path / "x.f90")
    (tmp_path / "soft.f90").symlink_to(source)
    (tmp_path / "hard.f90").hardlink_to(source)
    for name in ("x.f90", "soft.f90", "hard.f90", "sub/../x.f90"):
        (error,) = clashes([entry(source)], [(entry(source), tmp_path / name)])
        assert "one of the inputs" in error.message
    assert not list(clashes([entry(source)], [(entry(source), tmp_path / "y.f90")]))


def test_two_inputs_never_share_an_output(tmp_path: Path) -> None:
    inputs = [entry(put(tmp_path / folder / "x.f90")) for folder in ("a", "b")]
    target = destination(str(tmp_path / "out"), [item.path for item in inputs])
    (error,) = clashes(inputs, [(item, target.of(item)) for item in inputs])
    assert "Output of both" in error.message
