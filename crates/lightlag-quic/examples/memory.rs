//! Opens connections that transfer 20 kB each and stay open, and reports their memory: `memory PROFILE COUNT`.

#[path = "../tests/path/mod.rs"]
mod path;

use lightlag_quic::{Connection, Profile};
use lightlag_transport::Stream;
use path::{Path, SERVER, at};

/// Returns the resident memory of the process in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("memory statistics of Linux");
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number of pages") * 4_096
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| arguments.get(index).cloned().unwrap_or(default.to_owned());
    let config = Profile::named(&argument(0, "rfc9002")).expect("the name of a profile").config();
    let count: usize = argument(1, "10000").parse().expect("a number of connections");
    let mut ends = Vec::with_capacity(2 * count);
    let before = resident();
    for _ in 0..count {
        let mut path = Path::new(config.clone(), 20).with_rates(10.0, 10.0);
        path.logs = false;
        path.ends[SERVER].write(20_000);
        path.open();
        path.run_until(at(2_000));
        ends.extend(path.ends);
    }
    let each = (resident() - before) / (2 * count as u64);
    println!("{each} bytes for each end, {} of them without heap", size_of::<Connection>());
}
