/* A fully associative, write-allocate, write-back cache: lines brought in and written back. */
#include <stdlib.h>
#include <string.h>

/* `line` are numbers below `lines`; the cache holds `held` of them, is empty at first and flushed
   at the end. out[0]: brought in, out[1]: written back. */
void lru(const long *line, const unsigned char *writes, long count, long lines, long held,
         long *out) {
  long *before = malloc((lines + 1) * sizeof *before), *after = malloc((lines + 1) * sizeof *after);
  char *state = calloc(lines + 1, 1); /* 1: held, 2: dirty too */
  long used = 0, end = lines;         /* a ring through `end`: after it the newest */
  before[end] = after[end] = end;
  out[0] = out[1] = 0;
  for (long at = 0; at < count; at++) {
    long one = line[at];
    if (state[one]) {
      after[before[one]] = after[one];
      before[after[one]] = before[one];
    } else {
      out[0]++;
      state[one] = 1;
      if (used == held) {
        long old = before[end];
        after[before[old]] = end;
        before[end] = before[old];
        out[1] += state[old] == 2;
        state[old] = 0;
      } else
        used++;
    }
    if (writes[at]) state[one] = 2;
    after[one] = after[end];
    before[one] = end;
    before[after[end]] = one;
    after[end] = one;
  }
  for (long one = 0; one < lines; one++) out[1] += state[one] == 2;
  free(before);
  free(after);
  free(state);
}
