//! Datagrams: the effect of a link on them, compared with closed forms.

mod heap;
mod text;

use lightlag_sim::results::{DatagramSummary, FlowSummary};
use lightlag_sim::{RunResult, Simulation};
use text::run;

/// Returns a scenario with a link of 8 Mbit/s and 50 ms. A packet of 1000 B takes 1 ms to transmit.
fn link(more: &str, flows: &str) -> String {
    format!(
        "duration = \"300 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"\ndelay = \"50 ms\"\n{more}\n{flows}"
    )
}

/// Returns a UDP flow whose packets have 1000 B: 28 B of headers and 972 B of payload.
fn datagrams(traffic: &str) -> String {
    format!("[[flows]]\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\ntraffic = {{ size = \"972 B\", {traffic} }}\n")
}

fn of(result: &RunResult, flow: usize) -> (&FlowSummary, DatagramSummary) {
    let flow = &result.summary.flows[flow];
    (flow, *flow.datagrams.as_deref().unwrap())
}

#[test]
fn below_the_rate_of_the_link_nothing_waits() {
    // 972 B each 2 ms.
    let result = run(&link("", &datagrams("kind = \"constant\", rate = \"3.888 Mbit/s\"")));
    let (flow, datagrams) = of(&result, 0);
    assert_eq!((flow.congestion.as_str(), flow.finish_s, flow.failure), ("udp", None, None));
    // One is sent at each 2 ms of 300 s, both ends included; it arrives 51 ms later.
    assert_eq!(flow.sent_segments, 150_001);
    assert_eq!((datagrams.received, datagrams.lost), (150_001 - 26, 0));
    assert_eq!(flow.delivered_bytes, datagrams.received * 972);
    assert_eq!((datagrams.mean_delay_s, datagrams.p95_delay_s), (Some(0.051), Some(0.051)));
    assert_eq!(flow.goodput_bps, flow.delivered_bytes as f64 * 8.0 / 300.0);
    assert_eq!(flow.limited_s.application, 300.0);
}

#[test]
fn above_it_the_link_loses_the_excess() {
    for rate in [10.0, 16.0, 24.0] {
        let payload = rate * 0.972;
        let traffic = datagrams(&format!("kind = \"constant\", rate = \"{payload} Mbit/s\""));
        let result = run(&link("queue = \"50 packets\"", &traffic));
        let (flow, datagrams) = of(&result, 0);
        let (loss, expected) = (datagrams.lost as f64 / flow.sent_segments as f64, 1.0 - 8.0 / rate);
        // The first 50 found room: less than 1 in 1000.
        assert!((loss - expected).abs() < 1e-3, "{rate} Mbit/s: {loss} is lost, not {expected}");
        // One in transmission and 49 or 50 that wait.
        let delay = datagrams.p95_delay_s.unwrap();
        assert!((0.1..=0.1013).contains(&delay), "{delay}");
    }
}

#[test]
fn datagrams_of_poisson_wait_as_in_m_d_1() {
    for load in [0.5, 0.8] {
        let traffic = format!("kind = \"poisson\", every = \"{} us\"", 1000.0 / load);
        let delays = (1..=20).map(|seed| {
            let text = link("queue = \"100000 packets\"", &datagrams(&traffic));
            of(&run(&format!("seed = {seed}\n{text}")), 0).1.mean_delay_s.unwrap()
        });
        let delays: Vec<f64> = delays.collect();
        let mean = delays.iter().sum::<f64>() / 20.0;
        let variance = delays.iter().map(|delay| (delay - mean) * (delay - mean)).sum::<f64>() / 19.0;
        // Kleinrock, Queueing Systems I, §5.6: the wait is ρ·S/(2(1 − ρ)). Student's t for 19, two-sided 99 %: 2.861.
        let (expected, width) = (0.051 + load * 1e-3 / (2.0 * (1.0 - load)), 2.861 * (variance / 20.0).sqrt());
        assert!((mean - expected).abs() < width, "load {load}: {mean} ± {width}, not {expected}");
        assert!(width < 0.05 * (expected - 0.051), "± {width} tests nothing about {expected}");
    }
}

