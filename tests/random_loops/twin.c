/* What the twin of a program counts, for each line: runs of statements, operations, references.
   Also writes every reference to standard output, in order. */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADD, MUL, DIV, COMPARE, LOGIC, NEG, SQRT, KINDS };
enum { LINES = 20000, ARRAYS = 64, EVENTS = 1000000 };
enum { EVENT_READ, EVENT_WRITE, EVENT_SHARED };
static long runs[LINES], passed[LINES], work[LINES][KINDS][2][2]; /* floating, 64 bits */
static long steps;
static int failed, events;
static jmp_buf out;
static struct event { int32_t kind, line, array, bytes; int64_t offset; int32_t whole, unused; } *trace;
static struct known { const char *name; char *begin; long bytes; int local; } known[ARRAYS];
static int arrays;

static void give_up(int why) { failed = why; longjmp(out, 1); }
static void reached(int line) { runs[line]++; if (++steps > 400000) give_up(2); }
static void pass(int line) { passed[line]++; if (++steps > 400000) give_up(2); }
static void count(int line, int kind, int floating, int bytes) {
  work[line][kind][floating][bytes > 4]++;
}
static void event(int kind, int line, int array, int bytes, long offset, int whole) {
  if (events >= EVENTS) give_up(2);
  trace[events++] = (struct event){kind, line, array, bytes, offset, whole, 0};
}
static void shared(void) { if (++steps > 400000) give_up(2); event(EVENT_SHARED, 0, 0, 0, 0, 0); }
static void know(const char *name, void *begin, long bytes, int local) {
  int a = 0;
  while (a < arrays && (strcmp(known[a].name, name) || known[a].local != local)) a++;
  if (a == arrays) arrays++;
  known[a] = (struct known){name, begin, bytes, local};
}
static void *refer(int line, int writes, int reads, int whole, const void *place, int bytes) {
  for (int a = arrays - 1; a >= 0; a--) {
    long offset = (const char *)place - known[a].begin;
    if (offset >= 0 && offset + bytes <= known[a].bytes) {
      if (reads) event(EVENT_READ, line, a, bytes, offset, whole);
      if (writes) event(EVENT_WRITE, line, a, bytes, offset, whole);
      return (void *)place;
    }
  }
  give_up(1);
  return 0;
}

static long within(long i, long extent) {
  if (i < 0 || i >= extent) give_up(1);
  return i;
}
#define IN(i, extent) within(i, extent)
/* A statement runs; one behind a condition counts where the condition stands. */
#define RUN(line) (reached(line), pass(line))
#define REACHED(line) reached(line)
#define PASSED(line) pass(line)
#define READ(line, whole, e) (*(__typeof__(e) *)refer(line, 0, 1, whole, &(e), sizeof(e)))
#define WRITTEN(line, whole, e) (*(__typeof__(e) *)refer(line, 1, 0, whole, &(e), sizeof(e)))
#define UPDATED(line, whole, e) (*(__typeof__(e) *)refer(line, 1, 1, whole, &(e), sizeof(e)))
#define FLOATING(e) _Generic((e), float: 1, double: 1, default: 0)
#define COMPUTED(line, kind, a, op, b) ({ __auto_type l_ = (a); __auto_type r_ = (b); \
  count(line, kind, FLOATING(l_ op r_), sizeof(l_ op r_)); l_ op r_; })
#define COMPARED(line, a, op, b) ({ __auto_type l_ = (a); __auto_type r_ = (b); \
  count(line, COMPARE, FLOATING(l_ + r_), sizeof(l_ + r_)); l_ op r_; })
#define LIBRARY(line, kind, e) ({ __auto_type v_ = (e); \
  count(line, kind, FLOATING(v_), sizeof(v_)); v_; })
#define CHOSEN(c, a, b) ({ __auto_type c_ = (c); __auto_type l_ = (a); __auto_type r_ = (b); \
  c_ ? l_ : r_; })
#define NEGATED(line, a) ({ __auto_type l_ = (a); \
  count(line, FLOATING(-l_) ? NEG : ADD, FLOATING(-l_), sizeof(-l_)); -l_; })
#define ASSIGNED(place, e) ({ __auto_type r_ = (e); (place) = r_; })
#define COMBINED(line, kind, place, op, e) ({ __auto_type r_ = (e); __auto_type p_ = &(place); \
  count(line, kind, FLOATING(*p_ op r_), sizeof(*p_ op r_)); *p_ op##= r_; })
#define STEPPED(line, e) count(line, ADD, FLOATING((e) + 1), sizeof((e) + 1))
#define KNOW(a) know(#a, a, sizeof(a), 0)
#define KNOW_LOCAL(a) know(#a, a, sizeof(a), 1)

static void put(const void *what, size_t bytes) {
  if (fwrite(what, 1, bytes, stdout) != bytes) exit(3);
}
/* One program: a header of numbers, then lines, arrays and events. */
static void observe(void (*program)(void), int first, int last) {
  memset(runs, 0, sizeof runs);
  memset(passed, 0, sizeof passed);
  memset(work, 0, sizeof work);
  steps = failed = events = 0;
  if (!setjmp(out)) program();
  int64_t head[5] = {failed, first, last, arrays, events};
  put(head, sizeof head);
  for (int line = first; line <= last; line++) {
    put(&runs[line], sizeof runs[line]);
    put(&passed[line], sizeof passed[line]);
    put(work[line], sizeof work[line]);
  }
  for (int a = 0; a < arrays; a++) {
    char name[32] = "";
    strncpy(name, known[a].name, 31);
    int64_t local = known[a].local;
    put(name, 32);
    put(&local, 8);
  }
  put(trace, events * sizeof *trace);
}
