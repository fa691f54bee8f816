//! Media of the kind `random_access`: sensors that send to a satellite without coordination.

use super::super::settings;
use super::{KindPlan, KindSpec, MediumStationSpec, StationChanges, hub};
use crate::read::{Errors, NodeName, Path, TableReader};
use lightlag_access::RandomAccessConfig;
use lightlag_access::random_access::Technique;
use lightlag_core::{Bytes, Rate};
use lightlag_mobility::Motion;
use lightlag_net::StationId;
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

/// Random access to a satellite.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RandomAccessSpec {
    /// Settings of the access.
    pub config: RandomAccessConfig,
    /// Name of the gateway; by default the first node.
    pub gateway: Option<String>,
}

/// Random access in a network.
#[derive(Clone, Debug)]
pub struct RandomAccessPlan {
    /// Settings of the access.
    pub config: RandomAccessConfig,
    /// Station of the gateway.
    pub hub: StationId,
    /// Trajectory of each station.
    pub motions: Vec<Motion>,
}

/// Size of a packet in bytes for which the rates of LoRa and NB-IoT are computed.
const TYPICAL_PACKET: u32 = 100;

impl RandomAccessPlan {
    /// Returns the rate of a burst; of LoRa the highest one, of NB-IoT the rate of the first coverage class.
    fn burst_rate(&self) -> Rate {
        let variant = match self.config.technique {
            Technique::Lora => self.config.spreading_min,
            Technique::NbIot => 0,
            _ => return self.config.burst_rate,
        };
        let time = self.config.airtime(TYPICAL_PACKET, variant).as_secs_f64();
        Rate::from_bps((f64::from(TYPICAL_PACKET * 8) / time) as u64).unwrap_or(self.config.burst_rate)
    }
}

impl KindPlan for RandomAccessPlan {
    fn motion(&self, station: StationId) -> &Motion {
        &self.motions[station.index()]
    }

    fn data_rate(&self, station: StationId) -> Option<Rate> {
        Some(if station == self.hub { self.config.forward_rate } else { self.burst_rate() })
    }

    fn busiest_rate(&self) -> Rate {
        let bursts = self.burst_rate() * lightlag_core::Duration::from_secs(u64::from(self.config.channels));
        let Bytes(bytes) = bursts;
        let both = bytes.saturating_mul(8).saturating_add(self.config.forward_rate.as_bps());
        Rate::from_bps(both).unwrap_or(self.config.forward_rate)
    }
}

impl KindSpec for RandomAccessSpec {
    type Plan = RandomAccessPlan;

    fn read(table: &mut TableReader, path: &Path, errors: &mut Errors) -> Self {
        let config = settings::read(RandomAccessConfig::default(), table, path, errors);
        let gateway = table.optional::<NodeName>("gateway", errors).map(|name| name.0);
        Self { config, gateway }
    }

    fn check(&self, path: &Path, errors: &mut Errors) {
        if let Err((key, message)) = self.config.check() {
            errors.push(Path::Key(path, key), message);
        }
    }

    fn write(&self, table: &mut Map<String, Value>) {
        settings::write(&self.config, &RandomAccessConfig::default(), table);
        if let Some(gateway) = &self.gateway {
            table.insert("gateway".to_owned(), json!(gateway));
        }
    }

    fn properties(properties: &mut Map<String, Value>, generator: &mut SchemaGenerator) {
        settings::properties::<RandomAccessConfig>(properties, generator);
    }

    fn admits(&self, changes: StationChanges<'_>, path: &Path, errors: &mut Errors) -> bool {
        changes.refuse_radio("random_access", path, errors);
        changes.refuse_terminal("random_access", path, errors);
        changes.radio.is_none() && changes.terminal.is_none()
    }

    fn is_star(&self) -> bool {
        true
    }

    fn check_stations(&self, stations: &[MediumStationSpec<'_>], path: &str, errors: &mut Errors) {
        hub(self.gateway.as_deref(), stations, path, errors);
    }

    fn plan(&self, stations: Vec<MediumStationSpec<'_>>) -> RandomAccessPlan {
        let is_hub = |station: &MediumStationSpec| Some(&station.name) == self.gateway.as_ref();
        let hub = StationId::at(stations.iter().position(is_hub).unwrap_or(0));
        RandomAccessPlan {
            config: self.config.clone(),
            hub,
            motions: stations.into_iter().map(|station| station.motion).collect(),
        }
    }
}
