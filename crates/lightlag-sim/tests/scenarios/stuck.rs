//! Transfers that once got stuck, or repeated the same packets forever. They were found among random scenarios, and are
//! stored unchanged.

/// Asserts that every flow of a scenario either finishes or fails, after at most a million events.
fn ended(text: &str) {
    let result = crate::text::run(text);
    for flow in &result.summary.flows {
        let ended = flow.finish_s.is_some() != flow.failure.is_some();
        assert!(ended || flow.sent_segments == 0, "{flow:#?}");
    }
    assert!(result.summary.events < 1_000_000, "{} events", result.summary.events);
}

#[test]
fn a_sender_that_wrongly_assumes_an_outage_relieves_a_small_queue() {
    // Every timeout was taken for an outage, the window stayed, and the queue dropped the same of each burst.
    let text = r#"
name = "soak"
duration = "480 h"
seed = 3853278379
record = { interval = "1 h", drops = true, queue = "off" }

[[links]]
between = ["n0", "n1"]
rate = "296 kbit/s"
delay = "377952 us"
queue = { limit = "624 packets", discipline = "codel", target = "34 ms", interval = "13 ms", ecn = false }
loss = { forward = 0.182, backward = 0.143 }

[[links]]
between = ["n1", "n2"]
rate = "28 kbit/s"
delay = "82 us"
queue = { discipline = "codel", target = "14 ms", interval = "82 ms", ecn = false }
header = "20 B"

[[flows]]
from = "n2"
to = "n1"
transfer = "90591 B"
tcp = { profile = "rfc", congestion = "westwood+", ecn = "off", recovery = "reno", prr = false, dsack_undo = false, prr_marks = false, window_scaling = true, limited_transmit = false, syn_data = true, idle_restart = "rfc5681", partial_acks = "slow_but_steady", delayed_ack = false, initial_window = 33, receive_buffer = "6284301 B", outage_after = 1 }
"#;
    ended(text);
}

#[test]
fn two_endpoints_that_wait_for_a_link_with_full_windows_resume() {
    // Each end's answers to probes lay at the edge of the other's window, and ended no outage.
    let text = r#"
name = "soak"
duration = "480 h"
seed = 2031243788
record = { interval = "1 h", drops = true, queue = "off" }

[[links]]
between = ["n0", "n1"]
rate = "4700 kbit/s"
delay = "554217 us"
queue = "16 packets"
loss = { forward = 0.121, backward = 0.17 }

[[links]]
between = ["n1", "n2"]
rate = "33341 kbit/s"
delay = "106 us"
queue = { limit = "1.8 bdp", discipline = "fq_codel", target = "26 ms", flows = 17, quantum = "2445 B", ecn = true }
loss = { forward = 0.012, backward = 0.094 }

[[links]]
between = ["n2", "n3"]
rate = "294 kbit/s"
delay = "7096 us"
queue = { limit = "5 packets", discipline = "fq_codel", target = "21 ms", flows = 14, quantum = "2123 B", ecn = false }

[[flows]]
from = "n0"
to = "n1"
traffic = { kind = "web", html = { distribution = "pareto", mean = "38 B", shape = 1.2, max = "760 B" }, object = { distribution = "empirical", values = ["139 B", "7 B"], weights = [1, 3] }, objects = 1, connections = 7, count = 2 }
tcp = { profile = "rfc", congestion = "tahoe", ecn = "classic", sack = false, prr = false, prr_marks = false, window_scaling = false, partial_segments = false, syn_data = false, rtt_samples = "timestamp", growth = "per_segment", delayed_ack = { segments = 14, timeout = "1 ms", quick = 10 }, initial_window = 2, receive_buffer = "155970 B", rto = { initial = "2675 ms", min = "195 ms", max = "34365 ms", variance_floor = "18 ms", variance_gain = "1/4" }, keep_alive = { idle = "692 ms", interval = "1912 ms", probes = 3 }, challenge_acks = { count = 10, every = "11 ms" }, rate_control = { rate = "1958 kbit/s" }, loss_assumption = "congestion" }

[[flows]]
from = "n0"
to = "n1"
start = "72 ms"
traffic = { kind = "web", html = { distribution = "pareto", mean = "17 B", shape = 1.2, max = "340 B" }, object = { distribution = "uniform", min = "1 B", max = "2140 B" }, objects = 14, http = "2", count = 2 }
tcp = { profile = "ns2-linux", congestion = { algorithm = "dctcp", slow_start = "hystart" }, ecn = "accecn", abe = false, recovery = "newreno", timestamps = true, tlp = false, dsack_undo = false, prr_marks = false, dsack = true, frto = true, pacing = false, window_scaling = false, limited_transmit = true, nagle = false, syn_data = true, idle_restart = "rfc2861", rtt_samples = "send_time", growth = { abc = 3 }, mss = "536 B", initial_window = 85, receive_buffer = { auto = { initial = "102 B", max = "2957504 B" } }, syn_retries = 3, retries = 3, scps = false, outage_after = 1 }
"#;
    ended(text);
}

