//! Notifications of outages and of corruption (SCPS-TP), packet by packet.
//!
//! The path is `host` - 20 ms - `ground` - 250 ms - `sat`. A notification of the ground station reaches the host after
//! 20 ms and 28.8 µs (36 bytes at 10 Mbit/s).

use crate::memory::Shared;
use lightlag_core::Instant;
use lightlag_scenario::{ScenarioError, parse_toml};
use lightlag_sim::results::{FlowSummary, SignalSummary};
use lightlag_sim::{Control, RunResult, Simulation};
use lightlag_tcp::Segment;
use lightlag_wire::PacketError;
use lightlag_wire::capture::{Direction, Reader};
use lightlag_wire::signal::{self, Notification, NotificationKind};
use std::collections::BTreeMap;

/// Contents of a captured packet.
enum What {
    Tcp(Segment),
    Signal(Notification),
}

struct Seen {
    at: f64,
    direction: Direction,
    len: u32,
    what: What,
}

impl Seen {
    fn is_data_out(&self) -> bool {
        self.direction == Direction::Outbound && matches!(&self.what, What::Tcp(segment) if segment.len > 0)
    }

    fn news(&self) -> Option<NotificationKind> {
        if let What::Signal(told) = &self.what { Some(told.news) } else { None }
    }
}

/// Returns the result of a scenario, and the packets of each of its captures.
fn captured(text: &str) -> (RunResult, BTreeMap<String, Vec<Seen>>) {
    let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    let mut simulation = Simulation::new(&scenario, None).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut files = BTreeMap::new();
    let mut open = |name: &str| -> std::io::Result<lightlag_sim::Output> {
        let file = Shared::default();
        files.insert(name.to_owned(), file.clone());
        Ok(Box::new(file))
    };
    simulation = simulation.capture_to(&mut open).unwrap();
    let result = simulation.run(&mut |_| Control::Continue);
    let read = |(name, Shared(bytes)): (String, Shared)| (name, packets(&bytes.lock().unwrap()));
    (result, files.into_iter().map(read).collect())
}

fn packets(file: &[u8]) -> Vec<Seen> {
    let mut reader = Reader::open(file).unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        let bytes = packet.ip.unwrap();
        let what = match (signal::decode(bytes), lightlag_wire::decode(bytes)) {
            (Ok(told), _) => What::Signal(told.expect("there is no other ICMP")),
            (_, Ok(tcp)) => What::Tcp(tcp.segment),
            (_, Err(PacketError::NotTcp(17))) => continue,
            (_, Err(error)) => panic!("{error}"),
        };
        let at = packet.at.since(Instant::ZERO).as_secs_f64();
        packets.push(Seen { at, direction: packet.direction, len: packet.wire_len, what });
    }
    packets
}

const SCPS: &str = "profile = \"scps\"\ncongestion = \"none\"\nloss_assumption = \"congestion\"\nrate_control = { rate = \"1.425 \
                    Mbit/s\" }";

/// Returns a scenario with a transfer of 4 MB. `near` and `far` are further lines for the links to `ground` and to the
/// satellite, and `tcp` for the TCP table.
fn path(near: &str, far: &str, tcp: &str) -> String {
    format!(
        r#"
        name = "stations"
        duration = "3000 s"
        record = {{ pcap = {{ at = ["host"], comments = true }} }}

        [defaults.tcp]
        {tcp}

        [[links]]
        between = ["host", "ground"]
        rate = "10 Mbit/s"
        delay = "20 ms"
        {near}

        [[links]]
        between = ["ground", "sat"]
        rate = "1.5 Mbit/s"
        delay = "250 ms"
        queue = "200 packets"
        {far}

        [[flows]]
        from = "host"
        to = "sat"
        transfer = "4 MB"
        "#
    )
}

/// Returns the lines of an outage of `seconds` that starts at 10 s. `what` is the fate of packets in the outage.
fn outage(seconds: u64, what: &str) -> String {
    format!(
        "outage = \"{what}\"\nchanges = [{{ at = \"10 s\", down = true }}, {{ at = \"{} s\", down = false }}]",
        10 + seconds
    )
}

fn first(result: &RunResult) -> &FlowSummary {
    &result.summary.flows[0]
}

fn signals(result: &RunResult) -> SignalSummary {
    *first(result).signals.as_deref().expect("there are stations")
}

