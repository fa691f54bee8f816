//! Media of the kind `rcs2`: a satellite beam whose terminals share the return link, as in DVB-RCS2.

use super::super::settings;
use super::{KindPlan, KindSpec, MediumStationSpec, StationChanges, hub};
use crate::read::{Errors, FromValue, Key, NodeName, Path, TableReader};
use lightlag_access::{Rcs2Config, Terminal};
use lightlag_core::params::{self, Described};
use lightlag_core::{Duration, Rate};
use lightlag_mobility::Motion;
use lightlag_net::StationId;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// A beam, and the default settings of its terminals.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rcs2Spec {
    /// Settings of the beam.
    pub config: Rcs2Config,
    /// Default settings of the terminals.
    pub terminal: Terminal,
    /// Name of the gateway; by default the first node.
    pub gateway: Option<String>,
}

/// A beam in a network.
#[derive(Clone, Debug)]
pub struct Rcs2Plan {
    /// Settings of the beam.
    pub config: Rcs2Config,
    /// Station of the gateway.
    pub hub: StationId,
    /// Settings of each station, without effect for the gateway.
    pub stations: Vec<Terminal>,
    /// Trajectory of each station.
    pub motions: Vec<Motion>,
}

impl Rcs2Plan {
    /// Returns the time from the arrival of a terminal's first packet to its reception by the gateway on an empty beam,
    /// without waiting for frames: a request by random access and its assignment, or a logon before both.
    pub fn first_delay(&self, station: StationId) -> Duration {
        let delay = self.stations[station.index()].delay;
        let farthest = self.terminals().map(|terminal| terminal.delay).max().unwrap_or_default();
        let logon =
            if self.config.logon { delay * (2 * u64::from(self.config.logon_exchanges)) } else { Duration::ZERO };
        if self.stations[station.index()].constant.is_some() {
            return logon + delay;
        }
        logon + delay + farthest * 2 + self.config.scheduling_delay
    }

    /// Returns the mean fraction of time in which rain stops an adaptive terminal; `None` if there is none.
    pub fn outage_fraction(&self) -> Option<f64> {
        let climates = self.terminals().map(|terminal| &terminal.climate).filter(|climate| climate.adaptive);
        let (sum, count) = climates
            .fold((0.0, 0), |(sum, count), climate| (sum + climate.link(Duration::ZERO).outage_fraction(), count + 1));
        (count > 0).then(|| sum / f64::from(count))
    }

    fn terminals(&self) -> impl Iterator<Item = &Terminal> {
        self.stations.iter().enumerate().filter(|(at, _)| *at != self.hub.index()).map(|(_, terminal)| terminal)
    }

    /// Returns the rate of this number of slots per frame.
    fn rate(&self, slots: u32, payload: u64) -> Rate {
        let bits = f64::from(slots) * payload as f64 * 8.0;
        Rate::from_bps((bits / self.config.frame.as_secs_f64()) as u64).unwrap_or(Rate::from_mbps(1))
    }
}

impl KindPlan for Rcs2Plan {
    fn motion(&self, station: StationId) -> &Motion {
        &self.motions[station.index()]
    }

    fn data_rate(&self, station: StationId) -> Option<Rate> {
        let terminal = self.stations.get(station.index())?;
        if station == self.hub {
            return Some(terminal.forward_rate);
        }
        Some(self.rate(self.config.slots, terminal.slot_payload.0))
    }

    fn busiest_rate(&self) -> Rate {
        let payload = self.terminals().map(|of| of.slot_payload.0).max().unwrap_or(0);
        let forward = self.stations.iter().map(|of| of.forward_rate.as_bps()).max().unwrap_or(0);
        let both = self.rate(self.config.total_slots(), payload).as_bps().saturating_add(forward);
        Rate::from_bps(both).unwrap_or(Rate::from_mbps(1))
    }
}

impl Rcs2Spec {
    /// Returns the terminal of a station with these individual settings.
    fn terminal(&self, changes: Option<&TerminalChanges>) -> Terminal {
        changes.map_or_else(|| self.terminal.clone(), |changes| changes.of(self.terminal.clone()))
    }
}

impl KindSpec for Rcs2Spec {
    type Plan = Rcs2Plan;

