//! What algorithms of Python inherit, and the records that their methods are given.

use lightlag_plugin::Control;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A congestion control of a user: a class that inherits from this one and says what an ACK and a congestion event do.
///
/// One instance serves one connection. `cwnd` and `ssthresh` are segments and their fractions; an undo of a spurious reaction
/// and a restart after an idle time need no method of their own.
#[pyclass(subclass, name = "CongestionControl", module = "lightlag._engine")]
pub(crate) struct CongestionControl {
    /// The congestion window in segments. It starts as the initial window of the connection.
    #[pyo3(get, set)]
    cwnd: f64,
    /// The slow-start threshold in segments; infinite before the first congestion.
    #[pyo3(get, set)]
    ssthresh: f64,
    /// The pacing rate in bytes a second; 0 leaves departures to the ACK clock. It counts with `paces = True`.
    #[pyo3(get, set)]
    pacing_rate: f64,
    /// Payload of a full segment in bytes.
    #[pyo3(get)]
    segment_size: f64,
    /// The window before the last congestion event.
    #[pyo3(get)]
    prior_cwnd: f64,
    /// The threshold before the last congestion event.
    #[pyo3(get)]
    prior_ssthresh: f64,
    random: u64,
    /// For figures, the start of an epoch of a cubic function in nanoseconds; -1 outside of one.
    #[pyo3(get, set)]
    epoch_ns: i64,
    /// For figures, the window at its plateau in segments.
    #[pyo3(get, set)]
    epoch_w_max: f64,
    /// For figures, the seconds from its start to the plateau.
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

    /// The state of the random numbers of this connection, which `lightlag.libm.uniform` moves on.
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
    /// The information carried by one acknowledgement. `docs/own-algorithm.md` says what each field means.
    Ack of Ack {
        now_ns: i64, newly_acked: i64, newly_delivered: i64, newly_lost: i64, newly_marked: i64, growth: f64,
        may_grow: bool: flag, duplicate: bool: flag, ece: bool: flag, cwnd_limited: bool: flag, phase: i64,
        rtt_ns: i64, srtt_ns: i64, min_rtt_ns: i64, one_way_ns: i64, inflight: i64, prior_inflight: i64, snd_una: i64,
        snd_nxt: i64, delivery_rate: f64, delivered: i64, prior_delivered: i64, rate_interval_ns: i64, rate_lost: i64,
        rate_inflight: i64, app_limited: bool: flag,
    }
    /// The start of an episode of congestion.
    Congestion of Congestion { now_ns: i64, cause: i64, flight: i64, srtt_ns: i64, min_rtt_ns: i64 }
    /// A loss whose cause is asked for.
    Loss of Loss {
        now_ns: i64, cause: i64, sent_ns: i64, inflight: i64, cwnd: i64, rtt_ns: i64, srtt_ns: i64, min_rtt_ns: i64,
    }
    /// The facts known when a connection starts to send.
    Start of Start {
        now_ns: i64, segment_size: i64, initial_window: i64, rtt_ns: i64, pipe: i64, ecn: bool: flag,
        timestamps: bool: flag, abe: bool: flag,
    }
    /// A moment without more to say about it.
    Moment of Moment { now_ns: i64 }
    /// A packet that comes to a queue, or that is about to leave it.
    Packet of Packet {
        now_ns: i64, size: i64, flow: i64, ecn: i64, waited_ns: i64, carries_payload: bool: flag, full: bool: flag,
    }
    /// The progress of an application that is asked for its next message.
    Sent of Sent { now_ns: i64, messages: i64, bytes: i64 }
    /// The restart of a sender that was idle, or that did not use its window.
    Idle of Idle { now_ns: i64, window: i64, threshold: i64 }
}
