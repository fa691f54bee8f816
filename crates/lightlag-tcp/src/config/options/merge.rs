//! Options over options: those of a flow over those of the scenario.

use super::super::{RouteSwitch, ScpsSwitch};
use super::{DelayedAckOptions, DelayedAckSwitch, Options, RtoOptions};

impl RtoOptions {
    fn merge(self, over: Self) -> Self {
        Self {
            initial: over.initial.or(self.initial),
            syn: over.syn.or(self.syn),
            min: over.min.or(self.min),
            max: over.max.or(self.max),
            variance_floor: over.variance_floor.or(self.variance_floor),
            variance_gain: over.variance_gain.or(self.variance_gain),
            variance: over.variance.or(self.variance),
            scaled_gains: over.scaled_gains.or(self.scaled_gains),
            every_ack: over.every_ack.or(self.every_ack),
        }
    }
}

impl DelayedAckSwitch {
    fn merge(self, over: Self) -> Self {
        match (self, over) {
            (Self::On(base), Self::On(over)) => Self::On(DelayedAckOptions {
                segments: over.segments.or(base.segments),
                timeout: over.timeout.or(base.timeout),
                quick: over.quick.or(base.quick),
                adaptive: over.adaptive.or(base.adaptive),
            }),
            (Self::On(base), Self::Switch(true)) => Self::On(base),
            _ => over,
        }
    }
}

impl Options {
    /// These options, overridden by those set in `over`.
    #[must_use]
    pub fn merge(&self, over: &Self) -> Self {
        Self {
            profile: over.profile.or(self.profile),
            congestion: over.congestion.clone().or_else(|| self.congestion.clone()),
            mss: over.mss.or(self.mss),
            sack: over.sack.or(self.sack),
            dsack: over.dsack.or(self.dsack),
            timestamps: over.timestamps.or(self.timestamps),
            ecn: over.ecn.or(self.ecn),
            ect: over.ect.or(self.ect),
            ect_control: over.ect_control.or(self.ect_control),
            accecn_option: over.accecn_option.or(self.accecn_option),
            abe: over.abe.or(self.abe),
            window_scaling: over.window_scaling.or(self.window_scaling),
            initial_window: over.initial_window.or(self.initial_window),
            initial_ssthresh: over.initial_ssthresh.or(self.initial_ssthresh),
            receive_buffer: over.receive_buffer.or(self.receive_buffer),
            receive_window: over.receive_window.or(self.receive_window),
            probe: over.probe.or(self.probe),
            syn_data: over.syn_data.or(self.syn_data),
            fast_open: over.fast_open.or(self.fast_open),
            partial_segments: over.partial_segments.or(self.partial_segments),
            window_edge: over.window_edge.or(self.window_edge),
            delayed_ack: both(self.delayed_ack, over.delayed_ack, DelayedAckSwitch::merge),
            push: over.push.or(self.push),
            tso: over.tso.or(self.tso),
            sack_compression: over.sack_compression.or(self.sack_compression),
            rto: both(self.rto, over.rto, RtoOptions::merge),
            timer_granularity: over.timer_granularity.or(self.timer_granularity),
            rtt_samples: over.rtt_samples.or(self.rtt_samples),
            recovery: over.recovery.or(self.recovery),
            partial_acks: over.partial_acks.or(self.partial_acks),
            prr: over.prr.or(self.prr),
            rate_halving: over.rate_halving.or(self.rate_halving),
            prr_marks: over.prr_marks.or(self.prr_marks),
            reductions: over.reductions.or(self.reductions),
            tlp: over.tlp.or(self.tlp),
            frto: over.frto.or(self.frto),
            eifel: over.eifel.or(self.eifel),
            dsack_undo: over.dsack_undo.or(self.dsack_undo),
            pacing: over.pacing.or(self.pacing),
            idle_restart: over.idle_restart.or(self.idle_restart),
            burst_limit: over.burst_limit.or(self.burst_limit),
            growth: over.growth.or(self.growth),
            limited_transmit: over.limited_transmit.or(self.limited_transmit),
            nagle: over.nagle.or(self.nagle),
            minshall: over.minshall.or(self.minshall),
            syn_retries: over.syn_retries.or(self.syn_retries),
            syn_linear_timeouts: over.syn_linear_timeouts.or(self.syn_linear_timeouts),
            retries: over.retries.or(self.retries),
            time_wait: over.time_wait.or(self.time_wait),
            fin_wait: over.fin_wait.or(self.fin_wait),
            challenge_acks: over.challenge_acks.or(self.challenge_acks),
            answer_unsent: over.answer_unsent.or(self.answer_unsent),
            keep_alive: over.keep_alive.or(self.keep_alive),
            scps: both(self.scps, over.scps, ScpsSwitch::merge),
            loss_assumption: over.loss_assumption.or(self.loss_assumption),
            ack_interval: over.ack_interval.or(self.ack_interval),
            rate_control: over.rate_control.or(self.rate_control),
            route: both(self.route, over.route, RouteSwitch::merge),
            outage_after: over.outage_after.or(self.outage_after),
            careful_resume: over.careful_resume.or(self.careful_resume),
        }
    }
}

fn both<T>(base: Option<T>, over: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    match (base, over) {
        (Some(base), Some(over)) => Some(merge(base, over)),
        (base, over) => over.or(base),
    }
}
