//! An operator's knowledge of a route before any measurement: its round-trip time, its initial timeout, its
//! bandwidth-delay product and its rate. A connection over a delay of minutes cannot start without these values,
//! because the initial timeout of every profile expires before the first reply can arrive.
//!
//! The keys are named after the route entries of the SCPS-TP reference implementation. Where its manual does not define
//! the effect of a key [R], we chose it: the round-trip time counts as the first sample of RFC 6298; the timeout
//! follows from it by §2.2 of that RFC; the maximum timeout, TIME-WAIT and FIN-WAIT-2 last at least two such timeouts,
//! and a closed window is probed at most once per timeout.

use super::options::{OptionError, between, error, in_range};
use super::scps::{MOST, RateControl, RateControlOptions};
use super::{Config, RtoOptions};
use lightlag_core::{Bytes, Duration, Rate, forms, overrides};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum round-trip time in hours.
const LONGEST: u64 = 24;

/// Configured parameters of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Route {
    /// SRTT before the first sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// The timeout before the first sample, which also applies to the SYN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto: Option<Duration>,
    /// Window that ends slow start, in bytes of payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bdp: Option<Bytes>,
    /// The rate of the token bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Whether missing values are taken from the path, which is not known until the scenario is expanded.
    #[serde(skip_serializing_if = "super::is_default")]
    pub path: bool,
    #[serde(skip)]
    named: Named,
}

/// Settings that were given explicitly, which a route does not override.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) rto: RtoOptions,
    pub(super) rate_control: Option<RateControlOptions>,
    pub(super) time_wait: bool,
    pub(super) fin_wait: bool,
}

/// Parameters of a path, without queueing delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathParameters {
    /// Round-trip time of a full packet and its ACK.
    pub rtt: Duration,
    /// Rate, in IP packets, in the direction of the end that listens.
    pub rate: Rate,
    /// Rate, in IP packets, in the direction of the end that opens the connection.
    pub ack_rate: Rate,
    /// Rate, in IP packets, in the direction of the data.
    pub data_rate: Rate,
}

/// Value of `route`: off, all parameters taken from the path, or a table of known parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RouteSwitch {
    /// `false`, or `true` for the path's parameters.
    Switch(bool),
    /// `"path"`.
    Path(PathWord),
    /// A table of keys.
    On(RouteOptions),
}

/// Keyword for a route with the parameters of the scenario's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PathWord {
    /// All parameters are taken from the path.
    Path,
}

overrides! {
    /// Values of a route that are known before the first measurement.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[schemars(title = "Route")]
    pub struct RouteOptions {
        /// Take the other values from the scenario's path: propagation and transmission delay in both directions, and
        /// the rate of the slowest link.
        path: bool;
        /// Round-trip time that is assumed before the first sample.
        rtt: Duration;
        /// Retransmission timeout before the first sample, which also applies to the SYN; `rto.initial` and `rto.syn` override it.
        /// Default: three times `rtt`, at least the profile's.
        rto: Duration;
        /// Window that ends slow start. Default: the payload of `rate` × `rtt`.
        bdp: Bytes;
        /// Rate of the token bucket, in IP packets, unless `rate_control` sets one.
        rate: Rate;
    }
}

impl RouteSwitch {
    /// Returns the settings of the route; `None` if it is off.
    fn options(self) -> Option<RouteOptions> {
        match self {
            Self::Switch(false) => None,
            Self::Switch(true) | Self::Path(_) => Some(RouteOptions { path: Some(true), ..RouteOptions::default() }),
            Self::On(options) => Some(options),
        }
    }

    /// Returns these values, overridden by those that `over` sets.
    pub(super) fn merge(self, over: Self) -> Self {
        let (Some(base), Some(keys)) = (self.options(), over.options()) else { return over };
        Self::On(base.merge(&keys))
    }

    pub(super) fn resolve(self, named: Named) -> Result<Option<Route>, OptionError> {
        let Some(options) = self.options() else { return Ok(None) };
        let RouteOptions { path, rtt, rto, bdp, rate } = options;
        if options == RouteOptions::default() {
            return error("route", "has no keys: write rtt, rto, bdp or rate, or route = \"path\"".to_owned());
        }
        for (key, value) in [("route.rtt", rtt), ("route.rto", rto)] {
            between(key, value.unwrap_or(Duration::from_secs(1)), LONGEST)?;
        }
        in_range("route.bdp", bdp.unwrap_or(Bytes(1)).0, 1, MOST, " B")?;
        let route = Route { rtt, rto, bdp, rate, path: path.unwrap_or(false), named };
        route.check()?;
        Ok(Some(route))
    }
}

