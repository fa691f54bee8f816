//! Routes that follow the state of links: flows move to another path and back, and packets in routing loops are
//! dropped.

use crate::text::run;
use lightlag_sim::RunResult;
use lightlag_sim::results::DropCause;

/// Runs flows on a network with two paths from `a` to `d`: over `b` in 20 ms, and over `c1` and `c2` in 60 ms. The
/// first path is down from 10 s to 20 s.
fn two_ways(routing: &str, duration: u32, flow: &str) -> RunResult {
    let link = |ends: &str, ms: u32, more: &str| {
        format!(
            "[[links]]\nbetween = [{ends}]\nrate = \"8 Mbit/s\"\ndelay = \"{ms} ms\"\nqueue = \"50 packets\"\n{more}\n"
        )
    };
    let outage = "outage = \"lose\"\nchanges = [{ at = \"10 s\", down = true }, { at = \"20 s\", down = false }]";
    let links = [
        link("\"client\", \"a\"", 1, ""),
        link("\"a\", \"b\"", 10, ""),
        link("\"b\", \"d\"", 10, outage),
        link("\"a\", \"c1\"", 20, ""),
        link("\"c1\", \"c2\"", 20, ""),
        link("\"c2\", \"d\"", 20, ""),
        link("\"d\", \"server\"", 1, ""),
    ];
    run(&format!(
        "duration = \"{duration} s\"\nrouting = {routing}\nrecord = {{ trace = \"off\", queue = \"off\", drops = true }}\n{}\n{flow}",
        links.concat()
    ))
}

const TCP: &str = "[[flows]]\nfrom = \"client\"\nto = \"server\"\n";
/// A flow with 972 B of payload every 10 ms, or 0.8 Mbit/s with headers.
const UDP: &str = "[[flows]]\nfrom = \"client\"\nto = \"server\"\ntransport = \"udp\"\n\
                   traffic = { kind = \"constant\", rate = \"777.6 kbit/s\", size = \"972 B\" }\n";
const FOLLOW: &str = "\"follow links\"";

fn carried(result: &RunResult, link: &str) -> u64 {
    result.summary.links.iter().find(|summary| summary.name == link).unwrap().carried_bytes
}

fn drops(result: &RunResult, cause: DropCause) -> usize {
    result.drops.cause.iter().filter(|dropped| **dropped == cause).count()
}

#[test]
fn a_flow_moves_to_the_other_path_and_back() {
    // Bytes on both ways up to 10 s, 20 s and 30 s.
    let ways = [10, 20, 30].map(|end| {
        let result = two_ways(FOLLOW, end, TCP);
        [carried(&result, "b->d"), carried(&result, "c2->d")]
    });
    let [[first, none], [held, moved], [back, stayed]] = ways;
    assert!(first > 8_000_000 && none == 0, "{ways:?}");
    // 8 Mbit/s for 10 s are 10 MB.
    assert!(moved > 7_000_000, "{ways:?}");
    assert_eq!(held, first, "nothing is sent on a link that is down, whatever was in transit");
    assert!(back - held > 7_000_000, "{ways:?}");
    // Data in transit over 60 ms when the first link came up: a bandwidth-delay product and a queue.
    assert!(stayed - moved < 300_000, "{ways:?}");
}

#[test]
fn datagrams_move_without_a_loss_except_on_the_link() {
    let result = two_ways(FOLLOW, 30, UDP);
    let datagrams = result.summary.flows[0].datagrams.as_deref().unwrap();
    // At 10 s one may be in the transmitter of the link; those that have left it arrive.
    assert!(datagrams.lost <= 1, "{datagrams:?}");
    let expected = 1_000 * 1_000;
    for link in ["a->c1", "c1->c2", "c2->d"] {
        assert!(carried(&result, link).abs_diff(expected) <= 5_000, "{link}: {}", carried(&result, link));
    }
}

