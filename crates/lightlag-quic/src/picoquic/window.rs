//! The windows of picoquic's NewReno and CUBIC (`newreno.c`, `cubic.c`), for complete acknowledgements: first the
//! round-trip sample, then the losses, then the acknowledged bytes.
//!
//! In slow start, the window grows by the acknowledged bytes, with CUBIC only while it limits the sender, and is at
//! least half of the peak bandwidth times the smoothed round-trip time. NewReno also scales its initial window.

use super::signals::{LossRate, Peak, Rise};
use super::{RENO_RTT, SATELLITE_RTT, Seed, long_window, packet_time};
use crate::packet_window::{PacketWindow, Report};
use lightlag_control::congestion::{Ack, Allowance, Congestion, CongestionControl};
use lightlag_core::{Duration, Instant};

/// Minimum window in bytes (PICOQUIC_CWIN_MINIMUM): two packets of 1536 B.
const MIN_WINDOW: u64 = 3_072;
/// Maximum loss rate without a reaction of CUBIC (PICOQUIC_SMOOTHED_LOSS_THRESHOLD).
const MAX_LOSS_RATE: f64 = 0.15;
/// Growth of CUBIC in datagrams per s³, and its reduction (PICOQUIC_CUBIC_C, PICOQUIC_CUBIC_BETA_ECN).
const C: f64 = 0.4;
const BETA: f64 = 7.0 / 8.0;
/// Slow-start threshold after a spurious loss, as part of the former maximum (PICOQUIC_CUBIC_BETA).
const SPURIOUS_BETA: f64 = 3.0 / 4.0;

/// State of CUBIC before a reduction.
#[derive(Clone, Copy, Debug)]
struct Before {
    window: u64,
    ssthresh: u64,
    is_slow_start: bool,
    /// Start of the curve, or of the next curve if the reduction started one.
    epoch: f64,
}

/// State of CUBIC: windows in datagrams, times in seconds.
#[derive(Clone, Copy, Debug)]
struct Cubic {
    k: f64,
    w_max: f64,
    w_last_max: f64,
    /// Window of the parallel Reno in bytes.
    w_reno: f64,
    epoch: f64,
    before: Before,
    loss_rate: LossRate,
}

impl Cubic {
    fn new(window: u64) -> Self {
        let (w_max, loss_rate) = (f64::INFINITY, LossRate::default());
        let before = Before { window, ssthresh: u64::MAX, is_slow_start: true, epoch: 0.0 };
        Self { k: 0.0, w_max, w_last_max: w_max, w_reno: window as f64, epoch: 0.0, before, loss_rate }
    }

    /// Starts the curve at its lowest point: BETA · w_max.
    fn start(&mut self, now: Instant) {
        self.start_at(now.as_secs_f64());
    }

    fn start_at(&mut self, epoch: f64) {
        self.k = libm::cbrt(self.w_max * (1.0 - BETA) / C);
        (self.epoch, self.before.epoch) = (epoch, epoch);
    }

    /// Returns the curve in datagrams.
    fn curve(&self, now: Instant) -> f64 {
        let ahead = now.as_secs_f64() - self.epoch - self.k;
        C * (ahead * ahead * ahead) + self.w_max
    }

    /// Continues at the plateau, where the curve is w_max.
    fn start_at_plateau(&mut self, now: Instant) {
        self.k = self.k.min(now.as_secs_f64());
        self.epoch = now.as_secs_f64() - self.k;
    }

    /// Notes the window at a reduction, less if it had not reached the last one (fast convergence). The first reduction
    /// for a loss counts as one that had not.
    fn note_maximum(&mut self, window: f64) {
        let has_grown = window >= self.w_last_max;
        self.w_last_max = window;
        self.w_max = if has_grown { window } else { window * BETA };
    }
}

/// The growth function.
#[derive(Clone, Copy, Debug)]
enum Law {
    /// NewReno, with the product of bytes and datagram that has not increased the window.
    NewReno(u64),
    Cubic(Cubic),
}

