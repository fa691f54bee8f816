//! The configurations of the profiles. Each is a complete set of settings, as data.

use crate::config::{
    ChallengeAcks, Config, DelayedAck, FastOpenUse, Growth, INITIAL_RECEIVE_BUFFER, IdleRestart, LossAssumption,
    PartialAcks, Probe, Profile, Reductions, Rto, RttSamples, Scheme, Scps, SnackForm, TimerGranularity, Variance,
    VarianceGain, WindowEdge, WindowRule,
};
use crate::ecn::{AccecnOption, EcnMode, Ect};
use lightlag_control::congestion::Choice;
use lightlag_core::{Bytes, Duration};

impl Profile {
    /// Returns the profile's configuration.
    pub fn config(self) -> Config {
        match self {
            Self::Linux => linux(),
            Self::Rfc => rfc(),
            Self::Inet => inet(),
            Self::Ns3 => ns3(),
            Self::Ns2Linux => ns2_linux(),
            Self::Scps => scps(),
        }
    }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Defaults of Linux 6.x. The receive buffer grows automatically, up to a window of 16 MiB, which corresponds to the
/// maximum of 32 MiB of memory.
fn linux() -> Config {
    Config {
        profile: Profile::Linux,
        congestion: Choice::named("cubic"),
        mss: 1460,
        mss_is_payload: false,
        sack: true,
        dsack: true,
        timestamps: true,
        ecn: EcnMode::Off,
        ect: Ect::Ect0,
        ect_control: true,
        accecn_option: AccecnOption::Always,
        abe: false,
        window_scaling: true,
        initial_window: 10,
        initial_ssthresh: None,
        max_cwnd: None,
        initial_window_bytes: None,
        receive_buffer: Bytes(16 << 20),
        receive_buffer_initial: Some(INITIAL_RECEIVE_BUFFER),
        send_buffer: None,
        receive_window: WindowRule::Linux,
        probe: Probe::Empty,
        syn_data: false,
        fast_open: FastOpenUse::Off,
        partial_segments: true,
        window_edge: WindowEdge::Whole,
        delayed_ack: Some(DelayedAck { segments: 2, timeout: ms(40), quick: 16, adaptive: true }),
        push: true,
        tso: true,
        receive_offload: false,
        sack_compression: true,
        rto: Rto {
            initial: seconds(1),
            syn: seconds(1),
            min: ms(200),
            max: seconds(120),
            variance_floor: ms(200),
            variance_gain: VarianceGain::Quarter,
            variance: Variance::Peak,
            scaled_gains: false,
            every_ack: false,
        },
        timer_granularity: TimerGranularity::Linux,
        rtt_samples: RttSamples::SendTime,
        recovery: Scheme::Rack,
        rack_rtt_by_offset: true,
        partial_acks: PartialAcks::SlowButSteady,
        prr: true,
        rate_halving: false,
        prr_marks: true,
        reductions: Reductions::Linux,
        tlp: true,
        frto: true,
        eifel: true,
        dsack_undo: true,
        pacing: false,
        idle_restart: IdleRestart::Rfc2861,
        burst_limit: None,
        growth: Growth::PerSegment,
        limited_transmit: true,
        nagle: false,
        minshall: true,
        syn_retries: 6,
        syn_linear_timeouts: 4,
        retries: 15,
        time_wait: seconds(60),
        fin_wait: Some(seconds(60)),
        challenge_acks: Some(ChallengeAcks { count: 1, every: ms(500) }),
        answer_unsent: true,
        require_timestamps: false,
        keep_alive: None,
        scps: None,
        loss_assumption: LossAssumption::Congestion,
        ack_interval: None,
        rate_control: None,
        route: None,
        outage_after: None,
        careful_resume: None,
    }
}

/// Defaults of the RFCs 5681, 6298, 6582, 6675, 6928, 7323 and 9293.
fn rfc() -> Config {
    Config {
        profile: Profile::Rfc,
        ect_control: false,
        accecn_option: AccecnOption::Sparse,
        syn_data: true,
        receive_window: WindowRule::Stevens,
        timer_granularity: TimerGranularity::Exact,
        push: false,
        tso: false,
        receive_offload: false,
        prr_marks: false,
        sack_compression: false,
        congestion: Choice::named("newreno"),
        initial_window_bytes: Some(Bytes(14_600)),
        rack_rtt_by_offset: false,
        receive_buffer_initial: None,
        delayed_ack: Some(DelayedAck { segments: 2, timeout: ms(200), quick: 0, adaptive: false }),
        rto: Rto {
            initial: seconds(1),
            syn: seconds(1),
            min: seconds(1),
            max: seconds(60),
            variance_floor: ms(1),
            variance_gain: VarianceGain::Quarter,
            variance: Variance::Mean,
            scaled_gains: true,
            every_ack: false,
        },
        idle_restart: IdleRestart::Rfc5681,
        growth: Growth::Abc(2),
        time_wait: seconds(240),
        fin_wait: None,
        challenge_acks: Some(ChallengeAcks { count: 10, every: seconds(5) }),
        require_timestamps: true,
        partial_acks: PartialAcks::Impatient,
        window_edge: WindowEdge::Trim,
        reductions: Reductions::Rfc,
        minshall: false,
        syn_linear_timeouts: 0,
        ..linux()
    }
}

/// Defaults of INET 4: no options at all, an initial window of one segment, every segment acknowledged.
fn inet() -> Config {
    Config {
        profile: Profile::Inet,
        congestion: Choice::named("newreno"),
        mss: 536,
        mss_is_payload: true,
        sack: false,
        dsack: false,
        timestamps: false,
        ecn: EcnMode::Off,
        ect: Ect::Ect0,
        ect_control: false,
        accecn_option: AccecnOption::Off,
        abe: false,
        window_scaling: false,
        initial_window: 1,
        initial_ssthresh: None,
        max_cwnd: None,
        initial_window_bytes: None,
        receive_buffer: Bytes(65_535),
        receive_buffer_initial: None,
        send_buffer: None,
        receive_window: WindowRule::Inet,
        probe: Probe::Byte,
        syn_data: true,
        fast_open: FastOpenUse::Off,
        partial_segments: false,
        window_edge: WindowEdge::Trim,
        delayed_ack: None,
        push: false,
        tso: false,
        receive_offload: false,
        sack_compression: false,
        rto: Rto {
            initial: seconds(3),
            syn: seconds(3),
            min: seconds(1),
            max: seconds(240),
            variance_floor: Duration::ZERO,
            variance_gain: VarianceGain::Eighth,
            variance: Variance::Mean,
            scaled_gains: false,
            every_ack: false,
        },
        timer_granularity: TimerGranularity::Exact,
        rtt_samples: RttSamples::OnePerRound,
        recovery: Scheme::NewReno,
        rack_rtt_by_offset: false,
        partial_acks: PartialAcks::Impatient,
        prr: false,
        rate_halving: false,
        prr_marks: false,
        reductions: Reductions::Rfc,
        tlp: false,
        frto: false,
        eifel: false,
        dsack_undo: false,
        pacing: false,
        idle_restart: IdleRestart::Rfc5681,
        burst_limit: None,
        growth: Growth::PerAck,
        limited_transmit: false,
        nagle: true,
        minshall: false,
        syn_retries: 12,
        syn_linear_timeouts: 0,
        retries: 12,
        time_wait: seconds(240),
        fin_wait: Some(seconds(600)),
        challenge_acks: None,
        answer_unsent: true,
        require_timestamps: false,
        keep_alive: None,
        scps: None,
        loss_assumption: LossAssumption::Congestion,
        ack_interval: None,
        rate_control: None,
        route: None,
        outage_after: None,
        careful_resume: None,
    }
}

/// Defaults of ns-3.4x: small buffers and segments, round-trip samples from timestamps, the first data segment
/// acknowledged immediately.
fn ns3() -> Config {
    Config {
        profile: Profile::Ns3,
        ect_control: false,
        accecn_option: AccecnOption::Off,
        receive_window: WindowRule::Stevens,
        timer_granularity: TimerGranularity::Exact,
        push: false,
        tso: false,
        receive_offload: false,
        prr_marks: false,
        sack_compression: false,
        congestion: Choice::named("cubic"),
        dsack: false,
        mss: 536,
        mss_is_payload: true,
        receive_buffer: Bytes(128 << 10),
        receive_buffer_initial: None,
        delayed_ack: Some(DelayedAck { segments: 2, timeout: ms(200), quick: 1, adaptive: false }),
        rto: Rto {
            initial: seconds(1),
            syn: seconds(3),
            min: seconds(1),
            max: seconds(60),
            variance_floor: ms(1),
            variance_gain: VarianceGain::Quarter,
            variance: Variance::Mean,
            scaled_gains: false,
            every_ack: false,
        },
        rtt_samples: RttSamples::Timestamp,
        recovery: Scheme::Sack,
        rack_rtt_by_offset: false,
        tlp: false,
        frto: false,
        eifel: false,
        dsack_undo: false,
        idle_restart: IdleRestart::Off,
        syn_retries: 6,
        retries: 6,
        time_wait: seconds(240),
        fin_wait: None,
        challenge_acks: None,
        partial_acks: PartialAcks::Impatient,
        window_edge: WindowEdge::Trim,
        reductions: Reductions::Ns3,
        syn_linear_timeouts: 0,
        minshall: false,
        ..linux()
    }
}

/// Defaults of ns-2.35 (`ns-default.tcl`) for the agent TCP/Linux and its sink Sack1: a payload of 1000 bytes whatever
/// the options, an initial window of two segments, every segment acknowledged without delay, timestamps off, a minimum
/// timeout of 200 ms on a clock with 10 ms ticks, no limit of retries. Proportional rate reduction replaces the rate
/// halving of its kernels. ns-2 counts the window in packets at the sender, so it is not limited to 16 bits. The
/// default window there, 20 packets, is replaced in every published study; here `receive_buffer` limits the window.
fn ns2_linux() -> Config {
    Config {
        profile: Profile::Ns2Linux,
        ect_control: false,
        accecn_option: AccecnOption::Off,
        receive_window: WindowRule::Stevens,
        timer_granularity: TimerGranularity::Exact,
        push: false,
        tso: false,
        receive_offload: false,
        prr_marks: false,
        sack_compression: false,
        congestion: Choice::named("newreno"),
        mss: 1000,
        mss_is_payload: true,
        dsack: false,
        timestamps: false,
        initial_window: 2,
        receive_buffer: Bytes(64 << 20),
        receive_buffer_initial: None,
        delayed_ack: None,
        rto: Rto {
            initial: seconds(3),
            syn: seconds(3),
            min: ms(200),
            max: seconds(120),
            variance_floor: ms(3),
            variance_gain: VarianceGain::Quarter,
            variance: Variance::Mean,
            scaled_gains: false,
            every_ack: true,
        },
        rtt_samples: RttSamples::Timed,
        recovery: Scheme::Fack,
        prr: false,
        rate_halving: true,
        rack_rtt_by_offset: false,
        tlp: false,
        frto: false,
        eifel: false,
        dsack_undo: false,
        growth: Growth::PerAck,
        syn_retries: u8::MAX,
        retries: u8::MAX,
        time_wait: Duration::ZERO,
        fin_wait: None,
        challenge_acks: None,
        partial_acks: PartialAcks::Impatient,
        window_edge: WindowEdge::Trim,
        reductions: Reductions::Each,
        syn_linear_timeouts: 0,
        ..linux()
    }
}

/// Defaults of SCPS-TP, from its ns-3 model on asymmetric paths: Vegas with thresholds of 2, 4 and 1 packets, an ACK
/// every 0.1 s, SNACK options without bit vector, a buffer of 300 kB, packets of 552 bytes. A loss without evidence of
/// its cause counts as corruption, which is the default of that model and of the standard. Timers and the initial
/// window are from the reference implementation.
fn scps() -> Config {
    Config {
        profile: Profile::Scps,
        congestion: Choice::named("vegas"),
        mss: 512,
        sack: false,
        dsack: false,
        timestamps: false,
        initial_window: 1,
        initial_window_bytes: None,
        receive_buffer: Bytes(300_000),
        probe: Probe::Byte,
        rto: Rto {
            initial: seconds(1),
            syn: seconds(1),
            min: ms(250),
            max: seconds(64),
            variance_floor: ms(100),
            variance_gain: VarianceGain::Quarter,
            variance: Variance::Mean,
            scaled_gains: false,
            every_ack: false,
        },
        recovery: Scheme::Snack,
        prr: false,
        tlp: false,
        frto: false,
        eifel: false,
        dsack_undo: false,
        idle_restart: IdleRestart::Off,
        growth: Growth::PerSegment,
        syn_retries: 32,
        retries: 32,
        time_wait: seconds(60),
        fin_wait: Some(seconds(60)),
        challenge_acks: None,
        require_timestamps: false,
        scps: Some(Scps { snack: SnackForm::Short, ..Scps::default() }),
        loss_assumption: LossAssumption::Corruption,
        ack_interval: Some(ms(100)),
        ..rfc()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_has_its_name() {
        for profile in Profile::ALL {
            assert_eq!(serde_json::to_string(&profile).unwrap(), format!("{:?}", profile.name()));
            assert_eq!(profile.config().profile, profile);
        }
    }

    #[test]
    fn inet_offers_no_option_and_acknowledges_everything() {
        let config = Profile::Inet.config();
        assert!(!(config.sack || config.timestamps || config.window_scaling || config.limited_transmit));
        assert_eq!((config.delayed_ack, config.initial_window, config.recovery), (None, 1, Scheme::NewReno));
        assert_eq!((config.rto.initial, config.rto.min), (Duration::from_secs(3), Duration::from_secs(1)));
    }

    #[test]
    fn ns2_acknowledges_everything_and_starts_with_two_segments() {
        let config = Profile::Ns2Linux.config();
        assert_eq!((config.delayed_ack, config.initial_window, config.recovery), (None, 2, Scheme::Fack));
        assert!(config.rate_halving && !config.prr && config.rto.every_ack);
        assert!(config.sack && config.window_scaling && !config.timestamps);
    }

    #[test]
    fn only_scps_takes_a_loss_for_corruption() {
        for profile in Profile::ALL {
            let corruption = profile.config().loss_assumption == LossAssumption::Corruption;
            assert_eq!(corruption, profile == Profile::Scps, "{profile:?}");
        }
    }

    #[test]
    fn the_abort_time_of_linux_matches_the_kernel() {
        // 200 ms doubled up to 120 s: 0.2 · (2¹⁰ − 1) + 6 · 120 = 924.6 s after 15 retries.
        let config = Profile::Linux.config();
        let total: Duration = (0..=config.retries)
            .map(|n| (config.rto.variance_floor * (1 << n)).min(config.rto.max))
            .fold(Duration::ZERO, |sum, rto| sum + rto);
        assert_eq!(total, Duration::from_millis(924_600));
    }
}
