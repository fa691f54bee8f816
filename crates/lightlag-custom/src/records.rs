//! Conversion of the engine's data to the records of the C interface.

use lightlag_control::congestion::response::LossEvent;
use lightlag_control::congestion::{self, Cause, ConnectionStart, Needs, Phase};
use lightlag_core::{Duration, Instant};
use lightlag_plugin as plugin;
use lightlag_plugin::{Control, cause, needs, phase};

/// Converts a sum of need numbers to the engine's needs.
pub fn needs(sum: u64) -> Needs {
    Needs {
        rate: sum & needs::RATE != 0,
        pacing: sum & needs::PACING != 0,
        controls_recovery: sum & needs::CONTROLS_RECOVERY != 0,
        ..Needs::NONE
    }
}

/// Returns the shared part of the record of a new connection.
pub fn control(start: &ConnectionStart) -> Control {
    let segment_size = start.segment_size as f64;
    let pipe = start.pipe.map_or(f64::INFINITY, |bytes| (bytes as f64 / segment_size).max(2.0));
    Control {
        cwnd: start.initial_window as f64,
        ssthresh: start.ssthresh.map_or(pipe, |segments| pipe.min(f64::from(segments))),
        pacing_rate: 0.0,
        segment_size,
        prior_cwnd: 0.0,
        prior_ssthresh: 0.0,
        random: start.seed,
        fault: 0,
        epoch_ns: -1,
        epoch_w_max: 0.0,
        epoch_k: 0.0,
    }
}

/// Converts the start of a connection.
pub fn start(start: &ConnectionStart) -> plugin::Start {
    plugin::Start {
        now_ns: 0,
        segment_size: start.segment_size as i64,
        initial_window: start.initial_window as i64,
        rtt_ns: start.rtt.map_or(0, nanos),
        pipe: start.pipe.unwrap_or(0) as i64,
        ecn: start.ecn.into(),
        timestamps: start.timestamps.into(),
        abe: start.abe.into(),
    }
}

/// Converts an ACK.
#[inline]
pub fn ack(ack: &congestion::Ack) -> plugin::Ack {
    let mut record = plugin::Ack {
        now_ns: time(ack.now),
        newly_acked: ack.newly_acked as i64,
        newly_delivered: ack.newly_delivered as i64,
        newly_lost: ack.newly_lost as i64,
        newly_marked: ack.newly_marked as i64,
        growth: ack.growth,
        may_grow: ack.may_grow().into(),
        duplicate: ack.duplicate.into(),
        ece: ack.ece.into(),
        cwnd_limited: ack.cwnd_limited.into(),
        phase: match ack.phase {
            Phase::Open => phase::OPEN,
            Phase::Recovery => phase::RECOVERY,
            Phase::Loss => phase::LOSS,
        },
        rtt_ns: ack.rtt.map_or(0, nanos),
        srtt_ns: nanos(ack.srtt),
        min_rtt_ns: least(ack.min_rtt),
        one_way_ns: ack.one_way.map_or(-1, nanos),
        inflight: ack.inflight as i64,
        prior_inflight: ack.prior_inflight as i64,
        snd_una: ack.snd_una as i64,
        snd_nxt: ack.snd_nxt as i64,
        ..plugin::Ack::default()
    };
    if let Some(rate) = &ack.rate {
        record.delivery_rate = rate.bytes_per_second().unwrap_or(0.0);
        record.delivered = rate.total_delivered as i64;
        record.prior_delivered = rate.prior_delivered as i64;
        record.rate_interval_ns = nanos(rate.interval);
        record.rate_lost = rate.lost as i64;
        record.rate_inflight = rate.tx_in_flight as i64;
        record.app_limited = rate.app_limited.into();
    }
    record
}

/// Converts the start of a congestion episode.
pub fn congestion(event: &congestion::Congestion) -> plugin::Congestion {
    plugin::Congestion {
        now_ns: time(event.now),
        cause: number(event.cause),
        flight: event.flight as i64,
        srtt_ns: nanos(event.srtt),
        min_rtt_ns: least(event.min_rtt),
    }
}

/// Converts a loss whose cause is requested.
pub fn loss(loss: &LossEvent) -> plugin::Loss {
    plugin::Loss {
        now_ns: time(loss.now),
        cause: number(loss.cause),
        sent_ns: loss.sent.map_or(-1, time),
        inflight: loss.inflight as i64,
        cwnd: i64::try_from(loss.cwnd).unwrap_or(i64::MAX),
        rtt_ns: nanos(loss.rtt),
        srtt_ns: nanos(loss.srtt),
        min_rtt_ns: least(loss.min_rtt),
    }
}

fn number(cause: Cause) -> i64 {
    match cause {
        Cause::Loss => cause::LOSS,
        Cause::Timeout => cause::TIMEOUT,
        Cause::RepeatedTimeout => cause::REPEATED_TIMEOUT,
        Cause::Mark => cause::MARK,
    }
}

/// Returns the nanoseconds since the start of the run.
pub fn time(when: Instant) -> i64 {
    nanos(when.since(Instant::ZERO))
}

/// Returns the nanoseconds of a duration.
pub(crate) fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// Returns the minimum round-trip sample in nanoseconds; 0 before the first.
fn least(min_rtt: Duration) -> i64 {
    if min_rtt == Duration::MAX { 0 } else { nanos(min_rtt) }
}
/// Describes the error code that an algorithm left in its record. A positive code is the algorithm's own. A negative
/// code is the line that raised an exception, with a minus sign.
#[cold]
pub(crate) fn failure(fault: i64) -> String {
    if fault < 0 {
        format!(
            "an exception in line {}, such as a division by zero or a whole number of more than 64 bits",
            fault.unsigned_abs()
        )
    } else {
        format!("failed with the code {fault}")
    }
}
