"""Anthropic's memory tool over a memory: the SDK's dispatch, and its own tool for a folder as the measure."""

from __future__ import annotations

import asyncio
import itertools
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("anthropic", reason="the extra anthropic is not installed")

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

from mnemic import Memory
from mnemic.adapters.anthropic import AsyncMemoryTool, MemoryTool
from mnemic.adapters.memory_files import MemoryFiles
from mnemic.errors import InvalidScope

FILES = ("/memories/a.txt", "/memories/b.md", "/memories/d/c.txt", "/memories/d/e/f.txt", "/memories/d/.hidden")
PLACES = (*FILES, "/memories", "/memories/d", "/memories/d/e", "/memories/none", "/memories/g")
paths = st.sampled_from(PLACES)
texts = st.sampled_from(["", "one", "one\ntwo\n", "one\none\nthree", "\n\nü 李\n", "a\r\nb"])
numbers = st.integers(-1, 4)


def command(name, **fields):
    return st.fixed_dictionaries({"command": st.just(name), **fields})


commands = st.one_of(
    command("view", path=paths),
    command("view", path=paths, view_range=st.tuples(numbers, numbers).map(list)),
    command("create", path=st.sampled_from(FILES), file_text=texts),
    command("str_replace", path=paths, old_str=st.sampled_from(["one", "o", "two\n", "ü"]), new_str=texts),
    command("insert", path=paths, insert_line=numbers, insert_text=texts),
    command("delete", path=paths),
    command("rename", old_path=paths, new_path=paths).filter(
        lambda one: not one["new_path"].startswith((one["old_path"] + "/", one["old_path"] + "\0"))
    ),
)


def outcome(tool, given):
    try:
        answer = tool.call(given)
    except ToolError as error:
        return f"error: {error}"
    except NotADirectoryError:  # theirs, which does not look whether what a path goes through is a file
        return None
    # Folders of a disk have sizes of their own.
    return re.sub(r"^[\d.]+[BKMG]\t(?=.*/$|/memories[\w/]*$)", "", answer, flags=re.MULTILINE)


def without_empty_folders(root: Path):
    for folder in sorted(root.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One memory for all examples, each of which has a user of its own."""
    with Memory.open(tmp_path_factory.mktemp("shared") / "m.db", embedder=None) as memory:
        yield memory


@settings(max_examples=25, deadline=None)
@given(st.lists(commands, min_size=1, max_size=14))
def test_every_command_answers_what_anthropic_s_own_tool_answers(shared, given):
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = BetaLocalFilesystemMemoryTool(folder), MemoryTool(shared, user_id=f"user {next(NUMBERS)}")
        for one in given:
            told, wanted = outcome(ours, one), outcome(theirs, one)
            assert told.startswith("error: ") if wanted is None else told == wanted, one
            without_empty_folders(Path(folder) / "memories")


@pytest.fixture
def tool(memory):
    return MemoryTool(memory, user_id="ana")


def do(tool, name, **fields):
    return tool.call({"command": name, **fields})


def test_files_are_kept_word_for_word_and_found_by_searches(tool, memory):
    text = "# Ana\n\n- keeps  bees\ton the roof\r\n"
    do(tool, "create", path="/memories/people/ana.md", file_text=text)
    assert do(tool, "view", path="/memories/people/ana.md").endswith(
        "     1\t# Ana\n     2\t\n     3\t- keeps  bees\ton the roof\r\n     4\t"
    )
    [hit] = memory.search("Who keeps bees?", user_id="ana", granularity="turn").results
    assert text in hit.quotes[0]
    do(tool, "str_replace", path="/memories/people/ana.md", old_str="bees", new_str="hens")
    assert [turn.text for turn in memory.get_all(user_id="ana")] == [
        "/memories/people/ana.md\n" + text.replace("bees", "hens")
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../secret", "/memories/a/../../b", "/etc/passwd", "memories/a", "/memoriesx/a", "..", "",
        "/memories/..", "//memories/a", "/memories/a\x00b",
    ],
)  # fmt: skip
def test_no_path_leaves_memories(tool, memory, path):
    for name, fields in (
        ("view", {"path": path}),
        ("create", {"path": path, "file_text": "x"}),
        ("insert", {"path": path, "insert_line": 0, "insert_text": "x"}),
        ("str_replace", {"path": path, "old_str": "a", "new_str": "b"}),
        ("delete", {"path": path}),
        ("rename", {"old_path": path, "new_path": "/memories/x"}),
        ("rename", {"old_path": "/memories/x", "new_path": path}),
    ):
        with pytest.raises(ToolError):
            do(tool, name, **fields)
    assert memory.users() == []


def test_conversations_are_out_of_its_reach(tool, memory):
    memory.add({"role": "user", "content": "I row.", "id": "m1"}, user_id="ana", session_id="/memories/a.txt")
    assert do(tool, "view", path="/memories").endswith("0B\t/memories")
    with pytest.raises(ToolError):
        do(tool, "delete", path="/memories/a.txt")
    assert len(memory.get_all(user_id="ana")) == 1


def test_each_user_has_files_of_their_own(tool, memory):
    do(tool, "create", path="/memories/a.txt", file_text="secret")
    with pytest.raises(ToolError):
        do(MemoryTool(memory, user_id="bo"), "view", path="/memories/a.txt")
    with pytest.raises(InvalidScope):
        MemoryTool(memory, user_id="")


def test_a_file_under_a_file_and_a_folder_into_itself_are_refused(tool):
    do(tool, "create", path="/memories/a", file_text="")
    do(tool, "create", path="/memories/d/x", file_text="")
    for name, fields in (
        ("create", {"path": "/memories/a/b", "file_text": ""}),
        ("create", {"path": "/memories/d", "file_text": ""}),
        ("rename", {"old_path": "/memories/d", "new_path": "/memories/d/y"}),
    ):
        with pytest.raises(ToolError):
            do(tool, name, **fields)


def test_without_the_sdk_every_answer_is_words_for_the_model(memory):
    files = MemoryFiles(memory, user_id="ana")
    assert files.execute({"command": "create", "path": "/memories/a", "file_text": "x"}).startswith("File created")
    for wrong in (
        {},
        {"command": "fly"},
        {"command": "view"},
        {"command": "view", "path": "/memories/a", "view_range": 3},
    ):
        assert files.execute(wrong).startswith("Error: ")
    assert files.execute({"command": "insert", "path": "/memories/a", "insert_text": "x"}).startswith(
        "Error: insert needs"
    )


def test_the_asynchronous_one_does_the_same(memory):
    async def work():
        tool = AsyncMemoryTool(memory, user_id="ana")
        await tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
        with pytest.raises(ToolError):
            await tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
        return await tool.call({"command": "view", "path": "/memories/a"})

    assert asyncio.run(work()).endswith("     1\tx")
    assert AsyncMemoryTool(memory, user_id="ana").to_dict() == {"type": "memory_20250818", "name": "memory"}
