//! TCP Peach: probes the path with low-priority segments to find out whether a loss was due to congestion.
//!
//! Akyildiz, Morabito, Palazzo, "TCP-Peach: a new congestion control scheme for satellite IP networks", IEEE/ACM ToN
//! 9(3), 2001. **Established** by its public abstracts: Sudden Start and Rapid Recovery, in addition to congestion
//! avoidance and fast retransmit, with *dummy segments*: copies of the last data segment, without new data, that
//! routers drop first. **Reconstructed** from summaries of the paper are the numbers below. Rules marked † are our own,
//! as no available text has them. With W in segments:
//!
//! - **Sudden Start**: with the first data, rwnd − W dummy segments are sent, one every τ = RTT/rwnd; W += 1 for each
//!   that is acknowledged. On an empty path W is rwnd after two round trips. W starts with the initial window of the
//!   connection† (the paper: 1). A SYN-ACK cannot advertise more than 64 kB (RFC 7323 §2.2). Once the first ACK
//!   advertises more, dummy segments for the rest follow, over another round trip†. After a timeout, W = 1 and Sudden
//!   Start is repeated†.
//! - **Congestion avoidance**: W += 1/W for each counted segment. There is no slow start.
//! - **Rapid Recovery**: a loss at W0 = W leaves W = W0/2. For each segment that is then acknowledged or SACKed two
//!   dummy segments are sent, W0 in total (`adsn`); if recovery ends before all were sent, the rest follows after it†.
//!   The first W0/2 acknowledged ones (`wdsn`) prove nothing, since the halved window left space for as many; each
//!   later acknowledgement adds one segment, immediately or in congestion avoidance. If all arrive, W is W0 again; if
//!   half of them or more are dropped, it stays W0/2.
//! - **A congestion mark** is not an error of a link: W = W0/2 without dummy segments†.
//!
//! The recovery of the transport performs the repair. Signs of a spurious repair are not trusted, since a dummy segment
//! may have filled the hole. [`plus`] is TCP Peach+.

use super::about::{About, Deviation, Provenance, Signal};
use super::registry::Algorithm;
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, LowPriority, Needs, Probes, Probing, Window};
use lightlag_core::params::{Declared, Setting};
use lightlag_core::{Duration, Instant, Unit};
use std::marker::PhantomData;

pub mod plus;

/// Number of dummy segments sent per acknowledged segment in Rapid Recovery.
const PROBES_PER_ACK: f64 = 2.0;

