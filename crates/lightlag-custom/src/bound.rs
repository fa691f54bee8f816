//! Adapts a custom algorithm to the congestion control interface of the engine.

use crate::records;
use lightlag_control::congestion::custom::Fault;
use lightlag_control::congestion::{
    self, Ack, Allowance, Cause, Congestion, CongestionControl, ConnectionStart, Departures, GrowthEpoch, Lost, Needs,
    Sent, Transmissions,
};
use lightlag_core::{Duration, Instant, Rate};
use lightlag_plugin::{Control, Idle, Moment};
use std::fmt::Write;

/// Maximum window that an algorithm may set, in segments. With segments of 1 B, 10¹² segments are a terabyte.
const LARGEST: f64 = 1e12;
/// Number of ACKs listed in an error message; the last ones.
const TOLD: usize = 4;

/// Callbacks of a custom algorithm for one connection. An error ends the run; its text states the cause.
pub trait ConnectionCallbacks: Send {
    /// Returns the shared part of the record, which holds the window.
    fn control(&self) -> Control;

    /// Replaces the shared part of the record.
    fn set_control(&mut self, control: Control);

    /// Called when the connection starts to send.
    fn on_start(&mut self, start: &lightlag_plugin::Start) -> Result<(), String>;

    /// Called when new data was acknowledged or SACKed.
    fn on_ack(&mut self, ack: &lightlag_plugin::Ack) -> Result<(), String>;

    /// Called when a congestion episode starts.
    fn on_congestion(&mut self, event: &lightlag_plugin::Congestion) -> Result<(), String>;

    /// Called when a spurious reaction is undone. Returns false if the algorithm leaves this to the engine.
    fn on_undo(&mut self, moment: &Moment) -> Result<bool, String>;

    /// Called when the sender restarts after an idle time. Returns false if the algorithm leaves this to the engine.
    fn on_idle(&mut self, idle: &Idle) -> Result<bool, String>;

    /// Called when the repair of losses has ended.
    fn on_recovered(&mut self, moment: &Moment) -> Result<(), String>;
}

/// Congestion control whose decisions come from the callbacks `B`.
pub struct BoundAlgorithm<B> {
    name: &'static str,
    body: B,
    needs: Needs,
    /// Window, threshold and pacing rate that the callbacks set last, after validation.
    window: u64,
    ssthresh: u64,
    pacing_rate: Option<Rate>,
    told: [lightlag_plugin::Ack; TOLD],
    acks: usize,
    fault: Option<Box<Fault>>,
}

impl<B: ConnectionCallbacks> BoundAlgorithm<B> {
    /// Creates the algorithm at the start of a connection.
    pub fn new(name: &'static str, mut body: B, needs: Needs, start: &ConnectionStart) -> Self {
        body.set_control(records::control(start));
        let buffer = [lightlag_plugin::Ack::default(); TOLD];
        let mut bound =
            Self { name, body, needs, window: 0, ssthresh: 0, pacing_rate: None, told: buffer, acks: 0, fault: None };
        bound.window = start.initial_window * start.segment_size;
        bound.tell(Instant::ZERO, "on_start", |body| body.on_start(&records::start(start)));
        bound
    }

    /// Calls a callback, unless the algorithm has failed, and stores the values that it set.
    #[inline]
    fn tell(&mut self, now: Instant, hook: &str, call: impl FnOnce(&mut B) -> Result<(), String>) {
        if self.fault.is_some() {
            return;
        }
        let answer = call(&mut self.body).and_then(|()| self.take_answers());
        if let Err(message) = answer {
            self.fail(now, hook, &message);
        }
    }

    #[inline]
    fn take_answers(&mut self) -> Result<(), String> {
        let Control { cwnd, ssthresh, pacing_rate, segment_size, fault, .. } = self.body.control();
        // Comparisons with NaN are false.
        if !(cwnd > 0.0 && cwnd <= LARGEST && ssthresh >= 0.0 && pacing_rate >= 0.0 && fault == 0) {
            return Err(mistake(cwnd, ssthresh, pacing_rate, fault));
        }
        self.window = (cwnd.max(1.0) * segment_size + 0.5) as u64;
        self.ssthresh = (ssthresh * segment_size + 0.5) as u64;
        if self.needs.pacing {
            self.pacing_rate = Rate::from_bps((8.0 * pacing_rate) as u64);
        }
        Ok(())
    }

    #[cold]
    fn fail(&mut self, time: Instant, hook: &str, message: &str) {
        let mut text = format!("{}: {hook}: {message}", self.name);
        let last: Vec<_> = (self.acks.saturating_sub(TOLD)..self.acks).map(|at| &self.told[at % TOLD]).collect();
        if !last.is_empty() {
            let _ = write!(text, "\nThe last ACKs of this connection:");
        }
        for ack in last {
            let seconds = |nanos: i64| nanos as f64 / 1e9;
            let _ = write!(
                text,
                "\n  {:.6} s: newly_acked {}, newly_lost {}, growth {}, may_grow {}, rtt {:.6} s, inflight {}",
                seconds(ack.now_ns),
                ack.newly_acked,
                ack.newly_lost,
                ack.growth,
                ack.may_grow,
                seconds(ack.rtt_ns),
                ack.inflight
            );
        }
        self.fault = Some(Box::new(Fault { at: time, message: text }));
    }