fn counts(sent: u64, received: u64, ignored: u64, lost: u64, local: u64) -> SignalSummary {
    SignalSummary { sent, received, ignored, lost, local }
}

/// Returns the number of probes in an outage of `seconds`. The first probe is sent after 1 s; the intervals are 2, 4,
/// 8, 16 and 32 s, and then 60 s.
fn probes_within(seconds: f64) -> usize {
    let (mut wait, mut elapsed, mut count) = (1.0_f64, 1.0, 0);
    while elapsed < seconds {
        count += 1;
        wait = (2.0 * wait).min(60.0);
        elapsed += wait;
    }
    count
}

/// Time that a notification takes from the ground station to the host, in seconds.
const AWAY: f64 = 0.02 + 36.0 * 8.0 / 10e6;
/// Maximum time that the token bucket delays a packet of 552 bytes, in seconds.
const PACKET: f64 = 552.0 * 8.0 / 1.425e6;

#[test]
fn a_signalled_outage_aborts_nothing_and_ends_with_the_message() {
    for what in ["lose", "hold"] {
        for seconds in [5, 60, 300, 600] {
            let link = format!("{}\nsignals = \"outage\"", outage(seconds, what));
            let (result, files) = captured(&path("", &link, SCPS));
            let (notified, restored) = (10.0 + AWAY, 10.0 + seconds as f64 + AWAY);
            let host = &files["host.pcapng"];
            let news: Vec<(NotificationKind, f64)> =
                host.iter().filter_map(|seen| Some((seen.news()?, seen.at))).collect();
            let [(NotificationKind::LinkOut, out), (NotificationKind::LinkRestored, end)] = news[..] else {
                panic!("{what} {seconds}: {news:?}")
            };
            // A message may wait for an ACK in transmission.
            assert!(
                (notified..notified + 1e-4).contains(&out) && (restored..restored + 1e-4).contains(&end),
                "{out} {end}"
            );
            let meanwhile =
                host.iter().filter(|seen| seen.direction == Direction::Outbound && seen.at > out && seen.at < end);
            assert_eq!(meanwhile.clone().filter(|seen| seen.is_data_out()).count(), 0, "{what} {seconds}");
            assert_eq!(meanwhile.count(), probes_within(end - out), "{what} {seconds}");
            let resumed = host.iter().find(|seen| seen.is_data_out() && seen.at >= end).unwrap().at;
            assert!(resumed < end + PACKET, "{what} {seconds}: {resumed}");
            assert_eq!((first(&result).timeouts, first(&result).failure), (0, None));
            assert_eq!(signals(&result), counts(2, 2, 0, 0, 0));
            // The outage, a retransmission of its losses, and a round trip for the first repair.
            let most = 10.0 + seconds as f64 + (4e6 / 512.0 * 552.0 * 8.0 / 1.425e6 - 8.0) + 2.0;
            assert!(first(&result).finish_s.unwrap() < most, "{what} {seconds}: {:?} {most}", first(&result).finish_s);
        }
    }
}

#[test]
fn without_signals_timeouts_find_the_outage_and_a_probe_its_end() {
    for seconds in [5, 60, 300, 600] {
        let tcp = format!("{SCPS}\noutage_after = 2");
        let (result, files) = captured(&path("", &outage(seconds, "lose"), &tcp));
        let end = 10.0 + seconds as f64;
        let resumed = files["host.pcapng"].iter().find(|seen| seen.is_data_out() && seen.at >= end).unwrap().at;
        assert!(resumed - end <= seconds.min(60) as f64 + 1.0 + 0.7, "{seconds}: {resumed}");
        assert!(first(&result).finish_s.is_some() && first(&result).signals.is_none());
    }
}

#[test]
fn a_lost_message_of_the_end_leaves_it_to_probes() {
    // The path from the station to the host is also out when the station reports that the link is restored.
    let near =
        "outage = \"lose\"\nchanges = { backward = [{ at = \"69 s\", down = true }, { at = \"71 s\", down = false }] }";
    let link = format!("{}\nsignals = \"outage\"", outage(60, "lose"));
    let (result, files) = captured(&path(near, &link, SCPS));
    assert_eq!(signals(&result), counts(2, 1, 0, 1, 0));
    // Probes are sent 1, 3, 7, 15, 31 and 63 s after the notification: the last at 73.02 s. Its ACK arrives one round
    // trip later.
    let resumed = files["host.pcapng"].iter().find(|seen| seen.is_data_out() && seen.at >= 70.0).unwrap().at;
    assert!((73.5..73.9).contains(&resumed), "{resumed}");
    assert_eq!((first(&result).timeouts, first(&result).failure), (0, None));
}

