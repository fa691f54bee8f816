//! Invariants of every run on every network: random topologies, links, losses, queues and flows.

mod text;

use lightlag_control::congestion::catalog;
use lightlag_core::{Duration, Rate};
use lightlag_net::queue::DisciplineConfig;
use lightlag_net::{DVB_S2, QueueLimit};
use lightlag_scenario::{Flow, LinkDirection, Network};
use lightlag_sim::RunResult;
use lightlag_sim::results::FlowSummary;
use proptest::prelude::*;
use std::fmt::Write;
use text::run;

/// Generates the lines of a link, without `between`.
fn link() -> impl Strategy<Value = String> {
    let rate = prop_oneof![
        (20_u32..20_000).prop_map(|kbps| format!("rate = \"{kbps} kbit/s\"")),
        (1_000_u32..20_000, 20_u32..2_000)
            .prop_map(|(down, up)| format!("rate = {{ forward = \"{down} kbit/s\", backward = \"{up} kbit/s\" }}")),
    ];
    let delay = (0_u32..120_000, 0_u32..12).prop_map(|(us, kind)| {
        let jitter = match kind {
            0 => format!("jitter = \"{} us\"", us / 2),
            1 => format!("jitter = {{ distribution = \"normal\", deviation = \"{} us\", correlation = 0.5 }}", us / 4),
            _ => String::new(),
        };
        format!("delay = \"{us} us\"\n{jitter}")
    });
    let limit = prop_oneof![
        (1_u32..60).prop_map(|n| format!("\"{n} packets\"")),
        (1_u32..60).prop_map(|n| format!("\"{} B\"", n * 1000)),
        (1_u32..30).prop_map(|n| format!("\"{} bdp\"", f64::from(n) / 10.0)),
    ];
    let queue = prop_oneof![
        2 => limit.clone().prop_map(|limit| format!("queue = {limit}")),
        1 => (limit, discipline())
            .prop_map(|(limit, discipline)| format!("queue = {{ limit = {limit}, discipline = {discipline} }}")),
    ];
    let loss = prop_oneof![
        4 => Just(String::from("loss = 0")),
        3 => (1_u32..200).prop_map(|n| format!("loss = {}", f64::from(n) / 1000.0)),
        1 => Just(String::from("loss = { forward = 0, backward = 1 }")),
        1 => (1_u32..200).prop_map(|n| format!("loss = {{ rate = {}, where = \"before queue\" }}", f64::from(n) / 1000.0)),
        1 => (1_u32..200, 2_u32..20).prop_map(|(mean, burst)| {
            format!("loss = {{ mean = {}, burst = {burst} }}", f64::from(mean) / 1000.0)
        }),
        1 => (1_u32..500, 1_u32..100, 0_u32..1001).prop_map(|(good, bad, loss)| format!(
            "loss = {{ good = {{ mean_time = \"{good} ms\" }}, bad = {{ mean_time = \"{bad} ms\", loss = {} }} }}",
            f64::from(loss) / 1000.0
        )),
        1 => (1_u32..100).prop_map(|n| format!("loss = {{ packets = [1, {n}, {}] }}", n + 7)),
        2 => (1_u32..200).prop_map(|n| format!("loss = {{ bit_error_rate = {} }}", f64::from(n) * 1e-7)),
        1 => (0_u32..4000, 0_u32..1000).prop_map(|(at, gap)| {
            format!("loss = {{ at = [\"{at} ms\", \"{at} ms\", \"{} ms\"] }}", at + gap)
        }),
    ];
    let header = (0_u32..40).prop_map(|n| format!("header = \"{n} B\""));
    let disturbance = prop_oneof![
        3 => Just(String::new()),
        1 => (0_u32..200, 0_u32..50_000).prop_map(|(often, us)| {
            format!("reorder = {{ probability = {}, delay = [\"0 s\", \"{us} us\"] }}\n", f64::from(often) / 1000.0)
        }),
        1 => Just(String::from("reorder = true\n")),
        1 => (0_u32..200).prop_map(|often| format!("duplicate = {}\n", f64::from(often) / 1000.0)),
        1 => radio(),
        1 => (1_u32..30, 0_u32..6, 1_u32..60, any::<bool>()).prop_map(|(data, repair, flush, in_order)| {
            format!("fec = {{ data = {data}, repair = {repair}, flush = \"{flush} ms\", in_order = {in_order} }}\n")
        }),
    ];
    let parts = (rate, delay, queue, loss, header, disturbance, changes(), on_demand(), signals());
    parts.prop_map(|(rate, delay, queue, loss, header, disturbance, changes, on_demand, signals)| {
        // Slots and states have losses of their own; ramps and frames have no requests.
        let is_radio = disturbance.contains("aggregate");
        let loss =
            if is_radio && (loss.contains("packets") || loss.contains("at =")) { "loss = 0.01".into() } else { loss };
        let changes = if is_radio && changes.contains("fade") { String::new() } else { changes };
        let on_demand = if is_radio { String::new() } else { on_demand };
        // Frames have their own code, and no requests.
        let changes =
            if disturbance.contains("fec") || !on_demand.is_empty() { changes.replace(FRAMES, "") } else { changes };
        // A code repairs packets that have left the transmitter.
        let loss = if disturbance.contains("fec") { loss.replace("before queue", "after queue") } else { loss };
        format!("{rate}\n{delay}\n{queue}\n{loss}\n{header}\n{disturbance}{changes}{on_demand}{signals}")
    })
}

