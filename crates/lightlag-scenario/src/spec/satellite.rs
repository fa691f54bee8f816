//! The topology of a satellite network: clients, a gateway, one or several satellites, a second gateway, and servers.

use super::{
    Access, Elevations, FlowTemplate, Line, LinkSide, OrbitSpec, Queue, Signals, access, line_of, many, optional_many,
    orbit,
};
use crate::read::{Errors, FASTEST, FromValue, Path, TableReader, not_one_of, shown};
use lightlag_core::Duration;
use lightlag_net::Outage;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum number of satellites in a row.
const MOST_SATELLITES: u64 = 10_000;
/// Maximum number of pairs on the ground that have individual delays.
const MOST_SPREAD: u64 = 10_000;

/// `client1`, `client2`, … attached to `gateway-left`, a satellite, and `gateway-right` with `server1`, `server2`, ….
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, transform = defaults)]
pub struct Satellite {
    /// Number of clients, which is also the number of servers, at least 1.
    pub pairs: u64,
    /// Orbit, `"geo"`, `"meo"`, `"leo-550"`, … or a height. It determines the delays of `uplink` and `downlink` that
    /// are not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orbit: Option<OrbitSpec>,
    /// Elevation of the satellite above the horizon: one for both gateways, or one for the left and one for the right
    /// gateway, `["40 deg", "25 deg"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elevation: Option<Elevations>,
    /// Kind of satellite: a bent pipe without a queue (transparent, the default), or a node with queues (regenerative).
    pub payload: Payload,
    /// Delay that each satellite adds to its outgoing link.
    pub processing: Duration,
    /// Number of satellites in a row, which are connected by `isl`.
    pub satellites: u64,
    /// Link from `gateway-left` to the satellite. Its delay may follow from the orbit. Data flows in the forward
    /// direction.
    pub uplink: GroundLink,
    /// Link from the satellite to `gateway-right`. Its delay may follow from the orbit. Data flows in the forward
    /// direction.
    pub downlink: GroundLink,
    /// Links between satellites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isl: Option<PlainLink>,
    /// Link of each client and server to its gateway; by default ten times the rate of the uplink and 1 ms.
    pub access: Access,
    /// Link from `gateway-right` to `router`; the servers are then attached to `router`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<PlainLink>,
    /// Pairs on the ground that share the bottleneck with the satellite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terrestrial: Option<Terrestrial>,
    /// Flows from each client to its server; by default one, unless the scenario lists flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
    /// Links through space, as they are in the network.
    #[serde(skip)]
    space: Vec<Line>,
    /// Links of the clients on the ground: a single one for all of them, or one for each.
    #[serde(skip)]
    ground: Vec<Line>,
}

/// Forwarding of packets by a satellite.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Payload {
    /// A bent pipe, which forwards bits as they arrive. It has no queue, and both hops have the smaller of their rates.
    #[default]
    Transparent,
    /// A node with queues, which receives entire packets.
    Regenerative,
}

const PAYLOADS: [&str; 2] = ["transparent", "regenerative"];

/// A link between the ground and a satellite.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Hop", transform = delay_has_a_default)]
pub struct GroundLink {
    /// Properties of the link.
    #[serde(flatten)]
    pub line: Line,
}

/// A link with the properties of a listed link, in both directions.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(title = "LinkParameters", deny_unknown_fields)]
pub struct PlainLink {
    /// Properties of the link.
    #[serde(flatten)]
    pub line: Line,
}

/// Pairs on the ground that share the bottleneck with a satellite: `terrestrial1`, `terrestrial2`, … attached to
/// `gateway-right`, and `terrestrial-server1`, … attached to `router`. The keys of a link apply to the link of each
/// client.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Terrestrial {
    /// Number of clients, which is also the number of servers, at least 1.
    pub pairs: u64,
    /// Link of each client to `gateway-right`. Data flows in the forward direction.
    #[serde(flatten)]
    pub line: Line,
    /// Delay of the last client's link. Delays increase evenly from the first client to the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_delay: Option<Duration>,
    /// Flows from each client to its server; by default the same as `flow` of the satellite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowTemplate>,
}

