"""The ``whatsapp`` format: chats of several phones and countries."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from import_kit import words
from mnemic.importers import Conversation, Notice, Skipped, read
from mnemic.importers.whatsapp_dates import Order, decided, moment_of, read_order
from mnemic.importers.whatsapp_words import DELETED, MEDIA, OWN

DATA = Path(__file__).parents[1] / "data" / "import"


def chat(path, **given):
    records = list(read(path, **given))
    conversations = [record for record in records if isinstance(record, Conversation)]
    told = [record.text for record in records if isinstance(record, Notice)]
    return conversations, [record for record in records if isinstance(record, Skipped)], told


def times(conversations):
    return [message.get("timestamp") for one in conversations for message in one.messages]


def test_ios_in_german():
    conversations, skipped, told = chat(DATA / "ios_de.txt")
    assert read(DATA / "ios_de.txt").format == "whatsapp"
    assert words(conversations) == [
        "Hast du den Schlüssel gefunden?",
        "Ja. Er war\n\nin meinem anderen Mantel.",
        [{"type": "image_url", "image_url": {"url": "00000012-PHOTO-2024-06-03-18-07-30.jpg"}}],
        "Gut!",
    ]
    assert times(conversations)[0] == "2024-06-03T18:05:40"
    assert conversations[0].messages[-1]["metadata"] == {"edited": True}
    assert [(one.reason, one.where) for one in skipped] == [(OWN, "line 1"), (MEDIA, "line 6")]
    assert told == ["dates are read as day/month/year: they are written with points"]
    assert conversations[0].session_id == "ios_de"


def test_android_in_american_english():
    conversations, skipped, told = chat(DATA / "android_us.txt")
    assert words(conversations) == [
        "Did you find the key?",
        "Yes: it was in my coat.",
        [
            {"type": "image_url", "image_url": {"url": "IMG-20240313-WA0001.jpg"}},
            {"type": "text", "text": "the coat"},
        ],
    ]
    assert times(conversations) == ["2024-03-12T14:05:00", "2024-03-12T14:06:00", "2024-03-13T00:15:00"]
    assert [one.reason for one in skipped] == [OWN, MEDIA, DELETED, OWN]
    assert told == ["dates are read as month/day/year: line 4 has a day above 12"]


@pytest.mark.parametrize(
    ("name", "first", "why"),
    [
        ("android_gb.txt", "2024-03-12T14:05:00", "day/month/year: line 2 has a day above 12"),
        ("android_it.txt", "2024-04-03T09:30:00", "day/month/year: nothing in the file tells"),
        ("android_sv.txt", "2024-06-03T18:05:00", "year/month/day: a year stands first"),
        ("android_es.txt", "2024-04-03T14:05:00", "day/month/year: nothing in the file tells"),
    ],
)
def test_other_countries(name, first, why):
    conversations, _, told = chat(DATA / name)
    assert times(conversations)[0] == first
    assert why in told[0]


def test_what_the_file_leaves_open_can_be_said():
    conversations, _, told = chat(DATA / "android_es.txt", date_order="mdy")
    assert times(conversations)[0] == "2024-03-04T14:05:00"
    assert told == ["dates are read as month/day/year: as asked"]
    # But not against what stands in the file.
    assert times(chat(DATA / "android_gb.txt", date_order="mdy")[0])[0] == "2024-03-12T14:05:00"


def test_the_order_of_the_messages_tells_day_from_month(tmp_path):
    lines = ["1/2/24, 10:00 - Ana: a", "2/2/24, 10:00 - Ana: b", "1/3/24, 10:00 - Ana: c"]
    (tmp_path / "c.txt").write_text("\n".join(lines))
    conversations, _, told = chat(tmp_path / "c.txt")
    assert times(conversations)[-1] == "2024-03-01T10:00:00"
    assert told == ["dates are read as day/month/year: so the messages are in order"]


def test_a_chat_in_its_zip_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "WhatsApp Chat with Bo.zip", "w") as archive:
        archive.write(DATA / "ios_de.txt", "_chat.txt")
        archive.writestr("00000012-PHOTO-2024-06-03-18-07-30.jpg", b"\xff\xd8")
        archive.writestr("../../evil.txt", "1/2/24, 10:00 - Ana: hm")
    conversations, _, _ = chat(tmp_path / "WhatsApp Chat with Bo.zip")
    assert conversations[0].session_id == "WhatsApp Chat with Bo"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["WhatsApp Chat with Bo.zip"]


def test_a_long_chat_comes_in_pieces_and_again_with_the_same_ids(tmp_path):
    (tmp_path / "c.txt").write_text("".join(f"13/1/24, 10:{n % 60:02} - Ana: ok\n" for n in range(450)))
    conversations, _, _ = chat(tmp_path / "c.txt")
    assert [len(one.messages) for one in conversations] == [200, 200, 50]
    ids = [message["id"] for one in conversations for message in one.messages]
    assert len(set(ids)) == 450
    again = [message["id"] for one in chat(tmp_path / "c.txt")[0] for message in one.messages]
    assert ids == again


def test_a_date_that_does_not_exist_costs_only_itself(tmp_path):
    (tmp_path / "c.txt").write_text("31/1/24, 10:00 - Ana: a\n31/2/24, 10:00 - Bo: b\n31/1/24, 25:00 - Bo: c\n")
    conversations, skipped, _ = chat(tmp_path / "c.txt")
    assert words(conversations) == ["a", "b", "c"]
    assert times(conversations) == ["2024-01-31T10:00:00", None, None]
    assert [one.where for one in skipped] == ["line 2", "line 3"]


@given(st.text())
def test_any_line_is_a_message_or_is_not(line):
    found = moment_of(line)
    if found is not None:
        order = read_order([(1, found)], None)
        assert isinstance(order, Order)
        assert isinstance(decided(found, order), (str, object))