#[test]
fn a_lost_notification_of_the_start_is_repeated_to_an_active_sender() {
    let near = "outage = \"lose\"\nchanges = { backward = [{ at = \"9.9 s\", down = true }, { at = \"10.1 s\", down = false }] }";
    let link = format!("{}\nsignals = {{ outage = true, interval = \"200 ms\" }}", outage(60, "lose"));
    let (result, files) = captured(&path(near, &link, SCPS));
    assert_eq!(signals(&result), counts(3, 2, 0, 1, 0));
    let out = files["host.pcapng"].iter().find(|seen| seen.news() == Some(NotificationKind::LinkOut)).unwrap().at;
    assert!((10.2..10.3).contains(&out), "{out}");
}

#[test]
fn messages_wait_for_their_turn_like_any_packet() {
    // At 100 kbit/s, 36 bytes take 2.88 ms, and an ACK of 40 bytes queued before them 3.2 ms.
    let near = "rate = { forward = \"10 Mbit/s\", backward = \"100 kbit/s\" }";
    let text = path("", &format!("{}\nsignals = \"outage\"", outage(60, "lose")), SCPS);
    let text = text.replacen("rate = \"10 Mbit/s\"", near, 1);
    let (_, files) = captured(&text);
    let news = files["host.pcapng"].iter().filter(|seen| seen.news().is_some());
    for (seen, since) in news.zip([10.0, 70.0]) {
        let delay = seen.at - since;
        assert!((0.02288..=0.02608 + 1e-6).contains(&delay), "{delay}");
    }
}

#[test]
fn captures_show_the_notifying_node_and_the_subject() {
    for (ip, len) in [("v4", 36), ("v6", 56)] {
        let text = path("", &format!("{}\nsignals = \"outage\"", outage(5, "lose")), SCPS);
        let text = text.replacen("duration", &format!("ip = \"{ip}\"\nduration"), 1);
        let text = text.replacen("at = [\"host\"]", "at = [\"host\", \"ground\", \"ground->host\"]", 1);
        let (_, files) = captured(&text);
        let sent = files["host.pcapng"].iter().find(|seen| seen.is_data_out()).unwrap();
        let What::Tcp(first) = &sent.what else { unreachable!("it is data") };
        for (name, direction) in [
            ("host.pcapng", Direction::Inbound),
            ("ground.pcapng", Direction::Outbound),
            ("ground-to-host.pcapng", Direction::Outbound),
        ] {
            let seen = files[name].iter().find(|seen| seen.news() == Some(NotificationKind::LinkOut)).unwrap();
            let What::Signal(notification) = &seen.what else { unreachable!("it is a notification") };
            assert_eq!((seen.direction, seen.len), (direction, len), "{name}");
            let [host, ground] = if ip == "v4" { ["10.0.0.1", "10.0.0.2"] } else { ["fd00::1", "fd00::2"] };
            assert_eq!(
                (notification.destination.to_string(), notification.station.to_string()),
                (host.to_owned(), ground.to_owned())
            );
            assert_eq!((notification.ports, notification.other[3]), ([49_152, 9], 3));
            assert!(
                notification.seq.0.wrapping_sub(first.seq.0) > 1_000_000,
                "it quotes the last packet, not the first"
            );
        }
    }
}

#[test]
fn an_endpoint_at_the_link_is_notified_immediately() {
    let text = path("", "", SCPS).replace("\"ground\"]\n        rate", "\"aside\"]\n        rate");
    let text = text.replace("[\"ground\", \"sat\"]", "[\"host\", \"sat\"]");
    let text = text.replace("queue = \"200 packets\"", &format!("{}\nsignals = \"all\"", outage(60, "lose")));
    let (result, files) = captured(&text);
    assert_eq!(signals(&result), counts(0, 0, 0, 0, 2));
    let host = &files["host.pcapng"];
    assert!(!host.iter().any(|seen| seen.is_data_out() && seen.at > 10.0 && seen.at < 70.0));
    let resumed = host.iter().find(|seen| seen.is_data_out() && seen.at >= 70.0).unwrap().at;
    assert!(resumed < 70.0 + PACKET, "{resumed}");
}

