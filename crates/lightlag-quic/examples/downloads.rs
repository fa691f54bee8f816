//! Repeats a download over a geostationary satellite, for measurements of speed:
//! `cargo run --release -p lightlag-quic --example downloads -- PROFILE COUNT LOSS`.

#[path = "../tests/path/mod.rs"]
mod path;

use lightlag_core::RandomStream;
use lightlag_quic::Profile;
use path::{CLIENT, Fate, Path, SERVER, at};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| arguments.get(index).cloned().unwrap_or(default.to_owned());
    let profile = Profile::named(&argument(0, "rfc9002")).expect("the name of a profile");
    let count: u64 = argument(1, "10").parse().expect("a number of downloads");
    let loss: f64 = argument(2, "0").parse().expect("a probability");
    let mut packets = 0;
    for seed in 0..count {
        let mut random = RandomStream::new(seed, "loss");
        let mut path = Path::new(profile.config(), 300)
            .with_rates(2.0, 20.0)
            .with_rule(move |_| if loss > 0.0 && random.uniform() < loss { Fate::Drop } else { Fate::Deliver });
        path.logs = false;
        let time = path.download(10 << 20, at(10_000_000)).expect("a download");
        packets += path.ends.iter().map(|end| end.counters().datagrams).sum::<u64>();
        if seed == 0 {
            let [client, server] = [path.ends[CLIENT].counters(), path.ends[SERVER].counters()];
            println!("{:.3} s, client {client:?}, server {server:?}", time.as_secs_f64());
        }
    }
    println!("{packets} datagrams");
}