    fn read(table: &mut TableReader, path: &Path, errors: &mut Errors) -> Self {
        let config = settings::read(Rcs2Config::default(), table, path, errors);
        let terminal = settings::read(Terminal::default(), table, path, errors);
        let gateway = table.optional::<NodeName>("gateway", errors).map(|name| name.0);
        Self { config, terminal, gateway }
    }

    fn check(&self, path: &Path, errors: &mut Errors) {
        if let Err((key, message)) = self.config.check().and_then(|()| self.config.check_terminal(&self.terminal)) {
            errors.push(Path::Key(path, key), message);
        }
    }

    fn write(&self, table: &mut Map<String, Value>) {
        settings::write(&self.config, &Rcs2Config::default(), table);
        settings::write(&self.terminal, &Terminal::default(), table);
        if let Some(gateway) = &self.gateway {
            table.insert("gateway".to_owned(), json!(gateway));
        }
    }

    fn properties(properties: &mut Map<String, Value>, generator: &mut SchemaGenerator) {
        settings::properties::<Rcs2Config>(properties, generator);
        settings::properties::<Terminal>(properties, generator);
        properties.insert(
            "gateway".to_owned(),
            json!({
                "type": "string",
                "description": "Node that is the gateway of a satellite beam; by default the first one. For the \
                                kinds rcs2 and random_access."
            }),
        );
    }

    fn admits(&self, changes: StationChanges<'_>, path: &Path, errors: &mut Errors) -> bool {
        changes.refuse_radio("rcs2", path, errors);
        let fits = self.config.check_terminal(&self.terminal(changes.terminal));
        if let Err((key, message)) = &fits {
            errors.push(Path::Key(&Path::Key(path, "terminal"), key), message);
        }
        fits.is_ok() && changes.radio.is_none()
    }

    fn is_star(&self) -> bool {
        true
    }

    fn check_stations(&self, stations: &[MediumStationSpec<'_>], path: &str, errors: &mut Errors) {
        let hub = hub(self.gateway.as_deref(), stations, path, errors);
        let others = stations.iter().enumerate().filter(|(at, _)| *at != hub);
        let terminals: Vec<Terminal> = others.map(|(_, of)| self.terminal(of.changes.terminal)).collect();
        if let Err((key, message)) = self.config.check_all(&terminals) {
            errors.push(format_args!("{path}.{key}"), message);
        }
    }

    fn plan(&self, stations: Vec<MediumStationSpec<'_>>) -> Rcs2Plan {
        let is_hub = |station: &MediumStationSpec| Some(&station.name) == self.gateway.as_ref();
        let hub = StationId::at(stations.iter().position(is_hub).unwrap_or(0));
        let (terminals, motions) =
            stations.into_iter().map(|of| (self.terminal(of.changes.terminal), of.motion)).unzip();
        Rcs2Plan { config: self.config.clone(), hub, stations: terminals, motions }
    }
}

/// Individual settings of a terminal, which override the settings of its medium.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TerminalChanges {
    /// Values of the settings, each with the index of the setting in [`Terminal`].
    settings: Vec<(usize, params::Value)>,
}

impl TerminalChanges {
    /// Returns the terminal with these settings changed.
    fn of(&self, mut terminal: Terminal) -> Terminal {
        let settings = Terminal::settings();
        for (index, value) in &self.settings {
            settings[*index].set(&mut terminal, value.clone());
        }
        terminal
    }
}

impl FromValue for TerminalChanges {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table such as { constant = \"64 kbit/s\" }", errors)?;
        let parameters = params::parameters::<Terminal>(Terminal::settings());
        let read = |(index, parameter)| Some((index, Key(parameter).read(&mut table, path, errors)?));
        let settings = parameters.iter().enumerate().filter_map(read).collect();
        table.finish(errors);
        (errors.len() == before).then_some(Self { settings })
    }
}

impl Serialize for TerminalChanges {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parameters = params::parameters::<Terminal>(Terminal::settings());
        let written = |(index, value): &(usize, params::Value)| {
            let parameter = &parameters[*index];
            (parameter.key.to_owned(), Key(parameter).written(value))
        };
        self.settings.iter().map(written).collect::<Map<_, _>>().serialize(serializer)
    }
}

impl JsonSchema for TerminalChanges {
    fn schema_name() -> Cow<'static, str> {
        "BeamTerminal".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        settings::properties::<Terminal>(&mut properties, generator);
        json_schema!({
            "description": Terminal::ABOUT,
            "type": "object", "properties": properties, "additionalProperties": false
        })
    }
}
