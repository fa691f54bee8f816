//! Valid scenarios: every form of the text, what topologies generate, and what `--set` changes.

use lightlag_core::params::Limit;
use lightlag_core::{Bytes, Duration, Instant, Probability, Rate};
use lightlag_net::loss::errors::BitErrors;
use lightlag_net::{
    Distribution, Dwell, GilbertElliott, Jitter, Loss, LossLaw, LossPlace, NodeId, Normal, Outage, Phase, QueueLimit,
    Uniform,
};
use lightlag_scenario::{LossModel, Network, Queue, QueueMode, Scenario, TraceMode, parse_json, parse_toml};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn scenario(text: &str) -> Scenario {
    parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"))
}

fn network(text: &str) -> Network {
    scenario(text).expand().unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"))
}

/// Returns a scenario with one flow over a link from a to b, which has these keys in addition to rate and delay.
fn link(keys: &str) -> String {
    format!(
        "duration = \"10 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"300 ms\"\n{keys}\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\n"
    )
}

fn names(network: &Network) -> Vec<&str> {
    network.links.iter().map(|link| link.name.as_str()).collect()
}

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

/// Two paths from `a` to `d`, of which the shorter one is down from 10 s to 20 s.
const TWO_WAYS: &str = r#"
duration = "30 s"
[[links]]
between = ["a", "b"]
rate = "1 Mbit/s"
delay = "1 ms"
[[links]]
between = ["b", "d"]
rate = "1 Mbit/s"
delay = "1 ms"
changes = [{ at = "10 s", down = true }, { at = "20 s", down = false }, { at = "30 s", down = true }]
[[links]]
between = ["a", "c"]
rate = "1 Mbit/s"
delay = "2 ms"
[[links]]
between = ["c", "d"]
rate = "1 Mbit/s"
delay = "2 ms"
[[flows]]
from = "a"
to = "d"
"#;

fn rerouted(routing: &str) -> Vec<(f64, Option<String>)> {
    let network = parse_toml(&format!("routing = {routing}\n{TWO_WAYS}"), &[]).unwrap().expand().unwrap();
    let way = |nodes: Vec<lightlag_net::NodeId>| {
        nodes.iter().map(|node| network.nodes[node.0 as usize].as_str()).collect::<String>()
    };
    network.rerouted().map(|rerouted| (rerouted.from.as_secs_f64(), rerouted.nodes.map(way))).collect()
}

#[test]
fn routes_follow_the_links_of_a_scenario_up_to_its_end() {
    let [over_b, over_c] = ["abd", "acd"].map(|way| Some(way.to_owned()));
    assert_eq!(rerouted("\"static\""), []);
    let expected = [(0.0, over_b.clone()), (10.0, over_c.clone()), (20.0, over_b.clone())];
    assert_eq!(rerouted("\"follow links\""), expected);
    let late = rerouted("{ kind = \"follow links\", convergence = \"2 s\" }");
    let expected = [(0.0, over_b.clone()), (10.0, None), (12.0, over_c), (22.0, over_b)];
    assert_eq!(late, expected, "b learns of it immediately, and sends back to a");
}

#[test]
fn an_omitted_key_has_a_default() {
    let scenario = scenario(&link(""));
    assert_eq!((scenario.name.as_str(), scenario.seed), ("scenario", 1));
    let line = &scenario.links[0].line;
    assert_eq!(line.forward.queue, Queue::default());
    assert_eq!(line.forward.loss, LossModel::default());
    assert_eq!(line.header.0, Bytes::ZERO);
    assert_eq!((scenario.flows[0].transfer, scenario.flows[0].start.fixed()), (None, Duration::ZERO));
    let record = scenario.record;
    assert_eq!((record.trace, record.queue, record.drops), (TraceMode::Change, QueueMode::Sampled, true));
    assert_eq!(record.interval, MS(100));
}

