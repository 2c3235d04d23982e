/* What a recording leaves out, where it ends, and what other recorders ask.
   Part of ompt_record.c, in front of what it notes. */

/* The number of the calling thread, for who records other events of it; UINT32_MAX: none. */
uint32_t regionpredict_thread(void)
{
    struct thread *self = thread();
    return self ? (uint32_t)(self->ids >> ID_BITS) : UINT32_MAX;
}

/* The calling thread's counters, and how many they are. */
int regionpredict_counters(uint64_t values[MOST_COUNTERS])
{
    struct thread *self = asked_counters ? thread() : NULL;
    uint64_t all[1 + MOST_COUNTERS] = {0};
    if (!self || self->counters < 0 || read(self->counters, all, sizeof all) <= 0)
        return 0;
    memcpy(values, all + 1, MOST_COUNTERS * sizeof *values);
    return asked_counters;
}

static int in_order(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

/* REGIONPREDICT_OMPT_EXCLUDED names a file of addresses in hexadecimal. */
static void read_excluded(const char *path)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    unsigned long address;
    size_t room = 0;
    while (file && fscanf(file, "%lx", &address) == 1) {
        if (excluded_count == room) {
            uint64_t *larger = realloc(excluded, (room = 2 * room + 64) * sizeof *excluded);
            if (!larger)
                break;
            excluded = larger;
        }
        excluded[excluded_count++] = address;
    }
    if (file)
        fclose(file);
    if (excluded_count)
        qsort(excluded, excluded_count, sizeof *excluded, in_order);
}

/* Addresses of the program's file are relative to where it was loaded, unless that is fixed. */
static int is_excluded(const void *place)
{
    Dl_info info;
    uint64_t address = (uintptr_t)place;
    if (!excluded_count || !dladdr(place, &info))
        return 0;
    uint64_t offset = address - (uintptr_t)info.dli_fbase;
    return bsearch(&offset, excluded, excluded_count, sizeof *excluded, in_order)
           || bsearch(&address, excluded, excluded_count, sizeof *excluded, in_order);
}

static void read_options(void)
{
    const char *limit = getenv("REGIONPREDICT_TRACE_LIMIT");
    largest_file = limit ? strtoull(limit, NULL, 10) : 0;
    read_excluded(getenv("REGIONPREDICT_OMPT_EXCLUDED"));
    ask_counters(getenv("REGIONPREDICT_OMPT_COUNTERS"));
}
