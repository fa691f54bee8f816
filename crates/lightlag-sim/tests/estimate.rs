//! Tests that the estimates of a run's memory and disk space match its actual use.

mod heap;

use lightlag_core::{Duration, Instant};
use lightlag_scenario::Scenario;
use lightlag_sim::Simulation;
use lightlag_sim::estimate::{least_memory, results_size};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn parse(text: &str) -> Scenario {
    lightlag_scenario::parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"))
}

/// Returns a generated network that records nothing.
fn network(topology: &str, flow: &str) -> Scenario {
    parse(&format!(
        "name = \"n\"\nduration = \"10 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [topology]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n{topology}\n[topology.flow]\nstart = \"1 s\"\n{flow}\n"
    ))
}

/// Keys of flows that start one after the other, and have one segment in flight.
const SLOW: &str = "stagger = \"100 us\"\ntcp = { receive_buffer = \"1460 B\" }";

/// The same over QUIC, with one datagram in flight.
const SLOW_QUIC: &str = "transport = \"quic\"\nstagger = \"100 us\"\nquic = { stream_credit = \"1200 B\" }";

#[test]
fn a_network_takes_little_more_than_the_stated_minimum() {
    let udp = "transport = \"udp\"\ntraffic = { kind = \"periodic\", size = \"100 B\", every = \"1 s\" }";
    let networks = [
        network("kind = \"point-to-point\"", &format!("count = 3000\n{SLOW}")),
        network("kind = \"point-to-point\"", &format!("count = 3000\n{udp}")),
        network("kind = \"star\"\nleaves = 1500", SLOW),
        network("kind = \"star\"\nleaves = 1500", udp),
        network("kind = \"dumbbell\"\npairs = 3000", udp),
        network("kind = \"dumbbell\"\npairs = 1000", &format!("count = 2\n{SLOW}")),
        network("kind = \"point-to-point\"", &format!("count = 3000\n{SLOW_QUIC}")),
        network("kind = \"star\"\nleaves = 1500", SLOW_QUIC),
    ];
    let ratios = networks.map(|scenario| {
        let said = least_memory(&scenario).0 as f64;
        let (measured, _) = heap::most(|| {
            let mut simulation = Simulation::new(&scenario, None).unwrap();
            simulation.step_until(Instant::ZERO + Duration::from_millis(1_400));
            simulation
        });
        (measured as f64 / said, measured, said)
    });
    assert!(ratios.iter().all(|(ratio, ..)| (1.0..1.15).contains(ratio)), "measured and stated bytes: {ratios:?}");
}

/// A file that counts the bytes written to it, and discards them.
struct Counted(Arc<AtomicU64>);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the size of the captures of a run in bytes.
fn captured(scenario: &Scenario) -> f64 {
    let bytes = Arc::new(AtomicU64::new(0));
    let mut simulation = Simulation::new(scenario, None).unwrap();
    let mut open = |_: &str| Ok(Box::new(Counted(bytes.clone())) as lightlag_sim::Output);
    simulation = simulation.capture_to(&mut open).and_then(|simulation| simulation.log_to(&mut open)).unwrap();
    simulation.run(&mut |_| lightlag_sim::Control::Continue);
    bytes.load(Ordering::Relaxed) as f64
}

#[test]
fn captures_have_the_stated_length() {
    let head = |record: &str| {
        format!(
            "name = \"n\"\nduration = \"20 s\"\nrecord = {{ trace = \"off\", queue = \"off\", drops = false, pcap = {{ {record} }} }}\n"
        )
    };
    let link = "[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"1 bdp\"\n\
                [[links]]\nbetween = [\"b\", \"c\"]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n";
    let flow = |from: &str, to: &str, more: &str| format!("[[flows]]\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n");
    let udp = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"1 Mbit/s\", size = \"200 B\" }";
    let cases = [
        // Both endpoints of an endless flow; with comments; a transfer; two flows that share the links of a node.
        (head(""), flow("a", "c", "")),
        (head("comments = true"), flow("a", "c", "")),
        (head("at = [\"b\"]"), flow("a", "c", "transfer = \"3 MB\"")),
        (head("at = [\"b\", \"a->b\"]"), flow("a", "c", "") + &flow("a", "b", "")),
        (head(""), flow("a", "c", udp)),
        (head("comments = true"), flow("a", "c", "transport = \"quic\"")),
        (head("flows = [\"a->b\"]"), flow("a", "c", "") + &flow("a", "b", "transfer = \"1 MB\"")),
        (head(""), flow("a", "c", "tcp = { receive_buffer = \"20 kB\" }")),
    ];
    for (head, flows) in cases {
        let scenario = parse(&format!("{head}{link}{flows}"));
        let (said, written) = (results_size(&scenario, &scenario.expand().unwrap()).0 as f64, captured(&scenario));
        assert!(written <= said, "{written} B, more than {said}\n{head}{flows}");
        assert!(said <= 2.0 * written, "{written} B, much less than {said}\n{head}{flows}");
    }
}