impl Route {
    /// Rejects a timeout shorter than the round trip, which would retransmit every SYN needlessly.
    fn check(&self) -> Result<(), OptionError> {
        match (self.rto, self.rtt) {
            (Some(rto), Some(rtt)) if rto < rtt => {
                let message =
                    format!("{rto} is below route.rtt, which is {rtt}: every SYN would be sent twice; increase it");
                error("route.rto", message)
            }
            _ => Ok(()),
        }
    }
}

impl Config {
    /// Returns true if values of the route still have to be taken from the path.
    pub fn awaits_path(&self) -> bool {
        self.route.is_some_and(|route| route.path)
    }

    /// Returns the configuration for this path, which provides all values that the route does not set.
    ///
    /// # Errors
    /// A value of the path contradicts the other settings.
    pub fn on_path(&self, path: &PathParameters) -> Result<Self, OptionError> {
        let Some(given) = self.route else { return Ok(self.clone()) };
        let mut config = self.clone();
        let rtt = given.rtt.or(Some(path.rtt));
        let data_rate = given.rate.unwrap_or(path.data_rate);
        let bdp = given.bdp.or(rtt.map(|rtt| held(data_rate, rtt, &config)));
        let route = Route { rtt, bdp, rate: given.rate.or(Some(path.rate)), path: false, ..given };
        route.check()?;
        config.route = Some(route);
        let back = given.rate.is_none().then_some(path.ack_rate);
        apply(&mut config, &given.named, back)?;
        super::rto::apply_rto(given.named.rto, &mut config)?;
        super::scps::check_interval(&config)?;
        super::scps::check_bucket(&config)?;
        Ok(config)
    }
}

/// Applies the route to all values that were not set explicitly. `back` is the path's rate towards the end that opens
/// the connection.
pub(super) fn apply(config: &mut Config, named: &Named, back: Option<Rate>) -> Result<(), OptionError> {
    let waits = config.awaits_path();
    if let Some(route) = &mut config.route {
        route.rto = route.rto.or(route.rtt.map(|rtt| {
            // RFC 6298 §2.2 with this as the first sample; an ACK may wait for its interval. The result is not below
            // the default for unknown routes, because queues may be full.
            let least = rtt + config.ack_interval.unwrap_or_default();
            (rtt * 3).max(least).max(config.rto.initial)
        }));
    }
    let Some(mut route) = config.route.filter(|_| !waits) else {
        return rate_control(config, named, None, back, waits);
    };
    if let Some(rto) = route.rto {
        (config.rto.initial, config.rto.syn) = (rto, rto);
        config.rto.max = config.rto.max.max(rto * 2);
        let longer = |time: Duration| if time.is_zero() { time } else { time.max(rto * 2) };
        if !named.time_wait {
            config.time_wait = longer(config.time_wait);
        }
        if !named.fin_wait {
            config.fin_wait = config.fin_wait.map(longer);
        }
    }
    if let (None, Some(rtt), Some(rate)) = (route.bdp, route.rtt, route.rate) {
        route.bdp = Some(held(rate, rtt, config));
    }
    config.route = Some(route);
    rate_control(config, named, route.rate, back, waits)
}

/// Returns the bandwidth-delay product in bytes of payload. `rate` counts IP packets.
fn held(rate: Rate, rtt: Duration, config: &Config) -> Bytes {
    let bytes = (rate * rtt).0 as f64 * f64::from(config.usual_payload()) / config.usual_packet() as f64;
    Bytes((bytes as u64).clamp(1, MOST))
}

/// Returns the configured token bucket, with the route's rate by default.
fn rate_control(
    config: &mut Config,
    named: &Named,
    rate: Option<Rate>,
    back: Option<Rate>,
    waits: bool,
) -> Result<(), OptionError> {
    let options = named.rate_control.unwrap_or_default();
    let Some(chosen) = options.rate.or(rate) else {
        config.rate_control = None;
        if named.rate_control.is_some() && !waits {
            return error("rate_control.rate", "is missing: set it here, or set route.rate".to_owned());
        }
        return Ok(());
    };
    let ack_rate = options.ack_rate.or(back.filter(|_| options.rate.is_none()));
    let release = options.release.unwrap_or_default();
    config.rate_control = Some(RateControl { rate: chosen, ack_rate, bucket: options.bucket, release });
    Ok(())
}

forms! {
    RouteSwitch, "\"path\", true, false or a table such as { rtt = \"2.6 s\", rate = \"1 Mbit/s\" }";
    switch RouteSwitch::Switch;
    word |word| (word == "path").then_some(RouteSwitch::Path(PathWord::Path));
    table RouteOptions: RouteSwitch::On;
}

#[cfg(test)]
mod tests;
