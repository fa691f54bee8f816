//! Queues as asked for: how much may wait, and which discipline decides.

mod schema;

use crate::read::{Errors, FromValue, LARGEST, Omitted, Path, Table, not_one_of, shown};
use lightlag_core::{Bytes, Duration, Probability, Rate};
use lightlag_net::QueueLimit;
use lightlag_net::queue::{
    AckFilterConfig, CoDelConfig, DisciplineConfig, DualPi2Config, FqCoDelConfig, PieConfig, PriorityMode, RedConfig,
    StepConfig,
};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// The most packets that a queue may hold.
const LONGEST_QUEUE: u64 = 1_000_000_000_000;
/// The largest queue in units of the bandwidth-delay product.
const LARGEST_BDP: f64 = 1e6;
/// A full packet, the least that a queue given in BDP holds.
const FULL_PACKET: Bytes = Bytes(1500);
/// The most queues of FQ-CoDel.
const MOST_QUEUES: u64 = 65_536;
/// The shortest target, interval or update of a discipline: shorter ones are slips, and take long to simulate.
const SHORTEST_TIME: Duration = Duration::from_micros(1);
/// The largest coupling factor of DualPI2.
const LARGEST_COUPLING: f64 = 1_000.0;
/// The buffer of DualPI2 in time at the rate of the link (RFC 9332 appendix A.1).
const DUALPI2_BUFFER: Duration = Duration::from_millis(250);

/// A queue as asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Queue {
    /// How much may wait; `None` leaves it to the discipline.
    pub limit: Option<Limit>,
    /// What is dropped or marked, and what leaves next.
    pub discipline: Discipline,
}

/// How much may wait, or waits. The packet in transmission does not count.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// Packets, at least 1.
    Packets(u64),
    /// Bytes at the network layer.
    Bytes(Bytes),
    /// Multiples of the link's rate × the longest round trip of the flows that cross it, above 0.
    Bdp(f64),
}

/// A queue discipline as asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Discipline {
    /// Drops what does not fit.
    DropTail {
        /// Whether the packet in transmission counts towards a limit in packets.
        count_in_service: bool,
    },
    /// RED. Thresholds have the same unit.
    Red {
        /// Average from which on packets are hit.
        min_threshold: Limit,
        /// Average at which the probability reaches `max_probability`.
        max_threshold: Limit,
        /// The probability there.
        max_probability: Probability,
        /// Weight of a new sample in the average.
        weight: Probability,
        /// Whether the probability grows to 1 between max and 2 max.
        gentle: bool,
        /// Whether packets are marked where that is possible.
        ecn: bool,
        /// The usual size of a packet.
        mean_packet: Bytes,
    },
    /// CoDel.
    CoDel(CoDelConfig),
    /// FQ-CoDel.
    FqCoDel(FqCoDelConfig),
    /// PIE.
    Pie(PieConfig),
    /// DualPI2.
    DualPi2(DualPi2Config),
    /// Step marking.
    Step {
        /// K.
        threshold: Limit,
        /// Whether packets that cannot be marked are dropped beyond it.
        drop_not_ect: bool,
        /// Weight of a new sample in the average that is compared; 1 for the queue of the moment.
        weight: Probability,
    },
    /// Two priorities.
    Priority(PriorityMode),
    /// Drop-tail with fewer ACKs.
    AckFilter(AckFilterConfig),
}

const NAMES: [&str; 9] = ["drop_tail", "red", "codel", "fq_codel", "pie", "dualpi2", "step", "priority", "ack_filter"];

/// The most ACKs of which one is kept.
const MOST_THINNED: u64 = 1_000;

impl Default for Queue {
    /// 1000 packets, the length of a Linux device queue, drop-tail.
    fn default() -> Self {
        Self { limit: Some(Limit::Packets(1000)), discipline: Discipline::PLAIN }
    }
}

