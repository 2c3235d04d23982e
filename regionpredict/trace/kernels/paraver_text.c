/* Takes the records of a Paraver trace apart: lines of numbers with colons between them. */

#include <stdbool.h>
#include <stdint.h>

enum { STATE = 1, EVENT = 2, MESSAGE = 3, PASSED_OVER = 4 };
enum { STATE_FIELDS = 8, MESSAGE_FIELDS = 15, EVENT_FIELDS = 6, MOST_DIGITS = 20 };
enum { FIRST_COUNTER = 42000000, LAST_COUNTER = 42999999 };
enum { FIRST_CALL = 50000001, LAST_CALL = 50000005, FIRST_SIZE = 50100001, LAST_SIZE = 50100004 };
enum { CALLER = 70000000, LINE = 80000000, LEVELS = 100 };
enum { MOST_STATES = 1 << 16, NOT_CREATED = 2, OTHER_STATE = 15, OTHER_TYPE = -1 };

/* What is wrong with a line, in the order of `_ERRORS` in records.py. */
enum { FINE, NO_NUMBER, NO_RECORD, NO_SUCH_KIND, NO_SUCH_THREAD };

/* Columns of a table; `records.py` says what they are. */
struct rows {
    int32_t *location, *number;
    int64_t *time, *value;
    int64_t count;
};

struct paraver {
    const char *text;  /* whole lines, each with its end */
    int64_t length;
    int64_t application;  /* whose records are taken; 0: all */
    int64_t tasks;
    const int64_t *threads, *first;  /* of each task: how many, and its first location */
    /* of each location: its first event, its first state, and the end of both */
    int64_t *first_event, *first_state, *end_of;
    struct rows states, calls, callers, sizes, events, counters, sends, receives;
    int64_t passed_over, latest;
    /* of an error: which it is, its line from 0 on, where its text begins and ends, two numbers */
    int64_t error, line, begin, end, first_number, second_number;
};

static bool fails(struct paraver *p, int error, int64_t first, int64_t second)
{
    p->error = error;
    p->first_number = first;
    p->second_number = second;
    return false;
}

/* The number at *at, and the place of what ends it: a colon or the end of the line. */
static bool number(struct paraver *p, int64_t *at, int64_t *value)
{
    const char *text = p->text;
    int64_t begin = *at, place = *at;
    bool negative = text[place] == '-';
    uint64_t sum = 0;
    place += negative;
    int64_t first = place;
    while (text[place] >= '0' && text[place] <= '9')
        sum = 10 * sum + (uint64_t)(text[place++] - '0');
    int64_t digits = place - first;
    bool ends = text[place] == ':' || text[place] == '\n'
        || (text[place] == '\r' && text[place + 1] == '\n');
    if (digits < 1 || digits > MOST_DIGITS || !ends) {
        while (text[place] != ':' && text[place] != '\n')
            place++;
        p->begin = begin;
        p->end = place;
        return fails(p, NO_NUMBER, 0, 0);
    }
    if (text[place] == '\r')
        place++;
    *at = place;
    *value = (int64_t)(negative ? 0 - sum : sum);
    return true;
}

/* The next `count` numbers of a line; whether there are that many. */
static bool numbers(struct paraver *p, int64_t *at, int64_t *fields, int *have, int count)
{
    while (*have < count) {
        if (p->text[*at] == '\n')
            return true;
        ++*at;
        if (!number(p, at, &fields[*have]))
            return false;
        ++*have;
    }
    return true;
}

/* Counts what is left of a line. */
static bool rest(struct paraver *p, int64_t *at, int64_t *have)
{
    int64_t ignored;
    while (p->text[*at] != '\n') {
        ++*at;
        if (!number(p, at, &ignored))
            return false;
        ++*have;
    }
    return true;
}

/* The location of a task's thread, which count from 1 in the file, or -1. */
static int32_t location(struct paraver *p, int64_t task, int64_t thread)
{
    if (task >= 1 && task <= p->tasks && thread >= 1 && thread <= p->threads[task - 1])
        return (int32_t)(p->first[task - 1] + thread - 1);
    fails(p, NO_SUCH_THREAD, task, thread);
    return -1;
}

static void add(struct rows *rows, int32_t location, int64_t number, int64_t time, int64_t value)
{
    int64_t row = rows->count++;
    rows->location[row] = location;
    rows->number[row] = (int32_t)number;
    rows->time[row] = time;
    rows->value[row] = value;
}