#[test]
fn static_routes_lose_what_they_send_into_the_outage() {
    let result = two_ways("\"static\"", 30, UDP);
    let datagrams = result.summary.flows[0].datagrams.as_deref().unwrap();
    assert!(datagrams.lost.abs_diff(1_000) <= 2, "{datagrams:?}");
    assert_eq!((carried(&result, "c2->d"), result.summary.expired_packets), (0, 0));
}

#[test]
fn packets_in_a_loop_end_with_their_ttl() {
    // For 500 ms b sends back to a what a still sends to b: 50 datagrams.
    let result = two_ways("{ kind = \"follow links\", convergence = \"500 ms\", ttl = 20 }", 30, UDP);
    let expired = drops(&result, DropCause::Ttl);
    assert_eq!(expired as u64, result.summary.expired_packets);
    // A packet crosses 20 links, two of them before the loop; in the last 180 ms of the loop some leave it over c1.
    assert!((30..=50).contains(&expired), "{expired}");
    let datagrams = result.summary.flows[0].datagrams.as_deref().unwrap();
    assert_eq!(datagrams.lost as usize, expired + drops(&result, DropCause::Error));
    let links: Vec<&str> = result.summary.links.iter().map(|link| link.name.as_str()).collect();
    let link_of = |row: usize| links[result.drops.link[row] as usize];
    let of_ttl = (0..result.drops.rows()).filter(|row| result.drops.cause[*row] == DropCause::Ttl);
    let (in_loop, later): (Vec<usize>, Vec<usize>) = of_ttl.clone().partition(|row| link_of(*row) == "a->b");
    // The second link of a packet, the fourth, and the 20th: in the loop from 10.011 s on, they end 181 ms later at the
    // earliest, one each 10 ms up to the end of the loop.
    assert!((30..=33).contains(&in_loop.len()), "{in_loop:?}");
    // Those that leave the loop with few links left end on the other way.
    assert!(later.iter().all(|row| ["a->c1", "c1->c2", "c2->d"].contains(&link_of(*row))), "{later:?}");
    // 500 ms after 10 s, and the propagation of the path: then it is over.
    let times: Vec<f64> = of_ttl.map(|row| result.drops.time_s[row]).collect();
    assert!(times.iter().all(|time| (10.0..10.7).contains(time)), "{times:?}");
}

#[test]
fn a_higher_ttl_lets_packets_wait_for_the_end_of_the_loop() {
    // 255 links of 10 ms take 2.5 s: longer than the loop lasts.
    let result = two_ways("{ kind = \"follow links\", convergence = \"500 ms\", ttl = 255 }", 30, UDP);
    assert_eq!(result.summary.expired_packets, 0);
    let datagrams = result.summary.flows[0].datagrams.as_deref().unwrap();
    assert!(datagrams.lost <= 1, "{datagrams:?}");
}

#[test]
fn tcp_and_its_acks_survive_a_loop() {
    let result =
        two_ways("{ kind = \"follow links\", convergence = \"300 ms\" }", 30, &format!("{TCP}transfer = \"15 MB\"\n"));
    let flow = &result.summary.flows[0];
    assert_eq!(flow.delivered_bytes, 15_000_000);
    assert!(flow.finish_s.is_some());
}

#[test]
fn a_run_with_epochs_has_the_same_hash_each_time() {
    let [first, second] = [(); 2].map(|()| two_ways(FOLLOW, 25, TCP).summary.result_hash);
    assert_eq!(first, second);
}

#[test]
fn links_that_do_not_change_leave_no_epoch_and_no_difference() {
    let text = |routing: &str| {
        format!(
            "duration = \"5 s\"\n{routing}\n[topology]\nkind = \"dumbbell\"\npairs = 2\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n"
        )
    };
    let (fixed, following) = (run(&text("")), run(&text("routing = \"follow links\"")));
    assert_eq!(fixed.summary.result_hash, following.summary.result_hash);
}