/// Generates the keys of radio access.
fn radio() -> impl Strategy<Value = String> {
    let slots = (1_u32..1_000, 0_u32..1_000, 0_u32..200, 1_u32..40_000).prop_map(|(phase, outage, loss, step)| {
        format!(
            "slots = {{ period = \"1001 ms\", phase = \"{phase} ms\", outage = \"{outage} ms\", step = {{ uniform = [\"0 \
             s\", \"{step} us\"] }}, loss = {}, before = \"100 ms\", after = \"200 ms\", dip = 0.3 }}\n",
            f64::from(loss) / 1000.0
        )
    });
    let channel = (1_u32..500, 1_u32..100, 0_u32..50_000, 0_u32..1_001).prop_map(|(good, bad, delay, loss)| {
        format!(
            "channel = {{ good = {{ mean_time = \"{good} ms\" }}, bad = {{ mean_time = \"{bad} ms\", delay = \"{delay} us\", \
             loss = {}, rate = 0.4 }} }}\n",
            f64::from(loss) / 1000.0
        )
    });
    // Every generated link has at least 20 kbit/s and at most 20 Mbit/s.
    let ramp = (1_u32..1_000, 0_u32..500).prop_map(|(time, rest)| {
        format!("ramp = {{ idle = \"20 kbit/s\", time = \"{time} ms\", rest = \"{rest} ms\" }}\n")
    });
    let frames = (10_u32..20_000, prop::option::of(1_u32..20)).prop_map(|(us, max)| {
        let max = max.map_or(String::new(), |max| format!(", max = {max}"));
        format!("aggregate = {{ interval = \"{us} us\"{max} }}\n")
    });
    (prop::option::of(slots), prop::option::of(channel), prop::option::of(ramp), frames).prop_map(
        |(slots, channel, ramp, frames)| [slots, channel, ramp].into_iter().flatten().collect::<String>() + &frames,
    )
}

/// Generates stations, for some links.
fn signals() -> impl Strategy<Value = String> {
    let whom = prop::sample::select(vec!["off", "receiver", "sender", "both"]);
    prop::option::weighted(0.3, (whom, 0_u32..3_000, 0_u32..1_000)).prop_map(|signals| {
        signals.map_or(String::new(), |(whom, recent, interval)| {
            format!(
                "signals = {{ outage = true, corruption = \"{whom}\", recent = \"{recent} ms\", interval = \"{interval} ms\" }}\n"
            )
        })
    })
}

/// Generates transmitters that must request bandwidth, for some links.
fn on_demand() -> impl Strategy<Value = String> {
    let requests = (1_u32..60, 0_u32..300, prop::option::of(1_u32..20), prop::option::of(1_u32..2_000));
    prop::option::weighted(0.1, requests).prop_map(|requests| {
        requests.map_or(String::new(), |(frame, latency, constant, free)| {
            let rate =
                |key, kbps: Option<u32>| kbps.map_or(String::new(), |kbps| format!(", {key} = \"{kbps} kbit/s\""));
            let (constant, free) = (rate("constant", constant), rate("free", free));
            format!("on_demand = {{ frame = \"{frame} ms\", latency = \"{latency} ms\"{constant}{free} }}\n")
        })
    })
}

/// Baseband frames of a link with rain.
const FRAMES: &str = ", frames = { label = 3, hold = \"20 ms\" }";