#[test]
fn plain_tcp_ignores_notifications() {
    let tcp = "profile = \"linux\"";
    let link = outage(20, "lose");
    let (result, _) = captured(&path("", &format!("{link}\nsignals = \"outage\""), tcp));
    let totals = signals(&result);
    assert!(totals.ignored >= 2 && totals.received == 0 && totals.local == 0, "{totals:?}");
    assert_eq!(totals.sent, totals.ignored + totals.lost);
    let (silent, _) = captured(&path("", &link, tcp));
    assert_eq!(first(&result).timeouts, first(&silent).timeouts);
    assert!(first(&result).timeouts > 3, "it doubles its timeout in the outage");
}

#[test]
fn an_idle_sender_is_notified_when_it_sends_into_the_outage() {
    // A record every 20 s, starting at 0 s: the one of 0 s is no longer recent at 10 s, and the one of 20 s meets the
    // outage.
    let text = path("", &format!("{}\nsignals = {{ outage = true, recent = \"5 s\" }}", outage(60, "lose")), SCPS);
    let text = text
        .replace("transfer = \"4 MB\"", "traffic = { kind = \"constant\", rate = \"200 bit/s\", size = \"500 B\" }");
    let text = text.replace("3000 s", "150 s");
    let (result, files) = captured(&text);
    let news: Vec<f64> = files["host.pcapng"].iter().filter(|seen| seen.news().is_some()).map(|seen| seen.at).collect();
    let [out, restored] = news[..] else { panic!("{news:?}") };
    // The record of 20 s takes as long to the station as the notification takes back.
    assert!((20.04..20.05).contains(&out), "{out}");
    assert!((70.02..70.03).contains(&restored), "{restored}");
    assert_eq!(signals(&result), counts(2, 2, 0, 0, 0));
    assert_eq!(first(&result).timeouts, 0);
}

#[test]
fn a_gateway_in_the_station_shields_a_host_with_plain_tcp() {
    let text = path("", &format!("{}\nsignals = \"outage\"", outage(300, "lose")), "profile = \"linux\"");
    let gateway = "[[proxies]]\nnode = \"ground\"\nbuffer = \"2 MB\"\n\
                   server = { profile = \"scps\", congestion = \"none\", rate_control = { rate = \"1.425 Mbit/s\" } }\n";
    let (result, _) =
        captured(&format!("{}\n{gateway}", text.replace("to = \"sat\"", "to = \"sat\"\ntcp = { scps = true }")));
    // The station is the gateway: it has the information immediately and sends no message.
    assert_eq!(signals(&result), counts(0, 0, 0, 0, 2));
    let [gateway] = result.summary.proxies.as_slice() else { panic!("one gateway") };
    assert_eq!((gateway.timeouts, gateway.server_failure, first(&result).failure), (0, None, None));
    assert!(first(&result).finish_s.is_some());
}

#[test]
fn rain_and_traces_also_have_outages() {
    // The median is 20 dB, of which the link tolerates 15 dB: it is out more than half of the time, for some seconds
    // each.
    let rain = "[links.fade]\nmean = 3.0\ndeviation = 0.5\ncorrelation_time = \"20 s\"\nclear_sky = \"15 dB\"\n\
                symbol_rate = \"1 MBd\"\n";
    let (result, files) = captured(&path("", &format!("outage = \"lose\"\nsignals = \"outage\"\n{rain}"), SCPS));
    let told = signals(&result);
    assert!(told.received >= 10 && told.ignored == 0, "{told:?}");
    let news: Vec<NotificationKind> = files["host.pcapng"].iter().filter_map(Seen::news).collect();
    assert!(news.contains(&NotificationKind::LinkOut) && news.contains(&NotificationKind::LinkRestored), "{news:?}");
    assert!(news.windows(2).all(|pair| pair != [NotificationKind::LinkRestored; 2]), "an end follows a start");
    assert!(first(&result).finish_s.is_some() && first(&result).failure.is_none());
}

