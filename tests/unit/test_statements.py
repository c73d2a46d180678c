"""What speakers state about themselves, and what only looks like it."""

from __future__ import annotations

from datetime import UTC, datetime
from time import process_time

import pytest

from mnemic.algo.sentences import split
from mnemic.algo.statements import statements
from mnemic.algo.temporal import find
from mnemic.types import Interval

STATED = """
preference | I like liquorice.
preference | I really love hiking in the Alps.
preference | I can not stand liquorice.
preference | I can't stand loud restaurants.
preference | i hate spiders
preference | I don't like horror movies.
preference | I don’t really enjoy crowds.
preference | I never liked olives.
preference | I've always loved trains.
preference | I prefer tea to coffee.
preference | I'm a big fan of jazz.
preference | I'm not a fan of cilantro.
preference | I'm really into pottery these days.
preference | Im crazy about board games
preference | My favorite color is teal.
preference | my favourite band is Muse
preference | Pasta is my favourite food.
preference | Hiking is one of my favorites.
preference | My favorite book is "Dune".
preference | I would rather walk than drive.
preference | I find crosswords relaxing.
preference | I have a sweet tooth for caramel.
preference | I'm more of a cat person.
preference | I don't mind spicy food.
preference | Honestly, I adore old maps.
preference | The curry was too spicy for me.
preference | I can't live without music.
trait | I am a nurse.
trait | I'm a software engineer from Oslo.
trait | im vegetarian
trait | I'm allergic to peanuts.
trait | I am 34 years old.
trait | I live in Lisbon.
trait | I work as a paramedic.
trait | I work from home.
trait | I have two kids.
trait | I've got a dog named Max.
trait | I always drink coffee before work.
trait | I usually run in the morning.
trait | I go swimming every Sunday.
trait | I never eat meat.
trait | I don't drink alcohol.
trait | I don't smoke.
trait | I grew up in Sweden.
trait | I can play the violin.
trait | I speak Portuguese.
trait | I've been painting since 2016.
trait | I've lived here for ten years.
trait | My wife is a teacher.
trait | My name is Tarek.
trait | My sister lives in Boston.
trait | My dog is called Luna.
state | I'm tired.
state | I'm so stressed about the exam.
state | I'm feeling overwhelmed lately.
state | I'm working on a novel.
state | I'm currently reading Middlemarch.
state | I'm training for a marathon.
state | I have a terrible headache.
state | I'm planning a trip to Japan.
state | I want to learn Italian.
state | I am going to visit my aunt in June.
state | I'm excited about the concert.
fact | I moved to Berlin last year.
fact | I bought a new car.
fact | We went to Lisbon in May.
fact | Yesterday I planted the pear tree.
fact | Last week I lost my job at the bank.
fact | I've visited Rome twice.
fact | I have never been to Asia.
fact | I just adopted a puppy.
fact | I was promoted to team lead.
fact | I was diagnosed with asthma.
fact | I didn't finish the race.
fact | I used to play chess.
fact | My grandmother passed away in March.
fact | My brother and I built a treehouse.
fact | My laptop crashed on Monday.
fact | ive started a pottery class
"""

NOT_STATED = """
Do I like liquorice?
I like liquorice?
What is the delivery date for customer Tarek?
Nobody here likes liquorice.
I never said I like liquorice.
I never said that I like liquorice.
Not bad at all.
She said I like liquorice.
She said "I like liquorice".
“I love jazz”, said the man in the corner.
He told me that I love chess.
They think I am a doctor.
If I were rich, I would buy a boat.
If I like it, I buy it.
I would love to visit Japan.
I'd love to help.
I wish I lived in Rome.
Imagine I am a pirate.
Pretend: I am a pirate.
I could be a nurse.
Maybe I am a fool, but who knows.
I hope you're well.
I'm glad to hear that.
I'm sorry to hear about your dog.
I'm happy for you!
I'm proud of you.
I'm here for you.
I see.
I think so.
I guess that works.
I agree with that.
I love that!
I love it!
I like your idea.
I love how you put it.
I like the sound of that.
I told you about it.
I need you to write a poem.
I want you to act as a lawyer.
Please remember that the door is open.
Remind me to call Tom.
Thanks, and see you soon!
Good morning!
You like pizza.
She loves pizza and he hates it.
The nurse lives in Lisbon.
John moved to Berlin last year.
It is raining.
We got this.
I made it!
I'm doing well, thanks.
I'm good.
def like(i): return i
for i in range(10): i like x = {1}
https://example.com/i-like-liquorice
I was wondering about the weather.
I know what it means.
Who am I?
"""


