"""A folder of conversations."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidFile
from mnemic.importers import Conversation, Skipped, load, read, read_folder, survey
from mnemic.importers.folder import _sessions
from mnemic.memory import Memory

HI = json.dumps([{"role": "user", "content": "hi"}])


def filled(folder: Path, **contents: str | bytes) -> Path:
    """A folder of files; ``__`` in a name stands for a slash, ``_`` before its end for the dot."""
    for name, content in contents.items():
        path = folder.joinpath(*name.split("__"))
        path = path.with_name(".".join(path.name.rsplit("_", 1)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def reasons(folder: Path) -> dict[str, str]:
    """Where -> why, of what is left out."""
    return {record.where: record.reason for record in read_folder(folder) if isinstance(record, Skipped)}


def test_every_conversation_by_name_each_in_its_own_format(tmp_path):
    line = b'{"role": "user", "content": "hi"}\n'
    folder = filled(
        tmp_path, b__z_txt="Ana: one", b__a_jsonl=line, c_json=HI, a_txt="Bo: two", b_gz=gzip.compress(line)
    )
    source = read_folder(folder)
    assert list(source.formats.items()) == [
        ("a.txt", "text"), ("b/a.jsonl", "jsonl"), ("b/z.txt", "text"), ("b.gz", "jsonl"), ("c.json", "messages"),
    ]  # fmt: skip
    assert [r.session_id for r in source if isinstance(r, Conversation)] == ["a", "b/a", "b/z", "b", "c"]
    assert survey(source).messages == 5
    assert not source.skipped


def test_what_is_no_conversation_is_told_with_its_reason(tmp_path):
    filled(
        tmp_path, chat_txt="Ana: hi", photo_png=b"\x89PNG\r\n", empty_txt="", readme_md="Words.\nMore.\nUse: read.\n",
        sub__latin_txt=b"Ana: caf\xe9", cut_json=HI[:-1], log_jsonl='{"role": "user", "content": "a"}\n{"ro',
        cut_gz=gzip.compress(json.dumps([{"role": "user", "content": os.urandom(500).hex()}]).encode())[:-30],
    )  # fmt: skip
    os.mkfifo(tmp_path / "pipe")
    assert reasons(tmp_path) == {
        "photo.png": "a file that is not UTF-8 text",
        "empty.txt": "a file that is empty, or damaged from its beginning",
        "readme.md": "a file that is no conversation",
        "sub/latin.txt, line 1, byte 0xe9": "a file that is not UTF-8 text",
        f"cut.json, line 1, column {len(HI)}: Expecting ',' delimiter": "a file that is not JSON",
        "cut.gz, Compressed file ended before the end-of-stream marker was reached": (
            "a file that is a cut or damaged gzip file"
        ),
        "log.jsonl, line 2": "not JSON",
        "pipe": "neither a file nor a folder",
    }
    assert survey(read_folder(tmp_path)).messages == 2


def test_hidden_files_and_folders_are_passed_over(tmp_path):
    folder = filled(tmp_path / ".named", a_txt="Ana: hi", _git__b_txt="Ana: hi")
    (folder / "_git").rename(folder / ".git")
    (folder / ".c.txt").write_text("Ana: hi")
    source = read_folder(folder)
    assert (list(source.formats), source.skipped) == (["a.txt"], ())


@pytest.mark.fault("B104")
def test_no_link_leads_out_of_the_folder(tmp_path):
    filled(tmp_path, outside__secret_txt="Ana: a secret", chats__a_txt="Ana: hi", chats__b__c_txt="Bo: ha")
    chats = tmp_path / "chats"
    (chats / ".hidden.txt").write_text("Ana: hidden")
    for name, target in {
        "file.txt": "../outside/secret.txt", "folder": "../outside", "up": "..", "absolute": "/etc/passwd",
        "again.txt": "a.txt", "loop": ".", "inner": "b", "round": "round", "hid.txt": ".hidden.txt", "none": "gone",
    }.items():  # fmt: skip
        (chats / name).symlink_to(target)
    (chats / "b" / "back").symlink_to("../../chats")
    out, lost = "a link that leads out of the folder", "a link to what is hidden or missing"
    for folder in (chats, tmp_path / "link"):
        if folder != chats:
            folder.symlink_to("chats")
        assert list(read_folder(folder).formats) == ["a.txt", "b/c.txt"]
        assert reasons(folder) == {
            "file.txt": out, "folder": out, "up": out, "absolute": out, "hid.txt": lost, "none": lost, "round": lost,
        }  # fmt: skip


def test_a_folder_that_cannot_be_read_costs_only_itself(tmp_path, monkeypatch):
    filled(tmp_path, a__b_txt="Ana: hi", c_txt="Ana: hi")
    listed = Path.iterdir

    def refuse(self: Path):
        if self.name == "a":
            raise PermissionError(13, "Permission denied")
        return listed(self)

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert list(read_folder(tmp_path).formats) == ["c.txt"]
    assert reasons(tmp_path) == {"a": "what cannot be read (Permission denied)"}


def test_a_file_that_vanishes_or_fails_costs_only_itself(tmp_path):
    source = read_folder(filled(tmp_path, a_txt="Ana: hi", b_txt="Ana: hi"))
    (tmp_path / "a.txt").unlink()
    left_out, one = source
    assert left_out == Skipped("a file that cannot be read (No such file or directory)", "a.txt")
    assert isinstance(one, Conversation)


def test_a_folder_may_be_deeper_than_python_recurses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    depth = sys.getrecursionlimit() + 10
    for _ in range(depth):
        Path("d").mkdir()
        os.chdir("d")
    Path("a.txt").write_text("Ana: hi")
    try:
        found = read_folder(tmp_path)
    finally:
        # By hand: what removes temporary folders recurses.
        Path("a.txt").unlink()
        for _ in range(depth):
            os.chdir("..")
            Path("d").rmdir()
    assert list(found.formats) == ["d/" * depth + "a.txt"]


@pytest.mark.fault("B095")
def test_a_users_name_is_asked_for_only_where_a_file_names_none(tmp_path):
    turn = {"speaker": "Ana", "dia_id": "D1:1", "text": "The boat is green."}
    sample = {"sample_id": "conv-1", "conversation": {"session_1": [turn]}}
    assert read_folder(filled(tmp_path, a_json=json.dumps([sample]))).names_users
    assert not read_folder(filled(tmp_path, b_txt="Ana: hi")).names_users
    assert list(read_folder(tmp_path, "text").formats.values()) == ["text"] * 2


def test_what_is_no_folder_is_refused(tmp_path):
    for path in (tmp_path / "none", filled(tmp_path, a_txt="Ana: hi") / "a.txt"):
        with pytest.raises(InvalidFile, match="is no folder"):
            read_folder(path)
    (tmp_path / "empty").mkdir()
    assert (list(read_folder(tmp_path / "empty")), read_folder(tmp_path / "empty").names_users) == ([], True)


# names of sessions -----------------------------------------------------------------------------------------


def test_names_are_those_of_single_files_and_stay_when_others_come(tmp_path):
    folder = filled(tmp_path, walk_txt="Ana: ok\nBo: ok\n")
    with Memory.open(tmp_path / ".m.db", embedder=None) as memory:
        assert load(read(folder / "walk.txt"), memory, user_id="ana").new == 2
        assert load(read_folder(folder), memory, user_id="ana").new == 0
        filled(folder, a__walk_txt="Ana: ok\nBo: ok\n")
        assert load(read_folder(folder), memory, user_id="ana").new == 2
        filled(folder, a0__walk_txt="Ana: ok\nBo: ok\n", a__b__walk_txt="Ana: ok\n", b_txt="Ana: ok")
        assert load(read_folder(folder), memory, user_id="ana").new == 4
        assert load(read_folder(folder), memory, user_id="ana").new == 0
        assert {turn.session_id for turn in memory.get_all(user_id="ana")} == {
            "walk", "a/walk", "a0/walk", "a/b/walk", "b",
        }  # fmt: skip


def test_names_that_differ_in_their_ending_alone_keep_it(tmp_path):
    folder = filled(tmp_path, walk_txt="Ana: ok\n", walk_md="Ana: ok\n", walk_txt_txt="Ana: ok\n")
    assert [r.session_id for r in read_folder(folder) if isinstance(r, Conversation)] == [
        "walk.md",
        "walk.txt",
        "walk_txt",
    ]
    with Memory.open(tmp_path / ".m.db", embedder=None) as memory:
        assert load(read_folder(folder), memory, user_id="ana").new == 3


@given(
    st.sets(
        st.lists(st.sampled_from(["a", "b", "a.b", "a.txt", "a.txt.gz", ".gz"]), min_size=1, max_size=3).map("/".join)
    )
)
def test_no_two_files_share_a_session(names):
    found = _sessions(sorted(names))
    assert found.keys() == names
    assert len(set(found.values())) == len(names)


@pytest.mark.fault("B196")
def test_a_name_that_is_not_utf8_is_kept(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("Ana: hi")
    (tmp_path / "😀\n\x1b.txt").write_text("Ana: hi")
    with Memory.open(tmp_path / ".m.db", embedder=None) as memory:
        load(read_folder(tmp_path), memory, user_id="ana")
        assert [turn.session_id for turn in memory.get_all(user_id="ana")] == ["caf\udce9", "😀\n\x1b"]
