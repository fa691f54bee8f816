//! CUBIC by RFC 9438, with the HyStart of Linux, as a plug-in of lightlag: `../cubic.py` in Rust.

use lightlag_plugin::{
    Ack, Congestion, CongestionControl, Control, Idle, Moment, Parameter, cause, export_congestion_control, parameter,
};
use std::ffi::CStr;

/// The state that an undo restores.
#[derive(Clone, Copy)]
struct Before {
    w_max: f64,
    prior: f64,
    reno: f64,
    epoch_ns: i64,
    epoch_w_max: f64,
    epoch_k: f64,
}

#[derive(Clone, Copy)]
struct Cubic {
    beta: f64,
    c: f64,
    /// Wmax at the last loss; zero before the first loss and after a timeout.
    w_max: f64,
    /// The window before the last reduction; zero before the first.
    prior: f64,
    /// The congestion window that Reno would have.
    reno: f64,
    before: Before,
    /// Time since which the window has not been fully used; -1 while it is.
    unused_ns: i64,
    round_end: i64,
    round_ns: i64,
    last_ack_ns: i64,
    round_rtt_ns: i64,
    samples: i64,
}

impl Cubic {
    fn curve(&self, control: &Control, t: f64) -> f64 {
        let from_plateau = t - control.epoch_k;
        self.c * from_plateau * from_plateau * from_plateau + control.epoch_w_max
    }

    /// HyStart: a train of ACKs, or a rise of the round-trip time, ends slow start.
    fn watch(&mut self, control: &mut Control, ack: &Ack) {
        if self.round_end < 0 || ack.snd_una > self.round_end {
            self.round_end = ack.snd_nxt;
            self.round_ns = ack.now_ns;
            self.last_ack_ns = ack.now_ns;
            self.round_rtt_ns = 1 << 62;
            self.samples = 0;
        }
        if control.cwnd < 16.0 {
            return;
        }
        let mut ends = false;
        if ack.now_ns - self.last_ack_ns <= 2_000_000 {
            self.last_ack_ns = ack.now_ns;
            ends = ack.now_ns - self.round_ns > (ack.min_rtt_ns + 1_000_000) / 2;
        }
        self.round_rtt_ns = self.round_rtt_ns.min(ack.rtt_ns);
        if self.samples < 8 {
            self.samples += 1;
        } else {
            let rise = (ack.min_rtt_ns / 8).clamp(4_000_000, 16_000_000);
            ends |= self.round_rtt_ns > ack.min_rtt_ns + rise;
        }
        if ends {
            control.ssthresh = control.cwnd;
        }
    }

    fn begin_epoch(&mut self, control: &mut Control, now_ns: i64) {
        self.unused_ns = -1;
        if self.prior == 0.0 {
            self.prior = control.cwnd;
        }
        let distance = self.w_max - control.cwnd;
        (control.epoch_w_max, control.epoch_k) =
            if distance > 0.0 { (self.w_max, libm::cbrt(distance / self.c)) } else { (control.cwnd, 0.0) };
        control.epoch_ns = now_ns;
        self.reno = control.cwnd;
    }

    fn avoid(&mut self, control: &mut Control, ack: &Ack, acked: f64) {
        if control.epoch_ns < 0 {
            self.begin_epoch(control, ack.now_ns);
        }
        if self.unused_ns >= 0 {
            control.epoch_ns += ack.now_ns - self.unused_ns;
            self.unused_ns = -1;
        }
        let t = (ack.now_ns - control.epoch_ns) as f64 / 1e9;
        let share = acked / control.cwnd;
        let alpha = 3.0 * (1.0 - self.beta) / (1.0 + self.beta);
        self.reno += share * if self.reno >= self.prior { 1.0 } else { alpha };
        if self.curve(control, t) < self.reno {
            control.cwnd = control.cwnd.max(self.reno);
            return;
        }
        let target = self.curve(control, t + ack.srtt_ns as f64 / 1e9).clamp(control.cwnd, 1.5 * control.cwnd);
        control.cwnd += share * (target - control.cwnd);
    }
}

impl CongestionControl for Cubic {
    const NAME: &'static CStr = c"cubic";
    const ABOUT: &'static CStr = c"CUBIC by RFC 9438, with the HyStart of Linux.";
    const PARAMETERS: &'static [Parameter] = &[
        parameter!(Cubic, beta, 0.1..=0.99, c"", c"The fraction of the window that a loss keeps."),
        parameter!(Cubic, c, 0.001..=1000.0, c"segments/s\xc2\xb3", c"How fast the window returns to Wmax."),
    ];
    const INITIAL: Self = Self {
        beta: 0.7,
        c: 0.4,
        w_max: 0.0,
        prior: 0.0,
        reno: 0.0,
        before: Before { w_max: 0.0, prior: 0.0, reno: 0.0, epoch_ns: -1, epoch_w_max: 0.0, epoch_k: 0.0 },
        unused_ns: -1,
        round_end: -1,
        round_ns: 0,
        last_ack_ns: 0,
        round_rtt_ns: 0,
        samples: 0,
    };

    fn on_ack(&mut self, control: &mut Control, ack: &Ack) {
        if ack.may_grow == 0 {
            let idles = ack.newly_acked > 0 && ack.cwnd_limited == 0;
            if idles && control.epoch_ns >= 0 && self.unused_ns < 0 {
                self.unused_ns = ack.now_ns;
            }
            return;
        }
        if control.cwnd < control.ssthresh && ack.rtt_ns > 0 {
            self.watch(control, ack);
        }
        let left = control.slow_start(ack.growth);
        if left > 0.0 {
            self.avoid(control, ack, left);
        }
    }

    fn on_congestion(&mut self, control: &mut Control, event: &Congestion) {
        let (window, w_max) = (control.cwnd, self.w_max);
        if event.cause != cause::REPEATED_TIMEOUT {
            self.before = Before {
                w_max,
                prior: self.prior,
                reno: self.reno,
                epoch_ns: control.epoch_ns,
                epoch_w_max: control.epoch_w_max,
                epoch_k: control.epoch_k,
            };
            self.prior = window;
            control.ssthresh = (self.beta * (event.flight as f64 / control.segment_size)).max(2.0);
        }
        control.epoch_ns = -1;
        self.w_max = match event.is_timeout() {
            true => 0.0,
            false if window < w_max => window * (1.0 + self.beta) / 2.0,
            false => window,
        };
        control.cwnd = if event.is_timeout() { 1.0 } else { control.ssthresh };
    }

    fn on_undo(&mut self, control: &mut Control, _moment: &Moment) {
        control.restore();
        let Before { w_max, prior, reno, epoch_ns, epoch_w_max, epoch_k } = self.before;
        (self.w_max, self.prior, self.reno) = (w_max, prior, reno);
        (control.epoch_ns, control.epoch_w_max, control.epoch_k) = (epoch_ns, epoch_w_max, epoch_k);
    }

    fn on_idle(&mut self, control: &mut Control, idle: &Idle) {
        control.epoch_ns = -1;
        control.restart(idle);
    }
}

export_congestion_control!(Cubic);
