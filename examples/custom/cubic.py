"""CUBIC by RFC 9438, with the HyStart of Linux. With ``@ll.compiled`` before the class and the functions it runs as machine
code; the results equal ``{ algorithm = "cubic", variant = "rfc9438" }``.
"""

import lightlag as ll
from lightlag import libm


class Cubic(ll.CongestionControl):
    """The window is a cubic function of the time since the last loss."""

    name = "cubic"
    beta: float = ll.parameter(0.7, min=0.1, max=0.99)
    c: float = ll.parameter(0.4, min=0.001, max=1000.0, unit="segments/s³")
    w_max: float = ll.state(0.0)
    prior: float = ll.state(0.0)
    reno: float = ll.state(0.0)
    unused_ns: int = ll.state(-1)
    before_w_max: float = ll.state(0.0)
    before_prior: float = ll.state(0.0)
    before_epoch_ns: int = ll.state(-1)
    before_k: float = ll.state(0.0)
    before_origin: float = ll.state(0.0)
    before_reno: float = ll.state(0.0)
    round_end: int = ll.state(-1)
    round_ns: int = ll.state(0)
    last_ack_ns: int = ll.state(0)
    round_rtt_ns: int = ll.state(0)
    samples: int = ll.state(0)

    def on_ack(self, ack):
        if not ack.may_grow:
            if ack.newly_acked > 0 and not ack.cwnd_limited and self.epoch_ns >= 0 and self.unused_ns < 0:
                self.unused_ns = ack.now_ns
            return
        acked = ack.growth
        if self.cwnd < self.ssthresh:
            if ack.rtt_ns > 0:
                watch(self, ack)
            room = self.ssthresh - self.cwnd
            if room > 0.0:
                if acked < room:
                    self.cwnd += acked
                    return
                self.cwnd = self.ssthresh
                acked -= room
        if acked > 0.0:
            avoid(self, ack, acked)

    def on_congestion(self, event):
        window = self.cwnd
        if event.cause != 2:
            self.before_w_max = self.w_max
            self.before_prior = self.prior
            self.before_epoch_ns = self.epoch_ns
            self.before_k = self.epoch_k
            self.before_origin = self.epoch_w_max
            self.before_reno = self.reno
            self.prior = window
        self.epoch_ns = -1
        if event.cause == 0 or event.cause == 3:
            self.w_max = window * (1.0 + self.beta) / 2.0 if window < self.w_max else window
        else:
            self.w_max = 0.0
        if event.cause != 2:
            self.ssthresh = max(self.beta * (event.flight / self.segment_size), 2.0)
        self.cwnd = self.ssthresh if event.cause == 0 or event.cause == 3 else 1.0

    def on_undo(self, moment):
        self.cwnd = max(self.cwnd, self.prior_cwnd)
        self.ssthresh = max(self.ssthresh, self.prior_ssthresh)
        self.w_max = self.before_w_max
        self.prior = self.before_prior
        self.epoch_ns = self.before_epoch_ns
        self.epoch_k = self.before_k
        self.epoch_w_max = self.before_origin
        self.reno = self.before_reno

    def on_idle(self, idle):
        self.epoch_ns = -1
        self.cwnd = max(min(self.cwnd, idle.window / self.segment_size), 1.0)
        self.ssthresh = max(self.ssthresh, idle.threshold / self.segment_size)


def watch(self, ack):
    small = self.cwnd < 16.0
    if self.round_end < 0 or ack.snd_una > self.round_end:
        self.round_end = ack.snd_nxt
        self.round_ns = ack.now_ns
        self.last_ack_ns = ack.now_ns
        self.round_rtt_ns = 1 << 62
        self.samples = 0
    if small:
        return
    ends = False
    if ack.now_ns - self.last_ack_ns <= 2_000_000:
        self.last_ack_ns = ack.now_ns
        ends = ack.now_ns - self.round_ns > (ack.min_rtt_ns + 1_000_000) // 2
    self.round_rtt_ns = min(self.round_rtt_ns, ack.rtt_ns)
    if self.samples < 8:
        self.samples += 1
    else:
        rise = min(max(ack.min_rtt_ns // 8, 4_000_000), 16_000_000)
        ends = ends or self.round_rtt_ns > ack.min_rtt_ns + rise
    if ends:
        self.ssthresh = self.cwnd


def curve(self, t):
    d = t - self.epoch_k
    return self.c * d * d * d + self.epoch_w_max


def avoid(self, ack, acked):
    if self.epoch_ns < 0:
        self.unused_ns = -1
        if self.prior == 0.0:
            self.prior = self.cwnd
        if self.w_max > self.cwnd:
            self.epoch_w_max = self.w_max
            self.epoch_k = libm.cbrt((self.w_max - self.cwnd) / self.c)
        else:
            self.epoch_w_max = self.cwnd
            self.epoch_k = 0.0
        self.epoch_ns = ack.now_ns
        self.reno = self.cwnd
    if self.unused_ns >= 0:
        self.epoch_ns += ack.now_ns - self.unused_ns
        self.unused_ns = -1
    t = (ack.now_ns - self.epoch_ns) / 1e9
    share = acked / self.cwnd
    alpha = 3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    self.reno += share * (1.0 if self.reno >= self.prior else alpha)
    if curve(self, t) < self.reno:
        self.cwnd = max(self.cwnd, self.reno)
        return
    target = min(max(curve(self, t + ack.srtt_ns / 1e9), self.cwnd), 1.5 * self.cwnd)
    self.cwnd += share * (target - self.cwnd)
