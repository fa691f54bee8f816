//! Links with forward error correction.

use crate::text::run;
use lightlag_core::Duration;
use lightlag_net::BlockCode;
use lightlag_scenario::{parse_json, parse_toml};
use lightlag_sim::RunResult;
use lightlag_sim::results::LinkSummary;

/// Returns a scenario with a geostationary link of 10 Mbit/s with these additional keys, and one flow.
fn scenario(keys: &str, flow: &str) -> String {
    format!(
        "duration = \"100 s\"\nrecord = {{ queueing = true, drops = true }}\n[[links]]\nbetween = [\"gateway\", \"terminal\"]\n\
         rate = \"10 Mbit/s\"\ndelay = \"280 ms\"\nqueue = \"1 bdp\"\n{keys}\n\
         [[flows]]\nfrom = \"gateway\"\nto = \"terminal\"\n{flow}\n"
    )
}

/// Returns the keys of a flow of datagrams with 972 B of payload, which are packets of 1000 B.
fn datagrams(rate: &str) -> String {
    format!("transport = \"udp\"\ntraffic = {{ kind = \"constant\", rate = \"{rate}\", size = \"972 B\" }}\n")
}

fn link(result: &RunResult) -> &LinkSummary {
    &result.summary.links[0]
}

#[test]
fn datagrams_are_lost_as_often_as_blocks_fail_and_repair_packets_take_the_rest_of_the_rate() {
    // p · P(Bin(11, p) ≥ 2), p · P(Bin(11, p) ≥ 1).
    let none = |p: f64, others: i32| libm::pow(1.0 - p, f64::from(others));
    let one = |p: f64, others: i32| f64::from(others) * p * libm::pow(1.0 - p, f64::from(others - 1));
    for p in [0.02, 0.05, 0.1] {
        for (data, repair) in [(10, 2), (11, 1)] {
            let expected = p * (1.0 - none(p, 11) - if repair == 2 { one(p, 11) } else { 0.0 });
            let keys = format!("loss = {p}\nfec = {{ data = {data}, repair = {repair}, flush = \"1 s\" }}");
            // The offered load is more than the link carries: k / 12 of 10 Mbit/s.
            let result = run(&scenario(&keys, &datagrams("12 Mbit/s")));
            let link = link(&result);
            let passed = link.carried_bytes / 1_000 - link.repair_packets;
            let residual = link.residual_loss.unwrap();
            // Up to 4 packets are lost together.
            let error = (expected * 4.0 / passed as f64).sqrt();
            assert!((residual - expected).abs() < 3.0 * error, "{data} + {repair}, {p}: {residual}, not {expected}");
            let lost = link.dropped_error as f64 + link.repaired as f64;
            let error = (p / passed as f64).sqrt();
            assert!((lost / passed as f64 - p).abs() < 3.0 * error + 1e-3, "{lost} of {passed} were lost on the link");
            let goodput = result.summary.flows[0].goodput_bps;
            let theory = 10e6 * f64::from(data) / 12.0 * 0.972 * (1.0 - expected);
            assert!((goodput / theory - 1.0).abs() < 0.01, "{goodput} bit/s, not {theory}");
            assert!(link.utilisation > 0.999);
        }
    }
}

#[test]
fn a_transfer_has_the_code_rate_of_the_link_where_losses_would_have_slowed_it_down() {
    let flow = "congestion = \"cubic\"\ntcp = { receive_buffer = \"4 MB\" }";
    let goodput = |keys: &str| run(&scenario(keys, flow)).summary.flows[0].goodput_bps;
    let coded = goodput("loss = 1e-3\nfec = { data = 10, repair = 2 }");
    // p · P(Bin(11, 10⁻³) ≥ 2) = 5·10⁻⁸, and 1448 of 1500 B are payload. The first seconds pass in slow start.
    let theory = 10e6 * 10.0 / 12.0 * 1448.0 / 1500.0;
    assert!((0.93..1.0).contains(&(coded / theory)), "{coded} of {theory}");
    let plain = goodput("loss = 1e-3");
    assert!(plain < 0.6 * coded, "{plain} against {coded}");
}

#[test]
fn the_tail_of_a_transfer_is_repaired_without_a_retransmission() {
    // 5 segments, of which the last is lost, in a block that 5 ms close.
    let flow = "transfer = \"7240 B\"\ntcp = { timestamps = true }";
    let keys = |fec: &str| format!("loss = {{ forward = {{ packets = [5] }} }}\nfec = {{ forward = {fec} }}");
    let coded = run(&scenario(&keys("{ data = 10, repair = 2, flush = \"5 ms\" }"), flow));
    let flow = &coded.summary.flows[0];
    assert_eq!((flow.retransmitted_segments, link(&coded).repaired), (0, 1));
    // SYN and SYN-ACK: 0.56 s, data 0.28 s; the repair packet follows when the block is 5 ms old, while the last
    // segment is sent: 6 ms.
    let finish = flow.finish_s.unwrap();
    assert!((0.84..0.86).contains(&finish), "{finish}");
    assert_eq!(coded.drops.time_s.len(), 0, "a recovered packet does not count as dropped");
}