/// Runs a transfer of 4 MB over the path, with 1 % loss on the link to `ground` and these `signals` at that link.
fn corrupted(signals: &str, tcp: &str) -> RunResult {
    let near = format!("loss = {{ forward = 0.01, backward = 0.0 }}\n{signals}");
    let text = path(&near, "", tcp).replacen("record", "record = {}\n#", 1);
    let scenario = parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Simulation::new(&scenario, None).unwrap().run(&mut |_| Control::Continue)
}

#[test]
fn reported_corruption_costs_no_window() {
    let profile = "profile = \"scps\"\ncongestion = \"newreno\"\nrate_control = { rate = \"1.425 Mbit/s\" }";
    let tcp = &format!("{profile}\nloss_assumption = \"congestion\"");
    let min_s = 0.54 + 4e6 / 512.0 * 552.0 * 8.0 / 1.425e6 + 0.27;
    // The result is as if the sender had been configured in advance with losses that are never congestion.
    let known = corrupted("", profile);
    for whom in ["receiver", "sender", "both"] {
        let result = corrupted(&format!("signals = {{ corruption = \"{whom}\" }}"), tcp);
        let (flow, totals) = (first(&result), signals(&result));
        assert!(flow.finish_s.unwrap() < min_s + 8.0, "{whom}: {:?}, at least {min_s}", flow.finish_s);
        assert!((flow.finish_s.unwrap() - first(&known).finish_s.unwrap()).abs() < 0.01, "{whom}");
        assert_eq!((flow.timeouts, totals.ignored), (0, 0), "{whom}");
        let repairs = |flow: &FlowSummary| (flow.recoveries, flow.retransmitted_segments);
        assert_eq!(repairs(flow), repairs(first(&known)), "{whom}");
        // Each of 78 lost packets in 26 s causes a notification, unless less than half a second has passed since the
        // last.
        let ends = if whom == "both" { 2 } else { 1 };
        assert!((20 * ends..=60 * ends).contains(&totals.sent), "{whom}: {totals:?}");
        assert!(totals.received + totals.lost + 2 >= totals.sent, "{whom}: {totals:?}");
        // The window only grows.
        let trace = &result.trace;
        let windows = trace.cwnd_segments.iter().zip(&trace.phase).filter(|(_, phase)| **phase == 0);
        assert!(windows.map(|(window, _)| *window).is_sorted(), "{whom}");
    }
    let silent = corrupted("", tcp);
    let late = first(&silent).finish_s.unwrap_or(3000.0);
    assert!(late > 2.0 * min_s, "{late}");
    assert!(!silent.trace.cwnd_segments.is_sorted());
}

#[test]
fn messages_share_the_losses_of_their_path() {
    // The station notifies the sender over a return link that loses a third.
    let near = "loss = { forward = 0.05, backward = 0.3 }\nsignals = { corruption = \"sender\", interval = \"0 s\" }";
    let tcp = SCPS.replace("\nloss_assumption = \"congestion\"", "");
    let (result, _) = captured(&path(near, "", &tcp));
    let totals = signals(&result);
    assert!(totals.sent > 300, "each lost packet of 400 is reported: {totals:?}");
    let share = totals.lost as f64 / totals.sent as f64;
    // 0.3, within four standard deviations of a fraction of 400.
    assert!((0.3_f64 - share).abs() < 0.1, "{totals:?}");
    assert!((totals.sent - totals.lost - totals.received) <= 5, "the others arrived, or are in transit: {totals:?}");
    // Drops of messages are in the table with their size.
    assert_eq!(result.drops.bytes.iter().filter(|bytes| **bytes == 36).count() as u64, totals.lost);
}

#[test]
fn an_outage_is_not_reported_as_corruption() {
    // Everything is lost for ten seconds, and nothing at any other time.
    let far = format!("{}\nsignals = {{ corruption = \"both\" }}", outage(10, "lose"));
    let tcp = format!("{SCPS}\nscps = {{ report_corruption = true }}");
    let (result, _) = captured(&path("", &far, &tcp));
    assert_eq!(signals(&result), counts(0, 0, 0, 0, 0));
}