impl Limit {
    /// In packets or bytes, on a link of this rate, with the longest round trip of the flows that cross it.
    pub(crate) fn resolve(self, rate: Rate, round_trip: Duration) -> QueueLimit {
        match self {
            Self::Packets(packets) => QueueLimit::Packets(packets),
            Self::Bytes(bytes) => QueueLimit::Bytes(bytes.0),
            Self::Bdp(factor) => {
                let bytes = (rate * round_trip).0 as f64 * factor;
                QueueLimit::Bytes((bytes as u64).clamp(FULL_PACKET.0, LARGEST.0))
            }
        }
    }

    /// Whether both are in the same unit and this one is smaller; `None` if they cannot be compared.
    fn is_below(self, other: Self) -> Option<bool> {
        match (self, other) {
            (Self::Packets(a), Self::Packets(b)) => Some(a < b),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a < b),
            (Self::Bdp(a), Self::Bdp(b)) => Some(a < b),
            _ => None,
        }
    }
}

impl Queue {
    /// The limit of a link of this rate, with the longest round trip of the flows that cross it.
    pub(crate) fn limit(self, rate: Rate, round_trip: Duration) -> QueueLimit {
        match (self.limit, self.discipline) {
            // The packet in transmission takes one of the places.
            (Some(Limit::Packets(packets)), Discipline::DropTail { count_in_service: true }) => {
                QueueLimit::Packets(packets - 1)
            }
            (Some(limit), _) => limit.resolve(rate, round_trip),
            (None, Discipline::DualPi2(_)) => {
                QueueLimit::Bytes((rate * DUALPI2_BUFFER).0.clamp(FULL_PACKET.0, LARGEST.0))
            }
            // RFC 8290 §5.2.2.
            (None, Discipline::FqCoDel(_)) => QueueLimit::Packets(10_240),
            (None, _) => QueueLimit::Packets(1000),
        }
    }

    /// The discipline of a link of this rate, with the longest round trip of the flows that cross it.
    pub(crate) fn discipline(self, rate: Rate, round_trip: Duration) -> DisciplineConfig {
        match self.discipline {
            Discipline::DropTail { .. } => DisciplineConfig::DropTail,
            Discipline::Red { min_threshold, max_threshold, max_probability, weight, gentle, ecn, mean_packet } => {
                DisciplineConfig::Red(RedConfig {
                    min_threshold: min_threshold.resolve(rate, round_trip),
                    max_threshold: max_threshold.resolve(rate, round_trip),
                    max_probability,
                    weight,
                    gentle,
                    ecn,
                    mean_packet,
                })
            }
            Discipline::CoDel(config) => DisciplineConfig::CoDel(config),
            Discipline::FqCoDel(config) => DisciplineConfig::FqCoDel(config),
            Discipline::Pie(config) => DisciplineConfig::Pie(config),
            Discipline::DualPi2(config) => DisciplineConfig::DualPi2(config),
            Discipline::Step { threshold, drop_not_ect, weight } => {
                let threshold = threshold.resolve(rate, round_trip);
                DisciplineConfig::Step(StepConfig { threshold, drop_not_ect, weight })
            }
            Discipline::Priority(mode) => DisciplineConfig::Priority(mode),
            Discipline::AckFilter(config) => DisciplineConfig::AckFilter(config),
        }
    }
}

impl FromValue for Queue {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        if !value.is_object() {
            let limit = Limit::read(value, at, errors)?;
            return Some(Self { limit: Some(limit), discipline: Discipline::PLAIN });
        }
        let before = errors.len();
        let mut table = Table::open(value, at, "a table such as { discipline = \"codel\" }", errors)?;
        let limit = table.optional("limit", errors);
        let list = NAMES.join(", ");
        let name: String = table.required("discipline", &format!("name one of {list}"), errors)?;
        let discipline = Discipline::named(&name, &mut table, at, errors)?;
        table.finish(errors);
        let drop_tail = matches!(discipline, Discipline::DropTail { .. });
        let limit = limit.or(drop_tail.then_some(Limit::Packets(1000)));
        if let (Discipline::DropTail { count_in_service: true }, Some(Limit::Bytes(_) | Limit::Bdp(_))) =
            (discipline, limit)
        {
            errors.push(Path::Key(at, "count_in_service"), "needs a limit in packets, such as \"100 packets\"");
        }
        (errors.len() == before).then_some(Self { limit, discipline })
    }
}

