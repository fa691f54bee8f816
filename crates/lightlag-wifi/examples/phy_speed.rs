//! Measures the time that three computations take: the received power at all stations, one error lookup, and one fading
//! factor.
//!
//! ```sh
//! cargo run --release -p lightlag-wifi --example phy_speed
//! ```

use lightlag_core::{Bytes, Instant};
use lightlag_mobility::Vector;
use lightlag_net::StationId;
use lightlag_wifi::phy::{Band, ErrorCurves, ErrorModel, PhyMode};
use lightlag_wifi::propagation::{
    AirToGround, Channel, Draws, Fading, Friis, LogDistance, PathLoss, Propagation, Rician, StationPosition,
    StationPositions, TwoRay,
};
use std::hint::black_box;

/// Returns the minimum over ten rounds of the mean time per call, in nanoseconds.
#[allow(clippy::disallowed_methods, reason = "this example measures durations")]
fn least(calls: u32, mut call: impl FnMut(u32)) -> f64 {
    let round = |call: &mut dyn FnMut(u32)| {
        let start = std::time::Instant::now();
        (0..calls).for_each(call);
        start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
    };
    (0..10).map(|_| round(&mut call)).fold(f64::INFINITY, f64::min)
}

fn main() {
    let mut draws = Draws::new(1, "places").at(0, 0);
    let mut coordinates = |most: f64| (0..1000).map(|_| most * draws.uniform()).collect::<Vec<f64>>();
    let (x, y, z) = (coordinates(400.0), coordinates(400.0), coordinates(100.0));
    let position = |station: usize| StationPosition {
        station: StationId::at(station),
        at: Vector::new(x[station], y[station], z[station]),
    };
    let exponent = |exponent| PathLoss::LogDistance(LogDistance { exponent, ..LogDistance::default() });
    let losses = [
        ("exponent 3", exponent(3.0)),
        ("exponent 2.5", exponent(2.5)),
        ("exponent 2.2", exponent(2.2)),
        ("friis", PathLoss::Friis(Friis {})),
        ("two-ray", PathLoss::TwoRay(TwoRay::default())),
        ("air-to-ground", PathLoss::AirToGround(AirToGround::default())),
    ];
    for (name, loss) in losses {
        let channel = Channel::new(&Propagation { loss, ..Propagation::default() }, 5.18e9, 1, "air");
        for nodes in [60, 200, 1000] {
            let to = StationPositions { x: &x[..nodes], y: &y[..nodes], z: &z[..nodes], stations: None };
            let (mut squares, mut out) = (vec![0.0; nodes], vec![0.0; nodes]);
            let time = least(200_000 / nodes as u32, |call| {
                let from = black_box(position(call as usize % nodes));
                to.squares(from.at, &mut squares);
                channel.powers(from, 40.0, (to, &squares), Instant::ZERO, &mut out);
                black_box(&mut out);
            });
            println!("powers, {name}, {nodes} nodes: {time:.0} ns");
        }
    }
    let fading = Fading::Rician(Rician::default());
    let channel = Channel::new(&Propagation { fading, ..Propagation::default() }, 5.18e9, 1, "air");
    let time = least(20_000, |call| {
        black_box(channel.fade(position(1), position(2), u64::from(call)));
    });
    println!("fade, rician: {time:.1} ns");
    let mode = PhyMode::legacy(24, Band::Ghz5).expect("a rate");
    for model in ErrorModel::ALL {
        let curves = ErrorCurves::new(model);
        let time = least(100_000, |call| {
            black_box(curves.ln_success(mode, black_box(5.0 + f64::from(call % 64)), 12_288));
        });
        let made = least(3, |_| {
            black_box(ErrorCurves::new(model));
        });
        println!("errors, {model:?}: {time:.1} ns, curves made in {:.2} ms", made / 1e6);
    }
    let time = least(100_000, |call| {
        black_box(mode.duration(Bytes(u64::from(call % 2000))));
    });
    println!("duration: {time:.1} ns");
}
