//! TCP Peach: probes with segments of low priority find out whether a loss was congestion.
//!
//! Akyildiz, Morabito, Palazzo, "TCP-Peach: a new congestion control scheme for satellite IP networks", IEEE/ACM ToN
//! 9(3), 2001. **Established** by its public abstracts: Sudden Start and Rapid Recovery beside congestion avoidance and
//! fast retransmit, with *dummy segments*: copies of the last data segment, without new data, that routers drop first.
//! **Reconstructed** from summaries of the paper are the numbers below. Rules marked † are ours, as no available text
//! has them. With W in segments:
//!
//! - **Sudden Start**: with the first data, rwnd − W dummy segments leave, one each τ = RTT/rwnd; W += 1 for each that
//!   is acknowledged. On an empty path W is rwnd after two round trips. W starts with the initial window of the
//!   connection† (the paper: 1). A SYN-ACK cannot advertise more than 64 kB (RFC 7323 §2.2). Once the first ACK
//!   advertises more, dummy segments for the rest follow, over another round trip†. After a timeout, W = 1 and the same
//!   again†.
//! - **Congestion avoidance**: W += 1/W for each counted segment. There is no slow start.
//! - **Rapid Recovery**: a loss at W0 = W leaves W = W0/2. For each segment that is then acknowledged or SACKed two
//!   dummy segments leave, W0 in all (`adsn`), also after a repair that was too short for all of them†. The first W0/2
//!   acknowledged ones (`wdsn`) prove nothing, since the halved window left room for as many; each later one adds a
//!   segment, at once or in congestion avoidance. If all arrive, W is W0 again; if half of them or more are dropped, it
//!   stays W0/2.
//! - **A congestion mark** is not an error of a link: W = W0/2 without dummy segments†.
//!
//! The recovery of the transport performs the repair. Signs of a spurious repair are not trusted, since a dummy segment
//! may have filled the hole. [`plus`] is TCP Peach+.

use super::registry::{About, Algorithm, Provenance};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, LowPriority, Needs, Probes, Probing, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};
use std::marker::PhantomData;

pub mod plus;

/// Dummy segments for each acknowledged segment in Rapid Recovery.
const PROBES_PER_ACK: f64 = 2.0;

/// TCP Peach or TCP Peach+.
pub(super) trait Kind: Clone + Default + PartialEq {
    const ABOUT: About;

    /// The data in its segments of low priority.
    const PROBES: Probes;
}

/// `peach`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Original;

/// Parameters of the kind `K`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config<K = Original> {
    /// Segments that Sudden Start probes for; 0 means the window that the peer advertises.
    pub sudden_window: f64,
    kind: PhantomData<K>,
}

/// The state of Sudden Start.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sudden {
    /// It starts with the next data.
    Due,
    /// This many dummy segments still leave, the next at `next`, then one each `gap`.
    Probing { left: u64, next: Instant, gap: Duration },
    /// The window in the SYN-ACK has been probed for. The first larger one will be, too.
    Waiting,
    /// It is over.
    Done,
}

/// Peach's window and its dummy segments.
pub struct Peach {
    window: Window,
    sudden_window: f64,
    sudden: Sudden,
    /// The window probed for by Sudden Start, in segments.
    probed: f64,
    /// Whether that exceeds the window in the SYN-ACK.
    extended: bool,
    /// `adsn`: dummy segments that ACKs may still release.
    allowed: f64,
    /// Fractions of dummy segments that the last ACKs released.
    fraction: f64,
    /// Dummy segments that were released and have not left.
    released: u64,
    /// `wdsn`: acknowledged dummy segments that prove nothing.
    ignored: u64,
}

impl Peach {
    /// The state before the first data.
    fn new<K: Kind>(config: &Config<K>, start: &Start) -> Self {
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

    /// The window that Sudden Start probes for, in segments.
    fn target(&self, path: &Probing) -> f64 {
        let advertised = self.window.in_segments(path.receive_window).floor();
        if self.sudden_window > 0.0 { self.sudden_window } else { advertised }
    }

    /// Spreads the dummy segments from the window `from` to the target over a round trip.
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

    /// Rapid Recovery: an ACK releases dummy segments.
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

impl Kind for Original {
    const ABOUT: About = About {
        about: "NewReno for satellites that probes with dummy segments: copies of the last data that routers drop first. \
                As many as the peer's window leave in the first round trip (Sudden Start), and as many as the window after \
                a loss (Rapid Recovery): if they arrive, the path had room and the loss was an error of a link. It needs \
                queue = { discipline = \"priority\" } on the way; in a drop-tail queue dummy segments cost others their \
                places.",
        equations: &[
            "Sudden Start:     rwnd - W dummy segments, one each RTT/rwnd;  W += 1 per dummy ACK",
            "avoidance, per counted segment:  W += 1/W",
            "loss:     W0 = W, W = W0/2, adsn = W0, wdsn = W0/2",
            "Rapid Recovery:   2 dummy segments per segment acknowledged, while adsn > 0",
            "dummy ACK:        wdsn -= 1 while wdsn > 0, then W += 1",
            "mark:     W = W/2;  timeout: W = 1 and Sudden Start",
        ],
        source: "Akyildiz, Morabito, Palazzo, \"TCP-Peach: a new congestion control scheme for satellite IP networks\", \
                 IEEE/ACM Transactions on Networking 9(3), 2001; numbers and gaps reconstructed",
    };
    const PROBES: Probes = Probes::Last;
}

impl<K: Kind> Algorithm for Config<K> {
    const ABOUT: About = K::ABOUT;
    const PROVENANCE: Provenance = Provenance::Reconstructed;

    const NEEDS: Needs = Needs { probes: K::PROBES, ..Needs::NONE };

    fn settings() -> Vec<Setting<Self>> {
        vec![Setting::quantity("sudden_window", |config: &mut Self| &mut config.sudden_window, Unit::Plain, 0.0, 1e6).by_default("0").unit("segments").about("The window that Sudden Start probes for; 0 takes what the peer advertises, which is small at first \
                      with receive_window = linux.")]
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Peach::new(self, start))
    }
}

#[cfg(test)]
mod tests;
