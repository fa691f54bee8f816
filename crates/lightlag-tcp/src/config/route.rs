//! Knowledge of an operator about a route before any measurement: its round trip, its first timeout, its
//! bandwidth-delay product and its rate. Over minutes of delay a connection cannot start without it, because the first
//! timeout of any profile comes before the first answer can.
//!
//! The keys are those of the route entries of the SCPS-TP reference implementation. Their effects are our choice where
//! its manual is silent [R]: the round trip counts as the first sample of RFC 6298; the timeout follows from it by §2.2
//! there; the longest timeout, TIME-WAIT and FIN-WAIT-2 last at least two such timeouts, and a closed window is probed
//! no faster than one.

use super::options::{OptionError, between, error, in_range};
use super::scps::{MOST, RateControl, RateControlOptions};
use super::{Config, RtoOptions};
use lightlag_core::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Hours of the longest round trip.
const LONGEST: u64 = 24;

/// The configured facts about a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Route {
    /// SRTT before the first sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// The timeout before the first sample, also of the SYN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto: Option<Duration>,
    /// The window in bytes of payload at which slow start ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bdp: Option<Bytes>,
    /// The rate of the token bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Take missing values from the path, which is not known yet.
    #[serde(skip_serializing_if = "super::is_default")]
    pub path: bool,
    #[serde(skip)]
    named: Named,
}

/// The values that were set explicitly, and that a route therefore does not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) rto: RtoOptions,
    pub(super) rate_control: Option<RateControlOptions>,
    pub(super) time_wait: bool,
    pub(super) fin_wait: bool,
}

/// The properties of a path without queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathParameters {
    /// The round trip of a full packet and its ACK.
    pub rtt: Duration,
    /// Its rate in IP packets towards the end that listens.
    pub rate: Rate,
    /// The same towards the end that opens.
    pub ack_rate: Rate,
    /// The rate of the two in the direction of data.
    pub data_rate: Rate,
}

/// The value of `route`: off, all of the path, or what is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RouteSwitch {
    /// `false`, or `true` for the path's parameters.
    Switch(bool),
    /// `"path"`.
    Path(PathWord),
    /// Some of the keys.
    On(RouteOptions),
}

/// The word for a route with the parameters of the scenario's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PathWord {
    /// All are the path's.
    Path,
}

/// Keys of `route`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RouteOptions {
    /// Take what is not said here from the path: propagation and transmission both ways, and the slowest link's rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<bool>,
    /// The round trip before the first sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Duration>,
    /// The timeout before the first sample, of the SYN, too; `rto.initial` and `rto.syn` override it. Default: three times
    /// `rtt`, at least the profile's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto: Option<Duration>,
    /// Slow start ends where the window is so large. Default: the payload of `rate` × `rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bdp: Option<Bytes>,
    /// What flows into the token bucket, in IP packets, where `rate_control` names no rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

impl RouteSwitch {
    /// Its keys; `None` if it is off.
    fn options(self) -> Option<RouteOptions> {
        match self {
            Self::Switch(false) => None,
            Self::Switch(true) | Self::Path(_) => Some(RouteOptions { path: Some(true), ..RouteOptions::default() }),
            Self::On(options) => Some(options),
        }
    }

    /// `over` on top of these.
    pub(super) fn merge(self, over: Self) -> Self {
        let (Some(base), Some(keys)) = (self.options(), over.options()) else { return over };
        Self::On(RouteOptions {
            path: keys.path.or(base.path),
            rtt: keys.rtt.or(base.rtt),
            rto: keys.rto.or(base.rto),
            bdp: keys.bdp.or(base.bdp),
            rate: keys.rate.or(base.rate),
        })
    }

    pub(super) fn resolve(self, named: Named) -> Result<Option<Route>, OptionError> {
        let Some(options) = self.options() else { return Ok(None) };
        let RouteOptions { path, rtt, rto, bdp, rate } = options;
        if options == RouteOptions::default() {
            return error("route", "names nothing: write rtt, rto, bdp or rate, or route = \"path\"".to_owned());
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
    /// Refuses a timeout before the answer can come, which would repeat every SYN in vain.
    fn check(&self) -> Result<(), OptionError> {
        match (self.rto, self.rtt) {
            (Some(rto), Some(rtt)) if rto < rtt => {
                let message =
                    format!("{rto} is below route.rtt, which is {rtt}: every SYN would leave twice; raise it");
                error("route.rto", message)
            }
            _ => Ok(()),
        }
    }
}

impl Config {
    /// Whether its route still needs the path.
    pub fn awaits_path(&self) -> bool {
        self.route.is_some_and(|route| route.path)
    }

    /// The same on this path, which provides all values that its route does not name.
    ///
    /// # Errors
    /// If a value of the path contradicts the rest.
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

/// Applies the route to all values that were not set explicitly. `back`: the path's rate towards the end that opens.
pub(super) fn apply(config: &mut Config, named: &Named, back: Option<Rate>) -> Result<(), OptionError> {
    let waits = config.awaits_path();
    if let Some(route) = &mut config.route {
        route.rto = route.rto.or(route.rtt.map(|rtt| {
            // RFC 6298 §2.2 with this as the first sample; an ACK may wait for its interval. The result is not below
            // the value that suits unknown routes, because queues may be full.
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

/// Payload that a route with this rate of IP packets holds.
fn held(rate: Rate, rtt: Duration, config: &Config) -> Bytes {
    let bytes = (rate * rtt).0 as f64 * f64::from(config.usual_payload()) / config.usual_packet() as f64;
    Bytes((bytes as u64).clamp(1, MOST))
}

/// The token bucket as configured, with the route's rate by default.
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
            return error("rate_control.rate", "is missing: say it here, or as route.rate".to_owned());
        }
        return Ok(());
    };
    let ack_rate = options.ack_rate.or(back.filter(|_| options.rate.is_none()));
    let release = options.release.unwrap_or_default();
    config.rate_control = Some(RateControl { rate: chosen, ack_rate, bucket: options.bucket, release });
    Ok(())
}

impl<'de> Deserialize<'de> for RouteSwitch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Switch;
        impl<'de> Visitor<'de> for Switch {
            type Value = RouteSwitch;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"path\", true, false or a table such as { rtt = \"2.6 s\", rate = \"1 Mbit/s\" }")
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
                Ok(RouteSwitch::Switch(on))
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
                match word {
                    "path" => Ok(RouteSwitch::Path(PathWord::Path)),
                    _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                RouteOptions::deserialize(MapAccessDeserializer::new(map)).map(RouteSwitch::On)
            }
        }
        deserializer.deserialize_any(Switch)
    }
}

#[cfg(test)]
mod tests;