/// Generates rain fading that varies within a run.
fn fade() -> impl Strategy<Value = String> {
    let loop_delay = prop::option::of(0_u32..2_000);
    let numbers = (-20_i32..25, 0_u32..15, 1_u32..10, loop_delay);
    (numbers, any::<bool>(), any::<bool>()).prop_map(|((mean, deviation, time, late), loses, framed)| {
        let late = late.map_or(String::new(), |ms| format!(", loop_delay = \"{ms} ms\""));
        let late = if framed { late + FRAMES } else { late };
        let (mean, deviation) = (f64::from(mean) / 10.0, f64::from(deviation) / 10.0);
        let outage = if loses { "lose" } else { "hold" };
        format!(
            "fade = {{ mean = {mean}, deviation = {deviation}, correlation_time = \"{time} s\", clear_sky = \"15 dB\", \
             symbol_rate = \"1 MBd\"{late} }}\noutage = \"{outage}\"\n"
        )
    })
}

/// Generates changes of a link: none for most links, up to five for others.
fn changes() -> impl Strategy<Value = String> {
    let change = prop_oneof![
        (20_u32..20_000).prop_map(|kbps| format!("rate = \"{kbps} kbit/s\"")),
        (0_u32..120_000).prop_map(|us| format!("delay = \"{us} us\"")),
        any::<bool>().prop_map(|down| format!("down = {down}")),
        (0_u32..300).prop_map(|n| format!("loss = {}", f64::from(n) / 1000.0)),
        (1_u32..10).prop_map(|n| format!("delay = \"0 s\", loss = {{ mean = 0.1, burst = {n} }}")),
    ];
    let list = prop::collection::vec((0_u32..4_000, change), 1..6);
    prop_oneof![
        6 => Just(String::new()),
        1 => fade(),
        2 => (list, any::<bool>()).prop_map(|(mut list, loses)| {
            list.sort_by_key(|(at, _)| *at);
            let list: Vec<String> =
                list.into_iter().map(|(at, change)| format!("{{ at = \"{at} ms\", {change} }}")).collect();
            let outage = if loses { "lose" } else { "hold" };
            format!("changes = [{}]\noutage = \"{outage}\"\n", list.join(", "))
        }),
    ]
}

/// Generates a queue discipline with its parameters.
fn discipline() -> impl Strategy<Value = String> {
    let packets = 1_u32..20;
    prop_oneof![
        packets.clone().prop_map(|n| format!(
            "\"red\", min_threshold = \"{n} packets\", max_threshold = \"{} packets\", weight = 0.05",
            3 * n
        )),
        (1_u32..20, 1_u32..200).prop_map(|(target, interval)| format!(
            "\"codel\", target = \"{target} ms\", interval = \"{interval} ms\""
        )),
        (1_u32..20, 100_u32..3000)
            .prop_map(|(flows, quantum)| format!("\"fq_codel\", flows = {flows}, quantum = \"{quantum} B\"")),
        (1_u32..50).prop_map(|target| format!("\"pie\", target = \"{target} ms\", burst = \"20 ms\"")),
        (1_u32..50).prop_map(|target| format!("\"dualpi2\", target = \"{target} ms\"")),
        (packets, any::<bool>())
            .prop_map(|(n, drop)| format!("\"step\", threshold = \"{n} packets\", drop_not_ect = {drop}")),
        any::<bool>()
            .prop_map(|strict| format!("\"priority\", mode = \"{}\"", if strict { "strict" } else { "push_out" })),
        Just("\"ack_filter\"".to_owned()),
        any::<bool>().prop_map(|head| format!("\"per_flow\", drop = \"{}\"", if head { "head" } else { "tail" })),
    ]
}

/// Generates a connected graph of listed links: a random tree and some additional edges. Also returns the number of
/// nodes.
fn graph() -> impl Strategy<Value = (usize, String)> {
    (2_usize..7).prop_flat_map(|nodes| {
        let parents: Vec<_> = (1..nodes).map(|node| (0..node, link())).collect();
        let extra = prop::collection::vec((0..nodes, 0..nodes, link()), 0..4);
        (Just(nodes), parents, extra).prop_map(|(nodes, parents, extra)| {
            let mut edges: Vec<(usize, usize, String)> =
                parents.into_iter().enumerate().map(|(i, (parent, link))| (parent, i + 1, link)).collect();
            for (a, b, link) in extra {
                if a != b && !edges.iter().any(|(c, d, _)| (a, b) == (*c, *d) || (b, a) == (*c, *d)) {
                    edges.push((a, b, link));
                }
            }
            let mut text = String::new();
            for (a, b, link) in edges {
                write!(text, "[[links]]\nbetween = [\"n{a}\", \"n{b}\"]\n{link}\n").unwrap();
            }
            (nodes, text)
        })
    })
}

