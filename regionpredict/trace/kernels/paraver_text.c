/* Takes the records of a Paraver trace apart: lines of numbers with colons between them. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { STATE = 1, EVENT = 2, MESSAGE = 3, PASSED_OVER = 4 };
enum { STATE_FIELDS = 8, MESSAGE_FIELDS = 15, EVENT_FIELDS = 6, MOST_DIGITS = 20 };
enum { FIRST_COUNTER = 42000000, LAST_COUNTER = 42999999 };

/* What is wrong with a line, in the order of `_ERRORS` in records.py. */
enum { FINE, NO_NUMBER, NO_RECORD, NO_SUCH_KIND, NO_SUCH_THREAD };

struct paraver {
    const char *text;  /* whole lines, each with its end */
    int64_t length;
    int64_t application;  /* whose records are taken; 0: all */
    int64_t tasks;
    const int64_t *threads, *first;  /* of each task: how many, and its first location */
    /* rows of five: task, thread, begin, end, state; task, thread, time, type, value; of ten: task,
       thread, logical and physical time of both sides, size and tag */
    int64_t *states, *events, *messages;
    int32_t *counter_location, *counter_type;
    int64_t *counter_time, *counter_value;
    int64_t state_count, event_count, message_count, counter_count;
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

/* Tasks and threads count from 1 in the file. */
static bool known(struct paraver *p, int64_t *task, int64_t *thread)
{
    if (*task < 1 || *task > p->tasks || *thread < 1 || *thread > p->threads[*task - 1])
        return fails(p, NO_SUCH_THREAD, *task, *thread);
    --*task;
    --*thread;
    return true;
}

static void passes(struct paraver *p, int64_t time)
{
    if (time > p->latest)
        p->latest = time;
}

static bool state(struct paraver *p, int64_t *f)
{
    if (p->application && f[2] != p->application)
        return true;
    if (!known(p, &f[3], &f[4]))
        return false;
    memcpy(p->states + 5 * p->state_count++, f + 3, 5 * sizeof *f);
    passes(p, f[5]);
    passes(p, f[6]);
    return true;
}

static bool message(struct paraver *p, int64_t *f)
{
    if (p->application && (f[2] != p->application || f[8] != p->application))
        return true;
    if (!known(p, &f[3], &f[4]) || !known(p, &f[9], &f[10]))
        return false;
    int64_t *row = p->messages + 10 * p->message_count++;
    memcpy(row, f + 3, 4 * sizeof *f);
    memcpy(row + 4, f + 9, 6 * sizeof *f);
    passes(p, f[5]);
    passes(p, f[6]);
    passes(p, f[11]);
    passes(p, f[12]);
    return true;
}

/* The pairs of an event's types and values. */
static bool event(struct paraver *p, int64_t *at, int64_t *f)
{
    bool mine = !p->application || f[2] == p->application;
    int64_t count = EVENT_FIELDS, before = p->event_count;
    if (mine && !known(p, &f[3], &f[4]))
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
        if (!mine)
            continue;
        if (type >= FIRST_COUNTER && type <= LAST_COUNTER) {
            int64_t row = p->counter_count++;
            p->counter_location[row] = (int32_t)(p->first[f[3]] + f[4]);
            p->counter_type[row] = (int32_t)type;
            p->counter_time[row] = f[5];
            p->counter_value[row] = value;
            continue;
        }
        int64_t *row = p->events + 5 * p->event_count++;
        row[0] = f[3], row[1] = f[4], row[2] = f[5], row[3] = type, row[4] = value;
    }
    if (count == EVENT_FIELDS)
        return fails(p, NO_RECORD, count, EVENT);
    if (mine && p->event_count == before) {  /* of counters alone: that the thread lives */
        int64_t *row = p->events + 5 * p->event_count++;
        row[0] = f[3], row[1] = f[4], row[2] = f[5], row[3] = 0, row[4] = 0;
    }
    if (mine)
        passes(p, f[5]);
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
