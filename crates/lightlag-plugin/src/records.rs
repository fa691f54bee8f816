//! Records that are passed between lightlag and an algorithm.

/// Start of the record of a connection. It holds the window, which the functions of the algorithm change.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// Congestion window in segments, above 0. Its initial value is the initial window of the connection.
    pub cwnd: f64,
    /// Slow-start threshold in segments; infinite before the first congestion.
    pub ssthresh: f64,
    /// Pacing rate in bytes per second; 0 leaves departures to the ACK clock, or to the connection's own pacing. It is
    /// used only if the algorithm needs [`PACING`](crate::needs::PACING).
    pub pacing_rate: f64,
    /// Payload of a full segment in bytes.
    pub segment_size: f64,
    /// Window in segments before the last congestion event; an undo restores it.
    pub prior_cwnd: f64,
    /// Threshold in segments before the last congestion event; an undo restores it.
    pub prior_ssthresh: f64,
    /// State of the random numbers of this connection, derived from the seed of the run.
    pub random: u64,
    /// Error of the algorithm; any value except 0 ends the run.
    pub fault: i64,
    /// For figures: start of the epoch of a cubic growth function; -1 if there is none.
    pub epoch_ns: i64,
    /// For figures: window at the plateau of the epoch, in segments.
    pub epoch_w_max: f64,
    /// For figures: time from the start of the epoch to its plateau, in seconds.
    pub epoch_k: f64,
}

/// Data about a connection for an algorithm, when the connection starts to send.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Start {
    /// Time, in nanoseconds since the start of the run, or 0 if unknown.
    pub now_ns: i64,
    /// Payload of a full segment in bytes.
    pub segment_size: i64,
    /// Initial window in segments.
    pub initial_window: i64,
    /// Round-trip time of the handshake; 0 if unknown.
    pub rtt_ns: i64,
    /// Capacity of a known route in bytes; 0 if unknown.
    pub pipe: i64,
    /// Whether the endpoints negotiated ECN.
    pub ecn: i64,
    /// Whether timestamps are offered.
    pub timestamps: i64,
    /// Whether a congestion mark reduces the window less than a loss (RFC 8511).
    pub abe: i64,
}

/// The information in an acknowledgement.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ack {
    /// Arrival time of the ACK.
    pub now_ns: i64,
    /// Bytes by which the cumulative acknowledgement advanced.
    pub newly_acked: i64,
    /// Bytes acknowledged or SACKed for the first time.
    pub newly_delivered: i64,
    /// Bytes marked as lost by this ACK.
    pub newly_lost: i64,
    /// Newly delivered bytes that were marked with CE.
    pub newly_marked: i64,
    /// Number of segments for which this ACK counts in the growth of the window (RFC 5681, RFC 3465).
    pub growth: f64,
    /// Whether the ACK may increase the window: it acknowledged data outside fast recovery, for a sender that used its
    /// entire window, and echoes no mark (RFC 9438 section 4.6, RFC 5681 section 3.1, RFC 3168 section 6.1.2).
    pub may_grow: i64,
    /// Whether this is a duplicate ACK.
    pub duplicate: i64,
    /// Whether the peer echoes a congestion mark.
    pub ece: i64,
    /// Whether the window, rather than the application or the receiver, limited the sender in the last round.
    pub cwnd_limited: i64,
    /// Whether the sender is repairing losses, and how they were found: a number of [`phase`].
    pub phase: i64,
    /// Round-trip sample; 0 if the ACK gives none (Karn's algorithm).
    pub rtt_ns: i64,
    /// SRTT (RFC 6298); 0 before the first sample.
    pub srtt_ns: i64,
    /// Minimum round-trip sample so far; 0 before the first.
    pub min_rtt_ns: i64,
    /// One-way delay of the newest data according to timestamps, in steps of 1 ms; -1 without timestamps. Only
    /// differences between two delays have a meaning.
    pub one_way_ns: i64,
    /// Bytes in flight after this ACK.
    pub inflight: i64,
    /// Bytes in flight before this ACK.
    pub prior_inflight: i64,
    /// Offset of the first unacknowledged byte after this ACK.
    pub snd_una: i64,
    /// Offset of the next byte of new data. A round ends when `snd_una` passes the value that `snd_nxt` had at its
    /// start.
    pub snd_nxt: i64,
    /// Delivery rate in bytes per second; 0 without a valid sample. This field and those below are 0 unless the
    /// algorithm needs [`RATE`](crate::needs::RATE).
    pub delivery_rate: f64,
    /// Bytes that the connection has delivered so far.
    pub delivered: i64,
    /// Bytes that the connection had delivered when the segment was sent. An ACK can acknowledge several segments; the
    /// segment sent last gives the sample.
    pub prior_delivered: i64,
    /// Time over which the rate was measured.
    pub rate_interval_ns: i64,
    /// Bytes marked as lost since that segment was sent.
    pub rate_lost: i64,
    /// Bytes in flight just after that segment was sent.
    pub rate_inflight: i64,
    /// Whether the application left the window unfilled when that segment was sent.
    pub app_limited: i64,
}