impl Discipline {
    /// Drop-tail, where only what waits counts.
    const PLAIN: Self = Self::DropTail { count_in_service: false };

    /// Reads the keys of the discipline with this name; `None` if there is no such discipline.
    fn named(name: &str, table: &mut Table, at: &Path, errors: &mut Errors) -> Option<Self> {
        let mut keys = Keys { table, at, errors };
        Some(match name {
            "drop_tail" => Self::DropTail { count_in_service: keys.or("count_in_service", false) },
            "red" => keys.red(),
            "codel" => Self::CoDel(keys.codel(CoDelConfig::default())),
            "fq_codel" => Self::FqCoDel(keys.fq_codel()),
            "pie" => Self::Pie(keys.pie()),
            "dualpi2" => Self::DualPi2(keys.dualpi2()),
            "step" => keys.step(),
            "priority" => Self::Priority(keys.or("mode", PriorityMode::default())),
            "ack_filter" => Self::AckFilter(keys.ack_filter()),
            _ => {
                errors.push(Path::Key(at, "discipline"), not_one_of(name, "a queue discipline", &NAMES));
                return None;
            }
        })
    }
}

/// The keys of one discipline while they are read. What cannot be read leaves an error and a default.
struct Keys<'a, 'b> {
    table: &'a mut Table<'b>,
    at: &'a Path<'a>,
    errors: &'a mut Errors,
}

impl Keys<'_, '_> {
    fn or<T: FromValue>(&mut self, key: &'static str, default: T) -> T {
        self.table.optional(key, self.errors).unwrap_or(default)
    }

    fn refuse(&mut self, key: &str, message: impl Into<String>) {
        self.errors.push(Path::Key(self.at, key), message);
    }

    /// A time of at least [`SHORTEST_TIME`].
    fn time(&mut self, key: &'static str, default: Duration) -> Duration {
        let time = self.or(key, default);
        if time < SHORTEST_TIME {
            self.refuse(key, format!("{time} is below {SHORTEST_TIME}; write a time such as \"{default}\""));
        }
        time
    }

    /// A probability above zero.
    fn chance(&mut self, key: &'static str, default: Probability) -> Probability {
        let chance = self.or(key, default);
        if chance == Probability::ZERO {
            self.refuse(key, format!("0 is not above 0; write a number up to 1, such as {default}"));
        }
        chance
    }

    /// A size above zero.
    fn size(&mut self, key: &'static str, default: Bytes) -> Bytes {
        let size = self.or(key, default);
        if size == Bytes::ZERO || size > LARGEST {
            self.refuse(key, format!("{size} is not a size from 1 B to {LARGEST}, such as \"{default}\""));
        }
        size
    }

    fn red(&mut self) -> Discipline {
        // Floyd, *RED: Discussions of Setting Parameters*, 1997: 5 and 15 packets, 0.1, 0.002.
        let chance = |value| Probability::new(value).unwrap_or_default();
        let min_threshold = self.or("min_threshold", Limit::Packets(5));
        let max_threshold = self.or("max_threshold", Limit::Packets(15));
        match min_threshold.is_below(max_threshold) {
            Some(true) => {}
            Some(false) => {
                self.refuse("max_threshold", "it is not above min_threshold; three times as much is usual");
            }
            None => self
                .refuse("max_threshold", "it is not in the unit of min_threshold; give both in packets, bytes or bdp"),
        }
        Discipline::Red {
            min_threshold,
            max_threshold,
            max_probability: self.chance("max_probability", chance(0.1)),
            weight: self.chance("weight", chance(0.002)),
            gentle: self.or("gentle", true),
            ecn: self.or("ecn", false),
            mean_packet: self.size("mean_packet", Bytes(500)),
        }
    }

    fn codel(&mut self, default: CoDelConfig) -> CoDelConfig {
        CoDelConfig {
            target: self.time("target", default.target),
            interval: self.time("interval", default.interval),
            ecn: self.or("ecn", default.ecn),
        }
    }