#[test]
fn a_link_has_two_directions() {
    let network = network(
        "duration = \"10 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nheader = \"7 B\"\n\
         rate = { forward = \"1.5 Mbit/s\", backward = \"5 kbit/s\" }\n\
         delay = { forward = \"10 ms\", backward = \"20 ms\" }\n\
         queue = { forward = \"64 kB\", backward = \"5 packets\" }\nloss = { backward = 0.25 }\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\n",
    );
    let [forward, backward] = network.links.as_slice() else { panic!("two directions") };
    assert_eq!((forward.name.as_str(), forward.from, forward.to), ("a->b", NodeId(0), NodeId(1)));
    assert_eq!((backward.name.as_str(), backward.from, backward.to), ("b->a", NodeId(1), NodeId(0)));
    assert_eq!((forward.rate.as_bps(), backward.rate.as_bps()), (1_500_000, 5_000));
    assert_eq!((forward.delay, backward.delay), (MS(10), MS(20)));
    assert_eq!((forward.queue, backward.queue), (QueueLimit::Bytes(64_000), QueueLimit::Packets(5)));
    assert_eq!((&forward.loss, &backward.loss), (&Loss::None, &Loss::Packet(probability(0.25))));
    assert_eq!((forward.header, backward.header), (Bytes(7), Bytes(7)));
}

#[test]
fn a_queue_is_packets_bytes_or_products() {
    for (queue, limit) in [
        ("1 packet", QueueLimit::Packets(1)),
        ("10000 packets", QueueLimit::Packets(10_000)),
        ("64 kB", QueueLimit::Bytes(64_000)),
        ("1.5 KiB", QueueLimit::Bytes(1_536)),
        // 10 Mbit/s × 600 ms = 750 kB
        ("1 bdp", QueueLimit::Bytes(750_000)),
        ("2.5 bdp", QueueLimit::Bytes(1_875_000)),
        ("0.1bdp", QueueLimit::Bytes(75_000)),
        // Never less than a full packet.
        ("0.0001 bdp", QueueLimit::Bytes(1_500)),
    ] {
        let network = network(&link(&format!("queue = \"{queue}\"")));
        assert_eq!(network.links[0].queue, limit, "{queue}");
    }
}

#[test]
fn the_product_takes_the_longest_round_trip_that_crosses_the_link() {
    let network = network(
        "duration = \"10 s\"\n\
         [[links]]\nbetween = [\"a\", \"r\"]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"1 bdp\"\n\
         [[links]]\nbetween = [\"r\", \"b\"]\nrate = \"8 Mbit/s\"\ndelay = \"40 ms\"\nqueue = \"1 bdp\"\n\
         [[links]]\nbetween = [\"r\", \"c\"]\nrate = \"8 Mbit/s\"\ndelay = \"90 ms\"\nqueue = \"1 bdp\"\n\
         [[links]]\nbetween = [\"r\", \"d\"]\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"1 bdp\"\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\n[[flows]]\nfrom = \"a\"\nto = \"c\"\n",
    );
    // 1 MB/s × 2·(10 + 90) ms on a-r, × 2·(10 + 40) on r-b, × 200 on r-c; nothing crosses r-d: × 2·5.
    let bytes = [200_000, 200_000, 100_000, 100_000, 200_000, 200_000, 10_000, 10_000];
    let queues: Vec<QueueLimit> = network.links.iter().map(|link| link.queue).collect();
    assert_eq!(queues, bytes.map(QueueLimit::Bytes));
}

/// Returns a channel that is good for 10 s and bad for 200 ms on average.
fn fading(good: f64, bad: f64) -> Loss {
    Loss::Bursts(GilbertElliott {
        dwell: Dwell::Time { good: Duration::from_secs(10), bad: Duration::from_millis(200) },
        good_loss: probability(good),
        bad_loss: probability(bad),
    })
}