#[test]
fn a_code_is_read_written_and_shared_by_both_directions_or_not() {
    let code = BlockCode { data: 20, repair: 5, flush: Duration::from_millis(50), in_order: true };
    let text = scenario("fec = { data = 20, repair = 5 }", "");
    let read = parse_toml(&text, &[]).unwrap();
    let again = parse_json(&serde_json::to_string(&read).unwrap(), &[]).unwrap();
    assert_eq!(read, again);
    let network = read.expand().unwrap();
    assert_eq!((network.links[0].code, network.links[1].code), (Some(code), Some(code)));
    // 1 bdp: 10 Mbit/s · 20 / 25 · 560 ms = 560 kB.
    assert_eq!(network.links[0].queue, lightlag_net::QueueLimit::Bytes(560_000));
    let keys = "fec = { backward = { data = 4, repair = 4, flush = \"10 ms\", in_order = false } }";
    let read = parse_toml(&scenario(keys, ""), &[]).unwrap();
    let again = parse_json(&serde_json::to_string(&read).unwrap(), &[]).unwrap();
    assert_eq!(read, again);
    let network = read.expand().unwrap();
    let other = BlockCode { data: 4, repair: 4, flush: Duration::from_millis(10), in_order: false };
    assert_eq!((network.links[0].code, network.links[1].code), (None, Some(other)));
}

#[test]
fn without_repair_packets_there_is_no_code() {
    let flow = "transfer = \"1 MB\"";
    let [with, without] = ["fec = { data = 10, repair = 0 }", ""]
        .map(|keys| run(&scenario(&format!("loss = 0.01\n{keys}"), flow)).summary.result_hash);
    assert_eq!(with, without);
}

#[test]
fn wrong_codes_are_rejected() {
    for (keys, path, fragment) in [
        ("fec = { data = 10 }", "fec.repair", "is missing; give the number of repair packets of a block, such as 2"),
        ("fec = { repair = 2 }", "fec.data", "is missing; give the number of data packets in a block, such as 10"),
        ("fec = { data = 0, repair = 2 }", "fec.data", "0 is not a number of packets from 1 to 254"),
        ("fec = { data = 10, repair = 255 }", "fec.repair", "255 is not a number of packets from 0 to 254"),
        ("fec = { data = 200, repair = 56 }", "fec.repair", "56 and data exceed 255 packets"),
        ("fec = { data = 2.5, repair = 1 }", "fec.data", "2.5 is not"),
        ("fec = { data = 10, repair = 2, flush = \"0 s\" }", "fec.flush", "0 s is below"),
        ("fec = { data = 10, repair = 2, in_order = 1 }", "fec.in_order", "1 is not"),
        ("fec = { data = 10, repair = 2, flsh = \"1 s\" }", "fec.flsh", "did you mean \"flush\"?"),
        ("fec = \"10/12\"", "fec", "is not a table such as { data = 10, repair = 2 }"),
        (
            "fec = { data = 10, repair = 2 }\nloss = { rate = 0.1, where = \"before queue\" }",
            "fec",
            "write where = \"after queue\"",
        ),
        (
            "fec = { data = 10, repair = 2 }\nreorder = { forward = { probability = 0.1, delay = \"1 ms\" } }",
            "fec",
            "cannot be combined with reorder",
        ),
        ("fec = { data = 10, repair = 2 }\nreorder = true", "fec", "cannot be combined with reorder"),
        ("fec = { data = 10, repair = 2 }\nduplicate = 0.1", "fec", "cannot be combined with duplicate"),
    ] {
        let errors = parse_toml(&scenario(keys, ""), &[]).unwrap_err();
        let path = format!("links[0].{path}");
        let [error] = errors.as_slice() else { panic!("{keys}: {errors:#?}") };
        assert!(error.path == path && error.message.contains(fragment), "{keys}: {error}");
    }
    // The other direction may lose packets before its queue.
    let keys = "fec = { forward = { data = 10, repair = 2 } }\nreorder = { backward = true }";
    parse_toml(&scenario(keys, ""), &[]).unwrap();
}

#[test]
fn a_link_without_a_transmitter_or_a_lasting_far_end_has_no_code() {
    let satellite = |hop: &str, payload: &str| {
        format!(
            "duration = \"1 s\"\n[topology]\nkind = \"satellite\"\npairs = 1\npayload = \"{payload}\"\n\
             [topology.uplink]\nrate = \"10 Mbit/s\"\ndelay = \"120 ms\"\n{hop}\n\
             [topology.downlink]\nrate = \"10 Mbit/s\"\ndelay = \"120 ms\"\n"
        )
    };
    let refusal = |text: &str| parse_toml(text, &[]).unwrap_err()[0].to_string();
    let code = "fec = { data = 10, repair = 2 }";
    let message = refusal(&satellite(code, "transparent"));
    assert!(
        message.contains("topology.uplink.fec: ") && message.contains("from the ground, { forward = … }"),
        "{message}"
    );
    parse_toml(&satellite(code, "regenerative"), &[]).unwrap();
    parse_toml(&satellite(&format!("fec = {{ forward = {} }}", &code[6..]), "transparent"), &[]).unwrap();
    let sky = "duration = \"1 s\"\n[constellation]\nshells = [{ height = \"550 km\", inclination = \"53 deg\", planes = 4, \
               slots = 4 }]\nuplink = { rate = \"10 Mbit/s\", fec = { data = 10, repair = 2 } }\n";
    let errors = parse_toml(sky, &[]).unwrap_err();
    let refused = |error: &lightlag_scenario::ScenarioError| error.path == "constellation.uplink.fec";
    assert!(errors.iter().any(refused), "{errors:#?}");
}
