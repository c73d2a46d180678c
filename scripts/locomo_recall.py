"""Recall and cost on LoCoMo, through the public interface; the full harness is `mnemic bench` (a later version).

Development half: conv-26, 30, 41, 42, 43. Test half: conv-44, 47, 48, 49, 50. Nothing was tuned on the test half.
An evidence turn counts as found when one of the first k traces contains it. Questions of category 5 (no answer
in memory) and questions without a usable evidence id are left out.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mnemic import Memory, importers
from mnemic.config import Configuration, Environment, Fusion, Hero
from mnemic.models import registry

if TYPE_CHECKING:
    from mnemic.protocols import Embedder, Floats

TEST = ("conv-44", "conv-47", "conv-48", "conv-49", "conv-50")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
DEPTHS = (5, 10)
SPECIFIED_TRACES = (168, 128, 244, 208, 239, 240, 222, 221, 179, 231)
PAPER = Hero(tau_init=0.4, tau_iter=0.4, tau_alias=0.8, alpha=1.0, rounds=2, follow=0.5, names="keep")


class Timed:
    """An embedder that counts the CPU seconds spent in it."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the embedder has
        return getattr(self.embedder, name)

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"] = "passage") -> Floats:
        started = time.process_time()
        try:
            return self.embedder.embed(texts, kind=kind)
        finally:
            self.seconds += time.process_time() - started


def gold(question: dict[str, Any], known: set[str]) -> list[str]:
    """Usable evidence ids, malformed ones repaired (methods.md 4.1)."""
    found = (re.findall(r"D:?(\d+):0*(\d+)", entry) for entry in question.get("evidence", []))
    return sorted({f"D{session}:{turn}" for ids in found for session, turn in ids} & known)


def run(file: Path, folder: Path, extractor: str, configs: dict[str, Configuration]) -> dict[str, Any]:
    """Import the ten conversations and ask every question under every configuration."""
    timed = Timed(registry.embedder("local"))
    timed.embed(["warm up"])
    conversations = json.loads(file.read_text(encoding="utf-8"))
    report: dict[str, Any] = {"ingest": [], "rows": {name: [] for name in configs}}
    for position, conversation in enumerate(conversations):
        user = conversation["sample_id"]
        database = folder / f"{extractor}-{user}.db"
        with Memory.open(database, embedder=timed, cue_extractor=extractor) as memory:
            timed.seconds, started = 0.0, time.process_time()
            for record in importers.read(file):
                if isinstance(record, importers.Conversation) and record.user_id == user:
                    memory.add(list(record.messages), user_id=user, session_id=record.session_id)
            spent = time.process_time() - started
            counts = memory.status(user_id=user).counts
            known = {turn.turn_id for turn in memory.get_all(user_id=user)}
            report["ingest"].append(
                {
                    "conversation": user,
                    "cpu_s": spent,
                    "embedder_share": timed.seconds / spent,
                    "traces": counts.traces,
                    "traces_specified": SPECIFIED_TRACES[position],
                    "units": counts.units,
                    "cues": counts.cues,
                    "notes": counts.notes,
                }
            )
            for name, config in configs.items():
                report["rows"][name] += ask(memory, timed, conversation, known, config)
        # Closed: the write-ahead log is part of the file by now.
        report["ingest"][-1]["bytes"] = sum(file.stat().st_size for file in folder.glob(f"{database.name}*"))
    return report


def ask(
    memory: Memory, timed: Timed, conversation: dict[str, Any], known: set[str], config: Configuration
) -> list[dict[str, Any]]:
    user = conversation["sample_id"]
    memory.search("warm up", user_id=user, config=config)
    rows: list[dict[str, Any]] = []
    for number, question in enumerate(conversation["qa"]):
        wanted = gold(question, known)
        if question["category"] not in CATEGORIES or not wanted:
            continue
        timed.seconds, started = 0.0, time.process_time()
        hits = memory.search(question["question"], user_id=user, top_k=max(DEPTHS), config=config).results
        spent = time.process_time() - started
        row: dict[str, Any] = {
            "id": f"{user}/{number}",
            "half": "test" if user in TEST else "dev",
            "category": CATEGORIES[question["category"]],
            "cpu_ms": spent * 1000,
            "cpu_ms_without_embedding": (spent - timed.seconds) * 1000,
        }
        for depth in DEPTHS:
            found = {turn_id for hit in hits[:depth] for turn_id in hit.turn_ids}
            row[f"found@{depth}"] = [turn_id in found for turn_id in wanted]
        rows.append(row)
    return rows


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over questions."""
    return {
        "n": len(rows),
        "fraction": {
            str(k): round(statistics.mean(statistics.mean(row[f"found@{k}"]) for row in rows), 4) for k in DEPTHS
        },
        "hit_any": {str(k): round(statistics.mean(any(row[f"found@{k}"]) for row in rows), 4) for k in DEPTHS},
    }


def cost(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {
        "cpu_ms_p50": round(statistics.median(row["cpu_ms"] for row in rows), 2),
        "cpu_ms_p95": round(statistics.quantiles((row["cpu_ms"] for row in rows), n=20)[-1], 2),
        "cpu_ms_p50_without_embedding": round(statistics.median(row["cpu_ms_without_embedding"] for row in rows), 2),
    }


def result(rows: list[dict[str, Any]], config: Configuration, extractor: str) -> dict[str, Any]:
    halves = {half: [row for row in rows if row["half"] == half] for half in ("dev", "test")}
    return {
        "configuration": {type(config).__name__: asdict(config), "cue_extractor": extractor},
        **{half: summary(of_half) for half, of_half in halves.items()},
        "test_by_category": {
            category: summary([row for row in halves["test"] if row["category"] == category])
            for category in CATEGORIES.values()
        },
        "query": cost(rows),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="also write the results, as JSON, to this file")
    arguments = parser.parse_args()
    file = Environment.read().data / "locomo" / "locomo10.json"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = run(file, folder, "rules", {"default": Fusion(), "hero": Hero()})
        papers = run(file, folder, "spacy", {"hero_spacy_paper": PAPER})
    ingest = ours["ingest"]
    report = {
        "dataset": "LoCoMo, locomo10.json",
        "level": "trace",
        "commit": subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip(),
        "python": platform.python_version(),
        "default": result(ours["rows"]["default"], Fusion(), "rules"),
        "hero": result(ours["rows"]["hero"], Hero(), "rules"),
        "hero_spacy_paper": result(papers["rows"]["hero_spacy_paper"], PAPER, "spacy"),
        "ingest": {
            "cpu_s_mean": round(statistics.mean(row["cpu_s"] for row in ingest), 1),
            "cpu_s_max": round(max(row["cpu_s"] for row in ingest), 1),
            "embedder_share_mean": round(statistics.mean(row["embedder_share"] for row in ingest), 3),
            "megabytes_max": round(max(row["bytes"] for row in ingest) / 1e6, 2),
            "conversations": [
                {key: value for key, value in row.items() if key not in ("cpu_s", "embedder_share")} for row in ingest
            ],
        },
    }
    text = json.dumps(report, indent=1)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
