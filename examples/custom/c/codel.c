/* CoDel (RFC 8289) as a plug-in of lightlag: ../codel.py in C.
 *
 *     cc -O2 -shared -fPIC -I ../../../crates/lightlag-plugin/include -o libcodel.so codel.c -lm
 */
#include "lightlag.h"

#include <math.h>
#include <stddef.h>

typedef struct {
    lightlag_queue queue;
    double target_ms, interval_ms;
    int64_t ecn;
    /* Time when the delay will have been above the target for an interval; -1 while it is below. */
    int64_t first_above;
    int64_t dropping, drop_next, count, last_count, largest;
    /* Time of the drop with which a dropping state started: the next packet at that time is not dropped. */
    int64_t entered;
    /* Time of any other drop: if the next packet at that time is also late, the next drop is due later. */
    int64_t dropped;
} codel;

static int64_t control_law(const codel *self, int64_t start) {
    return start + (int64_t)(self->interval_ms / 1e3 / sqrt((double)self->count) * 1e9 + 0.5);
}

static int is_bad(codel *self, const lightlag_packet *packet) {
    if ((double)packet->waited_ns < self->target_ms * 1e6 || self->queue.bytes <= self->largest) {
        self->first_above = -1;
        return 0;
    }
    if (self->first_above < 0)
        self->first_above = packet->now_ns + llround(self->interval_ms * 1e6);
    return packet->now_ns >= self->first_above;
}

static void enter(codel *self, int64_t now) {
    int64_t hits = self->count - self->last_count;
    int recently = (double)(now - self->drop_next) < 16 * self->interval_ms * 1e6;
    self->count = hits > 1 && recently ? hits : 1;
    self->last_count = self->count;
    self->dropping = 1;
    self->drop_next = control_law(self, now);
}

static int64_t on_enqueue(void *own, const lightlag_packet *packet) {
    codel *self = own;
    if (!packet->full && packet->size > self->largest)
        self->largest = packet->size;
    return LIGHTLAG_PASS;
}

static int64_t on_dequeue(void *own, const lightlag_packet *packet) {
    codel *self = own;
    int64_t now = packet->now_ns;
    int bad = is_bad(self, packet), marks = self->ecn && packet->ecn;
    if (self->entered == now) {
        self->entered = -1;
        return LIGHTLAG_PASS;
    }
    if (!bad) {
        self->dropping = 0;
        return LIGHTLAG_PASS;
    }
    if (!self->dropping) {
        enter(self, now);
        if (marks)
            return LIGHTLAG_MARK;
        self->entered = now;
        return LIGHTLAG_DROP;
    }
    if (self->dropped == now)
        self->drop_next = control_law(self, self->drop_next);
    self->dropped = -1;
    if (now < self->drop_next)
        return LIGHTLAG_PASS;
    self->count += 1;
    if (marks) {
        self->drop_next = control_law(self, self->drop_next);
        return LIGHTLAG_MARK;
    }
    self->dropped = now;
    return LIGHTLAG_DROP;
}

static const codel initial = {
    .target_ms = 5.0, .interval_ms = 100.0, .first_above = -1, .entered = -1, .dropped = -1,
};

static const lightlag_parameter parameters[] = {
    {"target_ms", "ms", "The wait that is accepted.", offsetof(codel, target_ms), LIGHTLAG_NUMBER, 0.001, 60000},
    {"interval_ms", "ms", "About the longest RTT.", offsetof(codel, interval_ms), LIGHTLAG_NUMBER, 0.001, 60000},
    {"ecn", "", "Packets that can be marked are not dropped.", offsetof(codel, ecn), LIGHTLAG_FLAG, 0, 1},
};

static const lightlag_queue_table table = {
    .interface = LIGHTLAG_INTERFACE,
    .size = sizeof(codel),
    .name = "own_codel",
    .initial = &initial,
    .parameters = parameters,
    .parameter_count = 3,
    .on_enqueue = on_enqueue,
    .on_dequeue = on_dequeue,
};

const lightlag_queue_table *lightlag_queue_discipline(void) { return &table; }