impl Satellite {
    /// Reads the keys next to `kind`.
    pub(crate) fn read_from(
        table: &mut TableReader,
        path: &Path,
        flow: Option<FlowTemplate>,
        errors: &mut Errors,
    ) -> Option<Self> {
        let before = errors.len();
        let pairs = many(table, path, "pairs", 500_000, errors);
        let orbit = orbit(table, path, errors);
        let elevation: Option<Elevations> = table.optional("elevation", errors);
        if errors.len() == before && orbit.is_some() != elevation.is_some() {
            let (key, remedy) = match orbit {
                Some(_) => {
                    ("elevation", "specify the elevation of the satellite above the horizon, such as \"40 deg\"")
                }
                None => ("orbit", "write geo, meo, leo-550 or a height such as \"550 km\", or remove elevation"),
            };
            errors.push(Path::Key(path, key), format!("is missing; {remedy}"));
        }
        let is_mentioned = orbit.is_some() || elevation.is_some() || errors.len() > before;
        let ways = match orbit.zip(elevation) {
            Some((orbit, both)) => Some([orbit.0.delay(both.up), orbit.0.delay(both.down)]),
            // An error of the orbit is reported once, not for each hop.
            None => is_mentioned.then_some([Duration::ZERO; 2]),
        };
        let payload = table.optional("payload", errors).unwrap_or_default();
        let processing = table.optional("processing", errors).unwrap_or_default();
        let satellites = optional_many(table, path, "satellites", MOST_SATELLITES, errors);
        let uplink = hop(table, path, "uplink", ways.map(|[up, _]| up), errors);
        let downlink = hop(table, path, "downlink", ways.map(|[_, down]| down), errors);
        let isl = table.optional("isl", errors);
        let access = access(table, path, uplink.as_ref(), errors);
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
        satellite.check(path, errors);
        (errors.len() == before).then(|| satellite.generated())
    }

    /// Reports errors for keys that cannot be combined.
    fn check(&self, path: &Path, errors: &mut Errors) {
        let is_transparent = self.payload == Payload::Transparent;
        match (self.satellites > 1, &self.isl) {
            (true, None) => {
                let message = "is missing; give the links between satellites a rate and a delay, such as { orbit = \"leo-550\", \
                               satellites = 22 }";
                errors.push(Path::Key(path, "isl"), message);
            }
            (false, Some(_)) => {
                errors.push(Path::Key(path, "isl"), "joins satellites, and there is only one; write satellites = 2")
            }
            (true, Some(_)) if is_transparent => {
                let message = "\"transparent\" satellites have no links between them; write payload = \"regenerative\"";
                errors.push(Path::Key(path, "payload"), message);
            }
            _ => {}
        }
        if self.terrestrial.is_some() && self.bottleneck.is_none() {
            let message = "is missing; give the link that satellite and terrestrial flows share a rate and a delay";
            errors.push(Path::Key(path, "bottleneck"), message);
        }
        if is_transparent {
            for (key, line) in [("uplink", &self.uplink.line), ("downlink", &self.downlink.line)] {
                if line.signals != Signals::default() {
                    let message = "a transparent satellite is not a station and detects neither outages nor errors; \
                                   write payload = \"regenerative\", or list the links";
                    let hop = Path::Key(path, key);
                    errors.push(Path::Key(&hop, "signals"), message);
                }
            }
            let (up, down) = (&self.uplink.line.backward, &self.downlink.line.forward);
            for (key, side, direction) in [("uplink", up, "forward"), ("downlink", down, "backward")] {
                let given = [
                    ("trace", side.trace.0.is_some()),
                    ("fade", side.fade.0.is_some()),
                    ("on_demand", side.on_demand.0.is_some()),
                    ("police", side.police.0.is_some()),
                    ("mtu", side.mtu.0.is_some()),
                    ("fec", side.fec.code().is_some()),
                    ("slots", side.slots.0.is_some()),
                    ("channel", side.channel.0.is_some()),
                    ("ramp", side.ramp.0.is_some()),
                    ("aggregate", side.aggregate.0.is_some()),
                ];
                for (what, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
                    let message = format!(
                        "a transparent satellite forwards packets as they arrive; set {what} for the direction from \
                         the ground, {{ {direction} = … }}"
                    );
                    let hop = Path::Key(path, key);
                    errors.push(Path::Key(&hop, what), message);
                }
            }
        }
    }

    /// Computes the links from the keys.
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

    /// Returns the number of links.
    pub(crate) fn link_count(&self) -> u64 {
        (self.pairs + self.ground_count()) * 2 + self.satellites + 1 + u64::from(self.bottleneck.is_some())
    }