    fn fq_codel(&mut self) -> FqCoDelConfig {
        let default = FqCoDelConfig::default();
        let codel = self.codel(default.codel);
        let flows: u64 = self.or("flows", u64::from(default.flows));
        if !(1..=MOST_QUEUES).contains(&flows) {
            self.refuse("flows", format!("{flows} is not a number of queues from 1 to {MOST_QUEUES}"));
        }
        FqCoDelConfig {
            codel,
            flows: flows.clamp(1, MOST_QUEUES) as u32,
            quantum: self.size("quantum", default.quantum),
        }
    }

    fn pie(&mut self) -> PieConfig {
        let default = PieConfig::default();
        PieConfig {
            target: self.time("target", default.target),
            update: self.time("update", default.update),
            burst: self.or("burst", default.burst),
            ecn: self.or("ecn", default.ecn),
        }
    }

    fn dualpi2(&mut self) -> DualPi2Config {
        let default = DualPi2Config::default();
        let coupling = match self.table.value("coupling").map(|value| (value, value.as_f64())) {
            None => default.coupling,
            Some((_, Some(factor))) if (1.0..=LARGEST_COUPLING).contains(&factor) => factor,
            Some((value, _)) => {
                let message = format!("{} is not a number from 1 to {LARGEST_COUPLING}, such as 2", shown(value));
                self.refuse("coupling", message);
                default.coupling
            }
        };
        DualPi2Config {
            target: self.time("target", default.target),
            max_rtt: self.time("max_rtt", default.max_rtt),
            coupling,
            min_threshold: self.or("min_threshold", default.min_threshold),
            range: self.or("range", default.range),
            classic_share: self.or("classic_share", default.classic_share),
        }
    }

    fn ack_filter(&mut self) -> AckFilterConfig {
        let every: u64 = self.or("every", 1);
        if !(1..=MOST_THINNED).contains(&every) {
            self.refuse(
                "every",
                format!("{every} is not a number of ACKs from 1 to {MOST_THINNED}, of which one is kept"),
            );
        }
        let filter = self.or("filter", true);
        if !filter && every == 1 {
            self.refuse("filter", "false keeps every ACK; write every = 4 with it, or use drop_tail");
        }
        AckFilterConfig { filter, every: every.clamp(1, MOST_THINNED) as u32 }
    }

    fn step(&mut self) -> Discipline {
        let remedy = "say from which queue on packets are marked, such as \"65 packets\"";
        let threshold = self.table.required("threshold", remedy, self.errors);
        Discipline::Step {
            threshold: threshold.unwrap_or(Limit::Packets(1)),
            drop_not_ect: self.or("drop_not_ect", false),
            weight: self.chance("weight", Probability::ONE),
        }
    }
}

impl FromValue for Limit {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let limit = value.as_str().ok_or_else(|| format!("{} is not a queue", shown(value))).and_then(parse_limit);
        limit
            .map_err(|reason| {
                errors.push(at, format!("{reason}; write \"1000 packets\", \"64 kB\" or \"1 bdp\""));
            })
            .ok()
    }
}

fn parse_limit(text: &str) -> Result<Limit, String> {
    let shown = shown(&json!(text));
    let text = text.trim();
    let number = |unit: &str| text.strip_suffix(unit).map(str::trim);
    if let Some(packets) = number("packets").or_else(|| number("packet")) {
        return match packets.parse::<u64>() {
            Ok(0) => Err(format!("{shown} lets nothing wait: a queue holds at least 1 packet")),
            Ok(packets) if packets <= LONGEST_QUEUE => Ok(Limit::Packets(packets)),
            _ => Err(format!("{shown} is not a whole number of packets from 1 to {LONGEST_QUEUE}")),
        };
    }
    if let Some(factor) = number("bdp").or_else(|| number("BDP")) {
        return match factor.parse::<f64>() {
            Ok(factor) if factor > 0.0 && factor <= LARGEST_BDP => Ok(Limit::Bdp(factor)),
            _ => Err(format!("{shown} is not a number above 0, at most {LARGEST_BDP}, of bandwidth-delay products")),
        };
    }
    match text.parse::<Bytes>() {
        Ok(Bytes(0)) => Err(format!("{shown} lets nothing wait")),
        Ok(bytes) if bytes <= LARGEST => Ok(Limit::Bytes(bytes)),
        Ok(_) => Err(format!("{shown} is above {LARGEST}")),
        Err(_) => Err(format!("{shown} is not a queue")),
    }
}

