//! The generator of satellite networks: clients, a gateway, a satellite or several, a gateway, servers.

use super::{
    Access, Elevations, FlowTemplate, Line, LinkSide, OrbitSpec, Queue, Signals, access, line_of, many, optional_many,
    orbit,
};
use crate::read::{Errors, FASTEST, FromValue, Path, Table, not_one_of, shown};
use lightlag_core::Duration;
use lightlag_net::Outage;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most satellites in a row.
const MOST_SATELLITES: u64 = 10_000;
/// The most pairs on the ground of which each has a delay of its own.
const MOST_SPREAD: u64 = 10_000;

/// `client1`, `client2`, … behind `gateway-left`, a satellite, `gateway-right`, and `server1`, `server2`, … behind it.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, transform = defaults)]
pub struct Satellite {
    /// Clients, and servers, at least 1.
    pub pairs: u64,
    /// The orbit, from which the delays of `uplink` and `downlink` follow where they give none. In the file `height`, such
    /// as "550 km", serves as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orbit: Option<OrbitSpec>,
    /// Elevation of the satellite above the horizon, at both gateways or first at the left, then at the right one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elevation: Option<Elevations>,
    /// Whether the satellite forwards bits as they come, or packets.
    pub payload: Payload,
    /// Delay that each satellite adds to the link on which it sends.
    pub processing: Duration,
    /// Satellites in a row, joined by `isl`.
    pub satellites: u64,
    /// The link from `gateway-left` to the satellite. Data flows forward.
    pub uplink: GroundLink,
    /// The link from the satellite to `gateway-right`. Data flows forward.
    pub downlink: GroundLink,
    /// The links between satellites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isl: Option<PlainLink>,
    /// The link of every client and server to its gateway; by default ten times the rate of the uplink and 1 ms.
    pub access: Access,
    /// A link from `gateway-right` to `router`, behind which the servers then are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<PlainLink>,
    /// Pairs that share the bottleneck with the satellite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terrestrial: Option<Terrestrial>,
    /// Flows from each client to its server; by default one, unless the scenario lists flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
    /// The links through space, as the network has them.
    #[serde(skip)]
    space: Vec<Line>,
    /// The links of clients on the ground: one for all of them, or one for each.
    #[serde(skip)]
    ground: Vec<Line>,
}

/// Treatment of received packets by a satellite.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Payload {
    /// A bent pipe: bits leave as they come. It has no queue, and both hops have the smaller of their rates.
    #[default]
    Transparent,
    /// A node with queues.
    Regenerative,
}

const PAYLOADS: [&str; 2] = ["transparent", "regenerative"];

/// A link between the ground and a satellite.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Hop", transform = delay_has_a_default)]
pub struct GroundLink {
    /// Its properties.
    #[serde(flatten)]
    pub line: Line,
}

/// A link of which a generator knows the ends.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PlainLink {
    /// Its properties.
    #[serde(flatten)]
    pub line: Line,
}

/// `terrestrial1`, `terrestrial2`, … behind `gateway-right`, and `terrestrial-server1`, … behind `router`.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Terrestrial {
    /// Pairs, at least 1.
    pub pairs: u64,
    /// The link of each client to `gateway-right`. Data flows forward.
    #[serde(flatten)]
    pub line: Line,
    /// The delay of the last client: from the first to the last it rises evenly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_delay: Option<Duration>,
    /// Flows from each client to its server; by default those of the satellite's `flow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
}