/// Cause of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Signal {
    /// A lost packet with its number.
    Loss(u32),
    /// A congestion mark.
    Mark,
    /// Persistent congestion, instead of picoquic's timeouts.
    Timeout,
}

/// A congestion window of picoquic.
#[derive(Debug)]
pub(crate) struct PicoquicWindow {
    law: Law,
    initial: u64,
    window: u64,
    ssthresh: u64,
    is_slow_start: bool,
    datagram: u64,
    /// Time of the last reduction. Packets sent at that time are after it: an acknowledgement is handled before it
    /// permits others.
    reduced: Option<Instant>,
    /// Transmission time of the packet sent last among the acknowledged ones.
    newest: Instant,
    peak: Peak,
    rise: Rise,
    /// A saved window for the first round-trip sample.
    seed: Seed,
    /// Numbers and transmission times of packets that were found lost since the last report.
    lost: Vec<(u32, Instant)>,
}

impl PicoquicWindow {
    pub(crate) fn new(is_cubic: bool, window: u64, datagram: u64) -> Self {
        Self {
            law: if is_cubic { Law::Cubic(Cubic::new(window)) } else { Law::NewReno(0) },
            initial: window,
            window,
            ssthresh: u64::MAX,
            is_slow_start: true,
            datagram,
            reduced: None,
            newest: Instant::ZERO,
            peak: Peak::default(),
            rise: Rise::default(),
            seed: Seed::default(),
            lost: Vec::new(),
        }
    }