#[test]
fn two_directions_that_are_down_at_different_times_are_one_outage() {
    let far = "outage = \"lose\"\nsignals = \"outage\"\n[links.changes]\n\
               forward = [{ at = \"10 s\", down = true }, { at = \"30 s\", down = false }]\n\
               backward = [{ at = \"20 s\", down = true }, { at = \"40 s\", down = false }]\n";
    let (result, files) = captured(&path("", far, SCPS));
    let host = &files["host.pcapng"];
    let news: Vec<f64> = host.iter().filter(|seen| seen.news().is_some()).map(|seen| seen.at).collect();
    let [out, restored] = news[..] else { panic!("{news:?}") };
    assert!((out - 10.0 - AWAY).abs() < 1e-3 && (restored - 40.0 - AWAY).abs() < 1e-3, "{news:?}");
    assert_eq!(first(&result).timeouts, 0);
}

/// Runs a transfer with a one-way delay of ten minutes, and an outage of `length` seconds that starts at 80 minutes.
fn deep_space(length: u64, signals: &str, tcp: &str) -> RunResult {
    let text = format!(
        r#"
        name = "deep-space"
        duration = "100 h"

        [defaults.tcp]
        {tcp}

        [[links]]
        between = ["earth", "station"]
        rate = "100 Mbit/s"
        delay = "5 ms"

        [[links]]
        between = ["station", "probe"]
        rate = "100 kbit/s"
        delay = "600 s"
        queue = "2000 packets"
        outage = "lose"
        changes = [{{ at = "4800 s", down = true }}, {{ at = "{} s", down = false }}]
        {signals}

        [[flows]]
        from = "earth"
        to = "probe"
        transfer = "50 MB"
        "#,
        4800 + length
    );
    let scenario = parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Simulation::new(&scenario, None).unwrap().run(&mut |_| Control::Continue)
}

#[test]
fn minutes_of_delay_and_an_outage_end_tcp_and_not_scps() {
    let route = "rto = { initial = \"1500 s\", max = \"3600 s\" }\nreceive_buffer = \"64 MB\"";
    let scps = format!(
        "profile = \"scps\"\ncongestion = \"none\"\nrate_control = {{ rate = \"95 kbit/s\" }}\nack_interval = \"10 s\"\n{route}"
    );
    let result = deep_space(600, "signals = \"outage\"", &scps);
    let flow = first(&result);
    assert_eq!((flow.failure, flow.timeouts), (None, 0));
    assert_eq!(signals(&result), counts(2, 2, 0, 0, 0));
    // A handshake, 64 KiB until the first ACK and its interval, the rest at the rate, and the propagation delay.
    let undisturbed = 2.0 * 1200.0 + 10.0 + (50e6 - 65_536.0) / 512.0 * 552.0 * 8.0 / 95e3 + 600.0;
    let finish = |result: &RunResult| first(result).finish_s.unwrap();
    assert!((finish(&deep_space(0, "", &scps)) - undisturbed).abs() < 3.0, "{undisturbed}");
    // The cost is the outage itself, and again the data that was in the station at its start.
    assert!((finish(&result) - undisturbed - 600.0).abs() < 3.0, "{:?}", flow.finish_s);
    assert!(flow.retransmitted_segments <= 3, "{}", flow.retransmitted_segments);
    // Without the message ten minutes of data are lost.
    let silent = deep_space(600, "", &scps);
    let lost = (600.0 * 95e3 / 8.0 / 552.0) as u64;
    assert!((lost - 10..lost + 10).contains(&first(&silent).retransmitted_segments), "{:?} {lost}", first(&silent));
    // Standard TCP: the handshake alone takes longer than its timeout.
    let tcp = deep_space(600, "", "profile = \"linux\"");
    assert!(first(&tcp).failure.is_some() && first(&tcp).delivered_bytes == 0, "{:?}", first(&tcp).failure);
}

#[test]
fn counts_match_tcp_where_there_are_stations() {
    let far = format!("{}\nsignals = \"all\"", outage(5, "lose"));
    let mut text = path("", &far, SCPS).replace("4 MB", "100 kB");
    text += "[[flows]]\nfrom = \"host\"\nto = \"sat\"\ntransport = \"udp\"\n\
             traffic = { kind = \"constant\", rate = \"8 kbit/s\", size = \"100 B\" }\n";
    let (result, _) = captured(&text.replace("3000 s", "30 s"));
    assert!(result.summary.flows[0].signals.is_some());
    assert!(result.summary.flows[1].signals.is_none());
    let (none, _) = captured(&path("", "", SCPS).replace("4 MB", "100 kB"));
    assert!(none.summary.flows[0].signals.is_none());
    assert!(!serde_json::to_string(&none.summary).unwrap().contains("signals"));
}