impl Satellite {
    /// Reads the keys beside `kind`.
    pub(crate) fn read_from(
        table: &mut Table,
        at: &Path,
        flow: Option<FlowTemplate>,
        errors: &mut Errors,
    ) -> Option<Self> {
        let before = errors.len();
        let pairs = many(table, at, "pairs", 500_000, errors);
        let orbit = orbit(table, at, errors);
        let elevation: Option<Elevations> = table.optional("elevation", errors);
        if errors.len() == before && orbit.is_some() != elevation.is_some() {
            let (key, remedy) = match orbit {
                Some(_) => ("elevation", "say how high above the horizon the satellite stands, such as \"40 deg\""),
                None => ("orbit", "write geo, meo, leo-550 or a height such as \"550 km\", or leave elevation out"),
            };
            errors.push(Path::Key(at, key), format!("is missing; {remedy}"));
        }
        let is_mentioned = orbit.is_some() || elevation.is_some() || errors.len() > before;
        let ways = match orbit.zip(elevation) {
            Some((orbit, both)) => Some([orbit.0.delay(both.up), orbit.0.delay(both.down)]),
            // What is wrong with the orbit is said once, not of each hop again.
            None => is_mentioned.then_some([Duration::ZERO; 2]),
        };
        let payload = table.optional("payload", errors).unwrap_or_default();
        let processing = table.optional("processing", errors).unwrap_or_default();
        let satellites = optional_many(table, at, "satellites", MOST_SATELLITES, errors);
        let uplink = hop(table, at, "uplink", ways.map(|[up, _]| up), errors);
        let downlink = hop(table, at, "downlink", ways.map(|[_, down]| down), errors);
        let isl = table.optional("isl", errors);
        let access = access(table, at, uplink.as_ref(), errors);
        let bottleneck = table.optional("bottleneck", errors);
        let terrestrial: Option<Terrestrial> = table.optional("terrestrial", errors);
        if errors.len() > before {
            return None;
        }
        let satellite = Self {
            pairs: pairs?,
            orbit,
            elevation,
            payload,
            processing,
            satellites: satellites?,
            uplink: GroundLink { line: uplink? },
            downlink: GroundLink { line: downlink? },
            isl,
            access: Access { line: access? },
            bottleneck,
            terrestrial,
            flow,
            space: Vec::new(),
            ground: Vec::new(),
        };
        satellite.check(at, errors);
        (errors.len() == before).then(|| satellite.generated())
    }

    /// Checks whether the keys fit together.
    fn check(&self, at: &Path, errors: &mut Errors) {
        let is_transparent = self.payload == Payload::Transparent;
        match (self.satellites > 1, &self.isl) {
            (true, None) => {
                let message = "is missing; give the links between satellites a rate and a delay, such as { orbit = \"leo-550\", \
                               satellites = 22 }";
                errors.push(Path::Key(at, "isl"), message);
            }
            (false, Some(_)) => {
                errors.push(Path::Key(at, "isl"), "joins satellites, and there is one; write satellites = 2")
            }
            (true, Some(_)) if is_transparent => {
                let message = "\"transparent\" satellites have no links between them; write payload = \"regenerative\"";
                errors.push(Path::Key(at, "payload"), message);
            }
            _ => {}
        }
        if self.terrestrial.is_some() && self.bottleneck.is_none() {
            let message = "is missing; give the link that satellite and terrestrial flows share a rate and a delay";
            errors.push(Path::Key(at, "bottleneck"), message);
        }
        if is_transparent {
            for (key, line) in [("uplink", &self.uplink.line), ("downlink", &self.downlink.line)] {
                if line.signals != Signals::default() {
                    let message = "a transparent satellite is no station, and knows neither outages nor errors; write payload = \
                                   \"regenerative\", or list the links";
                    let hop = Path::Key(at, key);
                    errors.push(Path::Key(&hop, "signals"), message);
                }
            }
            let (up, down) = (&self.uplink.line.backward, &self.downlink.line.forward);
            for (key, side, direction) in [("uplink", up, "forward"), ("downlink", down, "backward")] {
                let given = [
                    ("trace", side.trace.0.is_some()),
                    ("fade", side.fade.0.is_some()),
                    ("on_demand", side.on_demand.0.is_some()),
                    ("fec", side.fec.code().is_some()),
                ];
                for (what, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
                    let message = format!(
                        "a transparent satellite sends what comes, as it comes; give {what} to the direction that leaves the \
                         ground, {{ {direction} = … }}"
                    );
                    let hop = Path::Key(at, key);
                    errors.push(Path::Key(&hop, what), message);
                }
            }
        }
    }

