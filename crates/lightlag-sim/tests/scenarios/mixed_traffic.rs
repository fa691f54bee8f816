//! Invariants of any mixture of traffic over a link that loses, duplicates and delays packets.

use crate::text::run;
use lightlag_scenario::{Flow, Transport};
use lightlag_sim::RunResult;
use lightlag_sim::results::FlowSummary;
use proptest::prelude::*;

/// Generates a distribution of sizes with a random mean.
fn sizes() -> impl Strategy<Value = String> {
    (1_u32..20_000, 0..5).prop_map(|(mean, law)| match law {
        0 => format!("{{ distribution = \"exponential\", mean = \"{mean} B\" }}"),
        1 => format!("{{ distribution = \"pareto\", mean = \"{mean} B\", shape = 1.3, max = \"{} B\" }}", 30 * mean),
        2 => format!("{{ distribution = \"lognormal\", mean = \"{mean} B\", sigma = 1.1 }}"),
        3 => format!("{{ distribution = \"uniform\", min = \"0 B\", max = \"{mean} B\" }}"),
        _ => format!("\"{mean} B\""),
    })
}

fn times() -> impl Strategy<Value = String> {
    (1_u32..500, any::<bool>()).prop_map(|(mean, is_drawn)| match is_drawn {
        true => format!("{{ distribution = \"exponential\", mean = \"{mean} ms\" }}"),
        false => format!("\"{mean} ms\""),
    })
}

/// Generates the traffic keys of a flow.
fn traffic() -> impl Strategy<Value = String> {
    let transport = prop_oneof![Just(""), Just("transport = \"udp\"\n"), Just("transport = \"quic\"\n")];
    let connection = || prop_oneof![Just(""), Just("transport = \"quic\"\n")];
    let rate = (10_u32..3_000, 10_u32..4_000)
        .prop_map(|(rate, size)| format!("rate = \"{rate} kbit/s\", size = \"{size} B\""));
    let messages =
        (sizes(), 1_u32..400).prop_map(|(size, every)| format!("size = {size}, every = \"{every} ms\"")).boxed();
    let by_messages = prop_oneof![
        rate.clone().prop_map(|rate| format!("kind = \"constant\", {rate}")),
        (rate, times(), times())
            .prop_map(|(rate, on, off)| format!("kind = \"on_off\", {rate}, on = {on}, off = {off}")),
        messages.clone().prop_map(|messages| format!("kind = \"periodic\", {messages}")),
        messages.clone().prop_map(|messages| format!("kind = \"poisson\", {messages}, stop = \"3 s\"")),
        messages.prop_map(|messages| format!("kind = \"burst\", messages = 4, {messages}")),
    ];
    let web = (sizes(), sizes(), 1_u32..12, 1_u32..7).prop_map(|(html, object, objects, n)| {
        format!("html = {html}, object = {object}, objects = {objects}, connections = {n}")
    });
    prop_oneof![
        (transport, by_messages).prop_map(|(transport, traffic)| format!("{transport}traffic = {{ {traffic} }}")),
        (sizes(), 20_u32..400).prop_map(|(size, every)| {
            format!("traffic = {{ kind = \"transfers\", size = {size}, every = \"{every} ms\", count = 30 }}")
        }),
        (connection(), sizes(), times()).prop_map(|(transport, size, think)| {
            format!("{transport}traffic = {{ kind = \"requests\", response = {size}, think = {think} }}")
        }),
        (connection(), web, times(), 1_u32..5).prop_map(|(transport, web, think, pages)| {
            format!("{transport}traffic = {{ kind = \"web\", {web}, think = {think}, count = {pages} }}")
        }),
        (connection(), 1_u32..200_000).prop_map(|(transport, bytes)| format!("{transport}transfer = \"{bytes} B\"")),
    ]
}