    /// Returns the number of pairs on the ground that exchange flows.
    pub(crate) fn ground_count(&self) -> u64 {
        self.terrestrial.as_ref().map_or(0, |ground| ground.pairs)
    }

    /// Returns the template of the flows on the ground; `None` if they have the same template as the flows over the
    /// satellite.
    pub(crate) fn ground_template(&self) -> Option<&FlowTemplate> {
        self.terrestrial.as_ref().and_then(|ground| ground.flow.as_ref())
    }

    fn satellite(&self, number: u64) -> String {
        if self.satellites == 1 { "satellite".to_owned() } else { format!("satellite{number}") }
    }

    /// Returns the router of the servers.
    fn last_router(&self) -> &'static str {
        if self.bottleneck.is_some() { "router" } else { "gateway-right" }
    }

    /// Returns all links: through space, then the bottleneck, then the links of clients and servers.
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

    /// Returns the senders and receivers of the flows over the satellite.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [String; 2]> + use<> {
        (1..=self.pairs).map(|pair| [format!("client{pair}"), format!("server{pair}")])
    }

    /// Returns the senders and receivers of the flows on the ground.
    pub(crate) fn ground_pairs(&self) -> impl Iterator<Item = [String; 2]> + use<> {
        (1..=self.ground_count()).map(|pair| [format!("terrestrial{pair}"), format!("terrestrial-server{pair}")])
    }

    /// Returns the path in the file of the table that describes the link with this index, and the description.
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

/// Adapts a direction that leaves a transparent satellite, where bits are forwarded as they arrive.
fn relay(side: &mut LinkSide) {
    side.rate = FASTEST;
    side.queue = Queue::default();
    side.outage.0 = Outage::Lose;
    side.changes.0.iter_mut().for_each(|change| change.rate = None);
}

impl Terrestrial {
    /// Returns the links of the clients: a single one for all of them, or one for each.
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

/// Reads a hop to or from the satellite, whose delay may follow from the orbit.
fn hop(
    table: &mut TableReader,
    path: &Path,
    key: &'static str,
    delay: Option<Duration>,
    errors: &mut Errors,
) -> Option<Line> {
    let value =
        table.required_value(key, "give it a rate, such as { rate = \"20 Mbit/s\", queue = \"1 bdp\" }", errors)?;
    let key_path = Path::Key(path, key);
    match (value, delay) {
        (Value::Object(given), Some(delay)) if given.get("delay").is_none_or(Value::is_null) => {
            let mut whole = given.clone();
            whole.insert("delay".to_owned(), delay.to_string().into());
            line_of(&Value::Object(whole), &key_path, errors)
        }
        _ => line_of(value, &key_path, errors),
    }
}

impl FromValue for Payload {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_str() {
            Some("transparent") => Some(Self::Transparent),
            Some("regenerative") => Some(Self::Regenerative),
            Some(other) => {
                errors.push(path, not_one_of(other, "a payload", &PAYLOADS));
                None
            }
            None => {
                errors.push(path, format!("{} is not \"transparent\" or \"regenerative\"", shown(value)));
                None
            }
        }
    }
}

impl FromValue for PlainLink {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        line_of(value, path, errors).map(|line| Self { line })
    }
}

impl FromValue for Terrestrial {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table with pairs, rate and delay", errors)?;
        let pairs = many(&mut table, path, "pairs", 500_000, errors);
        let line = Line::read_from(&mut table, errors);
        let last_delay = table.optional("last_delay", errors);
        let flow = table.optional("flow", errors);
        table.finish(errors);
        if let Some(pairs) = pairs.filter(|pairs| last_delay.is_some() && *pairs > MOST_SPREAD) {
            let message = format!("{pairs} pairs with different delays are more than {MOST_SPREAD}; use fewer");
            errors.push(Path::Key(path, "pairs"), message);
        }
        let ground = Self { pairs: pairs?, line: line?, last_delay, flow };
        (errors.len() == before).then_some(ground)
    }
}

/// Makes most keys optional in the schema, and adds the height of the orbit.
fn defaults(schema: &mut Schema) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| !["access", "payload", "processing", "satellites"].iter().any(|free| key == free));
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let height = serde_json::json!({ "$ref": "#/$defs/Distance", "description": "Height of the orbit." });
        properties.insert("height".to_owned(), height);
    }
}

/// Makes the delay of a hop optional in the schema, since it may follow from the orbit.
fn delay_has_a_default(schema: &mut Schema) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| key != "delay");
    }
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
}