/// Generates a network with its flows.
fn generated() -> impl Strategy<Value = String> {
    let kind = prop_oneof![
        Just(String::from("kind = \"point-to-point\"")),
        (1_u32..6).prop_map(|hops| format!("kind = \"chain\"\nhops = {hops}")),
        (1_u32..6).prop_map(|pairs| format!("kind = \"dumbbell\"\npairs = {pairs}")),
        (1_u32..12).prop_map(|leaves| format!("kind = \"star\"\nleaves = {leaves}")),
    ];
    let one = kind.prop_flat_map(|kind| link().prop_map(move |link| (format!("{kind}\n{link}"), String::new())));
    let kind = prop_oneof![4 => one, 1 => satellite()];
    let transfer = prop::option::weighted(0.8, 1_u32..300_000);
    (kind, 1_u32..4, 0_u32..500, transfer, tcp()).prop_map(|((kind, hops), count, stagger, transfer, tcp)| {
        let transfer = transfer.map_or(String::new(), |bytes| format!("transfer = \"{bytes} B\", "));
        let flow = format!("flow = {{ count = {count}, stagger = \"{stagger} ms\", {transfer}{tcp} }}");
        format!("[topology]\n{kind}\n{flow}\n{hops}")
    })
}

/// Generates a satellite with the tables of its hops. A satellite with a transparent payload (bent pipe) neither
/// requests bandwidth nor adapts to rain, and cannot notify endpoints.
fn satellite() -> impl Strategy<Value = (String, String)> {
    (1_u32..4, link(), link(), any::<bool>(), 0_u32..20).prop_map(|(pairs, up, down, is_node, processing)| {
        let needs_node =
            |hop: &String| ["on_demand", "fade", "signals", "fec", "aggregate"].iter().any(|key| hop.contains(key));
        let is_node = is_node || needs_node(&up) || needs_node(&down);
        let payload = if is_node { "regenerative" } else { "transparent" };
        let keys =
            format!("kind = \"satellite\"\npairs = {pairs}\npayload = \"{payload}\"\nprocessing = \"{processing} ms\"");
        (keys, format!("[topology.uplink]\n{up}\n[topology.downlink]\n{down}\n"))
    })
}

