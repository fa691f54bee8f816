/* The C interface of custom algorithms for lightlag, version 1. MIT License.
 *
 * A shared library exports
 *
 *     const lightlag_table *lightlag_congestion_control(void);
 *
 * and a scenario names it: congestion = { plugin = "libmine.so" }. The record of a connection starts with a
 * lightlag_control, which holds the window; the fields of the algorithm follow, with 8 bytes each. lightlag allocates
 * the record and passes it to the functions of the table. Times are in nanoseconds, sizes in bytes of payload,
 * windows in segments and fractions of them. A function must depend on its arguments only.
 *
 * A queue discipline is queue = { plugin = "libmine.so" } in a scenario and
 *
 *     const lightlag_queue_table *lightlag_queue_discipline(void);
 *
 * in the library. Its record starts with a lightlag_queue. Its functions return LIGHTLAG_PASS, LIGHTLAG_DROP or
 * LIGHTLAG_MARK.
 *
 * Traffic is traffic = { plugin = "libmine.so" } in a scenario and
 *
 *     const lightlag_traffic_table *lightlag_traffic(void);
 *
 * in the library. Its record starts with a lightlag_source, where its function stores the next message.
 *
 * A loss response is tcp = { loss_assumption = { plugin = "libmine.so" } } in a scenario and
 *
 *     const lightlag_response_table *lightlag_loss_response(void);
 *
 * in the library. Its record starts with a lightlag_response. Its function on_loss returns LIGHTLAG_CONGESTION or
 * LIGHTLAG_CORRUPTION.
 */
#ifndef LIGHTLAG_H
#define LIGHTLAG_H

#include <stdint.h>

#define LIGHTLAG_INTERFACE 1

/* Causes of congestion. */
enum { LIGHTLAG_LOSS = 0, LIGHTLAG_TIMEOUT = 1, LIGHTLAG_REPEATED_TIMEOUT = 2, LIGHTLAG_MARK = 3 };
/* Decisions about a packet. The third is LIGHTLAG_MARK, which drops a packet that cannot be marked. */
enum { LIGHTLAG_PASS = 0, LIGHTLAG_DROP = 1 };
/* Causes of a loss: congestion; an error of a link, which changes neither the window nor the timeout. */
enum { LIGHTLAG_CONGESTION = 0, LIGHTLAG_CORRUPTION = 1 };
/* Phase of a sender: no repair; repair of losses that ACKs reported; repair after a timeout. */
enum { LIGHTLAG_OPEN = 0, LIGHTLAG_IN_RECOVERY = 1, LIGHTLAG_IN_LOSS = 2 };
/* Needs of an algorithm: delivery rates; pacing at its rate; control of the window in fast recovery. */
enum { LIGHTLAG_NEEDS_RATE = 1, LIGHTLAG_NEEDS_PACING = 2, LIGHTLAG_NEEDS_CONTROLS_RECOVERY = 4 };
/* Types of parameters: double; int64_t; int64_t of 0 or 1. */
enum { LIGHTLAG_NUMBER = 0, LIGHTLAG_WHOLE = 1, LIGHTLAG_FLAG = 2 };

typedef struct {
    double cwnd;          /* segments, above 0; starts as the initial window */
    double ssthresh;      /* segments; infinite before the first congestion */
    double pacing_rate;   /* bytes per second; 0 for none */
    double segment_size;  /* bytes */
    double prior_cwnd;    /* before the last congestion event */
    double prior_ssthresh;
    uint64_t random;      /* state of this connection's random numbers, from the seed of the run */
    int64_t fault;        /* any value except 0 ends the run */
    int64_t epoch_ns;     /* for figures: start of an epoch of a cubic function, -1 outside of one */
    double epoch_w_max;   /* for figures: the window at its plateau, segments */
    double epoch_k;       /* for figures: seconds from its start to the plateau */
} lightlag_control;

typedef struct {
    int64_t now_ns, segment_size, initial_window;
    int64_t rtt_ns; /* round trip of the handshake; 0 if unknown */
    int64_t pipe;   /* capacity of a known route in bytes; 0 if unknown */
    int64_t ecn, timestamps, abe;
} lightlag_start;

typedef struct {
    int64_t now_ns;
    int64_t newly_acked, newly_delivered, newly_lost, newly_marked; /* bytes */
    double growth;                                                  /* segments that count for growth */
    int64_t may_grow, duplicate, ece, cwnd_limited, phase;
    int64_t rtt_ns, srtt_ns, min_rtt_ns; /* 0: no sample */
    int64_t one_way_ns;                  /* -1: no timestamps */
    int64_t inflight, prior_inflight, snd_una, snd_nxt;
    double delivery_rate; /* bytes per second; this and the next fields are 0 without LIGHTLAG_NEEDS_RATE */
    int64_t delivered, prior_delivered, rate_interval_ns, rate_lost, rate_inflight, app_limited;
} lightlag_ack;

typedef struct {
    int64_t now_ns, cause, flight, srtt_ns, min_rtt_ns;
} lightlag_congestion;

typedef struct {
    int64_t now_ns;
} lightlag_moment;