    /// With its links.
    fn generated(mut self) -> Self {
        let (mut first, mut last) = (self.uplink.line.clone(), self.downlink.line.clone());
        if self.payload == Payload::Transparent {
            let forward = first.forward.rate.min(last.forward.rate);
            let backward = first.backward.rate.min(last.backward.rate);
            first.forward.rate = forward;
            last.backward.rate = backward;
            relay(&mut first.backward);
            relay(&mut last.forward);
        }
        first.backward.delay.0 += self.processing;
        last.forward.delay.0 += self.processing;
        let between = self.isl.clone().map(|PlainLink { mut line }| {
            line.forward.delay.0 += self.processing;
            line.backward.delay.0 += self.processing;
            line
        });
        let between = between.into_iter().cycle().take(self.satellites.saturating_sub(1) as usize);
        self.space = std::iter::once(first).chain(between).chain([last]).collect();
        self.ground = self.terrestrial.as_ref().map(Terrestrial::lines).unwrap_or_default();
        self
    }

    /// Number of its links.
    pub(crate) fn link_count(&self) -> u64 {
        (self.pairs + self.ground_count()) * 2 + self.satellites + 1 + u64::from(self.bottleneck.is_some())
    }

    /// Number of pairs on the ground that exchange flows.
    pub(crate) fn ground_count(&self) -> u64 {
        self.terrestrial.as_ref().map_or(0, |ground| ground.pairs)
    }

    /// The flows of pairs on the ground that differ from those over the satellite.
    pub(crate) fn ground_template(&self) -> Option<&FlowTemplate> {
        self.terrestrial.as_ref().and_then(|ground| ground.flow.as_ref())
    }

    fn satellite(&self, number: u64) -> String {
        if self.satellites == 1 { "satellite".to_owned() } else { format!("satellite{number}") }
    }

    /// The side of the servers.
    fn last_router(&self) -> &'static str {
        if self.bottleneck.is_some() { "router" } else { "gateway-right" }
    }

    /// The links: through space, the bottleneck, the edge.
    pub(crate) fn links(&self) -> Box<dyn Iterator<Item = ([String; 2], &Line)> + '_> {
        let node = |at: usize| match at as u64 {
            0 => "gateway-left".to_owned(),
            last if last == self.satellites + 1 => "gateway-right".to_owned(),
            number => self.satellite(number),
        };
        let space = self.space.iter().enumerate().map(move |(at, line)| ([node(at), node(at + 1)], line));
        let bottleneck =
            self.bottleneck.iter().map(|link| (["gateway-right", "router"].map(str::to_owned), &link.line));
        let edges = (1..=self.pairs).flat_map(|pair| {
            let left = [format!("client{pair}"), "gateway-left".to_owned()];
            let right = [self.last_router().to_owned(), format!("server{pair}")];
            [left, right].map(|ends| (ends, &self.access.line))
        });
        let ground = (1..=self.ground_count()).flat_map(move |pair| {
            let line = &self.ground[(pair as usize - 1).min(self.ground.len() - 1)];
            let left = ([format!("terrestrial{pair}"), "gateway-right".to_owned()], line);
            let right = ([self.last_router().to_owned(), format!("terrestrial-server{pair}")], &self.access.line);
            [left, right]
        });
        Box::new(space.chain(bottleneck).chain(edges).chain(ground))
    }

    /// Senders and receivers over the satellite.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [String; 2]> + use<> {
        (1..=self.pairs).map(|pair| [format!("client{pair}"), format!("server{pair}")])
    }

    /// Senders and receivers on the ground.
    pub(crate) fn ground_pairs(&self) -> impl Iterator<Item = [String; 2]> + use<> {
        (1..=self.ground_count()).map(|pair| [format!("terrestrial{pair}"), format!("terrestrial-server{pair}")])
    }

    /// The key of a link of this number, and what it is like.
    pub(crate) fn place(&self, link: usize) -> (&'static str, &Line) {
        let (space, edges) = (self.space.len(), 2 * self.pairs as usize);
        if let Some(line) = self.space.get(link) {
            return match link {
                0 => ("topology.uplink", line),
                last if last + 1 == space => ("topology.downlink", line),
                _ => ("topology.isl", line),
            };
        }
        match (&self.bottleneck, link - space) {
            (Some(link), 0) => ("topology.bottleneck", &link.line),
            (bottleneck, after) => {
                let after = after - usize::from(bottleneck.is_some());
                match after.checked_sub(edges) {
                    Some(ground) if ground.is_multiple_of(2) && !self.ground.is_empty() => {
                        ("topology.terrestrial", &self.ground[(ground / 2).min(self.ground.len() - 1)])
                    }
                    _ => ("topology.access", &self.access.line),
                }
            }
        }
    }
}