fn scenario() -> impl Strategy<Value = String> {
    let link = (50_u32..20_000, 0_u32..100, 0_u32..60, 0_u32..60, 2_u32..60);
    (link, prop::collection::vec((traffic(), any::<bool>()), 1..5), 0_u32..1000).prop_map(|(link, flows, seed)| {
        let (rate, delay, loss, duplicate, queue) = link;
        let mut text = format!(
            "duration = \"5 s\"\nseed = {seed}\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
             [[links]]\nbetween = [\"a\", \"b\"]\nrate = \"{rate} kbit/s\"\ndelay = \"{delay} ms\"\n\
             loss = {}\nduplicate = {}\nqueue = \"{queue} packets\"\n\
             [[links]]\nbetween = [\"b\", \"c\"]\nrate = \"5 Mbit/s\"\ndelay = \"3 ms\"\nqueue = \"20 packets\"\n",
            f64::from(loss) / 1e3,
            f64::from(duplicate) / 1e3,
        );
        for (traffic, forward) in flows {
            let (from, to) = if forward { ("a", "c") } else { ("c", "a") };
            text += &format!("[[flows]]\nfrom = \"{from}\"\nto = \"{to}\"\n{traffic}\n");
        }
        text
    })
}

/// Checks each flow at the end of a run. The run itself asserts that no packet was lost without a cause.
fn check(result: &RunResult) {
    let scenario = &result.summary.scenario;
    let network = scenario.expand().unwrap();
    assert_eq!(result.summary.flows.len(), network.flows.len());
    for (flow, configured) in result.summary.flows.iter().zip(&network.flows) {
        assert_eq!(flow.name, configured.name);
        match configured.transport {
            Transport::Udp => datagrams(flow, result),
            Transport::Tcp | Transport::Quic => connection(flow, configured),
        }
    }
    dialogues(result, &network.flows);
}

fn datagrams(flow: &FlowSummary, result: &RunResult) {
    let datagrams = flow.datagrams.as_deref().unwrap();
    let copies: u64 = result.summary.links.iter().map(|link| link.duplicated).sum();
    let ended = datagrams.received + datagrams.lost;
    assert!(ended <= flow.sent_segments + copies, "{flow:?}");
    // Maximum in transit: both queues and a bandwidth-delay product of 5 Mbit/s · 103 ms.
    let shortest = flow.delivered_bytes / datagrams.received.max(1);
    let most = 2 * 60 + 5_000_000 / 8 / 10 / (shortest.max(1) + 28) + 2_000;
    assert!(flow.sent_segments <= ended + most, "{flow:?}");
    if let (Some(mean), Some(p95)) = (datagrams.mean_delay_s, datagrams.p95_delay_s) {
        assert!(mean >= 0.003 && p95 >= 0.003, "no faster than light: {flow:?}");
    }
}

fn connection(flow: &FlowSummary, configured: &Flow) {
    assert!(flow.datagrams.is_none());
    if let Some(transfer) = configured.transfer {
        assert!(flow.delivered_bytes <= transfer.0, "{flow:?}");
        assert!(flow.finish_s.is_none() || flow.delivered_bytes == transfer.0, "{flow:?}");
    }
    assert!(flow.finish_s.is_none() || flow.failure.is_none(), "{flow:?}");
}

/// Checks that the pages of a dialogue add up to the delivered bytes, except for one page in transit. HTTP/3 adds the
/// headers of frames, and 15 B of control streams.
fn dialogues(result: &RunResult, flows: &[Flow]) {
    let responses = &result.responses;
    for (index, flow) in result.summary.flows.iter().enumerate() {
        let Some(summary) = flow.responses.as_deref().or(flow.pages.as_deref()) else { continue };
        let name = |other: &&FlowSummary| {
            other.name.strip_prefix(&flow.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let delivered: u64 = match flow.pages {
            Some(_) => {
                result.summary.flows.iter().skip(index).take(7).filter(name).map(|flow| flow.delivered_bytes).sum()
            }
            None => flow.delivered_bytes,
        };
        let rows = || (0..responses.flow.len()).filter(|row| responses.flow[*row] as usize == index);
        let whole: u64 = rows().map(|row| responses.bytes[row]).sum();
        assert_eq!(rows().count() as u64, summary.count);
        assert!(whole <= delivered, "{summary:?} {whole} {delivered}");
        if flow.finish_s.is_some() {
            match flows[index].transport {
                Transport::Quic => assert_frames(delivered, whole, summary.count),
                _ => assert_eq!(whole, delivered, "{summary:?}"),
            }
        }
        let ends: Vec<f64> = rows().map(|row| responses.time_s[row] + responses.duration_s[row]).collect();
        assert!(ends.is_sorted(), "one after the other");
    }
}

/// Checks the overhead of HTTP/3: control streams, and for each of at most 12 objects of a page the headers of a HEADERS
/// frame (2 or 3 B) and of DATA frames (2 to 5 B each, one for each 16,384 B).
fn assert_frames(delivered: u64, whole: u64, pages: u64) {
    let overhead = delivered - whole - 15;
    let (least, most) = (2 * pages, 12 * pages * (3 + 5) + whole / 16_384 * 5);
    assert!((least..=most).contains(&overhead), "{overhead} B are not between {least} and {most} B");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn every_packet_arrives_or_is_lost(text in scenario()) {
        let result = run(&text);
        check(&result);
        prop_assert_eq!(&result.summary.result_hash, &run(&text).summary.result_hash);
    }
}
