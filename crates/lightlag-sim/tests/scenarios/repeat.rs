//! A run that is repeated from its own capture. The parameters inferred from the capture equal the parameters of the
//! run, and the second run equals the first.

use crate::memory::Shared;
use lightlag_scenario::parse_toml;
use lightlag_sim::{Control, Simulation};
use lightlag_wire::analysis::{Analysis, Limits, trace::Trace};
use lightlag_wire::capture::Reader;
use lightlag_wire::replay::{Sending, Vantage};
use std::collections::BTreeMap;
use std::io::Write;

/// Runs a scenario. Returns the sender's parameters as inferred from the captures at both ends, by file name.
fn seen(link: &str, tcp: &str) -> BTreeMap<String, Sending> {
    let text = format!(
        "duration = \"100 s\"\nrecord = {{ pcap = {{ at = [\"a\", \"b\"] }} }}\n\
         [[links]]\nbetween = [\"a\", \"b\"]\n{link}\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"800 kB\"\ntcp = {tcp}\n"
    );
    let scenario = parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut files = BTreeMap::new();
    let mut open = |name: &str| {
        let file = Shared::default();
        files.insert(name.to_owned(), file.clone());
        Ok(Box::new(file) as Box<dyn Write + Send>)
    };
    simulation = simulation.capture_to(&mut open).unwrap();
    simulation.run(&mut |_| Control::Continue);
    files.into_iter().map(|(name, Shared(bytes))| (name, inferred(&bytes.lock().unwrap()))).collect()
}

fn inferred(file: &[u8]) -> Sending {
    let mut reader = Reader::open(file).unwrap();
    let (mut analysis, mut trace) = (Analysis::new(Limits::default()), Trace::new(0, usize::MAX));
    while let Some(packet) = reader.next_packet().unwrap() {
        if let Some(observation) = analysis.packet(packet.at, packet.ip) {
            trace.observe(&observation);
        }
    }
    Sending::infer(trace.rows(), &analysis.finish().connections[0]).unwrap()
}

const LOST: [u64; 5] = [30, 31, 100, 140, 400];

fn link(rate: &str, delay: &str, lost: &[u64]) -> String {
    format!(
        "rate = \"{rate}\"\ndelay = \"{delay}\"\n\
         queue = {{ discipline = \"drop_tail\", limit = \"300 packets\", count_in_service = true }}\n\
         loss = {{ packets = {lost:?}, direction = \"forward\" }}"
    )
}

#[test]
fn a_run_is_the_same_when_it_is_repeated_from_its_capture() {
    for congestion in ["newreno", "cubic", "bbr"] {
        let tcp = format!("{{ congestion = \"{congestion}\" }}");
        let first = seen(&link("10 Mbit/s", "25 ms", &LOST), &tcp);
        for (file, vantage) in [("a.pcapng", Vantage::Sender), ("b.pcapng", Vantage::Receiver)] {
            let sending = &first[file];
            assert_eq!(sending.vantage, vantage);
            assert_eq!(sending.lost, LOST, "{congestion} at {file}");
            let (path, rate) = (sending.path, sending.path.rate_bps.unwrap());
            assert!((rate / 10e6 - 1.0).abs() < 0.02, "{congestion} at {file}: {path:?}");
            assert!((path.propagation_s / 0.05 - 1.0).abs() < 0.01, "{congestion} at {file}: {path:?}");
            let delay = format!("{:.3} us", path.propagation_s / 2.0 * 1e6);
            let again = seen(&link(&format!("{rate:.0} bit/s"), &delay, &sending.lost), &tcp);
            let packets = |sending: &Sending| -> Vec<(i64, u32, bool, bool)> {
                sending.transmissions.iter().map(|sent| (sent.start, sent.len, sent.again, sent.lost)).collect()
            };
            let (real, ours) = (packets(&first["a.pcapng"]), packets(&again["a.pcapng"]));
            let same = real.iter().zip(&ours).take_while(|(real, ours)| real == ours).count();
            assert_eq!((same, ours.len()), (real.len(), real.len()), "{congestion} from {file}");
        }
    }
}
