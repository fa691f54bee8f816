//! Path loss between aircraft and the base stations of a cellular network.
//!
//! 3GPP TR 36.777, tables B-1 (line of sight), B-2 (loss) and B-3 (shadowing). h is the height of the aircraft in
//! metres, which is the higher of the two positions; d1 and p1 determine the probability of a line of sight from the
//! horizontal distance. Heights below the range of the tables count as its minimum.

use super::Model;
use super::decibels::{decibels, ratio};
use super::friis::free_space;
use super::sight::{LineOfSight, Sighted, along_ground};
use lightlag_core::params::{Described, Setting};
use lightlag_mobility::Vector;

/// A deployment scenario of TR 36.777.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Area {
    /// Rural, with high base stations (RMa-AV).
    #[default]
    Rural,
    /// Urban, with base stations above the roofs (UMa-AV).
    UrbanMacro,
    /// Urban, with base stations below the roofs (UMi-AV).
    UrbanMicro,
}

/// Parameters of the path loss of TR 36.777.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Tr36777 {
    /// Deployment scenario.
    pub area: Area,
    /// Use of the losses with and without a line of sight.
    pub line_of_sight: LineOfSight,
    /// Whether shadowing with the area's deviation is drawn for each pair and epoch.
    pub shadowing: bool,
}

impl Described for Tr36777 {
    const ABOUT: &'static str = "Aircraft and base stations, by 3GPP TR 36.777. area is rma, uma or umi; line_of_sight \
         selects the mean loss, or one case drawn for each pair and epoch; shadowing adds the shadowing of the area.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::word(
                "area",
                "an area",
                &["rma", "uma", "umi"],
                |of: &Self| of.area as usize,
                |of, index| of.area = [Area::Rural, Area::UrbanMacro, Area::UrbanMicro][index],
            )
            .about("Type of area."),
            Setting::word(
                "line_of_sight",
                "a use of the line of sight",
                LineOfSight::NAMES,
                |of: &Self| of.line_of_sight as usize,
                |of, index| of.line_of_sight = LineOfSight::ALL[index],
            )
            .about("Treatment of the line of sight."),
            Setting::flag("shadowing", |of: &mut Self| &mut of.shadowing)
                .about("Whether the shadowing of the area is drawn for each pair and epoch."),
        ]
    }
}

fn lg(number: f64) -> f64 {
    decibels(number) / 10.0
}

impl Area {
    /// Returns the height of an aircraft, limited to the range of the tables.
    fn height(self, height: f64) -> f64 {
        match self {
            Self::Rural => height.max(10.0),
            Self::UrbanMacro => height.max(22.5),
            Self::UrbanMicro => height.clamp(22.5, 300.0),
        }
    }

    /// Returns the probability of a line of sight for an aircraft at this height and horizontal distance.
    pub fn line_of_sight(self, height: f64, along_ground: f64) -> f64 {
        let height = self.height(height);
        let lg_h = lg(height);
        let (p1, d1) = match self {
            Self::Rural if height > 40.0 => return 1.0,
            Self::UrbanMacro if height > 100.0 => return 1.0,
            Self::Rural => ((15_021.0 * lg_h - 16_053.0).max(1000.0), 1350.8 * lg_h - 1602.0),
            Self::UrbanMacro => (4300.0 * lg_h - 3800.0, 460.0 * lg_h - 700.0),
            Self::UrbanMicro => (233.98 * lg_h - 0.95, 294.05 * lg_h - 432.94),
        };
        let d1 = d1.max(18.0);
        if along_ground <= d1 {
            return 1.0;
        }
        let near = d1 / along_ground;
        near + libm::exp(-along_ground / p1) * (1.0 - near)
    }

    /// Returns the losses in dB with and without a line of sight, at a distance in metres and a frequency in GHz.
    fn losses(self, height: f64, distance: f64, gigahertz: f64) -> [f64; 2] {
        let lg_h = lg(self.height(height));
        let lg_d = lg(distance);
        let lg_f = lg(gigahertz);
        let spread = 20.0 * lg(40.0 * std::f64::consts::PI * gigahertz / 3.0);
        match self {
            Self::Rural => {
                let clear = (23.9 - 1.8 * lg_h).max(20.0) * lg_d + spread;
                [clear, clear.max(-12.0 + (35.0 - 5.3 * lg_h) * lg_d + spread)]
            }
            Self::UrbanMacro => [28.0 + 22.0 * lg_d + 20.0 * lg_f, -17.5 + (46.0 - 7.0 * lg_h) * lg_d + spread],
            Self::UrbanMicro => {
                let slope = 30.9 + (22.25 - 0.5 * lg_h) * lg_d + 20.0 * lg_f;
                let clear = free_space(distance, gigahertz * 1e9).max(slope);
                [clear, clear.max(32.4 + (43.2 - 7.6 * lg_h) * lg_d + 20.0 * lg_f)]
            }
        }
    }