#[test]
fn loss_is_a_rate_of_packets_or_bits_or_a_list_of_times() {
    let time = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    for (loss, model) in [
        ("0", Loss::None),
        ("5e-4", Loss::Packet(probability(5e-4))),
        ("1", Loss::Packet(probability(1.0))),
        ("{ packet_error_rate = 0.01 }", Loss::Packet(probability(0.01))),
        ("{ bit_error_rate = 1e-5 }", Loss::Bit(probability(1e-5))),
        ("{ bit_error_rate = 0 }", Loss::None),
        ("{ at = [\"2.9 s\", \"1 s\"] }", Loss::At(vec![time(1_000), time(2_900)])),
        ("{ rate = 0.01 }", Loss::Packet(probability(0.01))),
        ("{ packets = [1003, 1000, 1003] }", Loss::Numbered(vec![1000, 1003])),
        ("{ mean = 0.02, burst = 4 }", Loss::Bursts(GilbertElliott::from_bursts(probability(0.02), 4.0).unwrap())),
        ("{ mean = 0, burst = 4 }", Loss::None),
        ("{ good = { mean_time = \"10 s\" }, bad = { mean_time = \"200 ms\" } }", fading(0.0, 1.0)),
        (
            "{ good = { mean_time = \"10 s\", loss = 0.01 }, bad = { mean_time = \"200 ms\", loss = 0.5 } }",
            fading(0.01, 0.5),
        ),
    ] {
        let both = network(&link(&format!("loss = {loss}")));
        assert_eq!((&both.links[0].loss, &both.links[1].loss), (&model, &model), "{loss}");
        let one = network(&link(&format!("loss = {{ forward = {loss} }}")));
        assert_eq!((&one.links[0].loss, &one.links[1].loss), (&model, &Loss::None), "{loss}");
        let scenario = parse_toml(&link(&format!("loss = {loss}")), &[]).unwrap();
        assert_eq!(parse_json(&scenario.to_json().to_string(), &[]), Ok(scenario), "{loss}");
    }
}

#[test]
fn losses_may_name_one_direction_and_the_position_in_the_link() {
    use LossPlace::{AfterQueue, BeforeQueue};
    let some = || Loss::Packet(probability(0.01));
    let bursts = || Loss::Gso(probability(0.01));
    let cases = [
        ("{ rate = 0.01, direction = \"backward\" }", [(Loss::None, AfterQueue), (some(), AfterQueue)]),
        ("{ rate = 0.01, where = \"before queue\" }", [(some(), BeforeQueue), (some(), BeforeQueue)]),
        ("{ rate = 0.01, where = \"after queue\" }", [(some(), AfterQueue), (some(), AfterQueue)]),
        ("{ bursts = 0.01 }", [(bursts(), BeforeQueue), (bursts(), BeforeQueue)]),
        ("{ bursts = 0.01, where = \"after queue\" }", [(bursts(), AfterQueue), (bursts(), AfterQueue)]),
        (
            "{ packets = [7], where = \"before queue\", direction = \"forward\" }",
            [(Loss::Numbered(vec![7]), BeforeQueue), (Loss::None, AfterQueue)],
        ),
        (
            "{ forward = { packets = [7] }, backward = { rate = 0.01, where = \"before queue\" } }",
            [(Loss::Numbered(vec![7]), AfterQueue), (some(), BeforeQueue)],
        ),
    ];
    for (loss, expected) in cases {
        let network = network(&link(&format!("loss = {loss}")));
        let found = [0, 1].map(|at| (network.links[at].loss.clone(), network.links[at].loss_place));
        assert_eq!(found, expected, "{loss}");
    }
}