/// Generates the `tcp` table of a flow.
fn tcp() -> impl Strategy<Value = String> {
    let profile = prop::sample::select(vec!["linux", "rfc", "inet", "ns3", "ns2-linux", "scps"]);
    let variants = [
        r#"{ algorithm = "bic", variant = "linux" }"#,
        r#"{ algorithm = "cubic", variant = "rfc8312" }"#,
        r#"{ algorithm = "cubic", variant = "paper2008" }"#,
        r#"{ algorithm = "cubic", variant = "linux" }"#,
        r#"{ algorithm = "cubic", variant = "linux-2.6" }"#,
        r#"{ algorithm = "cubic", variant = "inet2023" }"#,
        r#"{ algorithm = "reno", slow_start = "hystart++" }"#,
        r#"{ algorithm = "westwood+", filter = "linux" }"#,
    ];
    let named = catalog().iter().map(|entry| format!("{:?}", entry.name));
    let congestion = prop::sample::select(named.chain(variants.map(str::to_owned)).collect::<Vec<_>>());
    let delayed_ack = prop::sample::select(vec!["false", "true", "{ segments = 3, timeout = \"500 ms\" }"]);
    let recovery = prop::sample::select(vec!["reno", "newreno", "sack", "rack"]);
    let idle_restart = prop::sample::select(vec!["off", "rfc5681", "rfc2861", "rfc7661"]);
    let growth = prop::sample::select(vec![r#""per_ack""#, r#""per_segment""#, "{ abc = 2 }"]);
    let sizes = (88_u32..9001, 1_u32..60, 2_u32..200);
    let schemes = (profile, congestion, delayed_ack, recovery, growth, idle_restart);
    (schemes, any::<[bool; 12]>(), 0_u32..20, sizes).prop_map(
        |((profile, congestion, delayed_ack, recovery, growth, idle), switches, burst, (mss, initial, buffer))| {
            let [sack, timestamps, scaling, limited_transmit, nagle, prr, tlp, frto, eifel, dsack, paced, steady] =
                switches;
            let sack = sack || matches!(recovery, "sack" | "rack");
            let by_sack = sack && matches!(recovery, "sack" | "rack");
            let (prr, tlp, dsack, eifel) = (prr && by_sack, tlp && by_sack, dsack && by_sack, eifel && timestamps);
            let partial_acks = if steady { "slow_but_steady" } else { "impatient" };
            format!(
                "tcp = {{ profile = \"{profile}\", congestion = {congestion}, delayed_ack = {delayed_ack}, \
                 recovery = \"{recovery}\", growth = {growth}, sack = {sack}, timestamps = {timestamps}, \
                 window_scaling = {scaling}, limited_transmit = {limited_transmit}, nagle = {nagle}, \
                 prr = {prr}, tlp = {tlp}, frto = {frto}, eifel = {eifel}, dsack_undo = {dsack}, pacing = {paced}, \
                 partial_acks = \"{partial_acks}\", idle_restart = \"{idle}\", burst_limit = {burst}, \
                 mss = \"{mss} B\", initial_window = {initial}, receive_buffer = \"{} B\" }}",
                buffer * mss
            )
        },
    )
}

/// Generates flows between the nodes of a graph.
fn flows(nodes: usize) -> impl Strategy<Value = String> {
    let transfer = prop::option::weighted(0.8, 1_u32..300_000);
    let reader = prop::sample::select(vec![
        "",
        "",
        "reader = { rate = \"30 kB/s\" }\n",
        "reader = { burst = \"5 kB\", every = \"70 ms\" }\n",
    ]);
    prop::collection::vec((0..nodes, 1..nodes, transfer, 0_u32..4_000, tcp(), reader), 1..5).prop_map(move |flows| {
        let mut text = String::new();
        for (from, step, transfer, start, tcp, reader) in flows {
            let to = (from + step) % nodes;
            text += "[[flows]]\n";
            text += reader;
            write!(text, "from = \"n{from}\"\nto = \"n{to}\"\nstart = \"{start} ms\"\n{tcp}\n").unwrap();
            if let Some(bytes) = transfer {
                writeln!(text, "transfer = \"{bytes} B\"").unwrap();
            }
        }
        text
    })
}

const HEAD: &str = "name = \"random\"\nduration = \"4 s\"\nrecord = { interval = \"50 ms\", drops = true }\n";

fn listed() -> impl Strategy<Value = String> {
    graph().prop_flat_map(|(nodes, links)| flows(nodes).prop_map(move |flows| format!("{links}\n{flows}")))
}

/// Asserts the invariants of every result.
fn check(result: &RunResult) {
    let scenario = &result.summary.scenario;
    let network = scenario.expand().unwrap();
    let duplicates = result.summary.links.iter().any(|link| link.duplicated > 0);
    for (flow, configured) in result.summary.flows.iter().zip(&network.flows) {
        check_flow(flow, configured, result.summary.simulated_s, duplicates);
        check_path(flow, configured, &network);
    }
    for (index, (link, configured)) in result.summary.links.iter().zip(&network.links).enumerate() {
        assert!((0.0..=1.0).contains(&link.utilisation), "{link:?}");
        assert!(link.mean_queue_packets <= link.max_queue_packets as f64 + 1e-9, "{link:?}");
        // Queues per flow have the limit each.
        let is_shared = !matches!(configured.discipline, DisciplineConfig::PerFlow(_));
        if let QueueLimit::Packets(limit) = configured.queue
            && is_shared
        {
            assert!(link.max_queue_packets <= limit, "{link:?}");
        }
        // Bytes count when their transmission starts: up to one packet more than the rate allows.
        let most = fastest(configured) * result.summary.simulated_s / 8.0 + 65_535.0;
        assert!(link.carried_bytes as f64 <= most, "{link:?}");
        let recorded = result.drops.link.iter().filter(|at| **at as usize == index).count() as u64;
        assert_eq!(
            recorded,
            link.dropped_queue
                + link.dropped_aqm
                + link.dropped_police
                + link.dropped_mtu
                + link.dropped_error
                + link.dropped_outage
                + link.dropped_acks,
            "every drop is in the table: {link:?}"
        );
    }
    check_repairs(result, &network);
    check_trace(result, &network);
}

/// Asserts that a segment that arrived, and was dropped n times before, was sent at least n + 1 times.
fn check_repairs(result: &RunResult, network: &Network) {
    if result.summary.links.iter().any(|link| link.duplicated > 0) {
        // A dropped copy needs no repair.
        return;
    }
    let mut lost = vec![0_u64; network.flows.len()];
    let drops = &result.drops;
    for row in 0..drops.time_s.len() {
        // More than an ACK with all its options: it carries data.
        if !drops.backward[row] && drops.bytes[row] > 20 + 60 {
            lost[drops.flow[row] as usize] += 1;
        }
    }
    for (flow, lost) in result.summary.flows.iter().zip(lost) {
        if flow.congestion.starts_with("peach") {
            // A dropped segment of low priority needs none either.
            continue;
        }
        assert!(flow.finish_s.is_none() || flow.retransmitted_segments >= lost, "{lost} lost: {flow:?}");
    }
}

fn check_flow(flow: &FlowSummary, configured: &Flow, end: f64, duplicates: bool) {
    let transfer = configured.transfer.map(|bytes| bytes.0);
    if let Some(finish) = flow.finish_s {
        assert!(finish <= end && finish >= flow.start_s, "{flow:?}");
        assert_eq!(Some(flow.delivered_bytes), transfer, "a finished flow delivered its transfer: {flow:?}");
    } else {
        assert!(
            transfer.is_none_or(|transfer| flow.delivered_bytes < transfer),
            "an unfinished flow is incomplete: {flow:?}"
        );
    }
    assert!(flow.delivered_bytes <= flow.sent_segments * 9000, "nothing arrives that was not sent: {flow:?}");
    assert!(flow.retransmitted_segments <= flow.sent_segments, "{flow:?}");
    if let Some(told) = flow.signals.as_deref().filter(|_| !duplicates) {
        assert!(told.received + told.ignored + told.lost <= told.sent, "{flow:?}");
    }
    let l = flow.limited_s;
    let accounted = l.cwnd + l.rwnd + l.application + l.pacing + l.recovery + l.timeout;
    // The account of a flow ends with its last byte, or when it fails.
    let active_s = (flow.finish_s.unwrap_or(end) - flow.start_s).max(0.0);
    let whole = flow.failure.is_some() || (accounted - active_s).abs() < 1e-6;
    assert!(whole && accounted < active_s + 1e-6, "{accounted} of {active_s} s are accounted for: {flow:?}");
}

/// Returns the maximum rate of a link over time, in bit/s.
fn fastest(link: &LinkDirection) -> f64 {
    let later = link.timetable.iter().flat_map(|timetable| timetable.phases());
    let highest = later.map(|phase| phase.rate).fold(link.rate, Rate::max).as_bps();
    let best = DVB_S2.last().map_or(0.0, |modcod| modcod.bits_per_symbol);
    let rain = link.fade.as_ref().map_or(0.0, |weather| weather.link.symbol_rate.as_baud() as f64 * best);
    rain.max(highest as f64)
}

/// Returns the minimum delay of a link over time, in seconds.
fn shortest(link: &LinkDirection) -> f64 {
    let later = link.timetable.iter().flat_map(|timetable| timetable.phases());
    let shortest = later.map(|phase| phase.delay).fold(link.delay, Duration::min);
    shortest.saturating_sub(link.jitter.map_or(Duration::ZERO, |jitter| jitter.most)).as_secs_f64()
}

/// Asserts that a flow is no faster than the slowest link of its path, and its round-trip times no shorter than the
/// delays.
fn check_path(flow: &FlowSummary, configured: &Flow, network: &Network) {
    let way = |from, to| {
        network.routes.at_start().path(from, to).unwrap().into_iter().map(|link| &network.links[link.0 as usize])
    };
    let (there, back) = (way(configured.from, configured.to), way(configured.to, configured.from));
    let slowest = there.clone().map(fastest).fold(f64::INFINITY, f64::min);
    assert!(flow.goodput_bps <= slowest, "{flow:?}");
    let base: f64 = there.chain(back).map(shortest).sum();
    // A sample from timestamps has ticks of 1 ms.
    assert!(flow.min_rtt_s.is_none_or(|rtt| rtt > base - 0.001), "below {base} s: {flow:?}");
    assert!(flow.mean_rtt_s.is_none_or(|rtt| rtt >= flow.min_rtt_s.unwrap() - 1e-9), "{flow:?}");
}

fn check_trace(result: &RunResult, network: &Network) {
    let trace = &result.trace;
    assert!(trace.time_s.is_sorted(), "rows are in order of time");
    for row in 0..trace.time_s.len() {
        let [acked, delivered, sent] = [trace.acked_bytes[row], trace.delivered_bytes[row], trace.sent_bytes[row]];
        assert!(
            acked <= delivered && delivered <= sent,
            "row {row}: acked {acked}, delivered {delivered}, sent {sent}"
        );
        // The receiver's window is its buffer, rounded up to its scale.
        let buffer = network.flows[trace.flow[row] as usize].tcp.receive_buffer.0;
        assert!(sent - acked <= buffer + 64, "row {row}: {} outstanding, {buffer} B of buffer", sent - acked);
        // RFC 6675 §4: retransmitted data that is not known to be lost counts twice. A FIN counts one.
        let pipe = trace.inflight_bytes[row];
        assert!(pipe <= 2 * (sent - acked + 1), "row {row}: pipe {pipe}, outstanding {}", sent - acked);
        assert!(trace.cwnd_segments[row] >= 1.0 - 1e-9, "row {row}: cwnd {}", trace.cwnd_segments[row]);
        let ssthresh = trace.ssthresh_segments[row];
        assert!(ssthresh.is_nan() || ssthresh >= 1.0, "row {row}: {ssthresh}");
    }
}

/// Runs a transfer over a link with twenty outages: `up` milliseconds up, then `down` milliseconds down. If a sender
/// transmits in bursts or without congestion control into a queue of one packet, the transfer takes days, with a
/// timeout of two minutes for every few segments.
fn through_outages(tcp: &str, [up, down]: [u32; 2], loses: bool, bytes: u32, seed: u32, link: &str) -> RunResult {
    let mut changes = String::new();
    for round in 1..=20 {
        let end = round * (up + down);
        write!(changes, "{{ at = \"{} ms\", down = true }}, {{ at = \"{end} ms\", down = false }}, ", end - down)
            .unwrap();
    }
    run(&format!(
        r#"
        name = "outages"
        duration = "400 h"
        seed = {seed}
        record = {{ queue = "off", drops = true, acks = true, interval = "10 s" }}

        [[links]]
        between = ["a", "b"]
        rate = "5 Mbit/s"
        delay = "20 ms"
        {link}
        changes = [{changes}]
        outage = "{}"

        [[flows]]
        from = "a"
        to = "b"
        transfer = "{bytes} B"
        {tcp}
        "#,
        if loses { "lose" } else { "hold" }
    ))
}

/// Returns true if a transfer finished, or was aborted correctly, because the link dropped each copy of the last
/// segment. The profile `ns3` retransmits a segment six times, and all of these may be lost in outages.
fn finishes_or_loses_every_copy(result: &RunResult) -> bool {
    let flow = &result.summary.flows[0];
    let scenario = &result.summary.scenario;
    let tcp = scenario.expand().unwrap().flows[0].tcp.clone();
    let copies = match flow.failure {
        None => return flow.finish_s.is_some(),
        Some("data was not acknowledged") => tcp.retries,
        Some("the SYN was not answered") => tcp.syn_retries,
        Some(_) => return false,
    };
    // Duplicate ACKs may arrive forever, if a queue drops the head of each flight.
    let acks = &result.acks;
    let progress = (1..acks.snd_una.len()).rev().find(|at| acks.snd_una[*at] > acks.snd_una[at - 1]).unwrap_or(0);
    let heard = acks.time_s.get(progress).copied().unwrap_or(0.0);
    let mut lost: Vec<f64> = result.drops.time_s.iter().copied().filter(|at| *at > heard).collect();
    // Only the first packet of a flight that was lost as a unit counts: no timeout is shorter than 0.2 s.
    lost.dedup_by(|next, last| *next - *last < 0.2);
    lost.len() >= usize::from(copies)
}

#[test]
fn a_target_below_the_time_of_a_packet_can_take_every_copy() {
    // A packet takes 3.6 ms of the link, and the target of DualPI2 is 1 ms: eventually it drops the first packet after
    // each pause.
    let tcp = r#"tcp = { profile = "scps", congestion = "tahoe", delayed_ack = false, recovery = "reno", sack = false,
        timestamps = false, limited_transmit = false, nagle = false, prr = false, tlp = false, frto = false, eifel = false,
        dsack_undo = false, pacing = false, idle_restart = "off", mss = "2189 B", initial_window = 48,
        receive_buffer = "70048 B" }"#;
    let link = "queue = { limit = \"50 packets\", discipline = \"dualpi2\", target = \"1 ms\" }";
    let result = through_outages(tcp, [1179, 253], true, 1_350_614, 0, link);
    assert_eq!(result.summary.flows[0].failure, Some("data was not acknowledged"));
    assert!(finishes_or_loses_every_copy(&result), "{:?}", result.summary.flows[0]);
    check(&result);
}

/// A discipline that drops the last waiting packet when the transmitter becomes free.
#[test]
fn repair_packets_wait_for_the_transmitter() {
    let text = r#"
        [[links]]
        between = ["n0", "n2"]
        rate = { forward = "13947 kbit/s", backward = "28 kbit/s" }
        delay = "58347 us"
        queue = { limit = "0.1 bdp", discipline = "dualpi2", target = "24 ms" }
        header = "35 B"
        fec = { data = 6, repair = 3, flush = "48 ms", in_order = true }

        [defaults.tcp]
        profile = "linux"
        congestion = "tahoe"
        delayed_ack = false
        recovery = "reno"
        timestamps = false
        mss = "8536 B"
        initial_window = 3
        burst_limit = 3
        tlp = false
        frto = false

        [[flows]]
        reader = { rate = "30 kB/s" }
        from = "n2"
        to = "n0"
        start = "31 ms"
    "#;
    for seed in 0..20 {
        check(&run(&format!("seed = {seed}\n{HEAD}{text}")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_and_bytes_are_conserved_on_random_graphs(text in listed(), seed in any::<u32>()) {
        check(&run(&format!("{HEAD}seed = {seed}\n{text}")));
    }

    #[test]
    fn packets_and_bytes_are_conserved_on_generated_networks(text in generated(), seed in any::<u32>()) {
        check(&run(&format!("{HEAD}seed = {seed}\n{text}")));
    }

    #[test]
    fn a_transfer_finishes_in_spite_of_losses(
        tcp in tcp(), loss in 0.0..0.1_f64, back in 0.0..0.1_f64, bytes in 1_u32..200_000, seed in any::<u32>(),
        queue in 2_u32..50,
    ) {
        let result = run(&format!(r#"
            name = "reliable"
            duration = "30000 s"
            seed = {seed}
            record = {{ queue = "off", drops = true, acks = true }}

            [[links]]
            between = ["a", "b"]
            rate = "5 Mbit/s"
            delay = "20 ms"
            queue = "{queue} packets"
            loss = {{ forward = {loss}, backward = {back} }}

            [[flows]]
            from = "a"
            to = "b"
            transfer = "{bytes} B"
            {tcp}
        "#));
        prop_assert!(finishes_or_loses_every_copy(&result), "{:?}", result.summary.flows[0]);
        check(&result);
    }

    #[test]
    fn a_transfer_finishes_in_spite_of_outages(
        tcp in tcp(), up in 500_u32..5_000, down in 1_u32..2_000, loses in any::<bool>(), bytes in 1_u32..2_000_000,
        seed in any::<u32>(), discipline in discipline(), signals in signals(),
    ) {
        let link = format!("queue = {{ limit = \"50 packets\", discipline = {discipline} }}\n{signals}");
        let result = through_outages(&tcp, [up, down], loses, bytes, seed, &link);
        prop_assert!(finishes_or_loses_every_copy(&result), "{:?}", result.summary.flows[0]);
        check(&result);
    }
}

#[test]
fn a_sender_aborts_where_outages_take_every_copy() {
    // The last ACK arrives at 0.54 s, and copies are sent 1, 3, 7 … 63 s later: 3.54 s after a multiple of 4 s, of
    // which the link is up for the first half second. The seventh arrives when all outages are over.
    let tcp = |retries| {
        format!(
            "tcp = {{ profile = \"ns3\", retries = {retries}, congestion = \"newreno\", mss = \"5000 B\", initial_window = 39 }}"
        )
    };
    let gave_up = |retries| {
        let result = through_outages(&tcp(retries), [500, 3_500], true, 500_000, 0, "queue = \"50 packets\"");
        assert!(finishes_or_loses_every_copy(&result));
        result.summary.flows[0].failure.is_some()
    };
    assert!(gave_up(6) && !gave_up(7));
}