#[test]
fn tcp_has_what_datagrams_leave() {
    // 3 of 8 Mbit/s at the network layer.
    let tcp = "[[flows]]\nfrom = \"a\"\nto = \"b\"\ntcp = { congestion = \"cubic\" }\n";
    let text = link("queue = \"1 bdp\"", &(datagrams("kind = \"constant\", rate = \"2.916 Mbit/s\"") + tcp));
    let result = run(&text);
    let ((cross, datagrams), tcp) = (of(&result, 0), &result.summary.flows[1]);
    let share = cross.goodput_bps / 2.916e6;
    assert!(share > 0.97, "datagrams do not yield: {share}; {datagrams:?}");
    // TCP has 1448 of 1500 bytes of the remaining rate, less the part that slow start and recovery do not use.
    let left = (8e6 - cross.goodput_bps / 0.972) * 1448.0 / 1500.0;
    assert!((0.93..=1.0).contains(&(tcp.goodput_bps / left)), "{} of {left}", tcp.goodput_bps);
    assert!(tcp.datagrams.is_none());
}

#[test]
fn a_long_message_is_several_datagrams() {
    // 10,000 B in datagrams of at most 1472: six of them and one of 1168.
    let flow = "[[flows]]\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\n";
    let traffic = "traffic = { kind = \"burst\", size = \"10000 B\", messages = 2 }\n";
    for (keys, headers) in [("", 28), ("ip = \"v6\"\n", 48)] {
        let result = run(&format!("{keys}{}", link("", &format!("{flow}{traffic}"))));
        let (flow, datagrams) = of(&result, 0);
        assert_eq!((flow.sent_segments, flow.delivered_bytes, datagrams.received), (14, 20_000, 14));
        assert_eq!(result.summary.links[0].carried_bytes, 20_000 + 14 * headers);
    }
    let small =
        run(&format!("defaults = {{ tcp = {{ mss = \"500 B\" }} }}\n{}", link("", &format!("{flow}{traffic}"))));
    assert_eq!(of(&small, 0).0.sent_segments, 2 * 20, "512 B each");
}

#[test]
fn lost_and_doubled_datagrams_are_counted() {
    let text =
        link("loss = 0.2\nduplicate = 0.1", &datagrams("kind = \"constant\", rate = \"2 Mbit/s\", stop = \"200 s\""));
    let result = run(&text);
    let ((flow, datagrams), link) = (of(&result, 0), &result.summary.links[0]);
    assert_eq!(datagrams.lost, link.dropped_error);
    assert_eq!(flow.sent_segments + link.duplicated, datagrams.received + datagrams.lost);
    assert!(link.duplicated > 1_000 && datagrams.lost > 1_000, "{datagrams:?}");
}

#[test]
fn a_run_waits_for_connections_and_not_for_datagrams() {
    let tcp = "[[flows]]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"100 kB\"\n";
    let traffic = datagrams("kind = \"constant\", rate = \"1 Mbit/s\"");
    let result = run(&link("", &format!("{traffic}{tcp}")));
    assert!(result.summary.simulated_s < 5.0, "{}", result.summary.simulated_s);
    assert_eq!(result.summary.flows[1].finish_s, Some(result.summary.simulated_s));
    let json = serde_json::to_value(&result.summary.flows).unwrap();
    assert!(json[0].get("datagrams").is_some() && json[1].get("datagrams").is_none());
}

#[test]
fn connections_also_carry_messages() {
    // 100 kB in 10 s, and one message of 1000 B each 100 ms: 50 ms to open, 50 + 1 ms to arrive.
    let flow = |traffic: &str| format!("[[flows]]\nfrom = \"a\"\nto = \"b\"\ntraffic = {{ {traffic} }}\n");
    let constant = flow("kind = \"constant\", rate = \"80 kbit/s\"") + "transfer = \"100 kB\"\n";
    let result = run(&link("", &constant));
    let done = &result.summary.flows[0];
    assert_eq!((done.delivered_bytes, done.sent_segments), (100_000, 100));
    // The last byte is sent at 9.9 s. 1052 B take 1.052 ms.
    assert!((done.finish_s.unwrap() - 9.951_052).abs() < 1e-9, "{done:?}");
    assert!(done.limited_s.application > 9.9, "{:?}", done.limited_s);
    let messages = flow("kind = \"periodic\", size = \"3 kB\", every = \"1 s\", count = 5");
    let result = run(&link("", &messages));
    let done = &result.summary.flows[0];
    assert_eq!(done.delivered_bytes, 15_000);
    assert!((4.05..4.1).contains(&done.finish_s.unwrap()), "{done:?}");
}

#[test]
fn a_connection_with_nothing_to_send_is_finished() {
    let flow = "[[flows]]\nfrom = \"a\"\nto = \"b\"\ntraffic = { kind = \"periodic\", size = \"1 kB\", every = \"1 s\", \
                first = \"2 s\", stop = \"2 s\" }\n";
    let result = run(&link("", flow));
    let flow = &result.summary.flows[0];
    assert_eq!((flow.delivered_bytes, flow.failure), (0, None));
    assert_eq!((flow.finish_s, result.summary.simulated_s), (Some(0.0), 0.0));
}

