//! The set-up: from the text of a scenario to a simulation that is ready for its first event.

use crate::measure::{Sample, cpu_seconds, max_rss_kib};
use lightlag_sim::Simulation;
use std::fmt::Write;

/// A scenario with the given number of flows written one by one; none starts before the run is over.
pub fn by_hand(flows: u64) -> String {
    let mut text = String::from(
        "name = \"by-hand\"\nduration = \"1 ms\"\n\n[record]\ntrace = \"off\"\nqueue = \"off\"\n\n[[links]]\n\
         between = [\"left\", \"right\"]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\nqueue = \"1 bdp\"\n",
    );
    for flow in 0..flows {
        let start = 1 + flow % 100;
        let keys = format!("from = \"left\"\nto = \"right\"\nstart = \"{start} s\"\ntransfer = \"1 MB\"");
        writeln!(text, "\n[[flows]]\nname = \"flow {flow}\"\n{keys}").expect("a string takes all");
    }
    text
}

/// Measures reading, checking and building. In the result, each flow counts as a packet-hop.
pub fn measure(flows: u64) -> Sample {
    let text = by_hand(flows);
    let start = cpu_seconds();
    let scenario = lightlag_scenario::parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{errors:?}"));
    let cpu_s = cpu_seconds() - start;
    drop(simulation);
    Sample { packet_hops: flows, cpu_s, max_rss_kib: max_rss_kib(), ..Sample::default() }
}
