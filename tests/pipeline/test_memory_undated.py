"""Turns without a date: when they were said is taken from the dated ones around them, and told as such."""

from __future__ import annotations

import pytest


def said(turn_id, text, day, session="s"):
    return {"role": "user", "content": text, "id": turn_id, "timestamp": day, "session_id": session}


@pytest.fixture
def talk(memory):
    for day, other in (("2023-03-06", "x"), ("2023-09-04", "y")):
        memory.add(
            [
                said(f"{other}1", "We went out for a walk.", day, other),
                said(f"{other}2", "The walk did me good.", None, other),
                said(f"{other}3", "Good night.", day, other),
            ],
            user_id="u",
        )
    return memory


def first(memory, question, **how):
    return memory.search(question, user_id="u", granularity="turn", **how).results[0]


def test_a_turn_without_a_date_is_found_by_the_date_of_its_neighbours(talk):
    for month, wanted in (("March", "x2"), ("September", "y2")):
        hit = first(talk, f"Did the walk do good in {month} 2023?")
        assert hit.turn_ids == (wanted,)
        assert hit.signals["date"] > 0


def test_a_hit_says_that_its_date_is_its_neighbours(talk):
    hit = first(talk, "Did the walk do good in March 2023?")
    assert hit.timestamp is None
    assert hit.text == "user (undated, about 2023-03-06 00:00 UTC): The walk did me good."
    talk.add(said("x4", "It was late.", "2023-03-08", "x"), user_id="u")
    talk.add(said("x5", "A heron flew over the lake.", None, "x"), user_id="u")
    assert "undated, about 2023-03-08 00:00 UTC" in first(talk, "heron over the lake").text
    talk.add(said("x6", "Sleep well.", "2023-03-10", "x"), user_id="u")
    hit = first(talk, "heron over the lake")
    assert "(undated, between 2023-03-08 00:00 UTC and 2023-03-10 00:00 UTC)" in hit.text
    assert hit.quotes == ("A heron flew over the lake.",)


def test_an_erased_neighbour_lends_no_date(talk):
    talk.delete(user_id="u", turn_id="x1")
    talk.delete(user_id="u", turn_id="x3")
    hit = next(hit for hit in talk.search("walk", user_id="u", granularity="turn").results if hit.turn_ids == ("x2",))
    assert "(undated)" in hit.text


def test_without_any_date_nothing_is_made_up(memory):
    memory.add([said("a", "I keep bees.", None), said("b", "They swarm in May 2023.", None)], user_id="u")
    assert "(undated)" in first(memory, "bees in May 2023").text


def test_the_last_and_the_first_of_several_times_stand_first(memory):
    for day in ("2023-03-06", "2023-05-01", "2023-09-04"):
        memory.add(
            [said(f"{day}a", "I watered the fern today.", day, day), said(f"{day}b", "The soup was good.", day, day)],
            user_id="u",
        )
    assert first(memory, "When did I last water the fern?").turn_ids == ("2023-09-04a",)
    assert first(memory, "When did I water the fern for the first time?").turn_ids == ("2023-03-06a",)
    assert "order" not in first(memory, "Did I water the fern?").signals


def test_what_the_filters_leave_out_lends_no_date(talk):
    talk.add(
        [
            said("z1", "We rowed.", "2023-07-01", "z") | {"metadata": {"secret": True}},
            said("z2", "The oars were heavy.", None, "z"),
        ],
        user_id="u",
    )
    assert "undated, about 2023-07-01" in first(talk, "heavy oars").text
    hit = first(talk, "heavy oars in July 2023", filters={"secret": {"exists": False}})
    assert hit.turn_ids == ("z2",)
    assert "(undated)" in hit.text
    assert not hit.signals.get("date")