#[test]
fn changes_add_up_to_phases_and_losses() {
    let time = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let text = link(
        r#"changes = [
            { at = "0 s", delay = "3 ms" }, { at = "1 s", rate = "5 Mbit/s" }, { at = "2 s", down = true, loss = 0.5 },
            { at = "2 s", delay = "9 ms" }, { at = "3 s", loss = { mean = 0.1, burst = 2 } },
            { at = "4 s", down = false }, { at = "5 s", rate = "5 Mbit/s" },
        ]
        outage = { forward = "lose" }
        reorder = { backward = true }
        loss = 0.25"#,
    );
    let links = network(&text).links;
    let rate = links[0].rate;
    let slow = Rate::from_mbps(5);
    let phase = |ms, rate, delay, is_up| Phase {
        from: time(ms),
        rate,
        delay: Duration::from_millis(delay),
        is_up,
        loses: false,
    };
    // The change at 3 s is of the loss alone, the one at 5 s changes nothing.
    let phases = [
        phase(0, rate, 3, true),
        phase(1_000, slow, 3, true),
        phase(2_000, slow, 9, false),
        phase(4_000, slow, 9, true),
    ];
    let [there, back] = [0, 1].map(|at| links[at].timetable.as_ref().unwrap());
    assert_eq!((there.phases(), back.phases()), (&phases[..], &phases[..]));
    assert_eq!((there.outage, there.overtaking), (Outage::Lose, false));
    assert_eq!((back.outage, back.overtaking), (Outage::Hold, true));
    let some = |value| Loss::Packet(probability(value));
    let bursts = Loss::Bursts(GilbertElliott::from_bursts(probability(0.1), 2.0).unwrap());
    let losses = [(time(0), some(0.25)), (time(2_000), some(0.5)), (time(3_000), bursts)];
    assert_eq!(links[0].loss, Loss::Changing(losses.into()));
    let scenario = parse_toml(&text, &[]).unwrap();
    assert_eq!(parse_json(&scenario.to_json().to_string(), &[]), Ok(scenario));
}

#[test]
fn jitter_is_a_time_or_a_distribution() {
    let us = Duration::from_micros;
    let jitter = |distribution, most, correlation| {
        Some(Jitter { distribution, most: us(most), correlation: probability(correlation) })
    };
    let (uniform, normal) = (Distribution::Uniform(Uniform), Distribution::Normal(Normal { deviation: us(200) }));
    for (text, expected) in [
        ("\"500 us\"", jitter(uniform, 500, 0.0)),
        ("\"0 s\"", None),
        ("{ distribution = \"uniform\", max = \"500 us\", correlation = 0.5 }", jitter(uniform, 500, 0.5)),
        ("{ distribution = \"normal\", deviation = \"200 us\" }", jitter(normal, 600, 0.0)),
        (
            "{ distribution = \"normal\", deviation = \"200 us\", max = \"400 us\", correlation = 0.9 }",
            jitter(normal, 400, 0.9),
        ),
    ] {
        let text = link(&format!("jitter = {{ forward = {text} }}"));
        let links = network(&text).links;
        assert_eq!((links[0].jitter, links[1].jitter), (expected, None), "{text}");
        assert_eq!(links[0].timetable.is_some(), expected.is_some(), "{text}");
        let scenario = parse_toml(&text, &[]).unwrap();
        assert_eq!(parse_json(&scenario.to_json().to_string(), &[]), Ok(scenario), "{text}");
    }
}

#[test]
fn changes_of_nothing_leave_a_plain_link() {
    let rate = network(&link("")).links[0].rate;
    for changes in ["[]", &format!("[{{ at = \"1 s\", rate = \"{rate}\", down = false }}]"), "{ backward = [] }"] {
        let links = network(&link(&format!("changes = {changes}"))).links;
        assert!(links.iter().all(|link| link.timetable.is_none() && link.loss == Loss::None), "{changes}");
    }
    // A loss that changes needs no timetable: departures are still computed.
    let links = network(&link("changes = { backward = [{ at = \"1 s\", loss = 1 }] }")).links;
    assert_eq!((&links[0].loss, &links[1].timetable), (&Loss::None, &None));
    assert!(matches!(&links[1].loss, Loss::Changing(losses) if losses.len() == 2));
}

#[test]
fn a_drop_tail_queue_may_count_the_packet_in_service() {
    for (packets, limit) in [(100, 99), (1, 0)] {
        let queue = format!("{{ discipline = \"drop_tail\", limit = \"{packets} packets\", count_in_service = true }}");
        let network = network(&link(&format!("queue = {queue}")));
        assert_eq!(network.links[0].queue, QueueLimit::Packets(limit));
    }
}

