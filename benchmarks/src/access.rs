//! Satellite beams and random access. A hop is a burst, or a packet on the forward carrier.

use crate::measure::{Sample, cpu_seconds, in_child, max_rss_kib};
use crate::report::{Verdicts, print_row};
use lightlag_sim::{Control, Simulation};
use std::fmt::Write;

/// Maximum CPU time of each medium in seconds.
const BEAM_LIMIT: f64 = 10.0;
const SENSORS_LIMIT: f64 = 60.0;
/// Maximum ratio of the costs of a burst at two sizes: the larger one exceeds the caches.
const GROWTH: f64 = 2.0;

/// A run that records a summary only.
const QUIET: &str = "record = { trace = \"off\", queue = \"off\", drops = false }\n";
const PAGES: &str = "traffic = { kind = \"web\", http = \"2\", html = \"20 kB\", objects = 14, object = \"10 kB\", \
                     server_time = \"50 ms\", think = { distribution = \"exponential\", mean = \"20 s\" } }";

/// Returns a beam for 60 s whose terminals load pages from the gateway, with as many carriers as they need: a page of
/// 160 kB, and the next one 20 s after it on average.
fn beam(terminals: u64) -> String {
    let carriers = (terminals / 60).max(2);
    let mut text = format!(
        "{QUIET}duration = \"60 s\"\n[[media]]\nkind = \"rcs2\"\ncarriers = {carriers}\ncontention_slots = {}\n\
         rate_based = \"512 kbit/s\"\nforward_rate = \"400 Mbit/s\"\nforward_queue = 20000\n[[nodes]]\nname = \"gateway\"\n",
        carriers * 5
    );
    for terminal in 1..=terminals {
        let start = terminal * 20_000 / terminals;
        write!(
            text,
            "[[nodes]]\nname = \"t{terminal}\"\n[[flows]]\nfrom = \"gateway\"\nto = \"t{terminal}\"\nstart = \"{start} ms\"\n\
             {PAGES}\n"
        )
        .expect("a string takes all text");
    }
    text
}

/// An hour of sensors with CRDSA.
const SENSORS: &str = include_str!("../scenarios/sensors-100k.toml");

/// Measures a run of a medium, `beam` or `sensors`, with this number of stations; `None` for another name.
pub fn measure(name: &str, count: u64) -> Option<Sample> {
    let (text, sets) = match name {
        "beam" => (beam(count), Vec::new()),
        "sensors" => (SENSORS.to_owned(), vec![("topology.nodes".to_owned(), (count + 1).to_string())]),
        _ => return None,
    };
    let scenario = lightlag_scenario::parse_toml(&text, &sets).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let begin = cpu_seconds();
    let summary = simulation.run(&mut |_| Control::Continue).summary;
    let cpu_s = cpu_seconds() - begin;
    let bursts = summary.interfaces.iter().map(|of| of.sent_frames).sum();
    Some(Sample { packet_hops: bursts, events: summary.events, cpu_s, entities: count, max_rss_kib: max_rss_kib() })
}

/// Measures both media only, and prints the results.
pub fn print_media() {
    let mut verdicts = Verdicts::default();
    media(&mut verdicts);
    verdicts.print();
}

/// Measures a beam with 1,000 terminals and 100,000 sensors, and the cost of a burst with a tenth of them.
pub fn media(verdicts: &mut Verdicts) {
    for (name, [few, many], limit) in
        [("beam", ["100", "1000"], BEAM_LIMIT), ("sensors", ["10000", "100000"], SENSORS_LIMIT)]
    {
        let [few, many]: [Sample; 2] = [few, many].map(|count| {
            let sample = in_child(&["access", name, count]);
            print_row(&format!("{name} of {count}: a burst"), sample);
            sample
        });
        let cpu = many.cpu_s;
        verdicts.add(cpu <= limit, format!("{name} of {}: {cpu:.1} s of CPU time (at most {limit})", many.entities));
        let ratio = many.nanos() / few.nanos();
        let text = format!("{name}: a burst costs {ratio:.2} × its cost with a tenth of them (at most {GROWTH} ×)");
        verdicts.add(ratio <= GROWTH, text);
    }
    techniques(verdicts);
}

/// Measures an hour of 100,000 sensors in passes, and with NB-IoT.
fn techniques(verdicts: &mut Verdicts) {
    let passes = ["topology.medium.passes={ duration = \"8 min\", period = \"20 min\" }"];
    let nb_iot =
        ["topology.medium.technique=nb-iot", "topology.medium.nprach_period=40 ms", "topology.medium.data_carriers=4"];
    for (name, changes) in [("in passes", &passes[..]), ("NB-IoT", &nb_iot)] {
        let sample: Sample = in_child(&[&["once", "sensors-100k"], changes].concat());
        let text = format!("sensors-100k, {name}: {:.1} s of CPU time (at most {SENSORS_LIMIT})", sample.cpu_s);
        verdicts.add(sample.cpu_s <= SENSORS_LIMIT, text);
    }
}
