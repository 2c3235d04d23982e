/* Late senders whose message was received before one that was sent earlier (Scalasca 2.6). */

#include <stdint.h>

enum { REMEMBERED = 100 };  /* the reference forgets the oldest beyond so many */
enum { RECEIVE = -1, DIFFERENT = 1, SAME = 2 };

struct wrong_order {
    int64_t locations;
    const int64_t *first;      /* of each location: its first step, and the end of the last */
    const int64_t *sent;       /* of each step: when the message was sent */
    const int32_t *source;     /* and by which rank */
    const int64_t *instance;   /* which late sender begins to be remembered; RECEIVE: a message */
    uint8_t *found;            /* of each late sender: 0, DIFFERENT or SAME source */
};

void rp_wrong_order(struct wrong_order *w)
{
    int64_t known[REMEMBERED];
    for (int64_t location = 0; location < w->locations; location++) {
        int count = 0;
        for (int64_t step = w->first[location]; step < w->first[location + 1]; step++) {
            if (w->instance[step] != RECEIVE) {
                if (count == REMEMBERED) {
                    for (int at = 1; at < count; at++)
                        known[at - 1] = known[at];
                    count--;
                }
                known[count++] = step;
                continue;
            }
            int kept = 0;
            for (int at = 0; at < count; at++) {
                int64_t late = known[at];
                if (w->sent[late] > w->sent[step])
                    w->found[w->instance[late]]
                        = w->source[late] == w->source[step] ? SAME : DIFFERENT;
                else
                    known[kept++] = late;
            }
            count = kept;
        }
    }
}