#[test]
fn flows_are_called_after_their_nodes_and_numbered() {
    let flow = "[[flows]]\nfrom = \"a\"\nto = \"b\"\n";
    let text = link("") + flow + "[[flows]]\nname = \"a->b #2\"\nfrom = \"b\"\nto = \"a\"\n" + flow;
    let names: Vec<String> = network(&text).flows.into_iter().map(|flow| flow.name).collect();
    assert_eq!(names, ["a->b", "a->b #3", "a->b #2", "a->b #4"]);
}

#[test]
fn congestion_controls_of_the_defaults_take_turns() {
    let defaults = "defaults = { congestion = [\"cubic\", { algorithm = \"hybla\", count = \"acks\" }] }\n";
    let names = |text: &str| -> Vec<&'static str> {
        network(text).flows.iter().map(|flow| flow.tcp.congestion.name()).collect()
    };
    let flow = "[[flows]]\nfrom = \"a\"\nto = \"b\"\n";
    let listed = defaults.to_owned() + &link("") + flow + "congestion = \"bbr\"\n" + flow + flow;
    // The link's own flow is the first; the one that names its own does not take a turn.
    assert_eq!(names(&listed), ["cubic", "bbr", "hybla", "cubic"]);
    let generated = defaults.to_owned()
        + "duration = \"1 s\"\n[topology]\nkind = \"dumbbell\"\npairs = 3\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
    assert_eq!(names(&generated), ["cubic", "hybla", "cubic"]);
    assert_eq!(names(&listed.replace("congestion = [", "tcp = { congestion = \"bbr\" }, congestion = ["))[0], "cubic");
    let text = scenario(&generated).to_json().to_string();
    assert!(text.contains("\"congestion\":[\"cubic\",{"), "{text}");
}

#[test]
fn a_flow_overrides_the_defaults_key_by_key() {
    let text = "defaults = { tcp = { mss = \"1024 B\", congestion = \"hybla\", rto = { min = \"300 ms\" } } }\n"
        .to_owned()
        + &link("")
        + "[[flows]]\nfrom = \"a\"\nto = \"b\"\ntcp = { congestion = \"newreno\", rto = { max = \"90 s\" } }\n"
        + "[[flows]]\nfrom = \"a\"\nto = \"b\"\ncongestion = \"cubic\"\n";
    let flows = network(&text).flows;
    let congestion: Vec<&str> = flows.iter().map(|flow| flow.tcp.congestion.name()).collect();
    assert_eq!(congestion, ["hybla", "newreno", "cubic"]);
    assert!(flows.iter().all(|flow| flow.tcp.mss == 1024 && flow.tcp.rto.min == MS(300)));
    assert_eq!(flows[1].tcp.rto.max, Duration::from_secs(90));
}

#[test]
fn point_to_point_is_one_link() {
    let text = "duration = \"1 s\"\n[topology]\nkind = \"point-to-point\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n";
    let network = network(&format!("{text}flow = {{ count = 3, start = \"1 s\", stagger = \"10 ms\" }}"));
    assert_eq!(names(&network), ["client->server", "server->client"]);
    let starts: Vec<Instant> = network.flows.iter().map(|flow| flow.start).collect();
    assert_eq!(starts, [1_000, 1_010, 1_020].map(|ms| Instant::from_nanos(ms * 1_000_000)));
    assert_eq!(network.flows[2].name, "client->server #3");
}

#[test]
fn a_chain_is_a_row_of_routers() {
    let text = "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nhops = 3\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n";
    let network = network(text);
    assert_eq!(network.nodes, ["client", "router1", "router2", "server"]);
    let forward: Vec<&str> = names(&network).into_iter().step_by(2).collect();
    assert_eq!(forward, ["client->router1", "router1->router2", "router2->server"]);
    assert_eq!(network.routes.at_start().path(network.flows[0].from, network.flows[0].to).unwrap().len(), 3);
}