    fn change(&mut self, change: impl FnOnce(&mut Control)) {
        let mut control = self.body.control();
        change(&mut control);
        self.body.set_control(control);
    }
}

#[cold]
fn mistake(cwnd: f64, ssthresh: f64, pacing_rate: f64, fault: i64) -> String {
    if fault != 0 {
        return records::failure(fault);
    }
    let (name, value, right) = if cwnd.is_nan() || cwnd <= 0.0 || cwnd > LARGEST {
        ("cwnd", cwnd, "segments above 0, up to 1e12")
    } else if ssthresh.is_nan() || ssthresh < 0.0 {
        ("ssthresh", ssthresh, "segments of at least 0, or infinite")
    } else {
        ("pacing_rate", pacing_rate, "bytes per second, or 0 for none")
    };
    format!("left {name} = {value}; it must be {right}")
}

impl<B: ConnectionCallbacks> Allowance for BoundAlgorithm<B> {
    fn window(&self) -> u64 {
        self.window
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn restore(&mut self) {
        self.change(Control::restore);
    }

    fn restart(&mut self, window: u64, threshold: u64) {
        self.change(|control| control.restart(&idle(Instant::ZERO, window, threshold)));
    }
}

fn idle(now: Instant, window: u64, threshold: u64) -> Idle {
    let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    Idle { now_ns: records::time(now), window: bytes(window), threshold: bytes(threshold) }
}

impl<B: ConnectionCallbacks> CongestionControl for BoundAlgorithm<B> {
    fn on_ack(&mut self, ack: &Ack) {
        let record = records::ack(ack);
        self.told[self.acks % TOLD] = record;
        self.acks += 1;
        self.tell(ack.now, "on_ack", |body| body.on_ack(&record));
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let is_new = event.cause != Cause::RepeatedTimeout;
        self.tell(event.now, "on_congestion", |body| {
            if is_new {
                let mut control = body.control();
                (control.prior_cwnd, control.prior_ssthresh) = (control.cwnd, control.ssthresh);
                body.set_control(control);
            }
            body.on_congestion(&records::congestion(event))
        });
    }

    fn on_undo(&mut self, now: Instant) {
        self.tell(now, "on_undo", |body| {
            if !body.on_undo(&Moment { now_ns: records::time(now) })? {
                let mut control = body.control();
                control.restore();
                body.set_control(control);
            }
            Ok(())
        });
    }

    fn on_idle(&mut self, now: Instant, window: u64, threshold: u64) {
        self.tell(now, "on_idle", |body| {
            let idle = idle(now, window, threshold);
            if !body.on_idle(&idle)? {
                let mut control = body.control();
                control.restart(&idle);
                body.set_control(control);
            }
            Ok(())
        });
    }

    fn on_recovered(&mut self, now: Instant) {
        self.tell(now, "on_recovered", |body| body.on_recovered(&Moment { now_ns: records::time(now) }));
    }

    fn leave_slow_start(&mut self) {
        self.change(|control| control.ssthresh = control.cwnd);
        self.tell(Instant::ZERO, "leave_slow_start", |_| Ok(()));
    }

    fn least_in_recovery(&self) -> u64 {
        self.ssthresh
    }

    fn epoch(&self) -> Option<GrowthEpoch> {
        let Control { epoch_ns, epoch_w_max: w_max, epoch_k, .. } = self.body.control();
        let start = Instant::ZERO + Duration::from_nanos(u64::try_from(epoch_ns).ok()?);
        // Used for plots only: an implausible value is not a failure.
        let is_sound = w_max.is_finite() && (0.0..1e9).contains(&epoch_k);
        is_sound.then(|| GrowthEpoch { start, w_max, k: Duration::from_secs_f64(epoch_k) })
    }

    fn departures(&self) -> Option<&dyn Departures> {
        self.needs.pacing.then_some(self)
    }

    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        if self.needs.rate { Some(self) } else { None }
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }
}

impl<B: ConnectionCallbacks> Departures for BoundAlgorithm<B> {
    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }
}

impl<B: ConnectionCallbacks> Transmissions for BoundAlgorithm<B> {
    // Rates are measured by the sender; a custom algorithm receives them with its ACKs.
    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_lost(&mut self, _lost: &Lost) {}
}

/// Returns a congestion control whose decisions come from these callbacks.
pub fn bind<B: ConnectionCallbacks + 'static>(
    name: &'static str,
    body: B,
    needs: Needs,
    start: &ConnectionStart,
) -> Box<dyn congestion::CongestionControl> {
    Box::new(BoundAlgorithm::new(name, body, needs, start))
}
