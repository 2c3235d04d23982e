"""Which functions of a file are read, and how often a file is parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from regionpredict.frontend import SourceRequest, parse_file, requests_for
from regionpredict.frontend.libclang_reader import bindings
from regionpredict.frontend.libclang_reader.parsing import GuessingParser
from regionpredict.frontend.lowering.symbolic_values import Context
from regionpredict.pipeline import analyse

LOOP = "#pragma omp parallel for\n  for (int i = 0; i < n; i++) a[i] = 0.0;\n"


def test_without_an_active_directive_no_function_is_read(tmp_path: Path) -> None:
    main = f"#ifdef PARALLEL\nvoid run(int n, double *a) {{\n{LOOP}}}\n#endif\nint main() {{}}\n"
    Path(tmp_path, "main.cpp").write_text(main)
    request = SourceRequest(str(tmp_path / "main.cpp"))
    assert parse_file(request, "libclang", flows=True, defer=True).flows == []


@pytest.mark.parametrize("active", [True, False])
def test_one_active_directive_makes_all_files_be_read(tmp_path: Path, active: bool) -> None:
    Path(tmp_path, "off.c").write_text(
        f"#ifdef OFF\nvoid off(int n, double *a) {{\n{LOOP}}}\n#endif\nvoid on(int, double *);\n"
        "int main(void) { static double a[9]; on(9, a); return 0; }\n"
    )
    guard = "#ifndef OFF" if active else "#ifdef OFF"
    Path(tmp_path, "on.c").write_text(f"{guard}\nvoid on(int n, double *a) {{\n{LOOP}}}\n#endif\n")
    program = analyse(requests_for([str(tmp_path)]), {}).program
    assert len(program.regions) == active
    assert {flow.function for flow in program.flows} == ({"main", "on"} if active else set())


def test_folders_of_all_missing_headers_are_guessed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second", "third"):
        Path(tmp_path, "lib", name).mkdir(parents=True)
        Path(tmp_path, "lib", name, f"{name}.h").write_text(f"int {name}(void);\n")
    Path(tmp_path, "main.c").write_text(
        "#include <first.h>\n#include <second.h>\n#include <third.h>\nint main(void) {}\n"
    )
    parses = []
    parse = bindings.parse
    monkeypatch.setattr(bindings, "parse", lambda *given: parses.append(given[1]) or parse(*given))
    [request] = [r for r in requests_for([str(tmp_path)]) if r.path.endswith("main.c")]
    unit = GuessingParser(request).parse()
    assert unit.missing_headers() == []
    unit.close()
    assert len(parses) == 2


def test_nested_calls_are_read_a_limited_number_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    called = Context._call_value
    monkeypatch.setattr(
        Context, "_call_value", lambda *given: reads.append(given[1].name) or called(*given)
    )
    counts = []
    for depth in (60, 120):
        nested = "f(" * depth + "n" + ")" * depth
        Path(tmp_path, "main.c").write_text(
            f"int f(int n) {{\ndouble a[9];\nn = {nested};\n{LOOP}  return a[0];\n}}\n"
        )
        reads.clear()
        analyse(requests_for([str(tmp_path)]), {})
        counts.append(len(reads))
    assert 0 < counts[1] <= 2 * counts[0] + 2 * depth