#[test]
fn a_star_sends_to_its_hub() {
    let text = "duration = \"1 s\"\n[topology]\nkind = \"star\"\nleaves = 3\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n";
    let network = network(text);
    assert_eq!(names(&network).into_iter().step_by(2).collect::<Vec<_>>(), ["leaf1->hub", "leaf2->hub", "leaf3->hub"]);
    assert_eq!(
        network.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(),
        ["leaf1->hub", "leaf2->hub", "leaf3->hub"]
    );
}

const DUMBBELL: &str = "duration = \"1 s\"\n[topology]\nkind = \"dumbbell\"\npairs = 2\nrate = \"10 Mbit/s\"\n\
                        delay = \"20 ms\"\nqueue = \"1 bdp\"\n";

#[test]
fn a_dumbbell_has_a_bottleneck_and_fast_edges() {
    let network = network(DUMBBELL);
    assert_eq!(
        names(&network).into_iter().step_by(2).collect::<Vec<_>>(),
        [
            "router-left->router-right",
            "client1->router-left",
            "router-right->server1",
            "client2->router-left",
            "router-right->server2"
        ]
    );
    let [bottleneck, _, access, ..] = network.links.as_slice() else { panic!("five links") };
    // The default edge: ten times the rate, 1 ms. 10 Mbit/s × 2·(20 + 1 + 1) ms = 55 kB.
    assert_eq!((access.rate, access.delay), (Rate::from_mbps(100), MS(1)));
    assert_eq!(bottleneck.queue, QueueLimit::Bytes(55_000));
    let ends: Vec<(&str, &str)> = network
        .flows
        .iter()
        .map(|flow| (&*network.nodes[flow.from.0 as usize], &*network.nodes[flow.to.0 as usize]))
        .collect();
    assert_eq!(ends, [("client1", "server1"), ("client2", "server2")]);
}

#[test]
fn the_edges_of_a_dumbbell_have_the_given_values() {
    let text = format!("{DUMBBELL}access = {{ delay = \"0 s\", queue = \"7 packets\" }}");
    let network = network(&text);
    assert_eq!(network.links[2].delay, Duration::ZERO);
    assert_eq!(network.links[2].rate, Rate::from_mbps(100));
    assert_eq!(network.links[2].queue, QueueLimit::Packets(7));
}

#[test]
fn listed_flows_replace_generated_ones_unless_both_are_requested() {
    let flow = "\n[[flows]]\nfrom = \"client1\"\nto = \"server2\"\n";
    assert_eq!(network(&(DUMBBELL.to_owned() + flow)).flows.len(), 1);
    assert_eq!(network(&(DUMBBELL.to_owned() + "flow = {}" + flow)).flows.len(), 3);
}

#[test]
fn links_may_join_a_generated_network() {
    let text = DUMBBELL.to_owned()
        + "[[links]]\nbetween = [\"server1\", \"archive\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
           [[flows]]\nfrom = \"client2\"\nto = \"archive\"\n";
    let network = network(&text);
    // Listed links come first: link i of the file is the directions 2i and 2i + 1.
    assert_eq!(network.links[0].name, "server1->archive");
    assert_eq!(network.routes.at_start().path(network.flows[0].from, network.flows[0].to).unwrap().len(), 4);
}

#[test]
fn flows_with_equal_settings_share_their_tcp() {
    let text = "duration = \"1 s\"\n[record]\nqueue = \"off\"\ntrace = \"off\"\n[topology]\nkind = \"dumbbell\"\npairs = 1000\n\
                rate = \"1 Gbit/s\"\ndelay = \"1 ms\"\nflow = { count = 3 }";
    let flows = network(text).flows;
    assert_eq!(flows.len(), 3000);
    assert!(flows.iter().all(|flow| std::sync::Arc::ptr_eq(&flow.tcp, &flows[0].tcp)));
}