    /// Sets a saved window, which may apply at the first round-trip sample.
    pub(crate) fn with_seed(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    /// Leaves the first slow start at a saved window. CUBIC starts its curve there, and its parallel Reno at the window.
    fn resume(&mut self, now: Instant, saved: u64) {
        if !self.is_slow_start
            || self.ssthresh < u64::MAX
            || matches!(self.law, Law::NewReno(_)) && saved <= self.window
        {
            return;
        }
        (self.window, self.ssthresh, self.is_slow_start) = (self.window.max(saved), saved, false);
        if let Law::Cubic(cubic) = &mut self.law {
            cubic.w_max = self.window as f64 / self.datagram as f64;
            cubic.w_last_max = cubic.w_max;
            cubic.w_reno = self.window as f64;
            cubic.start(now);
        }
    }

    fn is_after_reduction(&self, sent: Instant) -> bool {
        self.reduced.is_none_or(|time| sent >= time)
    }

    /// Handles a round-trip sample: ends the first slow start if the round-trip time rises.
    fn handle_sample(&mut self, report: &Report, rtt: Duration) {
        if !self.is_slow_start || self.ssthresh < u64::MAX {
            return;
        }
        if let Law::NewReno(_) = self.law {
            self.window = self.window.max(long_window(self.initial, report.min_rtt));
        }
        let packet_time = packet_time(self.window, self.datagram, report.srtt);
        if self.rise.rises(report.now, rtt, packet_time) {
            self.end_slow_start(report.now);
        }
    }

    /// Ends slow start because the round-trip time rises. CUBIC halves the window, or on a long path the part of it
    /// that exceeds the one of a path of 100 ms (above 610 ms, of 610 ms), and continues at the plateau of its curve.
    fn end_slow_start(&mut self, now: Instant) {
        let base = self.rise.base();
        let Law::Cubic(cubic) = &mut self.law else {
            (self.ssthresh, self.is_slow_start) = (self.window, false);
            return;
        };
        self.window = if base > RENO_RTT {
            let target = if base > SATELLITE_RTT { SATELLITE_RTT } else { RENO_RTT };
            let part = (self.window as f64 * target.as_secs_f64() / base.as_secs_f64()) as u64;
            self.window - (self.window - part) / 2
        } else {
            self.window / 2
        };
        cubic.w_last_max = self.window as f64 / self.datagram as f64;
        cubic.w_max = cubic.w_last_max;
        self.reduce(now, Signal::Mark);
        if let Law::Cubic(cubic) = &mut self.law {
            cubic.start_at_plateau(now);
        }
    }

    /// Handles a sign of congestion about a packet sent at `sent`. Returns true if the window was reduced.
    fn handle_signal(&mut self, report: &Report, sent: Instant, signal: Signal) -> bool {
        // In slow start, CUBIC counts all losses, but reduces once per round trip.
        let (is_new, is_acked) = (self.is_after_reduction(sent), self.is_after_reduction(self.newest));
        let reacts = match &mut self.law {
            Law::NewReno(_) => is_new,
            Law::Cubic(cubic) => {
                let is_candidate = is_new || self.is_slow_start;
                let is_loud = match signal {
                    Signal::Loss(number) => is_candidate && cubic.loss_rate.exceeds(number, MAX_LOSS_RATE),
                    Signal::Mark | Signal::Timeout => is_candidate,
                };
                let is_late = report.now.as_secs_f64() - cubic.epoch > report.srtt.as_secs_f64();
                is_loud && (!self.is_slow_start || is_late || is_acked)
            }
        };
        if reacts {
            self.reduce(report.now, signal);
        }
        reacts
    }

    fn reduce(&mut self, now: Instant, signal: Signal) {
        self.reduced = Some(now);
        let (window, ssthresh, is_slow_start) = (self.window, self.ssthresh, self.is_slow_start);
        let is_timeout = signal == Signal::Timeout;
        self.is_slow_start = is_timeout;
        let datagram = self.datagram as f64;
        match &mut self.law {
            Law::NewReno(rest) => {
                *rest = 0;
                self.ssthresh = (self.window / 2).max(MIN_WINDOW);
                self.window = if is_timeout { MIN_WINDOW } else { self.ssthresh };
            }
            Law::Cubic(cubic) => {
                cubic.before = Before { window, ssthresh, is_slow_start, epoch: cubic.epoch };
                cubic.note_maximum(window as f64 / datagram);
                self.ssthresh = (cubic.w_max * BETA * datagram) as u64;
                if self.ssthresh < MIN_WINDOW {
                    (self.ssthresh, self.is_slow_start) = (u64::MAX, true);
                    (cubic.epoch, cubic.w_reno) = (now.as_secs_f64(), MIN_WINDOW as f64);
                    self.window = MIN_WINDOW;
                } else if is_timeout {
                    cubic.epoch = now.as_secs_f64();
                    self.window = MIN_WINDOW;
                } else {
                    cubic.w_reno = self.window as f64 / 2.0;
                    cubic.start(now);
                    self.window = (cubic.curve(now) * datagram) as u64;
                }
            }
        }
    }

    fn handle_acked(&mut self, report: &Report) {
        self.peak.acknowledged(report.now, report.sent, report.acked);
        let is_first = self.is_slow_start && self.ssthresh == u64::MAX;
        if is_first || self.is_slow_start && matches!(self.law, Law::Cubic(_)) {
            self.window = self.window.max(self.peak.half_product(report.srtt));
        }
        if self.newest <= report.limited {
            return;
        }
        match &mut self.law {
            Law::NewReno(_) if self.is_slow_start => {
                self.window += report.acked;
                self.is_slow_start = self.window < self.ssthresh;
            }
            Law::NewReno(rest) => {
                let product = report.acked * self.datagram + *rest;
                *rest = product % self.window;
                self.window += product / self.window;
            }
            Law::Cubic(cubic) if self.is_slow_start => {
                self.window += if report.is_blocked { report.acked } else { 0 };
                if self.window >= self.ssthresh {
                    cubic.w_reno = self.window as f64 / 2.0;
                    cubic.start(report.now);
                    self.is_slow_start = false;
                }
            }
            Law::Cubic(cubic) => {
                // An idle time does not count for the curve.
                cubic.epoch = cubic.epoch.max(report.limited.as_secs_f64());
                let datagram = self.datagram as f64;
                cubic.w_reno += report.acked as f64 * datagram / cubic.w_reno;
                self.window = (cubic.curve(report.now) * datagram).max(cubic.w_reno) as u64;
            }
        }
    }
}

impl PacketWindow for PicoquicWindow {
    fn set_datagram(&mut self, datagram: u64) {
        self.datagram = datagram;
    }