fn errors(far: &str) -> Vec<ScenarioError> {
    parse_toml(&path("", far, SCPS), &[]).err().unwrap_or_default()
}

#[test]
fn wrong_keywords_are_rejected_with_the_valid_ones() {
    for (far, path, parts) in [
        ("signals = \"outages\"", "links[1].signals", vec!["\"outages\"", "outage"]),
        ("signals = 3", "links[1].signals", vec!["3 is not", "\"outage\""]),
        ("signals = { }", "links[1].signals", vec!["enables no notification", "outage = true"]),
        ("signals = { outage = false, corruption = \"off\" }", "links[1].signals", vec!["enables no notification"]),
        ("signals = { corruption = \"recever\" }", "links[1].signals.corruption", vec!["\"recever\"", "receiver"]),
        ("signals = { corruption = true }", "links[1].signals.corruption", vec!["true is not", "\"both\""]),
        ("signals = { outage = 1 }", "links[1].signals.outage", vec!["1 is not true or false"]),
        ("signals = { outage = true, intervall = \"1 s\" }", "links[1].signals.intervall", vec!["interval"]),
        ("signals = { outage = true, recent = \"1\" }", "links[1].signals.recent", vec!["1"]),
    ] {
        let errors = errors(far);
        let [error] = errors.as_slice() else { panic!("{far}: {errors:#?}") };
        assert_eq!(error.path, path, "{error}");
        for part in parts {
            assert!(error.message.contains(part), "{far}: {error}");
        }
    }
    let satellite = "duration = \"9 s\"\n[topology]\nkind = \"satellite\"\npairs = 1\norbit = \"geo\"\nelevation = \"40 deg\"\nflow = {}\n\
                     [topology.uplink]\nrate = \"1 Mbit/s\"\nsignals = \"all\"\n[topology.downlink]\nrate = \"1 Mbit/s\"\n";
    let errors = parse_toml(satellite, &[]).unwrap_err();
    let [error] = errors.as_slice() else { panic!("{errors:#?}") };
    assert_eq!(error.path, "topology.uplink.signals");
    assert!(error.message.contains("payload = \"regenerative\""), "{error}");
}

fn warnings(far: &str, tcp: &str) -> Vec<String> {
    let scenario = parse_toml(&path("", far, tcp), &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let warnings = scenario.warnings(&scenario.expand().unwrap());
    warnings.iter().filter(|warning| warning.path.ends_with("signals")).map(ToString::to_string).collect()
}

#[test]
fn stations_that_never_notify_are_a_warning() {
    let down = outage(5, "hold");
    for (far, part) in [
        ("signals = \"outage\"".to_owned(), "no outages"),
        ("loss = 0.01\nsignals = \"outage\"".to_owned(), "no outages"),
        (format!("{down}\nsignals = \"corruption\""), "no errors after its queue"),
        ("loss = { rate = 0.01, where = \"before queue\" }\nsignals = \"corruption\"".to_owned(), "no errors after"),
        ("signals = \"all\"".to_owned(), "no outages and no errors"),
    ] {
        let warnings = warnings(&far, SCPS);
        assert!(
            warnings.len() == 1 && warnings[0].contains(part) && warnings[0].contains("ground->sat"),
            "{warnings:?}"
        );
    }
    let deaf = warnings(&format!("{down}\nsignals = \"all\""), "profile = \"linux\"");
    assert!(deaf.len() == 1 && deaf[0].contains("scps = true"), "{deaf:?}");
    assert_eq!(warnings(&format!("{down}\nsignals = \"all\""), SCPS), Vec::<String>::new());
    assert_eq!(warnings(&format!("{down}\nsignals = \"off\""), SCPS), Vec::<String>::new());
}

#[test]
fn the_complete_form_reads_back() {
    for far in [
        "signals = \"all\"",
        "signals = { corruption = \"both\", recent = \"3 s\", interval = \"1 s\" }",
        "signals = \"off\"",
    ] {
        let scenario = parse_toml(&path("", far, SCPS), &[]).unwrap();
        let again = lightlag_scenario::parse_json(&scenario.to_json().to_string(), &[]).unwrap();
        assert_eq!(again, scenario, "{far}");
        assert_eq!(
            scenario.to_json().to_string().contains("signals"),
            far != "signals = \"off\"",
            "the name of the scenario aside"
        );
    }
}
