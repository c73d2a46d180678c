"""``bench grounding``: how often the gate refuses true notes, and sees altered ones."""

from __future__ import annotations

import json

SAMPLE = {
    "sample_id": "talk",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I went to Oslo yesterday and bought three vases."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "My cat broke a window in Turin."},
            {"speaker": "Ana", "dia_id": "D1:3", "text": "I paint a lot."},
        ],
    },
    "observation": {
        "session_1_observation": {
            "Ana": [["Ana bought three vases in Oslo.", "D1:1"], ["Ana has a boat.", "D1:3"]],
            "Bo": [["Bo has a cat in Turin.", "D1:2"]],
        }
    },
    "qa": [{"question": "Where was Ana?", "answer": "Oslo", "evidence": ["D1:1"], "category": 4}],
}


def test_the_command_tells_refused_and_caught_notes_by_kind(cli, tmp_path):
    (tmp_path / "talk.json").write_text(json.dumps([SAMPLE]))
    code, out, err = cli("bench", "grounding", "--data", "talk.json", "--json", "--output", "kept")
    assert code == 0, err
    found = json.loads(out)
    assert json.loads((tmp_path / "kept.json").read_text()) == found
    assert (found["true"]["n"], found["true"]["refused"]) == (3, 0.3333)
    assert found["true"]["reasons"] == {"content": 1}
    kinds = found["altered"]["by_kind"]
    assert {kind: share["n"] for kind, share in kinds.items()} == {
        "name": 2, "number": 1, "speaker": 3, "subject": 3, "negation": 3,
    }  # fmt: skip
    # "Bo has a cat in Oslo": the turn before his is of Oslo, so one of the two other names is not seen.
    assert {kind: share["caught"] for kind, share in kinds.items()} == {
        "name": 0.5, "number": 1.0, "speaker": 1.0, "subject": 1.0, "negation": 1.0,
    }  # fmt: skip
    assert found["commit"]
    code, out, _ = cli("bench", "grounding", "--data", "talk.json")
    assert code == 0
    assert any("other number" in line and "1.000" in line for line in out.splitlines())
