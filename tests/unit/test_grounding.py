"""The grounding gate: what a note claims must be in the turns that it cites."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.algo.grounding import ground
from mnemic.types import Turn

SUNDAY = datetime(2024, 3, 10, 12, tzinfo=UTC)


def turn(text, speaker="Ana", role="user"):
    return Turn(text[:20], "s", role, speaker, text, SUNDAY)


def told(text):
    return turn(text, "assistant", "assistant")


def reasons(note, *cited, about="Ana", before=(), cosine=None):
    turns = [turn(one) if isinstance(one, str) else one for one in cited]
    faults = ground(note, about, turns, before=before, speakers=("Ana", "Bo", "assistant"), cosine=cosine)
    return {fault.reason for fault in faults}


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("Ana moved to Rome.", "I moved to Rome last week."),
        ("Ana has two dogs.", "I have 2 dogs."),
        ("Ana has 21 cousins.", "I've got twenty-one cousins!"),
        ("Ana's rent is 1,200 euros.", "My rent is 1200 euros."),
        ("Ana's rent is 1,200 euros.", "My rent is twelve hundred euros, utilities included."),
        ("Ana owes 5,000 euros.", "I still owe the bank 5k euros."),
        ("Ana's daughter was born on 9 March 2024.", "My daughter was born yesterday."),
        ("Ana's daughter was born in March 2024.", "My daughter was born yesterday."),
        ("Ana went to Oslo last Friday.", "Last Fri I went to Oslo."),
        ("Ana's brother Tom works at Siemens.", "My brother Tom works at Siemens."),
        ("Ana lives in New York City.", "I live in NYC with my cat."),
        ("Ana likes the Lord of the Rings.", "I like LOTR, seen it ten times."),
        ("Ana's friend Kath plays chess.", "Katherine, my friend, plays chess."),
        ("Ana wants to move to Rome.", "Should I move to Rome? I really want to."),
        ("Ana did not get the job.", "I didn't get the job."),
        ("Ana does not smoke.", "I don't smoke."),
        ("Ana no longer works at Siemens.", "I quit Siemens last month."),
        ("Ana loves hiking.", "Hiking is what I love, I can't get enough of it."),
        ("Ana's favourite film is 'I Am Legend'.", 'My favourite film is "I Am Legend".'),
        ("Ana finished a pot.", "FYI, I finished another pot - want to see it?"),
        ("Ana works nights.", "I work nights, you know? It is hard."),
    ],
)
def test_what_was_said_is_supported(note, said):
    assert reasons(note, said) == set()


@pytest.mark.parametrize(
    ("note", "said", "reason"),
    [
        ("Ana's brother Tom works at Bosch.", "My brother Tom works at Siemens.", "name"),
        ("Ana went to Rome with Theo.", "I went to Rome with the kids.", "name"),
        ("Ana has three dogs.", "I have 2 dogs.", "number"),
        ("Ana has a hundred books.", "I have two hundred books.", "number"),
        ("Ana's daughter was born on 2 March 2024.", "My daughter was born yesterday.", "date"),
        ("Ana went to Oslo last Tuesday.", "Last Fri I went to Oslo.", "date"),
        ("Ana moved to Rome.", "I haven't moved to Rome.", "polarity"),
        ("Ana got the job.", "I didn't get the job, sadly.", "polarity"),
        ("Ana smokes.", "I don't smoke.", "polarity"),
        ("Ana never eats meat.", "I love meat, I eat it every day.", "polarity"),
        ("Ana does not live in Rome.", "I live in Rome. I don't like tea.", "polarity"),
        ("Ana moved to Rome.", "Should I move to Rome?", "assertion"),
        ("Ana likes tea.", "Would you like tea?", "assertion"),
        ("Ana lives in Rome.", "If I lived in Rome, I would eat pizza every day.", "assertion"),
        ("Ana lives in Rome.", "I wish I lived in Rome.", "assertion"),
        ("Ana moved to Rome.", 'Then he said "I moved to Rome" and left.', "assertion"),
        ("Ana moved to Rome.", "I moved to Rome. Just kidding!", "assertion"),
        ("Ana speaks Greek.", "I work in a bakery.", "name"),
        ("Ana collects stamps and coins.", "I work in a bakery.", "content"),
    ],
)
def test_what_was_not_said_is_named(note, said, reason):
    assert reason in reasons(note, said)


def test_a_fact_is_about_the_one_who_said_it():
    said = turn("I moved to Rome.", "Bo")
    assert reasons("Ana moved to Rome.", said) == {"speaker"}
    assert reasons("Bo moved to Rome.", said, about="Bo") == set()
    assert reasons("Ana moved to Rome.", said, about="Bo") == {"speaker"}


def test_or_about_somebody_whom_they_mention():
    assert reasons("Tom works at Siemens.", "My brother Tom works at Siemens.", about="Tom") == set()
    assert reasons("Tom works at Siemens.", "My brother works at Siemens.", about="Tom") == {"speaker"}
    assert reasons("Tom works at Siemens.", told("Tom works at Siemens."), about="Tom") == {"speaker"}


def test_what_an_assistant_says_of_the_user_holds_once_the_user_confirms_it():
    note, guess = "Ana moved to Rome in 2021.", told("So you moved to Rome in 2021, right?")
    assert reasons(note, guess) == {"speaker"}
    assert reasons(note, guess, "I have no idea what you mean.") == {"speaker"}
    assert reasons(note, guess, "Yes, exactly.") == set()
    assert reasons(note, "Yes, exactly.", before=(guess,)) == set()
    assert reasons(note, guess, "No, I didn't.") != set()


def test_turns_before_say_what_a_reply_refers_to():
    asked = turn("Did you see the Matisse exhibition?", "Bo")
    note = "Ana saw the Matisse exhibition and found it amazing."
    assert reasons(note, "Yes, it was amazing!", before=(asked,)) == set()
    assert reasons(note, "Yes, it was amazing!") == {"name"}


def test_other_words_with_the_same_meaning_pass_by_their_vector():
    note, said = "Ana is grateful.", "Thanks for having my back."
    assert reasons(note, said) == {"content"}
    assert reasons(note, said, cosine=0.7) == set()
    assert reasons(note, said, cosine=0.2) == {"content"}


def test_a_fault_says_what_is_not_supported():
    [fault] = ground("Ana went to Oslo last May.", "Ana", [turn("I went to Oslo.")])
    assert (fault.reason, fault.what) == ("date", "last May")


def test_turns_without_a_time_bear_out_only_the_words_of_a_date():
    undated = Turn("t", "s", "user", "Ana", "I went to Oslo on 3 May 2021.", None)
    assert ground("Ana went to Oslo in May 2021.", "Ana", [undated]) == ()
    assert [f.reason for f in ground("Ana went to Oslo in May 2020.", "Ana", [undated])] == ["date"]


def test_no_source_is_an_error():
    with pytest.raises(ValueError, match="cites no turn"):
        ground("Ana moved.", "Ana", [])