/// A direction that leaves a transparent satellite: bits go on as they come.
fn relay(side: &mut LinkSide) {
    side.rate = FASTEST;
    side.queue = Queue::default();
    side.outage.0 = Outage::Lose;
    side.changes.0.iter_mut().for_each(|change| change.rate = None);
}

impl Terrestrial {
    /// The links of its clients: one for all, or one for each.
    fn lines(&self) -> Vec<Line> {
        let Some(last) = self.last_delay.filter(|_| self.pairs > 1) else { return vec![self.line.clone()] };
        let between = |first: Duration, pair: u64| {
            let (first, last) = (first.as_nanos() as f64, last.as_nanos() as f64);
            Duration::from_nanos((first + (last - first) * pair as f64 / (self.pairs - 1) as f64 + 0.5) as u64)
        };
        let line = |pair: u64| {
            let mut line = self.line.clone();
            for delay in [&mut line.forward.delay.0, &mut line.backward.delay.0] {
                *delay = between(*delay, pair);
            }
            line
        };
        (0..self.pairs).map(line).collect()
    }
}

/// A hop whose delay may come from the orbit.
fn hop(table: &mut Table, at: &Path, key: &'static str, delay: Option<Duration>, errors: &mut Errors) -> Option<Line> {
    let value =
        table.required_value(key, "give it a rate, such as { rate = \"20 Mbit/s\", queue = \"1 bdp\" }", errors)?;
    let at = Path::Key(at, key);
    match (value, delay) {
        (Value::Object(given), Some(delay)) if given.get("delay").is_none_or(Value::is_null) => {
            let mut whole = given.clone();
            whole.insert("delay".to_owned(), delay.to_string().into());
            line_of(&Value::Object(whole), &at, errors)
        }
        _ => line_of(value, &at, errors),
    }
}

impl FromValue for Payload {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_str() {
            Some("transparent") => Some(Self::Transparent),
            Some("regenerative") => Some(Self::Regenerative),
            Some(other) => {
                errors.push(at, not_one_of(other, "what a satellite does", &PAYLOADS));
                None
            }
            None => {
                errors.push(at, format!("{} is not \"transparent\" or \"regenerative\"", shown(value)));
                None
            }
        }
    }
}

impl FromValue for PlainLink {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        line_of(value, at, errors).map(|line| Self { line })
    }
}

impl FromValue for Terrestrial {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table with pairs, rate and delay", errors)?;
        let pairs = many(&mut table, at, "pairs", 500_000, errors);
        let line = Line::read_from(&mut table, errors);
        let last_delay = table.optional("last_delay", errors);
        let flow = table.optional("flow", errors);
        table.finish(errors);
        if let Some(pairs) = pairs.filter(|pairs| last_delay.is_some() && *pairs > MOST_SPREAD) {
            let message = format!("{pairs} pairs with delays of their own are more than {MOST_SPREAD}; use fewer");
            errors.push(Path::Key(at, "pairs"), message);
        }
        let ground = Self { pairs: pairs?, line: line?, last_delay, flow };
        (errors.len() == before).then_some(ground)
    }
}

/// In the file much may be left out, and the height says what the orbit does.
fn defaults(schema: &mut Schema) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| !["access", "payload", "processing", "satellites"].iter().any(|free| key == free));
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let height = serde_json::json!({ "$ref": "#/$defs/Distance", "description": "The height of the orbit." });
        properties.insert("height".to_owned(), height);
    }
}

/// In the file a hop may leave its delay to the orbit.
fn delay_has_a_default(schema: &mut Schema) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| key != "delay");
    }
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
}