#[test]
fn changes_take_dotted_paths_with_numbers() {
    let text = link("loss = 0.1") + "tcp = { congestion = \"cubic\", sack = false }\n";
    for (key, value, expected) in [
        ("flows.0.congestion", "hybla", "hybla"),
        ("flows[0].congestion", "\"hybla\"", "hybla"),
        ("flows.0.tcp.congestion", "newreno", "newreno"),
        ("defaults.tcp.congestion", "hybla", "cubic"),
    ] {
        let changed = parse_toml(&text, &[(key.to_owned(), value.to_owned())]).unwrap();
        let flow = &changed.expand().unwrap().flows[0];
        assert_eq!(flow.tcp.congestion.name(), expected, "{key}={value}");
        assert!(!flow.tcp.sack, "{key} leaves the rest");
    }
    let set = |key: &str, value: &str| parse_toml(&text, &[(key.to_owned(), value.to_owned())]).unwrap();
    assert_eq!(set("seed", "7").seed, 7);
    assert_eq!(set("duration", "20 s").duration, Duration::from_secs(20));
    assert_eq!(set("duration", "\"20 s\"").duration, Duration::from_secs(20));
    assert_eq!(set("name", "x").name, "x");
    assert!(!set("record.drops", "false").record.drops);
    assert_eq!(
        set("links.0.loss", "{ bit_error_rate = 1e-6 }").links[0].line.forward.loss,
        LossModel { law: LossLaw::Bit(BitErrors { bit_error_rate: probability(1e-6) }), place: LossPlace::AfterQueue }
    );
    assert_eq!(set("links.0.rate.backward", "1 Mbit/s").links[0].line.backward.rate, Rate::from_mbps(1));
    assert_eq!(set("defaults.tcp.rto.min", "1 s").expand().unwrap().flows[0].tcp.rto.min, Duration::from_secs(1));
}

#[test]
fn one_direction_can_be_changed_where_one_value_covers_both() {
    let changed = parse_toml(&link(""), &[("links.0.queue.forward".to_owned(), "9 packets".to_owned())]).unwrap();
    assert_eq!(changed.links[0].line.forward.queue.limit, Some(Limit::Packets(9)));
    assert_eq!(changed.links[0].line.backward.queue, Queue::default());
}

#[test]
fn later_changes_win() {
    let sets = [("seed".to_owned(), "7".to_owned()), ("seed".to_owned(), "8".to_owned())];
    assert_eq!(parse_toml(&link(""), &sets).unwrap().seed, 8);
}

#[test]
fn json_gives_the_same_scenario() {
    let text = link("queue = \"1 bdp\"\nloss = { at = [\"1 s\"] }") + "congestion = \"hybla\"\ntransfer = \"15 MiB\"\n";
    let toml = scenario(&text);
    let json = parse_json(
        r#"{
            "duration": "10 s", "topology": null,
            "links": [{ "between": ["a", "b"], "rate": "10 Mbit/s", "delay": "300 ms", "queue": "1 bdp",
                        "loss": { "at": ["1 s"] }, "header": null }],
            "flows": [{ "from": "a", "to": "b", "congestion": "hybla", "transfer": "15 MiB", "name": null }]
        }"#,
        &[],
    );
    assert_eq!(json.unwrap(), toml);
}

#[test]
fn the_largest_seed_survives() {
    let json = scenario(&link("")).to_json().to_string().replace("\"seed\":1", "\"seed\":9223372036854775807");
    let read = parse_json(&json, &[]).unwrap();
    assert_eq!(read.seed, i64::MAX as u64);
    assert_eq!(parse_json(&read.to_json().to_string(), &[]).unwrap(), read);
}

#[test]
fn serde_reads_only_valid_values() {
    let good = scenario(&link("loss = 0.5"));
    let json = good.to_json().to_string();
    assert_eq!(serde_json::from_str::<Scenario>(&json).unwrap(), good);
    let error = serde_json::from_str::<Scenario>(&json.replace("0.5", "1.5")).unwrap_err();
    assert!(error.to_string().contains("links[0].loss: 1.5 is not a probability"), "{error}");
}
