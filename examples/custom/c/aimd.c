/* Additive increase, multiplicative decrease, as a plug-in of lightlag:
 *
 *     cc -O2 -shared -fPIC -I ../../../crates/lightlag-plugin/include -o libaimd.so aimd.c
 */
#include "lightlag.h"

#include <math.h>
#include <stddef.h>

typedef struct {
    lightlag_control control;
    double beta;
} aimd;

static void on_ack(void *own, const lightlag_ack *ack) {
    lightlag_control *control = own;
    if (ack->may_grow)
        control->cwnd += control->cwnd < control->ssthresh ? ack->growth : ack->growth / control->cwnd;
}

static void on_congestion(void *own, const lightlag_congestion *event) {
    aimd *self = own;
    int timeout = event->cause == LIGHTLAG_TIMEOUT || event->cause == LIGHTLAG_REPEATED_TIMEOUT;
    if (event->cause != LIGHTLAG_REPEATED_TIMEOUT)
        self->control.ssthresh = fmax(2.0, self->beta * (double)event->flight / self->control.segment_size);
    self->control.cwnd = timeout ? 1.0 : self->control.ssthresh;
}

static const aimd initial = {.control = {.cwnd = 1.0, .ssthresh = INFINITY}, .beta = 0.5};

static const lightlag_parameter parameters[] = {
    {"beta", "", "The fraction of the flight that a loss keeps.", offsetof(aimd, beta), LIGHTLAG_NUMBER, 0.1, 0.99},
};

static const lightlag_table table = {
    .interface = LIGHTLAG_INTERFACE,
    .size = sizeof(aimd),
    .name = "aimd",
    .about = "A segment more each round; a loss keeps beta of the flight.",
    .initial = &initial,
    .parameters = parameters,
    .parameter_count = 1,
    .on_ack = on_ack,
    .on_congestion = on_congestion,
};

const lightlag_table *lightlag_congestion_control(void) { return &table; }