    /// Returns the standard deviations of shadowing in dB, with and without a line of sight.
    fn deviations(self, height: f64) -> [f64; 2] {
        let height = self.height(height);
        match self {
            Self::Rural => [4.2 * libm::exp(-0.0046 * height), 6.0],
            Self::UrbanMacro => [4.64 * libm::exp(-0.0066 * height), 6.0],
            Self::UrbanMicro => [(5.0 * libm::exp(-0.01 * height)).max(2.0), 8.0],
        }
    }
}

impl Tr36777 {
    fn sighted(&self, from: Vector, to: Vector, frequency: f64) -> Sighted {
        let height = from.z.max(to.z);
        let distance = from.distance(to).max(super::NEAREST);
        let [clear, blocked] = self.area.losses(height, distance, frequency / 1e9);
        let deviations = if self.shadowing { self.area.deviations(height) } else { [0.0; 2] };
        let probability = self.area.line_of_sight(height, along_ground(from, to));
        Sighted { probability, clear, blocked, deviations, sight: self.line_of_sight }
    }
}

impl Model for Tr36777 {
    fn decibels(&self, from: Vector, to: Vector, frequency: f64) -> f64 {
        self.sighted(from, to, frequency).mean()
    }

    /// Returns the reach from a lower bound of the loss. In rural areas and small cells the bound is the free-space
    /// loss, which is below the loss in every case. Above roofs it is the line-of-sight loss. The loss without a line
    /// of sight, which is possible up to a height of 100 m, is smaller only at distances up to 20 m.
    fn reach(&self, decibels: f64, frequency: f64) -> f64 {
        let free = 20.0 * lg(40.0 * std::f64::consts::PI * frequency / 3e9) - 0.01;
        let (at_one_metre, exponent, min_reach) = match self.area {
            Area::Rural | Area::UrbanMicro => (free, 2.0, 0.0),
            Area::UrbanMacro => (28.0 + 20.0 * lg(frequency / 1e9), 2.2, 21.0),
        };
        let over = decibels - at_one_metre;
        if over < 0.0 { min_reach } else { ratio(over / exponent).max(min_reach) }
    }

    fn deviation(&self) -> f64 {
        let [_, blocked] = self.area.deviations(0.0);
        if self.shadowing { blocked } else { 0.0 }
    }

    fn sight(&self, from: Vector, to: Vector, frequency: f64) -> Option<Sighted> {
        Some(self.sighted(from, to, frequency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(actual: f64, expected: f64) -> bool {
        (actual - expected).abs() < 5e-4
    }

    #[test]
    fn lines_of_sight_by_hand() {
        // h = 40: p1 = 15021·1.60206 − 16053 = 8011.5, d1 = 562.06; .28103 + e^(−.24964)·.71897
        assert!(near(Area::Rural.line_of_sight(40.0, 2000.0), 0.8412));
        assert_eq!(Area::Rural.line_of_sight(41.0, 1e5), 1.0);
        // h = 100: p1 = 4800, d1 = 220; .22 + e^(−.208333)·.78
        assert!(near(Area::UrbanMacro.line_of_sight(100.0, 1000.0), 0.8533));
        assert_eq!(Area::UrbanMacro.line_of_sight(100.0, 219.0), 1.0);
        // h = 100: p1 = 467.01, d1 = 155.16; .31032 + e^(−1.07064)·.68968
        assert!(near(Area::UrbanMicro.line_of_sight(100.0, 500.0), 0.5467));
    }

    #[test]
    fn losses_by_hand() {
        // At 2 GHz and 1 km: 20·lg(40π·2/3) = 38.4624, 20·lg 2 = 6.0206.
        let [clear, blocked] = Area::Rural.losses(40.0, 1000.0, 2.0);
        // (23.9 − 1.8·1.60206)·3 = 63.0489; −12 + (35 − 5.3·1.60206)·3 = 67.5272
        assert!(near(clear, 101.5113) && near(blocked, 105.9896), "{clear} {blocked}");
        let [clear, blocked] = Area::UrbanMacro.losses(100.0, 1000.0, 2.0);
        // 28 + 66; −17.5 + (46 − 14)·3 = 78.5
        assert!(near(clear, 100.0206) && near(blocked, 116.9624), "{clear} {blocked}");
        let [clear, blocked] = Area::UrbanMicro.losses(100.0, 1000.0, 2.0);
        // 30.9 + 21.25·3; 32.4 + 28·3
        assert!(near(clear, 100.6706) && near(blocked, 122.4206), "{clear} {blocked}");
    }

    #[test]
    fn shadowing_by_hand() {
        assert!(near(Area::Rural.deviations(40.0)[0], 3.4941));
        assert!(near(Area::UrbanMacro.deviations(100.0)[0], 2.3982));
        assert_eq!(Area::UrbanMicro.deviations(100.0), [2.0, 8.0]);
    }

    #[test]
    fn heights_below_the_tables_count_as_their_lowest() {
        for area in [Area::Rural, Area::UrbanMacro, Area::UrbanMicro] {
            let lowest = area.height(0.0);
            assert_eq!(area.line_of_sight(1.5, 700.0), area.line_of_sight(lowest, 700.0));
            assert_eq!(area.losses(-3.0, 700.0, 5.0), area.losses(lowest, 700.0, 5.0));
        }
    }
}
