//! Applies the options to their profile, and checks that the resulting configuration is consistent.

use super::super::rto::apply_rto;
use super::super::{ChallengeAcks, Config, DelayedAck, FastOpenUse, Growth, Scheme, ScpsSwitch, route, scps};
use super::{DelayedAckSwitch, OptionError, Options};
use super::{error, in_range};
use crate::ecn::EcnMode;
use lightlag_core::{Bytes, Duration};

/// Maximum send buffer in bytes: 1 TB.
const MAX_SEND_BUFFER: u64 = 1_000_000_000_000;

impl Options {
    /// Returns the profile's configuration, modified by these options.
    pub fn resolve(&self) -> Result<Config, OptionError> {
        let mut config = self.profile.unwrap_or_default().config();
        self.set(&mut config);
        if let Some(mss) = self.mss {
            config.mss = in_range("mss", mss.0, 36, 65_000, " B")? as u16;
        }
        if let Some(window) = self.initial_window {
            window.apply(&mut config)?;
        }
        if let Some(segments) = self.initial_ssthresh {
            let segments = in_range("initial_ssthresh", segments.into(), 2, 1_000_000, " segments")?;
            config.initial_ssthresh = Some(segments as u32);
        }
        if let Some(segments) = self.max_cwnd {
            config.max_cwnd = Some(in_range("max_cwnd", segments.into(), 2, 1_000_000, " segments")? as u32);
        }
        if let Some(buffer) = self.receive_buffer {
            (config.receive_buffer, config.receive_buffer_initial) = buffer.resolve()?;
        }
        if let Some(size) = self.send_buffer {
            config.send_buffer = Some(send_buffer(size, &config)?);
        }
        // Setting one of the two replaces the profile's other.
        config.prr &= self.rate_halving != Some(true) || self.prr == Some(true);
        config.rate_halving &= self.prr != Some(true) || self.rate_halving == Some(true);
        if let Some(limit) = self.burst_limit {
            config.burst_limit = match in_range("burst_limit", limit.into(), 0, 1_000_000, " segments")? {
                0 => None,
                limit => Some(limit as u32),
            };
        }
        self.check_switches(&config)?;
        if let Some(saved) = config.careful_resume {
            saved.check(&config.congestion)?;
        }
        check_max_cwnd(&config)?;
        if let Some(switch) = self.delayed_ack {
            config.delayed_ack = delayed_ack(switch, config.delayed_ack)?;
        }
        config.ack_interval = self.ack_interval.or(config.ack_interval).filter(|interval| !interval.is_zero());
        if let Some(switch) = self.scps {
            config.scps = switch.resolve(config.scps)?;
        }
        self.resolve_route(&mut config)?;
        config.outage_after = self.outage_after.or(config.outage_after).filter(|timeouts| *timeouts > 0);
        scps::check(&mut config, self.recovery.is_some(), self.scps.is_some_and(ScpsSwitch::names_snack))?;
        config.ecn = ecn(self.ecn, &config)?;
        check_fast_open(&config)?;
        scps::check_compression(&config)?;
        check_closing(&config)?;
        if let Growth::Abc(limit) = config.growth {
            in_range("growth.abc", limit.into(), 1, 255, " segments")?;
        }
        Ok(config)
    }

    /// Resolves the route and the settings derived from it. Settings that the scenario gives explicitly override the
    /// derived ones.
    fn resolve_route(&self, config: &mut Config) -> Result<(), OptionError> {
        let named = route::Named {
            rto: self.rto.unwrap_or_default(),
            rate_control: self.rate_control,
            time_wait: self.time_wait.is_some(),
            fin_wait: self.fin_wait.is_some(),
        };
        if let Some(switch) = self.route {
            config.route = switch.resolve(named)?;
        }
        route::apply(config, &named, None)?;
        apply_rto(named.rto, config)
    }

    /// Rejects switches that were set although they have no effect with, or contradict, other settings.
    fn check_switches(&self, config: &Config) -> Result<(), OptionError> {
        let wants_sack = matches!(config.recovery, Scheme::Sack | Scheme::Rack | Scheme::Fack);
        if self.recovery.is_some() && wants_sack && !config.sack {
            let message = "it repairs losses that the SACK option reports, but sack = false: set sack = true, or use \
                           \"newreno\" or \"reno\"";
            return error("recovery", message.to_owned());
        }
        for (key, value) in
            [("prr", self.prr), ("rate_halving", self.rate_halving), ("tlp", self.tlp), ("dsack_undo", self.dsack_undo)]
        {
            if value == Some(true) && !(wants_sack && config.sack) {
                return error(key, "true needs sack = true and recovery = \"rack\", \"sack\" or \"fack\"".to_owned());
            }
        }
        if self.prr == Some(true) && config.rate_halving {
            return error(
                "rate_halving",
                "true cannot be combined with prr = true: both control sending in recovery".to_owned(),
            );
        }
        if self.prr_marks == Some(true) && !(config.prr && wants_sack && config.sack) {
            return error("prr_marks", "true needs prr = true and the settings that prr needs".to_owned());
        }
        if self.eifel == Some(true) && !config.timestamps {
            return error("eifel", "true needs timestamps = true: it compares echoed timestamps".to_owned());
        }
        Ok(())
    }
}

