//! Satellite beams and random access in runs.

mod text;

use lightlag_scenario::parse_toml;
use lightlag_sim::{Control, Parallel, RunResult, Simulation};
use text::run;

/// Returns a scenario with a gateway and `terminals` terminals on a medium with these keys.
fn beam(medium: &str, terminals: u32, rest: &str) -> String {
    format!(
        "duration = \"30 s\"\n[topology]\nkind = \"swarm\"\nnodes = {}\nmedium = {{ {medium} }}\n{rest}",
        terminals + 1
    )
}

fn messages(size: u32, every: &str) -> String {
    format!(
        "flow = {{ transport = \"udp\", traffic = {{ kind = \"poisson\", size = \"{size} B\", every = \"{every}\" }} }}\n"
    )
}

fn delivered(result: &RunResult) -> u64 {
    result.summary.flows.iter().map(|flow| flow.delivered_bytes).sum()
}

#[test]
fn transfers_cross_a_beam_in_both_directions() {
    let text = beam("kind = \"rcs2\", logon = true", 5, "flow = { transfer = \"100 kB\" }\n")
        + "[[flows]]\nfrom = \"gateway\"\nto = \"terminal1\"\ntransfer = \"200 kB\"\n"
        + "[[flows]]\nfrom = \"terminal2\"\nto = \"terminal3\"\ntransfer = \"50 kB\"\n";
    let result = run(&text);
    assert_eq!(delivered(&result), 5 * 100_000 + 200_000 + 50_000);
    let terminal = &result.summary.interfaces[1];
    let access = terminal.access.as_ref().unwrap();
    assert!(access.used_slots > 0 && access.granted_slots >= access.used_slots + access.idle_slots, "{access:?}");
    assert!(access.requests > 0 && access.queueing_mean_s.unwrap() > 0.0, "{access:?}");
}

/// A beam with one terminal and a link with `on_demand` have the same rate, frame and latency. A packet waits for
/// a frame once on the link and twice in the beam, for random access and for its slot.
#[test]
fn one_terminal_has_the_delay_of_a_link_on_demand() {
    let flow = "[[flows]]\nfrom = \"terminal1\"\nto = \"gateway\"\ntransport = \"udp\"\n\
                traffic = { kind = \"periodic\", size = \"772 B\", every = \"1013 ms\" }\n";
    // A burst carries 800 B of packets and 3 B of RLE, with 10 slots for assignment in 26.5 ms: 2.416 Mbit/s.
    let medium = "kind = \"rcs2\", carriers = 1, slots = 14, contention_slots = 4, contention = \"slotted-aloha\", \
                  slot_payload = \"807 B\", delay = \"130 ms\"";
    let shared = format!(
        "duration = \"60 s\"\n[[media]]\n{}\n[[nodes]]\nname = \"gateway\"\n[[nodes]]\nname = \"terminal1\"\n{flow}",
        medium.replace(", ", "\n")
    );
    // The latency of the link starts with a request and ends with the granted frame, both at the terminal: a delay to
    // the NCC, and one back.
    let alone = format!(
        "duration = \"60 s\"\n[[links]]\nbetween = [\"terminal1\", \"gateway\"]\nrate = \"2.416 Mbit/s\"\ndelay = \"130 ms\"\n\
         on_demand = {{ frame = \"26.5 ms\", latency = \"260 ms\" }}\n{flow}"
    );
    let delay = |text: &str| {
        let result = run(text);
        let flow = &result.summary.flows[0];
        assert!(flow.delivered_bytes > 772 * 55, "{flow:#?}");
        flow.datagrams.as_ref().and_then(|of| of.mean_delay_s).expect("datagrams have a delay")
    };
    let [shared, alone] = [delay(&shared), delay(&alone)];
    // The link: half a frame, 260 ms, 2.66 ms of transmission and 130 ms. The beam: half a frame, then random access, whose
    // request reaches the NCC 4/14 F after its frame; 260 ms later is 10.1 F, so the assigned frame is the eleventh, and
    // its slot ends 5/14 F later; 130 ms in between.
    let frame = 0.0265;
    let expected = [0.130 + frame * (0.5 + 11.0 + 5.0 / 14.0), 0.5 * frame + 0.260 + 0.00266 + 0.130];
    assert!((shared - expected[0]).abs() < 0.002, "{shared} s in the beam, not {}", expected[0]);
    assert!((alone - expected[1]).abs() < 0.002, "{alone} s on the link, not {}", expected[1]);
    assert!((shared - alone).abs() < 2.0 * frame, "{shared} s in the beam, {alone} s on the link");
}

#[test]
fn sensors_with_aloha_deliver_the_fraction_of_the_theory() {
    // 500 sensors send 100 B (with headers) each second at 800 kbit/s: 1 ms per message, G = 0.5.
    let text = beam("kind = \"random_access\", burst_rate = \"800 kbit/s\"", 500, &messages(72, "1 s"));
    let result = run(&text);
    let sent: u64 = result.summary.interfaces.iter().filter_map(|of| of.access.as_ref()).map(|of| of.contentions).sum();
    let fraction = delivered(&result) as f64 / 72.0 / sent as f64;
    let theory = libm::exp(-1.0);
    // 15,000 messages: a standard deviation of 1.1 %.
    assert!((fraction / theory - 1.0).abs() < 0.035, "{fraction} instead of {theory}");
    let lost: u64 = result.summary.flows.iter().filter_map(|flow| flow.datagrams.as_ref()).map(|of| of.lost).sum();
    let collided: u64 =
        result.summary.interfaces.iter().filter_map(|of| of.access.as_ref()).map(|of| of.dropped_collision).sum();
    assert_eq!(lost, collided);
}

#[test]
fn any_number_of_threads_gives_the_same_result() {
    let text = beam("kind = \"rcs2\", contention_data = true", 20, &messages(400, "200 ms"))
        + "[[links]]\nbetween = [\"gateway\", \"internet\"]\nrate = \"100 Mbit/s\"\ndelay = \"20 ms\"\n\
           [[links]]\nbetween = [\"internet\", \"server\"]\nrate = \"100 Mbit/s\"\ndelay = \"20 ms\"\n\
           [[flows]]\nfrom = \"server\"\nto = \"terminal4\"\n";
    let scenario = parse_toml(&text, &[]).unwrap();
    let hash = |threads: usize| {
        let how = Parallel { lanes: threads, threads, always: true };
        let simulation = Simulation::parallel(&scenario, None, how).unwrap();
        let partitions = simulation.cut().map_or(1, |cut| cut.partitions());
        (simulation.run(&mut |_| Control::Continue).summary.result_hash, partitions)
    };
    let results: Vec<_> = (1..=4).map(hash).collect();
    // A network with a medium is one partition.
    assert!(results.iter().all(|result| *result == (results[0].0.clone(), 1)), "{results:?}");
}
