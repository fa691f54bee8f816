//! SCPS-TP over a GEO path, compared with closed forms.

use crate::text;
use lightlag_sim::RunResult;
use lightlag_sim::results::FlowSummary;

/// Runs `flows` transfers of 2 MB over 1.5 Mbit/s and a one-way delay of 260 ms, in packets of 552 bytes. `back` is the
/// rate of the return path.
fn geo(link: &str, back: &str, tcp: &str, flows: u32) -> RunResult {
    let flow = "[[flows]]\nfrom = \"ground\"\nto = \"sat\"\ntransfer = \"2 MB\"\n".repeat(flows as usize);
    text::run(&format!(
        r#"
        name = "geo"
        duration = "900 s"

        [defaults.tcp]
        profile = "scps"
        {tcp}

        [[links]]
        between = ["ground", "sat"]
        rate = {{ forward = "1.5 Mbit/s", backward = "{back}" }}
        delay = "260 ms"
        queue = "200 packets"
        {link}

        {flow}
        "#
    ))
}

fn first(result: &RunResult) -> &FlowSummary {
    &result.summary.flows[0]
}

/// Returns the minimum time of a transfer of 2 MB at this rate in seconds: a handshake, 3,907 packets, and the
/// propagation delay of the last one.
fn least(rate: f64) -> f64 {
    0.52 + 2e6 / 512.0 * 552.0 * 8.0 / rate + 0.26
}

const RATED: &str = "congestion = \"none\"\nrate_control = { rate = \"1.425 Mbit/s\" }\nack_interval = \"69 ms\"";

#[test]
fn rate_control_alone_fills_the_configured_rate() {
    let result = geo("", "1.5 Mbit/s", RATED, 1);
    let finish = first(&result).finish_s.unwrap();
    // 64 KiB until the first ACK, which arrives 0.52 s after the first packet and the interval: about 0.25 s of
    // standstill.
    let least = least(1.425e6);
    assert!((least..least + 0.35).contains(&finish), "{finish}, at least {least}");
    assert_eq!((first(&result).retransmitted_segments, first(&result).timeouts), (0, 0));
}

#[test]
fn clocked_acks_leave_a_thousandth_of_the_rate_for_the_return_path() {
    // 40 bytes each 100 ms are 3.2 kbit/s; 4 kbit/s carry them, and the data does not notice. ACKs of every second
    // segment would take 54 kbit/s.
    let tcp = "congestion = \"none\"\nrate_control = { rate = \"1.425 Mbit/s\" }\nack_interval = \"100 ms\"";
    let narrow = first(&geo("", "4 kbit/s", tcp, 1)).finish_s.unwrap();
    assert!(narrow < least(1.425e6) + 0.7, "{narrow}");
    let tcp = "scps = false\nack_interval = \"0 s\"\ncongestion = \"newreno\"\nsack = true";
    let clocked = first(&geo("", "4 kbit/s", tcp, 1)).finish_s.unwrap();
    assert!(clocked > 2.0 * narrow, "{clocked} {narrow}");
}

#[test]
fn corruption_costs_the_lost_data_and_congestion_control_much_more() {
    let link = "loss = { forward = 0.01, backward = 0.0 }";
    let result = geo(link, "1.5 Mbit/s", &format!("{RATED}\nloss_assumption = \"corruption\""), 1);
    let finish = first(&result).finish_s.unwrap();
    // A hundredth is retransmitted; the window of 300 kB is 1.7 s at this rate, and a lost repair, or the last
    // segments, cost round trips.
    assert!(finish < 1.02 * least(1.425e6) + 4.0, "{finish}");
    let again = first(&result).retransmitted_segments as f64 / 3_907.0;
    assert!((0.007..0.016).contains(&again), "{again}: a hundredth and nothing twice");
    let halved = geo(link, "1.5 Mbit/s", "congestion = \"newreno\"\nloss_assumption = \"congestion\"", 1);
    assert!(first(&halved).finish_s.is_none_or(|late| late > 3.0 * finish), "{:?}", first(&halved).finish_s);
}

#[test]
fn the_option_of_the_receiver_reports_the_cause() {
    let link = "loss = { forward = 0.01, backward = 0.0 }";
    let run = |report: bool| {
        let tcp = format!(
            "congestion = \"newreno\"\nloss_assumption = \"congestion\"\nscps = {{ report_corruption = {report} }}"
        );
        first(&geo(link, "1.5 Mbit/s", &tcp, 1)).finish_s.unwrap_or(900.0)
    };
    let (silent, told) = (run(false), run(true));
    assert!(silent > 2.0 * told, "{silent} without, {told} with the option");
}

#[test]
fn flows_of_a_node_share_its_bucket() {
    let result = geo("", "1.5 Mbit/s", RATED, 3);
    let finish = result.summary.flows.iter().map(|flow| flow.finish_s.unwrap());
    let (first, last) = finish.fold((f64::INFINITY, 0.0_f64), |(low, high), time| (low.min(time), high.max(time)));
    // Three times the packets at one rate: nothing is lost, and none is much earlier than the others.
    assert!((3.0 * (least(1.425e6) - 0.78)..3.0 * least(1.425e6)).contains(&last), "{last}");
    assert!(first > 0.9 * last, "{first} {last}");
    assert!(result.summary.flows.iter().all(|flow| flow.retransmitted_segments == 0));
}

#[test]
fn vegas_of_the_profile_fills_a_path_without_errors() {
    let result = geo("", "1.5 Mbit/s", "", 1);
    let flow = first(&result);
    // Vegas doubles its window every second round: from 1 to the 200 segments of the path in 15 rounds of 0.62 s.
    let start = 15.0 * 0.62;
    assert!(flow.finish_s.unwrap() < least(1.5e6) + 1.3 * start, "{:?}", flow.finish_s);
    assert_eq!(flow.timeouts, 0);
}