/// Returns the memory per flow that is used when the world is built, computed from runs with 1,000 and 3,000 flows.
fn bytes_a_flow(flow: &str) -> f64 {
    let bytes = |count: u64| {
        let topology = "kind = \"point-to-point\", rate = \"1 Gbit/s\", delay = \"1 ms\"";
        let text = format!(
            "name = \"many\"\nduration = \"10 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
             topology = {{ {topology}, flow = {{ count = {count}, {flow} }} }}\n"
        );
        let scenario =
            lightlag_scenario::parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
        heap::most(|| Simulation::new(&scenario, None).unwrap()).0
    };
    (bytes(3_000) - bytes(1_000)) as f64 / 2_000.0
}

#[test]
fn a_flow_of_datagrams_takes_no_memory_for_connections() {
    let datagrams =
        "transport = \"udp\", traffic = { kind = \"periodic\", size = \"100 B\", every = \"1 s\" }, start = \"1 s\"";
    let [udp, tcp] = [datagrams, "start = \"1 s\""].map(bytes_a_flow);
    // Its two endpoints are 128 bytes, and TCP's are 640; the rest is a flow of the network with its names.
    assert!(udp < 400.0, "{udp} B a flow of UDP");
    assert!(tcp > udp + 450.0, "{tcp} B a flow of TCP, {udp} B one of UDP");
}

#[test]
fn flows_of_all_kinds_have_their_own_rows() {
    let udp = |name: &str, [from, to]: [&str; 2], rate: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"udp\"\n\
             traffic = {{ kind = \"constant\", size = \"972 B\", rate = \"{rate} Mbit/s\" }}\n"
        )
    };
    let tcp = |name: &str, [from, to]: [&str; 2]| {
        format!("[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransfer = \"300 kB\"\n")
    };
    let flows = udp("there", ["a", "c"], "0.972")
        + &tcp("split", ["a", "c"])
        + &udp("back", ["c", "a"], "1.944")
        + &tcp("whole", ["c", "b"])
        + &udp("near", ["a", "b"], "0.486");
    let second = "[[links]]\nbetween = [\"b\", \"c\"]\nrate = \"8 Mbit/s\"\ndelay = \"30 ms\"\nloss = 0.03\n";
    let proxy = "[[proxies]]\nnode = \"b\"\nbuffer = \"1 MB\"\nflows = [\"split\"]\n";
    let text = link("loss = 0.02", &format!("{second}{proxy}{flows}"))
        .replace("trace = \"off\"", "trace = \"change\", acks = true, drops = true");
    let result = run(&text);
    let (flows, drops) = (&result.summary.flows, &result.drops);
    let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["there", "split", "back", "whole", "near"]);
    for (index, flow) in flows.iter().enumerate() {
        let of_flow = || (0..drops.flow.len()).filter(move |row| drops.flow[*row] as usize == index);
        match &flow.datagrams {
            Some(datagrams) => {
                assert!(datagrams.lost > 0 && datagrams.received > 50, "{flow:?}");
                assert_eq!(of_flow().count() as u64, datagrams.lost, "{flow:?}");
                assert!(of_flow().all(|row| !drops.backward[row] && drops.bytes[row] == 1_000), "{flow:?}");
            }
            None => assert!(of_flow().any(|row| drops.bytes[row] == 1_500), "{flow:?}"),
        }
    }
    for flow in [1, 3] {
        assert_eq!(flows[flow].delivered_bytes, 300_000);
        assert!(result.trace.flow.contains(&(flow as u32)) && result.acks.flow.contains(&(flow as u32)));
    }
    assert!(result.trace.flow.iter().chain(&result.acks.flow).all(|flow| [1, 3].contains(flow)));
    let legs: Vec<_> = result.summary.legs.iter().map(|leg| (leg.flow.as_str(), leg.leg, leg.from.as_str())).collect();
    assert_eq!(legs, [("split", 1, "a"), ("split", 2, "b")]);
    assert!(result.summary.legs.iter().all(|leg| leg.delivered_bytes == 300_000));
    assert!(result.trace.leg.contains(&2));
    // The sequence numbers acknowledged at the sender are monotonic; the proxy's would go back.
    let acknowledged = (0..result.acks.flow.len()).filter(|row| result.acks.flow[*row] == 1);
    assert!(acknowledged.map(|row| result.acks.snd_una[row]).is_sorted());
}