/// The rules of TCP Peach and TCP Peach+, for their descriptions.
const DETAILS: &str = r#"
    The abstracts establish the four phases (Sudden Start and Rapid Recovery, which `peach+` calls Jump Start and Quick
    Recovery), dummy segments (copies of the last data, of low priority, without new data) and NIL segments (of low
    priority, with data that is not acknowledged). The numbers come from summaries of the papers.

    rwnd is the window that the receiver advertises. An automatic buffer, as in the profile `linux`, starts with 65.5 kB,
    where Sudden Start ends; W then grows by one segment per round trip. On 10 Mbit/s and 600 ms the goodput of a minute is
    then 1.8 instead of the 9.2 Mbit/s of a buffer of 4 MB. The warning `spoilt-start` reports it. Set `receive_window =
    "stevens"` and a fixed `receive_buffer`, or `sudden_window`.

    The sender calls the algorithm for the time of the next segment of low priority, copies outstanding data into that
    segment, and reports each ACK to the algorithm. Such a segment is not in flight, never lost and never retransmitted; its
    ACK is never a duplicate ACK and gives no round-trip sample. `peach` copies the last segment, `peach+` all outstanding
    data without a SACK in turn. A copy may fill a hole, which makes spurious repairs indistinguishable from real ones:
    undo by Eifel, F-RTO and D-SACK is off.

    Segment and ACK carry the reserved bit 0x200 of the TCP header (the paper also uses reserved bits). Other TCPs do not
    answer it, so that both endpoints must be lightlag's. Both are of low priority on links: `queue = { discipline =
    "priority" }` drops them first (docs/models/network.md).
"#;

const DEVIATIONS: &[Deviation] = &[
    Deviation {
        scope: "start",
        source: "W = 1",
        here: "the initial window of the profile",
        reason: "the same start for all algorithms; `initial_window = 1` is the paper's",
    },
    Deviation {
        scope: "rwnd",
        source: "known",
        here: "a SYN-ACK offers up to 64 kB; if the first ACK offers more, segments for the rest follow over another round \
               trip",
        reason: "window scaling (RFC 7323 §2.2); `sudden_window` sets the window in advance",
    },
    Deviation {
        scope: "Rapid Recovery",
        source: "two segments per ACK",
        here: "two per segment acknowledged or SACKed, also after the repair until adsn is zero",
        reason: "ACKs can be delayed and lost",
    },
    Deviation {
        scope: "timeout, mark",
        source: "not in the available texts",
        here: "Sudden Start again; half of the window without probes",
        reason: "a mark is not a link error",
    },
    Deviation {
        scope: "ACK of a dummy segment",
        source: "its priority is not specified",
        here: "low priority",
        reason: "the probe is acknowledged only if neither path is congested",
    },
    Deviation {
        scope: "NIL segments",
        source: "\"unacknowledged information\"",
        here: "outstanding data without a SACK, in turn",
        reason: "the order is open",
    },
    Deviation {
        scope: "D-SACK and timestamps of copies",
        source: "not mentioned; the paper is older",
        here: "not reported, not echoed",
        reason: "they would carry nothing new to the sender",
    },
];

const CHECKS: &str = "64 → 32 → 64 segments after 64 dummy ACKs, 32 if half of them are dropped; rwnd after two round trips \
                      over a geostationary satellite (300 segments; NewReno: 4); 1,000 segments of data cross the link with \
                      exactly 299 probes; with random loss on that path (10 Mbit/s, 550 ms) 2.8 Mbit/s at 10⁻³ and 1.8 \
                      (`peach+`: 2.2) at 10⁻², against 0.63 and 0.17 of NewReno. Relative to its goodput next to another \
                      NewReno (10 Mbit/s, 100 ms, queue of one BDP), a NewReno flow next to it has 102 % with strict \
                      priority, 92 % with push-out, where probes take time but no buffer, and 90 % with drop-tail.";

/// The differences between TCP Peach and TCP Peach+.
pub(super) trait PeachKind: Clone + Default + PartialEq + 'static {
    const ABOUT: About;

    /// Data in its low-priority segments.
    const PROBES: Probes;
}

/// Marker type of the algorithm `peach`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Original;

/// Parameters of the algorithm `K`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config<K = Original> {
    /// Window in segments that Sudden Start probes for; 0: the window that the peer advertises.
    pub sudden_window: f64,
    kind: PhantomData<K>,
}

/// The state of Sudden Start.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sudden {
    /// Sudden Start follows with the next data.
    Due,
    /// Dummy segments are being sent: `left` more, the next one at `next`, then one every `gap`.
    Probing { left: u64, next: Instant, gap: Duration },
    /// Dummy segments for the window in the SYN-ACK have been sent. If a larger window is advertised, more will follow,
    /// once.
    Waiting,
    /// Sudden Start has finished.
    Done,
}

/// Peach's window, and its dummy segments.
pub struct Peach {
    window: Window,
    sudden_window: f64,
    sudden: Sudden,
    /// Window that Sudden Start has probed for, in segments.
    probed: f64,
    /// Whether that window exceeds the one in the SYN-ACK.
    extended: bool,
    /// `adsn`: dummy segments that ACKs may still release.
    allowed: f64,
    /// Fraction of a dummy segment that is left over from the last ACKs.
    fraction: f64,
    /// Dummy segments that were released and have not been sent yet.
    released: u64,
    /// `wdsn`: number of acknowledged dummy segments that still prove nothing.
    ignored: u64,
}

impl Peach {
    /// Creates the state before the first data.
    fn new<K: PeachKind>(config: &Config<K>, start: &ConnectionStart) -> Self {
        Self {
            window: Window::new(start),
            sudden_window: config.sudden_window,
            sudden: Sudden::Due,
            probed: 0.0,
            extended: false,
            allowed: 0.0,
            fraction: 0.0,
            released: 0,
            ignored: 0,
        }
    }

    /// Returns the window that Sudden Start probes for, in segments.
    fn target(&self, path: &Probing) -> f64 {
        let advertised = self.window.in_segments(path.receive_window).floor();
        if self.sudden_window > 0.0 { self.sudden_window } else { advertised }
    }

    /// Schedules dummy segments for the part of the window between `from` and the target, spread over a round trip.
    fn probe_from(&mut self, from: f64, path: &Probing) {
        self.extended = self.sudden == Sudden::Waiting;
        let target = self.target(path);
        let left = (target - from).max(0.0) as u64;
        let gap = Duration::from_secs_f64(path.srtt.as_secs_f64() / target.max(1.0));
        self.sudden = match left {
            0 => Sudden::Waiting,
            _ => Sudden::Probing { left, next: path.now + gap, gap },
        };
        self.probed = target;
    }

    /// Rapid Recovery: releases the dummy segments for an ACK.
    fn release(&mut self, ack: &Ack) {
        let unreported = ack.duplicate && ack.newly_delivered == 0;
        let segments = if unreported { 1.0 } else { self.window.in_segments(ack.newly_delivered) };
        self.fraction += PROBES_PER_ACK * segments;
        let whole = self.fraction.floor().min(self.allowed);
        self.fraction -= whole;
        self.allowed -= whole;
        self.released += whole as u64;
    }

    fn forget_probes(&mut self) {
        (self.allowed, self.fraction, self.released, self.ignored) = (0.0, 0.0, 0, 0);
    }

    fn begin_rapid_recovery(&mut self, before: f64) {
        self.forget_probes();
        self.sudden = Sudden::Done;
        self.allowed = before.floor();
        self.ignored = (before / 2.0).ceil() as u64;
    }
}

window_based!(Peach);

impl CongestionControl for Peach {
    fn on_ack(&mut self, ack: &Ack) {
        if self.allowed > 0.0 {
            self.release(ack);
        }
        if ack.may_grow() {
            self.window.grow(ack.growth / self.window.segments());
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let before = self.window.segments();
        match event.cause {
            Cause::Loss | Cause::Mark => {
                self.window.react(event, before / 2.0);
                self.begin_rapid_recovery(before);
                if event.cause == Cause::Mark {
                    self.forget_probes();
                }
            }
            Cause::Timeout | Cause::RepeatedTimeout => {
                self.window.react(event, self.window.in_segments(event.flight) / 2.0);
                self.forget_probes();
                if !matches!(self.sudden, Sudden::Probing { .. }) {
                    self.sudden = Sudden::Due;
                }
            }
        }
    }

    fn on_undo(&mut self, _now: Instant) {
        self.window.undo();
        self.forget_probes();
    }

    fn low_priority(&mut self) -> Option<&mut dyn LowPriority> {
        Some(self)
    }
}

impl LowPriority for Peach {
    fn next_probe(&mut self, path: &Probing) -> Option<Instant> {
        match self.sudden {
            Sudden::Due if !path.srtt.is_zero() => self.probe_from(self.window.segments(), path),
            Sudden::Waiting if self.target(path) > self.probed => self.probe_from(self.probed, path),
            _ => {}
        }
        match self.sudden {
            _ if self.released > 0 => Some(path.now),
            Sudden::Probing { next, .. } => Some(next),
            Sudden::Due | Sudden::Waiting | Sudden::Done => None,
        }
    }

    fn on_probe_sent(&mut self) {
        if self.released > 0 {
            self.released -= 1;
        } else if let Sudden::Probing { left, next, gap } = self.sudden {
            self.sudden = match left {
                1 if self.extended => Sudden::Done,
                1 => Sudden::Waiting,
                _ => Sudden::Probing { left: left - 1, next: next + gap, gap },
            };
        }
    }

    fn on_probe_ack(&mut self, _now: Instant) {
        if self.ignored > 0 {
            self.ignored -= 1;
        } else {
            self.window.grow(1.0);
        }
    }
}

impl PeachKind for Original {
    const ABOUT: About = About {
        about: "NewReno for satellites with dummy segments, which are copies of the last data that routers drop first. It \
                sends as many as the peer's window holds in the first round trip (Sudden Start), and as many as its own \
                window after a loss (Rapid Recovery). If they arrive, the path had free capacity and the loss was a link \
                error. It needs queue = { discipline = \"priority\" } on the path; in a drop-tail queue dummy segments \
                displace other packets.",
        equations: &[
            "Sudden Start:     rwnd - W dummy segments, one each RTT/rwnd;  W += 1 per dummy ACK",
            "avoidance, per counted segment:  W += 1/W",
            "loss:     W0 = W, W = W0/2, adsn = W0, wdsn = W0/2",
            "Rapid Recovery:   2 dummy segments per segment acknowledged, while adsn > 0",
            "dummy ACK:        wdsn -= 1 while wdsn > 0, then W += 1",
            "mark:     W = W/2;  timeout: W = 1 and Sudden Start",
        ],
        source: "Akyildiz, Morabito, Palazzo, \"TCP-Peach: a new congestion control scheme for satellite IP networks\", \
                 IEEE/ACM Transactions on Networking 9(3), 2001; constants and gaps reconstructed",
        year: 2001,
        signal: Signal::LossAndProbes,
        details: DETAILS,
        variants: &[],
        deviations: DEVIATIONS,
        checks: CHECKS,
        not_modelled: "",
    };
    const PROBES: Probes = Probes::Last;
}

impl<K: PeachKind> Declared for Config<K> {
    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("sudden_window", |config: &mut Self| &mut config.sudden_window, Unit::Plain, 0.0, 1e6)
                .unit("segments")
                .about(
                    "Window that Sudden Start probes for; 0 takes the window that the peer advertises, which is small \
                     at first with receive_window = linux.",
                ),
        ]
    }
}

impl<K: PeachKind> Algorithm for Config<K> {
    const ABOUT: About = K::ABOUT;
    const PROVENANCE: Provenance = Provenance::Reconstructed;

    const NEEDS: Needs = Needs { probes: K::PROBES, ..Needs::NONE };

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Peach::new(self, start))
    }
}

#[cfg(test)]
mod tests;