/// A bit error rate that damages one in a hundred packets of 552 bytes.
const ERRORS: &str = "loss = { forward = { bit_error_rate = 2.276e-6 }, backward = 0.0 }";

fn holes(flow: &FlowSummary) -> lightlag_sim::results::HoleSummary {
    *flow.holes.as_deref().expect("both ends offer BETS")
}

#[test]
fn only_unrepaired_data_is_missing() {
    let tcp = format!("{RATED}\nloss_assumption = \"corruption\"\nscps = {{ bets = {{ max_transmissions = 1 }} }}");
    let result = geo(ERRORS, "1.5 Mbit/s", &tcp, 1);
    let flow = first(&result);
    assert_eq!(flow.delivered_bytes + holes(flow).bytes, 2_000_000, "sent is delivered and holes, to the byte");
    assert_eq!((flow.retransmitted_segments, flow.timeouts), (0, 0));
    // 99 % of such runs lose 39 ± 16 of 3,907 segments.
    let lost = holes(flow).bytes as f64 / 512.0;
    assert!((23.0..=55.0).contains(&lost), "{lost}");
    assert_eq!(result.summary.links[0].dropped_error as f64, lost.ceil());
    // It takes no longer than a stream without errors, but for the last hole: no standstill.
    let finish = flow.finish_s.unwrap();
    let least = least(1.425e6);
    assert!((least..least + 0.35 + 1.05).contains(&finish), "{finish}, at least {least}");
    let goodput = flow.delivered_bytes as f64 * 8.0 / (finish - flow.start_s);
    assert!((flow.goodput_bps - goodput).abs() < 1.0, "delivered bytes count, holes do not");
}

#[test]
fn one_repair_leaves_the_square_of_the_losses() {
    // At 0.4 Mbit/s a packet takes 11 ms: the bit vector covers 1.8 s after the first hole, so that each hole is
    // reported as soon as it is noticed. Its repair takes a round trip and an ACK interval, 0.6 s.
    let bets = "scps = { snack = \"long\", bets = { max_transmissions = 2, receive_timeout = \"1.6 s\" } }";
    let tcp = format!("{RATED}\nloss_assumption = \"corruption\"\n{bets}").replace("1.425", "0.4");
    let result = geo(&ERRORS.replace("2.276e-6", "2.386e-5"), "1.5 Mbit/s", &tcp, 1);
    let flow = first(&result);
    // A tenth is lost: 39 ± 16 of 3,907 segments twice.
    let lost = holes(flow).bytes as f64 / 512.0;
    assert!((23.0..=55.0).contains(&lost), "{lost}");
    assert_eq!(flow.delivered_bytes + holes(flow).bytes, 2_000_000);
    let finish = flow.finish_s.unwrap();
    assert!(finish < 1.12 * least(0.4e6) + 3.0, "{finish}");
}

#[test]
fn a_flow_without_partial_reliability_has_no_holes() {
    let result = geo(ERRORS, "1.5 Mbit/s", &format!("{RATED}\nloss_assumption = \"corruption\""), 1);
    assert!(first(&result).holes.is_none());
    assert_eq!(first(&result).delivered_bytes, 2_000_000);
    let json = serde_json::to_string(&result.summary.flows).unwrap();
    assert!(!json.contains("holes"), "{json}");
}

#[test]
fn a_slow_reader_passes_holes() {
    let tcp = format!("{RATED}\nloss_assumption = \"corruption\"\nscps = {{ bets = {{ max_transmissions = 1 }} }}");
    let text = format!(
        "duration = \"900 s\"\n[defaults.tcp]\nprofile = \"scps\"\n{tcp}\n[[links]]\nbetween = [\"ground\", \"sat\"]\n\
         rate = \"1.5 Mbit/s\"\ndelay = \"260 ms\"\n{ERRORS}\n[[flows]]\nfrom = \"ground\"\nto = \"sat\"\n\
         transfer = \"2 MB\"\nreader = {{ rate = \"100 kB/s\" }}\n"
    );
    let result = text::run(&text);
    let flow = first(&result);
    assert_eq!(flow.delivered_bytes + holes(flow).bytes, 2_000_000);
    // 100 kB/s: all but the last buffer of 300 kB was read when the last byte arrived.
    let finish = flow.finish_s.unwrap();
    assert!((16.5..21.5).contains(&finish), "{finish}");
}

#[test]
fn reports_pass_on_to_holes_that_can_still_be_filled() {
    // The default timeout of 1.05 s leaves time for one repair: a tenth is lost, 39 ± 16 of 3,907 segments twice. An
    // ACK reports six holes; some 35 are open at a time, and those that will be skipped would fill the report.
    for form in ["short", "long"] {
        let bets = format!("scps = {{ snack = \"{form}\", bets = true }}");
        let tcp = format!("{RATED}\nloss_assumption = \"corruption\"\n{bets}");
        let result = geo(&ERRORS.replace("2.276e-6", "2.386e-5"), "1.5 Mbit/s", &tcp, 1);
        let flow = first(&result);
        let lost = holes(flow).bytes as f64 / 512.0;
        assert!((23.0..=55.0).contains(&lost), "{form}: {lost}");
        assert_eq!((flow.delivered_bytes + holes(flow).bytes, flow.timeouts), (2_000_000, 0));
        // A tenth more leaves, and the last hole is skipped in the end.
        let finish = flow.finish_s.unwrap();
        assert!(finish < 1.1 * (least(1.425e6) - 0.78) + 0.78 + 0.35 + 1.05, "{form}: {finish}");
    }
}