/// Start of a congestion episode. It is announced once, whatever the number of lost segments.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Congestion {
    /// Time when the episode starts.
    pub now_ns: i64,
    /// Cause of the episode: a number of [`cause`].
    pub cause: i64,
    /// FlightSize before the reaction, in bytes (RFC 5681 section 3.1 equation 4).
    pub flight: i64,
    /// SRTT (RFC 6298).
    pub srtt_ns: i64,
    /// Minimum round-trip sample so far; 0 before the first.
    pub min_rtt_ns: i64,
}

/// An event with no data except its time.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// Time of the event.
    pub now_ns: i64,
}

/// The restart of a sender that was idle, or did not use its window.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Idle {
    /// Time of the restart.
    pub now_ns: i64,
    /// Maximum window after the restart, in bytes (RFC 5681 section 4.1, RFC 2861, RFC 7661).
    pub window: i64,
    /// Minimum threshold after the restart, in bytes.
    pub threshold: i64,
}

/// Causes of a congestion episode.
pub mod cause {
    /// Duplicate or selective ACKs reported a loss.
    pub const LOSS: i64 = 0;
    /// The retransmission timer expired for the first time for this data.
    pub const TIMEOUT: i64 = 1;
    /// The retransmission timer expired again for the same data (RFC 5681 section 3.1: ssthresh stays).
    pub const REPEATED_TIMEOUT: i64 = 2;
    /// The peer echoed a congestion mark.
    pub const MARK: i64 = 3;
}

/// Whether a sender is repairing losses, and how they were found.
pub mod phase {
    /// No losses are being repaired.
    pub const OPEN: i64 = 0;
    /// Losses that duplicate or selective ACKs reported (fast recovery).
    pub const RECOVERY: i64 = 1;
    /// Losses found by a timeout.
    pub const LOSS: i64 = 2;
}

/// Returns the next random number of a generator, at least 0 and below 1 (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
pub(crate) fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

impl Control {
    /// An initial record.
    pub const NONE: Self = Self {
        cwnd: 1.0,
        ssthresh: f64::INFINITY,
        pacing_rate: 0.0,
        segment_size: 0.0,
        prior_cwnd: 0.0,
        prior_ssthresh: 0.0,
        random: 0,
        fault: 0,
        epoch_ns: -1,
        epoch_w_max: 0.0,
        epoch_k: 0.0,
    };

    /// Adds a segment to the window for each of `acked` segments, up to the threshold. Returns the number of `acked`
    /// segments that remain for congestion avoidance.
    pub fn slow_start(&mut self, acked: f64) -> f64 {
        let room = self.ssthresh - self.cwnd;
        if room <= 0.0 {
            return acked;
        }
        if acked < room {
            self.cwnd += acked;
            return 0.0;
        }
        self.cwnd = self.ssthresh;
        acked - room
    }

    /// Returns the next random number, at least 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        uniform(&mut self.random)
    }

    /// Returns to the window and the threshold before the last congestion event, unless they are larger now.
    pub fn restore(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.ssthresh = self.ssthresh.max(self.prior_ssthresh);
    }

    /// Restarts with a window of at most `idle.window` bytes, and a threshold of at least `idle.threshold` bytes.
    pub fn restart(&mut self, idle: &Idle) {
        self.cwnd = self.cwnd.min(idle.window as f64 / self.segment_size).max(1.0);
        self.ssthresh = self.ssthresh.max(idle.threshold as f64 / self.segment_size);
    }
}

impl Congestion {
    /// Returns true if the retransmission timer expired.
    pub fn is_timeout(&self) -> bool {
        matches!(self.cause, cause::TIMEOUT | cause::REPEATED_TIMEOUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control() -> Control {
        Control {
            cwnd: 10.0,
            ssthresh: 12.0,
            pacing_rate: 0.0,
            segment_size: 1000.0,
            prior_cwnd: 20.0,
            prior_ssthresh: 11.0,
            random: 0,
            fault: 0,
            epoch_ns: -1,
            epoch_w_max: 0.0,
            epoch_k: 0.0,
        }
    }

    #[test]
    fn slow_start_ends_at_the_threshold() {
        let mut control = control();
        assert_eq!(control.slow_start(1.5), 0.0);
        assert_eq!((control.slow_start(2.0), control.cwnd), (1.5, 12.0));
        assert_eq!((control.slow_start(2.0), control.cwnd), (2.0, 12.0));
    }

    #[test]
    fn an_undo_never_shrinks() {
        let mut control = control();
        control.restore();
        assert_eq!((control.cwnd, control.ssthresh), (20.0, 12.0));
    }

    #[test]
    fn a_restart_leaves_a_segment() {
        let mut control = control();
        control.restart(&Idle { now_ns: 0, window: 4000, threshold: 30_000 });
        assert_eq!((control.cwnd, control.ssthresh), (4.0, 30.0));
        control.restart(&Idle { now_ns: 0, window: 0, threshold: 0 });
        assert_eq!((control.cwnd, control.ssthresh), (1.0, 30.0));
    }

    // The first outputs of the published generator for the seed 0 (splitmix64.c, Vigna 2015).
    #[test]
    fn random_numbers_match_splitmix64() {
        let mut control = control();
        let draws = [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        for draw in draws {
            assert_eq!(control.uniform(), (draw >> 11) as f64 / (1_u64 << 53) as f64);
        }
    }
}
