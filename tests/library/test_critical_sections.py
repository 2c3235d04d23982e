"""Calls that lock, as the constructs that they stand for: by hand, through both front ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from further_cases import further_slow

from regionpredict.frontend import requests_for
from regionpredict.ir import Branch, Loop, Node, Region, Statement, Synchronisation
from regionpredict.machine import load
from regionpredict.pipeline import analyse, predict_region
from tests.frontend.reading import FRONTENDS, program_of

HEAD = """#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#define N 1000000
static double tot, cell[N];
static int idx[N], count;
static omp_lock_t lk, other, many[N];
static omp_nest_lock_t nested;
static pthread_mutex_t mu;
static pthread_spinlock_t spin;
static pthread_rwlock_t rw;
static sem_t sem;
static volatile int word;
struct item { omp_lock_t guard; double v; };
static struct item items[N];
static void take(omp_lock_t *l) { omp_set_lock(l); }
static void give(omp_lock_t *l) { omp_unset_lock(l); }
static void add(double d) { pthread_mutex_lock(&mu); tot += d; pthread_mutex_unlock(&mu); }
"""


def source(body: str) -> str:
    loop = f"#pragma omp parallel for\nfor (int i = 0; i < N; i++) {{\n{body}\n}}"
    return f"{HEAD}void f(double *a, int k)\n{{\n{loop}\n}}\n"


def region(folder: Path, body: str, frontend: str) -> Region:
    (found,) = program_of(folder, source(body), frontend).regions
    return found


def shape(nodes: tuple[Node, ...]) -> list[object]:
    """Statements by their text, everything else by its kind and what is inside."""
    shown: list[object] = []
    for node in nodes:
        if isinstance(node, Statement):
            shown.append(node.text)
        elif isinstance(node, Loop):
            shown.append(("loop", shape(node.body)))
        elif isinstance(node, Branch):
            shown.append(("if", *(shape(side) for side in node.sides)))
        else:
            shown.append((node.kind, shape(node.body)))
    return shown


def body(found: Region) -> list[object]:
    assert found.nest is not None
    return shape(found.nest.body)


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("take", "give"),
    [
        ("omp_set_lock(&lk)", "omp_unset_lock(&lk)"),
        ("omp_set_nest_lock(&nested)", "omp_unset_nest_lock(&nested)"),
        ("pthread_mutex_lock(&mu)", "pthread_mutex_unlock(&mu)"),
        ("pthread_spin_lock(&spin)", "pthread_spin_unlock(&spin)"),
        ("take(&lk)", "give(&lk)"),
        ("while (!omp_test_lock(&lk))", "omp_unset_lock(&lk)"),
        ("while (pthread_mutex_trylock(&mu))", "pthread_mutex_unlock(&mu)"),
        ("sem_wait(&sem)", "sem_post(&sem)"),
        ("pthread_rwlock_wrlock(&rw)", "pthread_rwlock_unlock(&rw)"),
        ("while (__sync_lock_test_and_set(&word, 1)) while (word)", "__sync_lock_release(&word)"),
        ("while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE))",
         "__atomic_store_n(&word, 0, __ATOMIC_RELEASE)"),
        ("while (!__sync_bool_compare_and_swap(&word, 0, 1))", "word = 0"),
    ],
)  # fmt: skip
def test_one_lock_is_a_critical_section(
    tmp_path: Path, frontend: str, take: str, give: str
) -> None:
    found = region(tmp_path, f"{take};\ntot += a[i];\n{give};\na[i] = 0.0;", frontend)
    assert body(found) == [("critical", ["tot += a[i]"]), "a[i] = 0.0"]
    assert not found.diagnostics


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_readers_update_the_lock_and_do_not_wait(tmp_path: Path, frontend: str) -> None:
    text = "pthread_rwlock_rdlock(&rw);\na[i] = cell[i];\npthread_rwlock_unlock(&rw);"
    update = ("atomic", ["pthread_rwlock_rdlock(rw)"])
    found = region(tmp_path, text, frontend)
    assert body(found) == [update, "a[i] = cell[i]", update]
    assert not found.diagnostics


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_function_that_locks_is_followed(tmp_path: Path, frontend: str) -> None:
    found = region(tmp_path, "add(a[i]);", frontend)
    assert body(found)[-1] == ("critical", ["tot += d"])


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_two_locks_are_two_sections(tmp_path: Path, frontend: str) -> None:
    """Each ends with the release of its own lock, one inside the other or one after the other."""
    inside = region(
        tmp_path,
        "omp_set_lock(&lk); omp_set_lock(&other); tot += 1; omp_unset_lock(&other);"
        " cell[0] += 1; omp_unset_lock(&lk);",
        frontend,
    )
    assert body(inside) == [("critical", [("critical", ["tot += 1"]), "cell[0] += 1"])]
    after = region(
        tmp_path,
        "omp_set_lock(&lk); tot += 1; omp_unset_lock(&lk);"
        " omp_set_lock(&lk); cell[0] += 1; omp_unset_lock(&lk);",
        frontend,
    )
    assert body(after) == [("critical", ["tot += 1"]), ("critical", ["cell[0] += 1"])]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_side_that_releases_early_does_not_end_the_section(tmp_path: Path, frontend: str) -> None:
    found = region(
        tmp_path,
        "omp_set_lock(&lk); if (idx[i] == k) { omp_unset_lock(&lk); continue; }"
        " tot += 1; omp_unset_lock(&lk);",
        frontend,
    )
    assert body(found) == [("critical", ["idx[i] == k", ("if", [], ["tot += 1"])])]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_lock_that_may_not_be_had_guards_its_side(tmp_path: Path, frontend: str) -> None:
    found = region(tmp_path, "if (omp_test_lock(&lk)) { tot += 1; omp_unset_lock(&lk); }", frontend)
    assert body(found) == [("critical", [("if", ["tot += 1"])])]


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_lock_that_is_not_released_is_a_section_of_its_own(tmp_path: Path, frontend: str) -> None:
    found = region(tmp_path, "omp_set_lock(&lk); tot += 1;", frontend)
    assert body(found) == [("critical", ["omp_set_lock()"]), "tot += 1"]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("lock", "place"),
    [
        ("&many[i]", ("many", "i", "")),
        ("&many[idx[i]]", ("many", "idx[i]", "")),
        ("many + idx[i]", ("many", "idx[i]", "")),
        ("&items[idx[i]].guard", ("items", "idx[i]", "guard")),
    ],
)
def test_a_chosen_lock_makes_nobody_else_wait(
    tmp_path: Path, frontend: str, lock: str, place: tuple[str, str, str]
) -> None:
    """Taking it is an atomic update of its element; what it guards is no critical section."""
    found = region(
        tmp_path, f"omp_set_lock({lock}); cell[idx[i]] += 1.0; omp_unset_lock({lock});", frontend
    )
    assert found.nest is not None
    (section,) = found.nest.body
    assert not isinstance(section, Statement)
    assert getattr(section, "kind", "") == "lock"
    update = section.body[0]  # type: ignore[union-attr]
    assert getattr(update, "kind", "") == "atomic"
    (statement,) = update.body
    (write,) = [access for access in statement.accesses if access.kind == "write"]
    assert (write.array, str(write.subscripts[0]), write.member) == place
    assert section.body[1].text == "cell[idx[i]] += 1.0"  # type: ignore[union-attr]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("index", ["3", "k"])
def test_one_element_of_many_is_one_lock(tmp_path: Path, frontend: str, index: str) -> None:
    found = region(
        tmp_path,
        f"omp_set_lock(&many[{index}]); tot += 1.0; omp_unset_lock(&many[{index}]);",
        frontend,
    )
    assert body(found) == [("critical", ["tot += 1.0"])]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize("call", ["rand()", "random()", "drand48()", "lrand48()", "mktime(0)"])
def test_a_hidden_lock_is_a_section_a_call(tmp_path: Path, frontend: str, call: str) -> None:
    found = region(tmp_path, f"a[i] = {call} + {call};", frontend)
    section = ("critical", [call.replace("(0)", "()")])
    assert body(found) == [section, section, f"a[i] = {call} + {call}"]
    (last,) = [statement for statement, _ in found.statements() if statement.accesses]
    assert not last.calls
    assert [str(operation) for operation, _ in last.operations] in (
        ["fp_add.64"], ["int_add.32"], ["int_add.64"],
    )  # fmt: skip


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "text", ["a[rand() % 9] = 1;", "struct item p = items[rand() % 9]; a[i] = p.v;"]
)
def test_a_hidden_lock_in_a_subscript_is_a_section(
    tmp_path: Path, frontend: str, text: str
) -> None:
    found = region(tmp_path, text, frontend)
    assert body(found)[0] == ("critical", ["rand()"])


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_output_of_each_iteration_waits_and_a_message_does_not(
    tmp_path: Path, frontend: str
) -> None:
    always = body(region(tmp_path, 'printf("%g", a[i]);', frontend))
    assert always[0] == ("critical", ["printf()"])
    (_, branch) = body(region(tmp_path, 'if (a[i] < 0) printf("%g", a[i]);', frontend))
    assert isinstance(branch, tuple)
    assert not any(isinstance(node, tuple) for node in branch[1])


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_pthread_barrier_is_a_barrier(tmp_path: Path, frontend: str) -> None:
    text = HEAD + (
        "static pthread_barrier_t all;\nvoid f(double *a)\n{\n#pragma omp parallel for\n"
        "for (int i = 0; i < N; i++) { a[i] = 1; pthread_barrier_wait(&all); }\n}\n"
    )
    (found,) = program_of(tmp_path, text, frontend).regions
    assert body(found) == ["a[i] = 1", ("barrier", [])]


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    ("call", "place"),
    [
        ("__sync_fetch_and_add(&idx[i], 1)", ["read idx[i]", "write idx[i]"]),
        ("__sync_bool_compare_and_swap(&idx[idx[i]], 0, 1)",
         ["read idx[idx[i]]", "write idx[idx[i]]"]),
        ("__sync_add_and_fetch(&count, 1)", ["count"]),
    ],
)  # fmt: skip
def test_an_atomic_operation_is_an_atomic_update(
    tmp_path: Path, frontend: str, call: str, place: list[str]
) -> None:
    found = region(tmp_path, f"{call};", frontend)
    assert found.nest is not None
    update = found.nest.body[0]
    assert isinstance(update, Synchronisation)
    assert update.kind == "atomic"
    (statement,) = update.body
    assert isinstance(statement, Statement)
    shown = [f"{one.kind} {one.array}[{one.subscripts[0]}]" for one in statement.accesses]
    assert (shown or sorted(statement.reads & statement.writes)) == place
    assert not found.diagnostics


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_an_atomic_operation_on_memory_that_is_not_known_says_so(
    tmp_path: Path, frontend: str
) -> None:
    text = "__sync_fetch_and_add((int *)(long)a[i], 1);"
    assert "RP113" in {note.id for note in region(tmp_path, text, frontend).diagnostics}


CPLUSPLUS = """#include <mutex>
static std::mutex mu, other;
static std::recursive_mutex again;
static double tot;
struct account { std::mutex own; double v; void add(double d) { MADE; v += d; } };
"""


@pytest.mark.parametrize(
    ("text", "made"),
    further_slow(4, [
        ("mu.lock(); tot += a[i]; mu.unlock();", [("critical", ["tot += a[i]"])]),
        ("again.lock(); tot += a[i]; again.unlock();", [("critical", ["tot += a[i]"])]),
        ("{ std::lock_guard<std::mutex> g(mu); tot += a[i]; } a[i] = 0;",
         [("critical", ["tot += a[i]"]), "a[i] = 0"]),
        ("a[i] = 0; std::unique_lock<std::mutex> g(mu); tot += a[i];",
         ["a[i] = 0", ("critical", ["tot += a[i]"])]),
        ("std::unique_lock<std::mutex> g(mu); tot += a[i]; g.unlock(); a[i] = 0;",
         [("critical", ["tot += a[i]"]), "a[i] = 0"]),
        ("std::unique_lock<std::mutex> g(mu, std::defer_lock); a[i] = 0; g.lock(); tot += a[i];",
         ["a[i] = 0", ("critical", ["tot += a[i]"])]),
        ("std::scoped_lock<std::mutex, std::mutex> g(mu, other); tot += a[i];",
         [("critical", [("critical", ["tot += a[i]"])])]),
        ("c.add(1.0); c.add(2.0);", [("critical", ["v += d"]), ("critical", ["v += d"])]),
        ("std::lock_guard<std::mutex> g(mu); if (a[i] < 0) continue; tot += a[i];",
         [("critical", ["a[i] < 0", ("if", [], ["tot += a[i]"])])]),
    ]),
)  # fmt: skip
def test_cplusplus_locks_and_their_guards(tmp_path: Path, text: str, made: list[object]) -> None:
    """A guard holds its lock to the end of its block, unless it gives it back."""
    loop = f"#pragma omp parallel for\nfor (int i = 0; i < n; i++) {{ {text} }}"
    head = CPLUSPLUS.replace("MADE", "std::lock_guard<std::mutex> g(own)")
    (found,) = program_of(
        tmp_path, f"{head}void f(int n, double *a, account &c) {{\n{loop}\n}}\n", "libclang",
        name="case.cpp",
    ).regions  # fmt: skip
    assert body(found) == made


COUNTED = """#include <iostream>
#include <memory>
#include <sstream>
#include <vector>
static double last(std::shared_ptr<double> p) { return *p; }
static double seen(const std::shared_ptr<double> &p) { return *p; }
void f(int n, double *a, std::shared_ptr<double> p, std::vector<std::shared_ptr<double>> &v,
       std::ostream &out)
{
#pragma omp parallel for
for (int i = 0; i < n; i++) { BODY }
}
"""


@pytest.mark.parametrize(
    ("text", "waits"),
    further_slow(5, [
        ("a[i] = last(p);", ["atomic"]), ("a[i] = last(v[i]);", ["atomic"]),
        ("std::shared_ptr<double> own = p; a[i] = *own;", ["atomic"]),
        ("a[i] = seen(p);", []), ("const auto &own = v[i]; a[i] = *own;", []),
        ("a[i] = *p;", []), ("auto own = std::move(v[i]); a[i] = *own;", []),
        ("std::cout << a[i] << std::endl;", ["critical", "critical"]),
        ("std::ostringstream own; own << a[i];", []),
        ("if (a[i] < 0) std::cerr << a[i];", []),
    ]),
)  # fmt: skip
def test_copies_of_shared_pointers_and_standard_output_make_threads_wait(
    tmp_path: Path, text: str, waits: list[str]
) -> None:
    (found,) = program_of(tmp_path, COUNTED.replace("BODY", text), "libclang",
                          name="case.cpp").regions  # fmt: skip
    kinds = [part[0] for part in body(found) if isinstance(part, tuple) and part[0] != "if"]
    assert kinds == waits, body(found)


GUARDED = {
    "critical": "\n#pragma omp critical\n{ tot += a[i]; }",
    "lock": "omp_set_lock(&lk); tot += a[i]; omp_unset_lock(&lk);",
    "mutex": "pthread_mutex_lock(&mu); tot += a[i]; pthread_mutex_unlock(&mu);",
}


@pytest.mark.parametrize("frontend", FRONTENDS)
def test_a_lock_costs_what_the_directive_costs(tmp_path: Path, frontend: str) -> None:
    """One time on every number of threads, the same hint, and none of it a race."""
    machine = load("skylake-gold-6148")
    hints = []
    for number, guarded in enumerate(GUARDED.values()):
        path = tmp_path / f"case{number}.c"
        path.write_text(source(guarded))
        analysis = analyse(requests_for([str(path)]), {}, frontend=frontend)
        (facts,) = analysis.facts
        assert not {note.id for note in facts.diagnostics} & {"RP221", "RP222", "RP224"}
        made = predict_region(facts, machine)
        hints.append((made.speedup, made.threads, made.bottleneck, made.confidence))
    assert hints[0] == hints[1] == hints[2]
    assert hints[0][1:3] == (1, "serialization")


ATOMICS = """#include <stdatomic.h>
#define N 1000000
static long c, h[1000]; static int idx[N]; static double *x;
static _Atomic int own, owns[1000];
#define BUMP(p) __atomic_fetch_add(p, 1, __ATOMIC_RELAXED)
void f(void)
{
#pragma omp parallel for
for (int i = 0; i < N; i++) {
BODY
}
}
"""


@pytest.mark.parametrize(
    "text",
    [
        "__sync_fetch_and_add(&c, 1);", "__atomic_fetch_add(&c, 1, __ATOMIC_RELAXED);",
        "__atomic_add_fetch(&c, 1, 5);", "__atomic_store_n(&c, i, 5);", "BUMP(&c);", "own++;",
        "--own;", "own += i;", "own = i;", "atomic_fetch_or(&own, 3);", "BUMP(&h[idx[i]]);",
        "owns[idx[i]] |= 4;",
        "long o = c; while (!__atomic_compare_exchange_n(&c, &o, o + 1, 0, 5, 5));",
        "long o; do { o = c; } while (!__sync_bool_compare_and_swap(&c, o, o + 1));",
    ],
)  # fmt: skip
def test_atomic_operations_of_c(tmp_path: Path, text: str) -> None:
    """Each is one atomic update, in whatever words; a swap that is tried again is one, too."""
    (found,) = program_of(tmp_path, ATOMICS.replace("BODY", text), "libclang").regions
    kinds = [part[0] for part in body(found) if isinstance(part, tuple)]
    assert kinds == ["atomic"], body(found)
    assert not {note.id for note in found.diagnostics} & {"RP105", "RP106", "RP113"}


@pytest.mark.parametrize("frontend", FRONTENDS)
@pytest.mark.parametrize(
    "text", ["own++;", "--own;", "own += i;", "own = i;", "owns[idx[i]] |= 4;", "whole += i;",
             "static _Atomic int here; here++;"],
)  # fmt: skip
def test_operators_of_atomic_objects(tmp_path: Path, text: str, frontend: str) -> None:
    source = ATOMICS.replace("#include <stdatomic.h>\n", "static _Atomic(long) whole;\n")
    (found,) = program_of(tmp_path, source.replace("BODY", text), frontend).regions
    assert [part[0] for part in body(found) if isinstance(part, tuple)] == ["atomic"], body(found)
    assert not {note.id for note in found.diagnostics} & {"RP106", "RP113", "RP222", "RP224"}


def test_loads_are_no_updates(tmp_path: Path) -> None:
    text = "x[i] = __atomic_load_n(&c, __ATOMIC_RELAXED) + own;"
    (found,) = program_of(tmp_path, ATOMICS.replace("BODY", text), "libclang").regions
    assert not [part for part in body(found) if isinstance(part, tuple)]


ATOMICS_CPP = """#include <atomic>
#include <vector>
#define N 1000000
static std::atomic<long> c; static std::atomic<int> h[1000]; static int idx[N]; static double *x;
static std::vector<std::atomic<int>> v(1000);
struct S { std::atomic<int> k; void bump() { ++k; } };
static std::atomic_flag flag;
static struct Spin {
    std::atomic<bool> taken;
    void lock() { while (taken.exchange(true)) ; }
    void unlock() { taken.store(false); }
} spin;
void f(S &s, std::atomic<long> *p)
{
#pragma omp parallel for
for (int i = 0; i < N; i++) {
BODY
}
}
"""


@pytest.mark.parametrize(
    "text",
    further_slow(5, [
        "c++;", "--c;", "c += i;", "c.fetch_add(1, std::memory_order_relaxed);", "c.store(i);",
        "c = i;", "h[idx[i]]++;", "h[idx[i]].fetch_or(4);", "v[idx[i]] += 2;", "s.k++;",
        "s.bump();", "p->fetch_sub(1);", "c.exchange(i);",
        "long o = c.load(); while (!c.compare_exchange_weak(o, o + i));",
    ]),
)  # fmt: skip
def test_atomic_objects_of_cplusplus(tmp_path: Path, text: str) -> None:
    path = tmp_path / "atomics.cpp"
    path.write_text(ATOMICS_CPP.replace("BODY", text))
    (facts,) = analyse(requests_for([str(path)]), {}).facts
    kinds = [part[0] for part in body(facts.region) if isinstance(part, tuple)]
    assert kinds == ["atomic"], body(facts.region)
    rules = {note.id for note in facts.diagnostics}
    assert not rules & {"RP105", "RP106", "RP113", "RP221", "RP222", "RP225"}


@pytest.mark.parametrize(
    ("take", "give"),
    [
        ("while (flag.test_and_set())", "flag.clear()"),
        ("while (c.exchange(1, std::memory_order_acquire)) while (c.load())", "c.store(0)"),
        ("long o = 0; while (!c.compare_exchange_weak(o, 1)) o = 0", "c = 0"),
        ("spin.lock()", "spin.unlock()"),
    ],
)
def test_a_loop_that_repeats_an_atomic_exchange_acquires_a_lock(
    tmp_path: Path, take: str, give: str
) -> None:
    path = tmp_path / "flag.cpp"
    text = f"{take} ;\nx[0] += i;\n{give};"
    path.write_text(ATOMICS_CPP.replace("BODY", text))
    (facts,) = analyse(requests_for([str(path)]), {}).facts
    assert body(facts.region)[-1] == ("critical", ["x[0] += i"])
    assert not {note.id for note in facts.diagnostics} & {"RP105", "RP113", "RP222", "RP224"}
