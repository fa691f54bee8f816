//! Chains of nodes on a medium: the routes that are found, and the throughput, compared with closed forms and ns-3.37.
//!
//! The values of ns-3 are in `benchmarks/simulators/ns3/air.json`; `docs/simulators-air.md` compares all of them.

use crate::text::run;
use lightlag_sim::RunResult;
use std::fmt::Write;

const NS3_AODV: &str =
    "protocol = \"aodv\", link_break_on = \"any\", drop_returning = true, increment_on_expiry = false";

/// Runs a flow from the first to the last node of a chain. The nodes are `gap` metres apart; `medium` and `flow` are
/// further keys.
fn chain(hops: u32, gap: f64, seed: u64, seconds: u32, medium: &str, flow: &str) -> RunResult {
    let mut text = format!("seed = {seed}\nduration = \"{seconds} s\"\n[[media]]\n{medium}\n");
    for node in 0..=hops {
        let x = f64::from(node) * gap;
        write!(text, "[[nodes]]\nname = \"n{node}\"\nat = [\"{x} m\", \"0 m\", \"0 m\"]\n").unwrap();
    }
    write!(text, "[[flows]]\nfrom = \"n0\"\nto = \"n{hops}\"\n{flow}\n").unwrap();
    run(&text)
}

fn udp(megabits: f64, start: u32) -> String {
    format!(
        "start = \"{start} s\"\ntransport = \"udp\"\ntraffic = {{ kind = \"constant\", rate = \"{megabits} Mbit/s\", \
         size = \"1472 B\" }}"
    )
}

fn megabits(result: &RunResult) -> f64 {
    result.summary.flows[0].goodput_bps / 1e6
}

fn sum(result: &RunResult, counter: impl Fn(&lightlag_sim::results::InterfaceSummary) -> u64) -> u64 {
    result.summary.interfaces.iter().map(counter).sum()
}

/// Returns the total waiting time of AODV's expanding-ring search until a ring reaches `hops`, and the number of
/// requests sent. A ring that fails takes 80 ms for each hop of its TTL and for two more (RFC 3561 §6.4).
fn rings(hops: u32) -> (f64, u64) {
    let (mut wait, mut requests) = (0.0, 0);
    for ttl in [1, 3, 5, 7, 35] {
        requests += u64::from(hops.min(ttl));
        if ttl >= hops {
            break;
        }
        wait += 0.08 * f64::from(ttl + 2);
    }
    (wait, requests)
}

#[test]
fn the_first_packet_over_aodv_waits_for_the_rings() {
    const SEEDS: u64 = 60;
    let medium = format!("routing = {{ {NS3_AODV}, hello = \"off\" }}");
    let flow = "start = \"2 s\"\ntransport = \"udp\"\ntransfer = \"10 B\"\ntraffic = { kind = \"constant\", rate = \"1 Mbit/s\", \
                size = \"10 B\" }";
    for hops in 1..=8 {
        let (wait, requests) = rings(hops);
        let mut total = 0.0;
        for seed in 0..SEEDS {
            let result = chain(hops, 40.0, seed, 6, &medium, flow);
            let datagrams = result.summary.flows[0].datagrams.as_ref().unwrap();
            total += datagrams.mean_delay_s.unwrap_or_else(|| panic!("{hops} hops, seed {seed}: nothing arrived"));
            let sent = sum(&result, |radio| radio.route_requests);
            let replies = sum(&result, |radio| radio.routing_packets) - sent;
            assert_eq!((sent, replies), (requests, u64::from(hops)), "{hops} hops, seed {seed}");
        }
        let mean = total / SEEDS as f64;
        // A request waits for U{0..10} ms at each hop; the packet itself takes 0.1 ms per hop.
        let expected = wait + (0.0052 + 0.0001) * f64::from(hops);
        println!("{hops} hops: {mean:.4} s, closed form {expected:.4} s");
        assert!((mean - expected).abs() < 0.005, "{hops} hops: {mean} s beside {expected} s");
    }
}

#[test]
fn below_its_capacity_a_chain_over_aodv_carries_what_it_does_over_static_routes() {
    for routing in ["\"static\"".to_owned(), format!("{{ {NS3_AODV} }}")] {
        let result = chain(3, 40.0, 1, 21, &format!("routing = {routing}"), &udp(1.0, 1));
        assert!(megabits(&result) > 0.95, "{routing}: {}", megabits(&result));
    }
}

/// Broadcasts at 6 Mbit/s reach 95 m, but data at 24 Mbit/s reaches only 46 m. A route of one hop over 80 m therefore
/// carries no data.
#[test]
fn in_the_grey_zone_nothing_arrives_unless_weak_neighbours_are_ignored() {
    let result = |routing: &str| {
        chain(2, 40.0, 1, 11, &format!("detection = \"-101 dBm\"\nrouting = {{ {routing} }}"), &udp(1.0, 1))
    };
    assert_eq!(megabits(&result(NS3_AODV)), 0.0);
    let cured = megabits(&result(&format!("{NS3_AODV}, min_snr = \"14 dB\"")));
    assert!(cured > 0.97, "{cured}");
}

