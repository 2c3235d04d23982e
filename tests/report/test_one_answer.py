"""One number of threads for the whole program, the same in every form, with serial code in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regionpredict.api import predict
from regionpredict.predict.constants import PROGRAM_SLACK

MACHINE = "skylake-gold-6148"
LOOP = "    for (int i = 0; i < 4000000; i++) {v}[i] = {v}[i] / (1.0 + {v}[i]);\n"
SOURCE = (
    "static double a[4000000], b[4000000];\n"
    "static void alone(void)\n{\n" + LOOP.format(v="b") + "}\n"
    "static void shared(void)\n{\n#pragma omp parallel for\n" + LOOP.format(v="a") + "}\n"
    "int main(void)\n{\n"
    "    for (int t = 0; t < 5; t++) {\n        shared();\n        SERIAL\n    }\n"
    "    return b[7] > a[7];\n}\n"
)


def _forms(folder: Path, serial: str, *forms: str, source: str = SOURCE) -> list[str]:
    (folder / "f.c").write_text(source.replace("SERIAL", serial))
    return [
        subprocess.run(
            [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", MACHINE, "--format",
             form],
            cwd=folder, capture_output=True, text=True, check=True,
        ).stdout
        for form in forms
    ]  # fmt: skip


def _program(folder: Path, serial: str, source: str = SOURCE) -> dict[str, Any]:
    document = json.loads(_forms(folder, serial, "json", source=source)[0])
    assert document["programs"] == [document["program"]]
    program: dict[str, Any] = document["program"]
    return program


def test_every_form_has_the_same_number(tmp_path: Path) -> None:
    table, document, job, log, page = _forms(
        tmp_path, "alone();", "table", "json", "slurm", "sarif", "html"
    )
    program = json.loads(document)["program"]
    threads, speedup = program["threads"], program["speedup"]
    answer = f"Use {threads} threads on {program['packages']} package"
    assert table.startswith(f"{answer}: {speedup:.1f}x faster than 1 thread.\n")
    share = f"{100 * program['serial_share']:.0f} %"
    assert f"\nSerial parts: {share} of the time at {threads} threads.\n" in table
    assert f"--cpus-per-task={threads}\n" in job and f"OMP_NUM_THREADS={threads}\n" in job
    assert json.loads(log)["runs"][0]["properties"]["program"] == program
    assert answer in page
    known = predict(tmp_path / "f.c", MACHINE).recommendation
    assert known is not None
    assert (known.threads, known.packages) == (threads, program["packages"])
    assert program["low"] <= speedup <= program["high"]
    assert program["main"] == "f.c" and program["sizes_from"] == "source"


def test_serial_code_bounds_what_threads_gain(tmp_path: Path) -> None:
    """The same loop once by all threads and once by one: less than twice as fast (Amdahl)."""
    without, one = _program(tmp_path, ""), _program(tmp_path, "alone();")
    assert without["serial_share"] == 0 and without["speedup"] > 4
    assert 1 < one["speedup"] < 2 and one["threads"] < without["threads"]
    # What is left beside the serial loop is the parallel one, as fast as these threads make it.
    serial = one["serial_share"] * one["seconds"]
    whole = one["speedup"] * one["seconds"]
    assert whole - serial == pytest.approx(without["speedup"] * without["seconds"], rel=1e-3)
    assert serial == pytest.approx(whole - serial, rel=0.3)
    assert one["seconds"] <= (1 + PROGRAM_SLACK.value) * (serial + without["seconds"])


def test_serial_code_counts_as_often_as_it_runs(tmp_path: Path) -> None:
    """Three times in each of five turns; a loop around it multiplies, a call out of reach is 0."""
    once, thrice = _program(tmp_path, "alone();"), _program(tmp_path, "alone(); alone(); alone();")
    around = _program(tmp_path, "for (int k = 0; k < 3; k++) alone();")
    seconds = [own["serial_share"] * own["seconds"] for own in (once, thrice, around)]
    assert seconds[1:] == [pytest.approx(3 * seconds[0], rel=0.01)] * 2
    assert _program(tmp_path, "if (0) alone();")["serial_share"] == 0


def test_a_serial_loop_that_calls_no_team_is_one_nest(tmp_path: Path) -> None:
    """Written where it is called, it takes the same time."""
    inlined = LOOP.format(v="b").strip()
    once, here = _program(tmp_path, "alone();"), _program(tmp_path, inlined)
    assert here["serial_share"] == pytest.approx(once["serial_share"], rel=0.01)


def test_a_serial_loop_that_only_reads_counts_at_the_size_assumed_for_the_others(
    tmp_path: Path,
) -> None:
    """The sum of a mesh of unknown size goes through as many elements as the loop over it that
    threads share, and waits for each addition."""
    (tmp_path / "f.c").write_text(
        "struct mesh { int n; double *x; };\nextern void setup(struct mesh *);\n"
        "static void scale(struct mesh *m) {\n#pragma omp parallel for\n"
        "  for (int i = 0; i < m->n; i++) m->x[i] *= 2.0;\n}\n"
        "static double total(struct mesh *m) {\n  double sum = 0;\n"
        "  for (int i = 0; i < m->n; i++) sum += m->x[i];\n  return sum;\n}\n"
        "int main(void) { struct mesh m; setup(&m); scale(&m); return total(&m) > 0; }\n"
    )
    made = predict(tmp_path / "f.c", MACHINE).recommendation
    assert made is not None
    assert made.unknown_serial == () and made.seconds is not None
    alone = made.serial_share * made.seconds
    assert 1 < alone / (made.speedup * made.seconds - alone) < 4


def test_loops_with_races_are_a_share_of_the_time(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(
        "double last, a[4000000], b[4000000];\nint main(void) {\n#pragma omp parallel for\n"
        + LOOP.format(v="a")
        + "#pragma omp parallel for\n  for (int i = 0; i < 4000000; i++) "
        "{ last = b[i] / (1.0 + b[i]); b[i] = last; }\n}\n"
    )
    words = [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", MACHINE]
    table = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    program = json.loads(
        subprocess.run([*words, "--format", "json"], cwd=tmp_path, capture_output=True, text=True,
                       check=True).stdout
    )["program"]  # fmt: skip
    assert 0.5 < program["race_share"] < 1
    share = f"{100 * program['race_share']:.0f}"
    assert f"\nData races: in regions with {share} % of the time. Such regions count" in table


# Region 1 is a loop of a few iterations, region 2 the work behind a call through a template.
BEHIND_A_TEMPLATE = (
    "static double a[4000000];\n"
    "template <class T> void scale(T *v) {\n#pragma omp parallel for\n" + LOOP.format(v="v") + "}\n"
    "template <class T> void driver(T *v) { T *own = v; scale(own); }\n"
    "int main() {\n    int team = 0;\n#pragma omp parallel for reduction(+:team)\n"
    "    for (int i = 0; i < 8; i++) team++;\n    CALL\n    return team;\n}\n"
)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("driver<double>(a);", id="instance"),
        pytest.param("driver<SCALAR>(a);", id="a call that the parser drops"),
    ],
)
def test_work_behind_a_template_is_not_left_out(tmp_path: Path, call: str) -> None:
    """`main` reaches the small loop for sure; the large one, too, or it may: never 1 thread."""
    (tmp_path / "f.cpp").write_text(BEHIND_A_TEMPLATE.replace("CALL", call))
    made = predict(tmp_path / "f.cpp", MACHINE).recommendation
    assert made is not None and made.threads > 4


def test_the_answer_names_its_rule(tmp_path: Path) -> None:
    program = _program(tmp_path, "alone();")
    assert program["rule"] == "fewest threads within 10 % of the least time"
    (job,) = _forms(tmp_path, "alone();", "slurm")
    assert re.search(rf"^# one number for the whole program: the {program['rule']}$", job, re.M)


def test_a_program_for_a_device_alone_says_that_it_has_no_recommendation(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(
        "void work(void);\nint main(void) {\n#pragma omp target\n  work();\n}\n"
    )
    words = [sys.executable, "-m", "regionpredict", "predict", "f.c", "-m", MACHINE]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("No recommendation: no loop has a prediction.\n")


def test_a_serial_loop_with_much_of_the_time_is_fixed_first(tmp_path: Path) -> None:
    table, document = _forms(tmp_path, "alone();", "table", "json")
    share = json.loads(document)["program"]["serial_share"]
    line = 1 + SOURCE[: SOURCE.index("for (", SOURCE.index("void alone"))].count("\n")
    words = " ".join(table.split())
    part = f"{100 * share:.0f} % of the time"
    assert f"Fix first: the serial code at f.c:{line} takes {part}" in words


@pytest.mark.parametrize(
    ("before", "alone"),
    [
        ("#pragma omp single", LOOP.format(v="b")), ("#pragma omp single", "alone();"),
        ("#pragma omp master", LOOP.format(v="b")), ("#pragma omp masked", "alone();"),
        ("if (omp_get_thread_num() == 0)", LOOP.format(v="b")), ("", LOOP.format(v="b")),
    ],
)  # fmt: skip
def test_one_thread_of_a_parallel_region_is_serial(tmp_path: Path, before: str, alone: str) -> None:
    """A loop in `single` costs the program as much as the same loop outside of the region. So does
    a loop that every thread repeats."""
    inside = _in_parallel(f"{before}\n    {{ {alone} }}\n#pragma omp barrier")
    known, found = _program(tmp_path, "alone();"), _program(tmp_path, "", inside)
    assert found["serial_share"] == pytest.approx(known["serial_share"], rel=0.02)
    assert found["threads"] == known["threads"]


@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = t * (n / p); i < (t + 1) * (n / p); i++)", "for (int i = t; i < n; i += p)",
        "for (int i = 0; i < n; i++) if (i % p == t)",
        "for (int i = 0; i < n; i++) { int own = i % p == t; if (own)",
    ],
)  # fmt: skip
def test_a_loop_that_threads_divide_by_hand_is_not_serial(tmp_path: Path, loop: str) -> None:
    end = "}" if "{" in loop else ""
    divided = (
        "int t = omp_get_thread_num(), p = omp_get_num_threads(), n = 4000000;\n"
        f"{loop} b[i] = b[i] / (1.0 + b[i]);{end}\n#pragma omp barrier"
    )
    assert not _program(tmp_path, "", _in_parallel(divided))["serial_share"]


def _in_parallel(before: str) -> str:
    """The program with statements before the loop of its parallel region."""
    loop = LOOP.format(v="a")
    region = f"#pragma omp parallel\n    {{\n{before}\n#pragma omp for\n{loop}    }}\n"
    made = SOURCE.replace(f"#pragma omp parallel for\n{loop}", region)
    assert made != SOURCE
    return "#include <omp.h>\n" + made
