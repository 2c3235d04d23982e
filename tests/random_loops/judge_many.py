"""Judges the facts of many random programs and prints a table: `judge_many.py [COUNT [FIRST]]`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from loop_verdicts import FRONTENDS, QUESTIONS, judged, programs_from

OUTCOMES = ("exact", "at most", "withheld", "wrong")


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    shown = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    table: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str], list[str]] = {}
    programs = 0
    for batch, known in programs_from(range(first, first + count)):
        programs += len(batch)
        by_seed = {one.seed: one for one in batch}
        for verdict in judged(batch, known):
            table[verdict.question, verdict.frontend, verdict.outcome] += 1
            if verdict.outcome == "wrong":
                kinds = ", ".join(sorted(by_seed[verdict.seed].kinds))
                examples.setdefault((verdict.question, verdict.frontend), []).append(
                    f"    {verdict.seed}: {verdict.told[:230]} [{kinds[:150]}]"
                )
    print(f"{programs} programs")
    print(f"{'':12} {'front end':10} {'answers':>8}" + "".join(f"{o:>10}" for o in OUTCOMES))
    for question in QUESTIONS:
        for frontend in (*FRONTENDS, "both"):
            row = [table[question, frontend, outcome] for outcome in OUTCOMES]
            if sum(row):
                cells = "".join(f"{100 * number / sum(row):9.2f}%" for number in row)
                print(f"{question:12} {frontend:10} {sum(row):8}{cells}")
                for line in examples.get((question, frontend), [])[:shown]:
                    print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