def _rows(table: str) -> list[str]:
    return table.strip().splitlines()


def _kinds(text: str) -> list[str]:
    return [found.kind for found in statements(text, split(text))]


@pytest.mark.parametrize(("kind", "text"), [row.split(" | ") for row in _rows(STATED)], ids=_rows(STATED))
def test_stated(kind: str, text: str) -> None:
    assert _kinds(text) == [kind]


@pytest.mark.parametrize("text", _rows(NOT_STATED))
def test_not_stated(text: str) -> None:
    assert _kinds(text) == []


@pytest.mark.fault("B045")
def test_negated_liking() -> None:
    assert _kinds("I can not stand liquorice.") == ["preference"]
    for text in ("I never said I like liquorice.", "Not bad at all.", "Nobody here likes liquorice."):
        assert _kinds(text) == []
    assert _kinds("It's not bad at all for me.") in ([], ["preference"])


@pytest.mark.fault("B035")
def test_a_name_in_a_question_is_nobodys_name() -> None:
    assert _kinds("What is the delivery date for customer Tarek?") == []


def test_the_note_is_the_whole_sentence_as_it_stands() -> None:
    text = "Hello there, how are you today? Well, I don't like  horror movies at all… See you!"
    (note,) = statements(text, split(text))
    assert text[note.start : note.end].startswith("Well, I don't like  horror movies at all…")


def test_several_sentences() -> None:
    text = "I am a nurse in Oslo. Do you like Oslo? I moved here in 2019. I hate the long winters."
    assert _kinds(text) == ["trait", "fact", "preference"]


def test_fenced_code_is_no_statement() -> None:
    assert _kinds("Look at this:\n```\nI like the old way of doing it.\n```\nI like the new way of cooking.") == [
        "preference"
    ]
    assert _kinds("```\nI like the old way of doing it.\n") == []


def test_long_sentences_are_no_notes() -> None:
    assert _kinds("I like liquorice and " + "more and " * 100 + "more.") == []


NOW = datetime(2023, 5, 25, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("I visited Berlin last year.", Interval(datetime(2022, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC))),
        ("I moved to Berlin last year.", Interval(datetime(2022, 1, 1, tzinfo=UTC), None)),
        ("My birthday is on May 3.", Interval(None, None)),
        ("I've been painting since 2016.", Interval(datetime(2016, 1, 1, tzinfo=UTC), None)),
        ("I moved to Berlin last year and to Rome yesterday.", None),
        ("I like liquorice.", None),
        ("I usually ski in the winter.", None),
    ],
)
def test_when_it_holds(text: str, valid: Interval | None) -> None:
    (note,) = statements(text, split(text), find(text, NOW))
    assert note.valid == valid


@pytest.mark.fault("B068")
def test_two_dated_sentences_keep_their_own_dates() -> None:
    text = "I moved to Oslo in May 2020. I bought a small house in June 2021."
    notes = statements(text, split(text), find(text, None))
    assert [note.valid.start.year for note in notes if note.valid and note.valid.start] == [2020, 2021]


@pytest.mark.parametrize(
    "piece", ["i ", "i really ", "i have been ", "my favorite ", "“", '"', "```", "i am a ", "[[", "and i "]
)
def test_time_is_linear_in_hostile_text(piece: str) -> None:
    def cost(length: int) -> float:
        text = piece * (length // len(piece))
        spans = [(i, min(i + 490, len(text))) for i in range(0, len(text), 490)]
        began = process_time()
        statements(text, spans)
        return process_time() - began

    cost(5_000)
    assert cost(100_000) < 15 * cost(20_000) + 0.05


@pytest.mark.parametrize("text", ["", "\x00", "\ud800 I like \ud800 liquorice", "我喜欢甘草", "İ like", "🎉" * 50, "i"])
def test_any_text_is_read(text: str) -> None:
    for note in statements(text, split(text)):
        assert 0 <= note.start < note.end <= len(text)