typedef struct {
    int64_t now_ns, window, threshold; /* bytes: maximum of the window, minimum of the threshold */
} lightlag_idle;

typedef struct {
    const char *name, *unit, *meaning;
    uint64_t offset; /* position in the record of a connection, in bytes */
    uint64_t kind;
    double min, max;
} lightlag_parameter;

typedef struct {
    uint32_t interface; /* LIGHTLAG_INTERFACE */
    uint32_t size;      /* size of the record of a connection in bytes: a multiple of 8 */
    const char *name, *about;
    const void *initial; /* the record before the start, with the defaults of the parameters; NULL: zeros */
    const lightlag_parameter *parameters;
    uint64_t parameter_count;
    uint64_t needs;
    void (*on_start)(void *, const lightlag_start *); /* may be NULL */
    void (*on_ack)(void *, const lightlag_ack *);
    void (*on_congestion)(void *, const lightlag_congestion *);
    void (*on_undo)(void *, const lightlag_moment *); /* NULL: the values before the last event, or more */
    void (*on_idle)(void *, const lightlag_idle *);   /* NULL: the window is reduced to idle->window */
    void (*on_recovered)(void *, const lightlag_moment *); /* may be NULL */
} lightlag_table;

typedef struct {
    int64_t packets, bytes;             /* queue contents, without the packet that arrives or is sent next */
    double limit_packets, limit_bytes;  /* the limit; infinite in the unit that the scenario does not use */
    double rate;                        /* rate of the link, bytes per second */
    uint64_t random;                    /* state of this queue's random numbers, from the seed of the run */
    int64_t fault;                      /* any value except 0 ends the run */
} lightlag_queue;

typedef struct {
    int64_t now_ns;
    int64_t size;            /* bytes at the network layer */
    int64_t flow;            /* distinguishes flows, and the two directions of each */
    int64_t ecn;             /* 0: cannot be marked; 1: ECT(1); 2: ECT(0); 3: CE */
    int64_t waited_ns;       /* time in the queue; 0 for an arriving packet */
    int64_t carries_payload;
    int64_t full;            /* it arrives at a full queue, which drops it even if it passes */
} lightlag_packet;

typedef struct {
    uint32_t interface; /* LIGHTLAG_INTERFACE */
    uint32_t size;      /* size of the record of a queue in bytes: a multiple of 8 */
    const char *name, *about;
    const void *initial; /* the record before the start, with the defaults of the parameters; NULL: zeros */
    const lightlag_parameter *parameters;
    uint64_t parameter_count;
    int64_t (*on_enqueue)(void *, const lightlag_packet *); /* a packet arrives; NULL: all pass */
    int64_t (*on_dequeue)(void *, const lightlag_packet *); /* the packet at the head is sent next; NULL: all pass */
} lightlag_queue_table;

typedef struct {
    int64_t wait_ns; /* time since the last message, or the start of the flow; between messages, 0 counts as 1 */
    int64_t size;    /* bytes of the next message; 0: no further message */
    uint64_t random; /* state of this flow's random numbers, from the seed of the run */
    int64_t fault;   /* any value except 0 ends the run */
} lightlag_source;

typedef struct {
    int64_t now_ns;   /* start of the flow, or time of the last message */
    int64_t messages; /* messages so far */
    int64_t bytes;    /* bytes of these messages */
} lightlag_sent;

typedef struct {
    uint32_t interface; /* LIGHTLAG_INTERFACE */
    uint32_t size;      /* size of the record of an application in bytes: a multiple of 8 */
    const char *name, *about;
    const void *initial; /* the record before the start, with the defaults of the parameters; NULL: zeros */
    const lightlag_parameter *parameters;
    uint64_t parameter_count;
    void (*next_message)(void *, const lightlag_sent *); /* sets the next message */
} lightlag_traffic_table;

typedef struct {
    uint64_t random; /* state of this connection's random numbers, from the seed of the run */
    int64_t fault;   /* any value except 0 ends the run */
} lightlag_response;

typedef struct {
    int64_t now_ns;
    int64_t cause;                       /* LIGHTLAG_LOSS or LIGHTLAG_TIMEOUT */
    int64_t sent_ns;                     /* time when the lowest lost segment was sent; -1 if unknown */
    int64_t inflight, cwnd;              /* bytes */
    int64_t rtt_ns, srtt_ns, min_rtt_ns; /* latest sample, SRTT, minimum; 0: no sample */
} lightlag_loss;

typedef struct {
    uint32_t interface; /* LIGHTLAG_INTERFACE */
    uint32_t size;      /* size of the record of a sender in bytes: a multiple of 8 */
    const char *name, *about;
    const void *initial; /* the record before the start, with the defaults of the parameters; NULL: zeros */
    const lightlag_parameter *parameters;
    uint64_t parameter_count;
    void (*on_ack)(void *, const lightlag_ack *);      /* may be NULL */
    int64_t (*on_loss)(void *, const lightlag_loss *); /* LIGHTLAG_CONGESTION or LIGHTLAG_CORRUPTION */
} lightlag_response_table;

#endif