/// The modes of the discipline `priority` by name.
const PRIORITY_MODES: [(&str, PriorityMode); 2] =
    [("push_out", PriorityMode::PushOut), ("strict", PriorityMode::Strict)];

impl FromValue for PriorityMode {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let name = value.as_str().unwrap_or_default();
        let mode = PRIORITY_MODES.iter().find(|(known, _)| *known == name).map(|(_, mode)| *mode);
        if mode.is_none() {
            let message = format!("{} is not a mode; write \"push_out\" or \"strict\"", shown(value));
            errors.push(at, message);
        }
        mode
    }
}

impl Omitted for Queue {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Packets(1) => serializer.serialize_str("1 packet"),
            Self::Packets(packets) => serializer.collect_str(&format_args!("{packets} packets")),
            Self::Bytes(bytes) => bytes.serialize(serializer),
            Self::Bdp(factor) => serializer.collect_str(&format_args!("{factor} bdp")),
        }
    }
}

impl Serialize for Queue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let (Some(limit), Discipline::PLAIN) = (self.limit, self.discipline) {
            return limit.serialize(serializer);
        }
        let mut table = self.discipline.to_json();
        if let Some(limit) = self.limit {
            table["limit"] = json!(limit);
        }
        table.serialize(serializer)
    }
}

impl Discipline {
    fn to_json(self) -> Value {
        match self {
            Self::PLAIN => json!({ "discipline": "drop_tail" }),
            Self::DropTail { count_in_service } => {
                json!({ "discipline": "drop_tail", "count_in_service": count_in_service })
            }
            Self::Red { min_threshold, max_threshold, max_probability, weight, gentle, ecn, mean_packet } => json!({
                "discipline": "red", "min_threshold": min_threshold, "max_threshold": max_threshold,
                "max_probability": max_probability, "weight": weight, "gentle": gentle, "ecn": ecn,
                "mean_packet": mean_packet,
            }),
            Self::CoDel(CoDelConfig { target, interval, ecn }) => {
                json!({ "discipline": "codel", "target": target, "interval": interval, "ecn": ecn })
            }
            Self::FqCoDel(FqCoDelConfig { codel: CoDelConfig { target, interval, ecn }, flows, quantum }) => json!({
                "discipline": "fq_codel", "target": target, "interval": interval, "ecn": ecn, "flows": flows,
                "quantum": quantum,
            }),
            Self::Pie(PieConfig { target, update, burst, ecn }) => {
                json!({ "discipline": "pie", "target": target, "update": update, "burst": burst, "ecn": ecn })
            }
            Self::DualPi2(config) => json!({
                "discipline": "dualpi2", "target": config.target, "max_rtt": config.max_rtt,
                "coupling": config.coupling, "min_threshold": config.min_threshold, "range": config.range,
                "classic_share": config.classic_share,
            }),
            Self::Step { threshold, drop_not_ect, weight } => {
                let mut table = json!({ "discipline": "step", "threshold": threshold, "drop_not_ect": drop_not_ect });
                if weight != Probability::ONE {
                    table["weight"] = json!(weight);
                }
                table
            }
            Self::Priority(mode) => {
                let mode = PRIORITY_MODES.iter().find(|(_, known)| *known == mode).map(|(name, _)| name);
                json!({ "discipline": "priority", "mode": mode })
            }
            Self::AckFilter(AckFilterConfig { filter, every }) => {
                json!({ "discipline": "ack_filter", "filter": filter, "every": every })
            }
        }
    }
}