#[test]
fn lost_repairs_do_not_delay_the_timeout() {
    // Each SNACK repaired the head again and restarted its timeout, which therefore never expired.
    let text = r#"
name = "soak"
duration = "480 h"
seed = 1219912725
record = { interval = "1 h", drops = true, queue = "off" }

[[links]]
between = ["n0", "n1"]
rate = { forward = "3075 kbit/s", backward = "20549 kbit/s" }
delay = "27 us"
queue = "2.7 bdp"
loss = { forward = 0.149, backward = 0.164 }
duplicate = 0.169

[[links]]
between = ["n1", "n2"]
rate = "476 kbit/s"
delay = "519 us"
queue = { limit = "2.6 bdp", discipline = "fq_codel", target = "50 ms", flows = 1, quantum = "2984 B", ecn = false }

[[links]]
between = ["n2", "n3"]
rate = "7714 kbit/s"
delay = "6250 us"
queue = { discipline = "codel", target = "7 ms", interval = "126 ms", ecn = false }
loss = { forward = 0.151, backward = 0.151 }
reorder = { probability = 0.223, delay = ["623 us", "774 us"] }
header = "7 B"

[[flows]]
from = "n3"
to = "n1"
start = "27 ms"
transfer = "1262 B"
tcp = { profile = "ns2-linux", congestion = "yeah", recovery = "rack", sack = true, prr = false, tlp = true, dsack_undo = false, dsack = false, frto = true, window_scaling = false, limited_transmit = true, partial_acks = "impatient", rtt_samples = "one_per_round", growth = "per_segment", initial_window = 2, receive_buffer = "1809 B" }

[[flows]]
from = "n2"
to = "n1"
transfer = "19420 B"
tcp = { profile = "rfc", congestion = "peach+", ect = "ect1", abe = true, prr = false, tlp = false, dsack_undo = false, eifel = false, frto = false, pacing = true, window_scaling = false, rtt_samples = "one_per_round", growth = { abc = 4 }, delayed_ack = true, mss = "1000 B", initial_window = 43, receive_buffer = "13383 B", scps = { snack = "long", record_size = "1423 B", report_corruption = true }, rate_control = { rate = "3685 kbit/s", bucket = "26855 B" } }

[[flows]]
from = "n1"
to = "n0"
traffic = { kind = "requests", response = { distribution = "exponential", mean = "1059 B" }, server_time = "30 ms", think = "1 ms", count = 20 }
tcp = { profile = "ns3", congestion = "westwood+", recovery = "newreno", sack = true, timestamps = true, prr = false, tlp = false, prr_marks = false, dsack = false, frto = true, pacing = true, limited_transmit = true, syn_data = true, idle_restart = "rfc2861", rtt_samples = "timestamp", initial_window = 6 }
"#;
    ended(text);
}

#[test]
fn an_ack_with_a_compressed_header_that_reports_corruption_has_its_tokens() {
    // The option of two bytes was not counted.
    let text = r#"
name = "soak"
duration = "480 h"
seed = 3995741710
record = { interval = "1 h", drops = true, queue = "off" }

[[links]]
between = ["n0", "n1"]
rate = "68 kbit/s"
delay = "4 us"
queue = "2.7 bdp"
loss = { at = ["60 ms", "60 ms", "1141 ms"] }
reorder = { probability = 0.179, delay = ["42 us", "137 us"] }

[[flows]]
from = "n0"
to = "n1"
transfer = "10642 B"
tcp = { profile = "ns3", congestion = { algorithm = "reno", increase = "fraction" }, ecn = "off", recovery = "rack", timestamps = true, tlp = false, dsack_undo = false, prr_marks = false, frto = false, pacing = true, window_scaling = true, nagle = false, partial_segments = false, idle_restart = "rfc2861", partial_acks = "slow_but_steady", rtt_samples = "one_per_round", growth = "per_ack", delayed_ack = true, mss = "1448 B", initial_window = 5, burst_limit = 7, receive_buffer = "838 B", keep_alive = { idle = "1741 ms", interval = "813 ms", probes = 3 }, time_wait = "5 ms", challenge_acks = { count = 2, every = "468 ms" }, scps = { snack = "off", snack_delay = "0 ms", report_corruption = true, compression = true, bets = { max_transmissions = 1, receive_timeout = "354 ms" } }, rate_control = { rate = "422 kbit/s", ack_rate = "269 kbit/s" } }
"#;
    ended(text);
}