/// 20,000 flows over 1 Gbit/s do not send 20 Tbit/s: in 10 s the link carries 860,000 segments, and each flow starts
/// with some.
#[test]
fn flows_that_share_a_link_send_no_more_than_it_carries() {
    let dumbbell = |pairs: u32| {
        let topology = format!("kind = \"dumbbell\"\npairs = {pairs}");
        let scenario = network(&topology, "");
        results_size(&scenario, &scenario.expand().unwrap()).0
    };
    let (one, many) = (dumbbell(1), dumbbell(20_000));
    assert!(many < 30 * one, "{many} B of 20,000 flows, and {one} B of one");
}

/// Returns a swarm that records nothing.
fn swarm(nodes: u32, routing: &str) -> Scenario {
    parse(&format!(
        "duration = \"100 s\"\nrecord = {{ trace = \"off\", queue = \"off\", positions = \"off\" }}\n\
         [topology]\nkind = \"swarm\"\nnodes = {nodes}\nflows = 1\nmedium = {{ routing = {routing:?} }}\n"
    ))
}

#[test]
fn a_swarm_takes_little_more_than_the_stated_minimum() {
    for routing in ["static", "oracle", "aodv", "olsr", "dsdv", "gpsr"] {
        let scenario = swarm(1_000, routing);
        let said = least_memory(&scenario).0 as f64;
        let (measured, _) = heap::most(|| Simulation::new(&scenario, None).unwrap());
        let ratio = measured as f64 / said;
        assert!((1.0..1.15).contains(&ratio), "{routing}: {measured} B, not {said}");
    }
}

/// Returns the heap per station of a satellite medium in bytes, from 1,000 and 10,000 of them, and the stated minimum.
fn star_station(medium: &str) -> [f64; 2] {
    let of = |nodes: u32| {
        let scenario = parse(&format!(
            "duration = \"100 s\"\nrecord = {{ trace = \"off\", queue = \"off\", drops = false }}\n[topology]\nkind = \"swarm\"\n\
             nodes = {nodes}\nmedium = {{ kind = {medium:?} }}\nflow = {{ transport = \"udp\", traffic = {{ kind = \"periodic\", \
             size = \"100 B\", every = \"50 s\" }} }}\n"
        ));
        let (measured, _) = heap::most(|| Simulation::new(&scenario, None).unwrap());
        [measured as f64, least_memory(&scenario).0 as f64]
    };
    let (few, many) = (of(1_000), of(10_000));
    [0, 1].map(|at| (many[at] - few[at]) / 9_000.0)
}

#[test]
fn a_station_of_a_satellite_takes_little_more_than_the_stated_minimum() {
    // Bytes with the flow of the station.
    let stations = ["rcs2", "random_access"].map(|medium| (medium, star_station(medium)));
    let is_close = |(_, [measured, said]): &(&str, [f64; 2])| (1.0..1.15).contains(&(measured / said));
    assert!(stations.iter().all(is_close), "measured and stated: {stations:?}");
}

/// The flow of a swarm cannot exceed the rate of its radios: 24 Mbit/s for 100 s are 207,000 segments.
#[test]
fn a_flow_on_the_air_sends_no_more_than_its_radio() {
    let scenario = parse(
        "duration = \"100 s\"\nrecord = { trace = \"off\", drops = false, acks = true }\n\
         [topology]\nkind = \"swarm\"\nnodes = 2\nflows = 1\nmedium = { rate = \"24 Mbit/s\" }\n",
    );
    let said = results_size(&scenario, &scenario.expand().unwrap()).0;
    assert!((5_300_000..5_500_000).contains(&said), "26 B for each ACK are 5.4 MB, not {said}");
}