    fn packet_acked(&mut self, _now: Instant, _sent: Instant, _bytes: u64, _limited: bool, _srtt: Duration) {}

    fn congestion(&mut self, _now: Instant, _sent: Instant, _persistent: bool, _in_flight: u64) -> bool {
        false
    }

    fn packet_lost(&mut self, number: u32, sent: Instant) {
        self.lost.push((number, sent));
    }

    /// NewReno restores the window within a smoothed round-trip time, until a packet sent after the reduction is
    /// acknowledged. CUBIC restores the window and slow start if a reduction ended it; otherwise the curve returns to the
    /// former maximum, but starts at the reduction (`cubic_correct_spurious`, whose earlier start is overwritten in
    /// `cubic_enter_avoidance`).
    fn packet_spurious(&mut self, now: Instant, newest: Instant, srtt: Duration) -> bool {
        let window = self.window;
        if self.ssthresh == u64::MAX {
            return false;
        }
        match &mut self.law {
            Law::NewReno(_) => {
                let is_recent = self.reduced.is_some_and(|reduced| now.since(reduced) < srtt && newest < reduced);
                if is_recent && self.window < 2 * self.ssthresh {
                    (self.window, self.is_slow_start) = (2 * self.ssthresh, false);
                }
            }
            Law::Cubic(cubic) => {
                let before = cubic.before;
                cubic.w_max = cubic.w_last_max;
                self.is_slow_start = before.is_slow_start;
                if before.is_slow_start {
                    (self.window, self.ssthresh) = (before.window, before.ssthresh);
                    (cubic.epoch, cubic.w_reno) = (before.epoch, before.window as f64);
                } else {
                    let datagram = self.datagram as f64;
                    cubic.start_at(before.epoch);
                    cubic.w_reno = cubic.curve(now) * datagram;
                    (self.window, self.ssthresh) =
                        (cubic.w_reno as u64, (cubic.w_max * SPURIOUS_BETA * datagram) as u64);
                }
            }
        }
        self.window > window
    }

    fn report(&mut self, report: &Report) -> Option<bool> {
        self.newest = self.newest.max(report.sent);
        if let Some(rtt) = report.rtt {
            if let Some(saved) = self.seed.at_sample(rtt) {
                self.resume(report.now, saved);
            }
            self.handle_sample(report, rtt);
        }
        let mut lost = std::mem::take(&mut self.lost);
        let last = lost.last().map_or(report.sent, |(_, sent)| *sent);
        let mut is_reduced = false;
        for (number, sent) in lost.drain(..) {
            is_reduced |= self.handle_signal(report, sent, Signal::Loss(number));
        }
        self.lost = lost;
        if report.is_marked {
            is_reduced |= self.handle_signal(report, report.sent, Signal::Mark);
        }
        if report.is_persistent {
            is_reduced |= self.handle_signal(report, last, Signal::Timeout);
        }
        if report.acked > 0 {
            self.handle_acked(report);
        }
        Some(is_reduced)
    }
}

impl Allowance for PicoquicWindow {
    fn window(&self) -> u64 {
        self.window
    }

    /// Returns the maximum in the first slow start, in which packets are paced faster than the window.
    fn ssthresh(&self) -> u64 {
        if self.is_slow_start { self.ssthresh } else { self.ssthresh.min(self.window) }
    }
}

/// For reports: the path calls [`PacketWindow::report`] instead.
impl CongestionControl for PicoquicWindow {
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_congestion(&mut self, _event: &Congestion) {}
}

#[cfg(test)]
mod tests;