static void passes(struct paraver *p, int64_t time)
{
    if (time > p->latest)
        p->latest = time;
}

static void extends(int64_t *begin, int64_t *end, int64_t from, int64_t to)
{
    if (from < *begin)
        *begin = from;
    if (to > *end)
        *end = to;
}

static bool state(struct paraver *p, int64_t *f)
{
    if (p->application && f[2] != p->application)
        return true;
    int32_t where = location(p, f[3], f[4]);
    if (where < 0)
        return false;
    add(&p->states, where, f[7] < 0 || f[7] >= MOST_STATES ? OTHER_STATE : f[7], f[5], f[6]);
    if (f[7] != NOT_CREATED)
        extends(&p->first_state[where], &p->end_of[where], f[5], f[6]);
    passes(p, f[5]);
    passes(p, f[6]);
    return true;
}

static bool message(struct paraver *p, int64_t *f)
{
    if (p->application && (f[2] != p->application || f[8] != p->application))
        return true;
    int32_t sender = location(p, f[3], f[4]);
    int32_t receiver = sender < 0 ? -1 : location(p, f[9], f[10]);
    if (receiver < 0)
        return false;
    add(&p->sends, sender, f[14], f[5], f[13]);
    add(&p->receives, receiver, f[14], f[11], f[12]);
    passes(p, f[5]);
    passes(p, f[6]);
    passes(p, f[11]);
    passes(p, f[12]);
    return true;
}

static struct rows *table_of(struct paraver *p, int64_t type)
{
    if (type >= FIRST_COUNTER && type <= LAST_COUNTER)
        return &p->counters;
    if (type >= FIRST_CALL && type <= LAST_CALL)
        return &p->calls;
    if (type >= FIRST_SIZE && type <= LAST_SIZE)
        return &p->sizes;
    if ((type > CALLER && type < CALLER + LEVELS) || (type > LINE && type < LINE + LEVELS))
        return &p->callers;
    return &p->events;
}

/* The pairs of an event's types and values. */
static bool event(struct paraver *p, int64_t *at, int64_t *f)
{
    bool mine = !p->application || f[2] == p->application;
    int64_t count = EVENT_FIELDS;
    int32_t where = mine ? location(p, f[3], f[4]) : 0;
    if (where < 0)
        return false;
    while (p->text[*at] != '\n') {
        int64_t type, value;
        ++*at;
        if (!number(p, at, &type))
            return false;
        if (p->text[*at] == '\n')
            return fails(p, NO_RECORD, count + 1, EVENT);
        ++*at;
        if (!number(p, at, &value))
            return false;
        count += 2;
        if (mine)
            add(table_of(p, type), where, type < 0 || type > INT32_MAX ? OTHER_TYPE : type, f[5],
                value);
    }
    if (count == EVENT_FIELDS)
        return fails(p, NO_RECORD, count, EVENT);
    if (mine) {
        extends(&p->first_event[where], &p->end_of[where], f[5], f[5]);
        passes(p, f[5]);
    }
    return true;
}

static bool record(struct paraver *p, int64_t *at)
{
    int64_t f[MESSAGE_FIELDS];
    int have = 1;
    if (!number(p, at, f))
        return false;
    int wanted = f[0] == STATE ? STATE_FIELDS : f[0] == MESSAGE ? MESSAGE_FIELDS
        : f[0] == EVENT ? EVENT_FIELDS : 1;
    if (!numbers(p, at, f, &have, wanted))
        return false;
    int64_t count = have;
    if (f[0] == EVENT && have == EVENT_FIELDS)
        return event(p, at, f);
    if (!rest(p, at, &count))
        return false;
    if (f[0] == PASSED_OVER) {
        p->passed_over++;
        return true;
    }
    if (f[0] < STATE || f[0] > MESSAGE)
        return fails(p, NO_SUCH_KIND, f[0], 0);
    if (count != wanted || f[0] == EVENT)
        return fails(p, NO_RECORD, count, f[0]);
    return f[0] == STATE ? state(p, f) : message(p, f);
}

void rp_paraver_text(struct paraver *p)
{
    for (int64_t at = 0; at < p->length; at++, p->line++) {
        if (p->text[at] == '#')
            while (p->text[at] != '\n')
                at++;
        if (p->text[at] == '\r' && p->text[at + 1] == '\n')
            at++;
        if (p->text[at] != '\n' && !record(p, &at))
            return;
    }
}