/// Checks the size of the send buffer: it must hold at least one full segment, or none would ever be sent.
fn send_buffer(size: Bytes, config: &Config) -> Result<Bytes, OptionError> {
    let segment = Bytes(config.mss.into());
    if size < segment {
        return error("send_buffer", format!("{size} holds less than one segment of {segment}: increase it"));
    }
    in_range("send_buffer", size.0, 0, MAX_SEND_BUFFER, " B").map(Bytes)
}

fn delayed_ack(switch: DelayedAckSwitch, profile: Option<DelayedAck>) -> Result<Option<DelayedAck>, OptionError> {
    let base =
        profile.unwrap_or(DelayedAck { segments: 2, timeout: Duration::from_millis(200), quick: 0, adaptive: false });
    match switch {
        DelayedAckSwitch::Switch(false) => Ok(None),
        DelayedAckSwitch::Switch(true) => Ok(Some(base)),
        DelayedAckSwitch::On(options) => {
            let mut delayed = base;
            options.set(&mut delayed);
            let DelayedAck { segments, timeout, .. } = delayed;
            in_range("delayed_ack.segments", segments.into(), 1, 1_000, " segments")?;
            if timeout.is_zero() || timeout > Duration::from_secs(10) {
                return error("delayed_ack.timeout", format!("{timeout} is not above 0 s and at most 10 s"));
            }
            Ok(Some(delayed))
        }
    }
}

/// Rejects fast open if a token bucket or SCPS-TP options leave no space for data and a cookie in a SYN.
fn check_fast_open(config: &Config) -> Result<(), OptionError> {
    let beside = if config.scps.is_some() { "scps" } else { "rate_control" };
    if config.fast_open != FastOpenUse::Off && (config.scps.is_some() || config.rate_control.is_some()) {
        return error("fast_open", format!("data with a SYN cannot be combined with {beside}: remove one of them"));
    }
    Ok(())
}

/// Returns the ECN mode. An algorithm that depends on marks turns ECN on by itself, as in Linux.
fn ecn(mode: Option<EcnMode>, config: &Config) -> Result<EcnMode, OptionError> {
    let exact = config.congestion.fixed_needs().exact_marks;
    match mode {
        Some(EcnMode::Off) if exact => {
            error("ecn", format!("{} relies on congestion marks: remove ecn", config.congestion.name()))
        }
        None if exact => Ok(EcnMode::Classic),
        mode => Ok(mode.unwrap_or(config.ecn)),
    }
}

/// Rejects a maximum window for an algorithm that would not respect it.
fn check_max_cwnd(config: &Config) -> Result<(), OptionError> {
    if config.max_cwnd.is_some() && !config.congestion.is_window_based() {
        let name = config.congestion.name();
        let message = format!(
            "{name} computes its window from rates or in custom code; use \"cubic\" or \"newreno\", or remove it"
        );
        return error("max_cwnd", message);
    }
    Ok(())
}

/// Checks the durations and limits of TIME-WAIT, FIN-WAIT-2, challenge ACKs and keep-alive.
fn check_closing(config: &Config) -> Result<(), OptionError> {
    let max = Duration::from_secs(7 * 86_400);
    let keep = config.keep_alive.unwrap_or_default();
    let challenge = config.challenge_acks.unwrap_or(ChallengeAcks { count: 1, every: max });
    in_range("challenge_acks.count", challenge.count.into(), 1, 1_000, "")?;
    in_range("keep_alive.probes", keep.probes.into(), 1, 1_000, "")?;
    for (key, value, least) in [
        ("time_wait", config.time_wait, Duration::ZERO),
        ("fin_wait", config.fin_wait.unwrap_or_default(), Duration::ZERO),
        ("challenge_acks.every", challenge.every, Duration::from_millis(1)),
        ("keep_alive.idle", keep.idle, Duration::from_millis(1)),
        ("keep_alive.interval", keep.interval, Duration::from_millis(1)),
    ] {
        if value < least || value > max {
            return error(key, format!("{value} is not between {least} and 7 days"));
        }
    }
    Ok(())
}
