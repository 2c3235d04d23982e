/* Writes events of synthetic_trace.py by the C interface of the OTF2 library, found at run time. */

#include <dlfcn.h>
#include <stdint.h>

enum { ENTER, LEAVE, RECEIVE_REQUEST, SEND_REQUEST, RECEIVE, SEND_COMPLETE, BEGIN, END };

#define FIND(name, ...) \
    int (*name)(void *, void *, uint64_t, ##__VA_ARGS__) = dlsym(handle, "OTF2_EvtWriter_" #name);

void write_events(const char *library, void *writer, int64_t count, const uint8_t *what,
                  const int64_t *times, const int64_t *numbers, uint32_t after, uint32_t before,
                  uint64_t size, uint8_t operation, uint64_t moved)
{
    void *handle = dlopen(library, RTLD_LAZY);
    FIND(Enter, uint32_t)
    FIND(Leave, uint32_t)
    FIND(MpiIrecvRequest, uint64_t)
    FIND(MpiIsend, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t)
    FIND(MpiIrecv, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t)
    FIND(MpiIsendComplete, uint64_t)
    FIND(MpiCollectiveBegin)
    FIND(MpiCollectiveEnd, uint8_t, uint32_t, uint32_t, uint64_t, uint64_t)
    for (int64_t at = 0; at < count; at++) {
        uint64_t time = (uint64_t)times[at], number = (uint64_t)numbers[at];
        switch (what[at]) {
        case ENTER: Enter(writer, 0, time, (uint32_t)number); break;
        case LEAVE: Leave(writer, 0, time, (uint32_t)number); break;
        case RECEIVE_REQUEST: MpiIrecvRequest(writer, 0, time, number); break;
        case SEND_REQUEST: MpiIsend(writer, 0, time, after, 0, 1, size, number); break;
        case RECEIVE: MpiIrecv(writer, 0, time, before, 0, 1, size, number); break;
        case SEND_COMPLETE: MpiIsendComplete(writer, 0, time, number); break;
        case BEGIN: MpiCollectiveBegin(writer, 0, time); break;
        case END: MpiCollectiveEnd(writer, 0, time, operation, 0, 0, moved, moved); break;
        }
    }
}