/// The expected values are from ten seeds of ns-3.37 with `ns3-air-chain --algorithm=TcpBbr --hops=1 --seconds=10
/// --aggregate=0 --arp=0 --preamble-dbm=-101`. With an ACK for each segment it reaches 12.91 Mbit/s (12.87 to 12.96).
/// With an ACK for every second segment the median is 2.34 Mbit/s (1.02 to 11.68, because the time of the decline is
/// random). The tolerances are 3 %, and a factor of 2, which is less than the spread of these seeds.
#[test]
fn with_delayed_acks_bbr_of_ns_3_starves_over_one_clean_hop_and_ours_does_not() {
    let medium = "detection = \"-101 dBm\"\nrouting = \"static\"";
    let goodputs = |variant: &str, delayed: bool| {
        let delayed = if delayed { "" } else { ", delayed_ack = false" };
        let flow = format!(
            "start = \"1 s\"\ntcp = {{ profile = \"ns3\", mss = \"1448 B\", congestion = {{ algorithm = \"bbr\", \
             variant = \"{variant}\" }}{delayed} }}"
        );
        let mut found: Vec<f64> = (1..=10).map(|seed| megabits(&chain(1, 40.0, seed, 11, medium, &flow))).collect();
        found.sort_by(f64::total_cmp);
        println!("{variant}{delayed}: {found:.2?}");
        found
    };
    let median = |found: &[f64]| f64::midpoint(found[4], found[5]);
    let each = median(&goodputs("ns3", false));
    assert!((each / 12.91 - 1.0).abs() < 0.03, "{each}");
    let second = median(&goodputs("ns3", true));
    assert!((2.34 / 2.0..2.34 * 2.0).contains(&second), "{second}");
    assert!(median(&goodputs("linux", true)) > 14.0);
}

/// The values are means of eight seeds over 10 s, with 20 Mbit/s offered and without block acknowledgements.
#[test]
fn saturated_chains_carry_what_they_do_in_ns_3() {
    const SEEDS: u64 = 8;
    for (detection, hops, theirs) in
        [(-82, 1, 17.044), (-82, 2, 8.340), (-82, 3, 3.221), (-101, 2, 8.307), (-101, 3, 5.069), (-101, 4, 3.588)]
    {
        let medium = format!("detection = \"{detection} dBm\"\nrouting = \"static\"");
        let total: f64 = (0..SEEDS).map(|seed| megabits(&chain(hops, 40.0, seed, 11, &medium, &udp(20.0, 1)))).sum();
        let mean = total / SEEDS as f64;
        println!("{detection} dBm, {hops} hops: {mean:.3} beside {theirs}");
        assert!((mean / theirs - 1.0).abs() < 0.03, "{detection} dBm, {hops} hops: {mean} beside {theirs}");
        // No better than one of the nodes that hear one another at a time.
        assert!(mean < 17.3 / f64::from(hops) * 1.02, "{hops} hops: {mean}");
    }
}

/// Li et al. 2001: a source that offers more than the chain can carry gets less throughput than one that offers just as
/// much as the chain can carry.
#[test]
fn a_long_chain_carries_most_below_its_saturation() {
    let goodput =
        |offered| megabits(&chain(8, 40.0, 1, 21, "detection = \"-101 dBm\"\nrouting = \"static\"", &udp(offered, 1)));
    let greedy = goodput(20.0);
    let best = [1.5, 2.0, 2.5, 3.0].into_iter().map(goodput).fold(0.0, f64::max);
    println!("greedy {greedy:.3}, best {best:.3} Mbit/s");
    assert!(best > 1.15 * greedy, "{best} beside {greedy}");
    assert!(greedy < 17.3 / 5.0);
}

/// Runs a grid of nodes 40 m apart, in which a node in one corner sends a datagram each second to the opposite corner.
fn grid(side: u32, routing: &str, from: u32, seconds: u32) -> RunResult {
    let mut text = format!("duration = \"{seconds} s\"\n[[media]]\nrouting = {routing:?}\n");
    for (x, y) in (0..side).flat_map(|x| (0..side).map(move |y| (x, y))) {
        write!(text, "[[nodes]]\nname = \"n{x}{y}\"\nat = [\"{} m\", \"{} m\", \"0 m\"]\n", 40 * x, 40 * y).unwrap();
    }
    write!(
        text,
        "[[flows]]\nfrom = \"n00\"\nto = \"n{0}{0}\"\nstart = \"{from} s\"\ntransport = \"udp\"\n\
         traffic = {{ kind = \"constant\", rate = \"8 kbit/s\", size = \"1000 B\" }}\n",
        side - 1
    )
    .unwrap();
    run(&text)
}

/// OLSR has routes after two HELLO and two TC intervals, 14 s. DSDV has routes after two full dumps and a settling
/// time, 35 s.
#[test]
fn proactive_protocols_have_routes_in_time() {
    for (routing, settled) in [("olsr", 14), ("dsdv", 35)] {
        for side in [3, 4] {
            let result = grid(side, routing, settled, settled + 60);
            let datagrams = result.summary.flows[0].datagrams.as_ref().unwrap();
            assert!(datagrams.received >= 58, "{routing}, {side}×{side}: {} of 60", datagrams.received);
            let shortest = 2 * (side - 1);
            assert_eq!(result.paths.hops.iter().min(), Some(&shortest), "{routing}, {side}×{side}");
        }
    }
}

/// With delayed ACKs the BBR of ns-3.37 stays at a tenth of NewReno's throughput; ours does not, with or without
/// delayed ACKs.
#[test]
fn bbr_fills_one_clean_hop_with_both_policies_of_acks() {
    for delayed in ["true", "false"] {
        let goodput = |congestion: &str| {
            let flow = format!(
                "tcp = {{ profile = \"ns3\", mss = \"1448 B\", congestion = {congestion:?}, delayed_ack = {delayed} }}"
            );
            megabits(&chain(1, 40.0, 1, 20, "routing = \"static\"", &flow))
        };
        let (bbr, newreno) = (goodput("bbr"), goodput("newreno"));
        println!("delayed ACKs {delayed}: BBR {bbr:.2}, NewReno {newreno:.2} Mbit/s");
        assert!(bbr > 0.8 * newreno, "delayed ACKs {delayed}: {bbr} beside {newreno}");
    }
}
