//! Base classes of Python algorithms, and the records passed to their methods.

use lightlag_plugin::Control;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Base class of custom congestion controls: a subclass defines the reactions to an ACK and a congestion event.
///
/// One instance serves one connection. `cwnd` and `ssthresh` are in segments, including fractions. No methods are
/// needed to undo a spurious reaction or to restart after an idle period.
#[pyclass(subclass, name = "CongestionControl", module = "lightlag._engine")]
pub(crate) struct CongestionControl {
    /// The congestion window in segments; at the start the initial window of the connection.
    #[pyo3(get, set)]
    cwnd: f64,
    /// The slow-start threshold in segments; infinite before the first congestion event.
    #[pyo3(get, set)]
    ssthresh: f64,
    /// The pacing rate in bytes per second; with 0, ACKs clock the sending. It is used only if `paces = True`.
    #[pyo3(get, set)]
    pacing_rate: f64,
    /// Payload of a full segment in bytes.
    #[pyo3(get)]
    segment_size: f64,
    /// The congestion window before the last congestion event, in segments.
    #[pyo3(get)]
    prior_cwnd: f64,
    /// The slow-start threshold before the last congestion event, in segments.
    #[pyo3(get)]
    prior_ssthresh: f64,
    random: u64,
    /// For plots: start time of the current epoch of a cubic function in nanoseconds; -1 outside an epoch.
    #[pyo3(get, set)]
    epoch_ns: i64,
    /// For plots: window at the plateau of the cubic function, in segments.
    #[pyo3(get, set)]
    epoch_w_max: f64,
    /// For plots: time from the start of the epoch to the plateau, in seconds.
    #[pyo3(get, set)]
    epoch_k: f64,
}

impl CongestionControl {
    pub(super) fn control(&self) -> Control {
        Control {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            pacing_rate: self.pacing_rate,
            segment_size: self.segment_size,
            prior_cwnd: self.prior_cwnd,
            prior_ssthresh: self.prior_ssthresh,
            random: self.random,
            fault: 0,
            epoch_ns: self.epoch_ns,
            epoch_w_max: self.epoch_w_max,
            epoch_k: self.epoch_k,
        }
    }

    pub(super) fn set_control(&mut self, control: Control) {
        self.cwnd = control.cwnd;
        self.ssthresh = control.ssthresh;
        self.pacing_rate = control.pacing_rate;
        self.segment_size = control.segment_size;
        self.prior_cwnd = control.prior_cwnd;
        self.prior_ssthresh = control.prior_ssthresh;
        self.random = control.random;
        self.epoch_ns = control.epoch_ns;
        self.epoch_w_max = control.epoch_w_max;
        self.epoch_k = control.epoch_k;
    }
}

#[pymethods]
impl CongestionControl {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            cwnd: 1.0,
            ssthresh: f64::INFINITY,
            pacing_rate: 0.0,
            segment_size: 0.0,
            prior_cwnd: 0.0,
            prior_ssthresh: 0.0,
            random: 0,
            epoch_ns: -1,
            epoch_w_max: 0.0,
            epoch_k: 0.0,
        }
    }

    /// Returns the state of this connection's random numbers, which `lightlag.custom.uniform` advances.
    #[getter(random)]
    fn random(&self) -> u64 {
        self.random
    }

    #[setter(random)]
    fn set_random(&mut self, random: u64) {
        self.random = random;
    }
}

macro_rules! records {
    ($($(#[$about:meta])* $name:ident of $record:ident { $($field:ident: $type:ty $(: $how:ident)?),* $(,)? })*) => {
        $($(#[$about])*
        #[pyclass(frozen, module = "lightlag._engine")]
        pub(crate) struct $name(pub(super) lightlag_plugin::$record);

        #[pymethods]
        impl $name {
            $(#[getter]
            fn $field(&self) -> $type {
                records!(@ self.0.$field $(, $how)?)
            })*

            fn __repr__(&self) -> String {
                format!("{:?}", self.0)
            }
        })*
    };
    (@ $value:expr) => { $value };
    (@ $value:expr, flag) => { $value != 0 };
}

records! {
    /// The information carried by one acknowledgement. `docs/custom-algorithms.md` explains each field.
    Ack of Ack {
        now_ns: i64, newly_acked: i64, newly_delivered: i64, newly_lost: i64, newly_marked: i64, growth: f64,
        may_grow: bool: flag, duplicate: bool: flag, ece: bool: flag, cwnd_limited: bool: flag, phase: i64,
        rtt_ns: i64, srtt_ns: i64, min_rtt_ns: i64, one_way_ns: i64, inflight: i64, prior_inflight: i64, snd_una: i64,
        snd_nxt: i64, delivery_rate: f64, delivered: i64, prior_delivered: i64, rate_interval_ns: i64, rate_lost: i64,
        rate_inflight: i64, app_limited: bool: flag,
    }
    /// The start of a congestion episode.
    Congestion of Congestion { now_ns: i64, cause: i64, flight: i64, srtt_ns: i64, min_rtt_ns: i64 }
    /// A loss whose cause the cause is requested.
    Loss of Loss {
        now_ns: i64, cause: i64, sent_ns: i64, inflight: i64, cwnd: i64, rtt_ns: i64, srtt_ns: i64, min_rtt_ns: i64,
    }
    /// The parameters of a connection when it starts to send.
    Start of Start {
        now_ns: i64, segment_size: i64, initial_window: i64, rtt_ns: i64, pipe: i64, ecn: bool: flag,
        timestamps: bool: flag, abe: bool: flag,
    }
    /// A call that has only a time.
    Moment of Moment { now_ns: i64 }
    /// A packet that arrives at a queue, or the packet at its head before it is sent.
    Packet of Packet {
        now_ns: i64, size: i64, flow: i64, ecn: i64, waited_ns: i64, carries_payload: bool: flag, full: bool: flag,
    }
    /// The progress of an application when its next message is requested.
    Sent of Sent { now_ns: i64, messages: i64, bytes: i64 }
    /// The restart of a sender that was idle or did not use its entire window.
    Idle of Idle { now_ns: i64, window: i64, threshold: i64 }
}
