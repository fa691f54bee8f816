//! Compares durations, frame errors and path losses with ns-3.
//!
//! ```sh
//! make target/simulators/ns3-wifi-phy
//! target/simulators/ns3-wifi-phy | cargo run --release -p lightlag-wifi --example ns3_phy
//! ```

use lightlag_core::Bytes;
use lightlag_mobility::Vector;
use lightlag_wifi::phy::error_model::success;
use lightlag_wifi::phy::{
    Band, Capabilities, Coding, ErrorCurves, ErrorModel, Format, Guard, PhyMode, Standard, Width,
};
use lightlag_wifi::propagation::{Friis, LogDistance, PathLoss, TwoRay, decibels::ratio};
use std::collections::BTreeMap;
use std::io::BufRead;

/// The largest deviation of one quantity from ns-3, and the input line where it occurs.
#[derive(Default)]
struct Largest {
    lines: usize,
    deviation: f64,
    line: String,
}

impl Largest {
    fn see(&mut self, deviation: f64, line: &str) {
        self.lines += 1;
        if deviation.abs() > self.deviation {
            (self.deviation, self.line) = (deviation.abs(), line.to_owned());
        }
    }
}

fn mode(name: &str, width: &str, guard: &str, streams: &str, band: Band) -> PhyMode {
    let standard = match &name[..1] {
        "O" if band == Band::Ghz5 => Standard::A,
        "O" => Standard::G,
        "H" => Standard::N,
        _ => Standard::Ac,
    };
    let width = Width::ALL.into_iter().find(|of| of.mhz().to_string() == width).expect("a width");
    let guard = if guard == "800" { Guard::Long } else { Guard::ShortUnrounded };
    let streams = streams.parse().expect("a number of streams");
    Capabilities { standard, band, width, guard, streams }.mode(name).expect("a mode that both have")
}

fn loss(name: &str) -> PathLoss {
    match name {
        "log-distance" => PathLoss::LogDistance(LogDistance::default()),
        "friis" => PathLoss::Friis(Friis {}),
        _ => PathLoss::TwoRay(TwoRay { antenna_height: 1.5 }),
    }
}

fn main() {
    let curves = ErrorModel::ALL.map(ErrorCurves::new);
    let mut deviations: BTreeMap<String, Largest> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("readable text");
        let words: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| words[index].parse::<f64>().expect("a number");
        let (kind, deviation) = match words[0] {
            "time" => {
                let band = if words[5] == "5" { Band::Ghz5 } else { Band::Ghz2 };
                let mode = mode(words[1], words[2], words[3], words[4], band);
                // A PPDU of VHT for one receiver has no VHT-SIG-B in ns-3.
                let sig_b = if mode.format() == Format::Vht { 4e3 } else { 0.0 };
                let ours = mode.duration(Bytes(number(6) as u64)).as_nanos() as f64 - sig_b;
                (format!("time in ns, {:?}", mode.format()), ours - number(7))
            }
            "loss" => {
                let there = Vector::new(number(2), 0.0, 0.0);
                let ours = loss(words[1]).decibels(Vector::ZERO, there, 5.18e9);
                (format!("loss in dB, {}", words[1]), ours - number(3))
            }
            _ => {
                let (index, model) = match words[1] {
                    "nist" => (0, ErrorModel::Nist),
                    "yans" => (1, ErrorModel::Yans),
                    "bcc" => (2, ErrorModel::Table(Coding::Bcc)),
                    _ => (3, ErrorModel::Table(Coding::Ldpc)),
                };
                let mode = mode(words[2], words[3], words[4], words[5], Band::Ghz5);
                let ours = success(curves[index].ln_success(mode, ratio(number(6)), 8 * number(7) as u32));
                (format!("probability, {model:?}"), ours - number(8))
            }
        };
        deviations.entry(kind).or_default().see(deviation, &line);
    }
    for (kind, Largest { lines, deviation, line }) in deviations {
        println!("{kind}: {lines} lines, largest deviation {deviation:.3e}: {line}");
    }
}
