use super::*;
use crate::packet::envelope;
use crate::tun::TunError;
use lightlag_core::Codepoint;
use std::collections::VecDeque;

/// Two simulated devices, and a clock that advances when the loop waits.
#[derive(Default)]
struct Fake {
    now: Instant,
    input: [VecDeque<(Instant, Vec<u8>)>; 2],
    output: Vec<(Instant, usize, Vec<u8>)>,
    /// Time when the loop is held up, and for how long.
    held_up: Option<(Instant, Duration)>,
    /// Time when the second device disappears.
    vanishes: Option<Instant>,
    /// Whether the kernel rejects packets.
    refuses: bool,
}

impl Outside for Fake {
    fn now(&self) -> Instant {
        self.now
    }

    fn wait(&mut self, until: Instant) {
        let packets = self.input.iter().filter_map(|queue| queue.front().map(|(at, _)| *at));
        let mut woken = packets.chain([until]).min().unwrap().max(self.now);
        if let Some((start, span)) = self.held_up
            && woken >= start
        {
            woken = woken.max(start + span);
            self.held_up = None;
        }
        self.now = woken;
    }

    fn read(&mut self, side: usize, buffer: &mut [u8]) -> Result<Option<usize>, TunError> {
        let now = self.now;
        if self.input[side].front().is_none_or(|(at, _)| *at > now) {
            return Ok(None);
        }
        let (_, packet) = self.input[side].pop_front().unwrap();
        buffer[..packet.len()].copy_from_slice(&packet);
        Ok(Some(packet.len()))
    }

    fn write(&mut self, side: usize, packet: &[u8]) -> Result<WriteResult, TunError> {
        if self.refuses {
            return Ok(WriteResult::Refused);
        }
        self.output.push((self.now, side, packet.to_vec()));
        Ok(WriteResult::Taken)
    }

    fn check(&mut self) -> Result<(), TunError> {
        match self.vanishes {
            Some(at) if at <= self.now => Err(TunError::Vanished { place: "b".to_owned() }),
            _ => Ok(()),
        }
    }
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// Returns a UDP packet with ECT(0) of `size` bytes, headers included. Its payload and identification are `mark`, to
/// recognise it.
fn packet(size: u16, mark: u8) -> Vec<u8> {
    let mut packet = vec![0x45, 2, 0, 0, 0, mark, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    packet[2..4].copy_from_slice(&size.to_be_bytes());
    packet.resize(usize::from(size), mark);
    packet
}

/// Returns an emulation of one link with 12 Mbit/s and 10 ms in each direction; `more` is appended to the scenario.
fn emulation(more: &str) -> Emulation {
    let text = format!(
        "duration = \"1 s\"\n[[flows]]\nfrom = \"a\"\nto = \"b\"\n\
         [[links]]\nbetween = [\"a\", \"b\"]\nrate = \"12 Mbit/s\"\ndelay = \"10 ms\"\n{more}"
    );
    Emulation::new(&plan(&text, &["a", "b"], &[]), &[Vec::new(), Vec::new()]).unwrap()
}

/// Returns the plan of a scenario in TOML, with devices at these nodes and these hosts.
fn plan(toml: &str, devices: &[&str], hosts: &[serde_json::Value]) -> EmulationPlan {
    let scenario = lightlag_scenario::parse_toml(toml, &[]).unwrap();
    let device = |node: &&str| serde_json::json!({"name": format!("ll-{node}"), "node": node});
    let options = serde_json::json!({
        "devices": devices.iter().map(device).collect::<Vec<_>>(),
        "scenario": serde_json::to_string(&scenario).unwrap(),
        "seed": 1,
        "hosts": hosts,
    });
    serde_json::from_value::<EmulationOptions>(options).unwrap().resolve().unwrap()
}

fn run(emulation: &mut Emulation, fake: &mut Fake, millis: u64) -> (Snapshot, Result<(), EmulationError>) {
    let handle = Handle::default();
    emulation.end = EmulationEnd::After(Duration::from_millis(millis));
    let result = emulation.run(fake, &handle);
    (handle.snapshot(), result)
}

#[test]
fn packets_cross_in_both_directions_at_their_time() {
    let mut fake = Fake::default();
    fake.input[0].extend([(at(100), packet(1500, 1)), (at(100), packet(1500, 2))]);
    fake.input[1].push_back((at(105), packet(750, 3)));
    let (snapshot, result) = run(&mut emulation(""), &mut fake, 500);
    result.unwrap();
    let out: Vec<_> = fake.output.iter().map(|(time, side, bytes)| (time.as_nanos(), *side, bytes[5])).collect();
    // 1 ms per packet, then 10 ms; the other way 0.5 ms and 10 ms.
    assert_eq!(out, [(111_000_000, 1, 1), (112_000_000, 1, 2), (115_500_000, 0, 3)]);
    assert_eq!(fake.output[0].2, packet(1500, 1));
    let [there, back] = &snapshot.directions[..] else { panic!("there are two directions") };
    assert_eq!((there.taken_packets, there.delivered_packets, there.delivered_bytes), (2, 2, 3000));
    assert_eq!((back.taken_packets, back.delivered_packets, back.delivered_bytes), (1, 1, 750));
    assert_eq!((there.late_packets, there.lateness.max_us, snapshot.stalls), (0, 0.0, 0));
    assert_eq!(snapshot.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(), ["a->b", "b->a"]);
    assert_eq!(snapshot.elapsed_s, 0.5);
}

#[test]
fn a_delayed_loop_delivers_late_and_reports_it() {
    let mut fake = Fake { held_up: Some((at(110), Duration::from_millis(5))), ..Fake::default() };
    fake.input[0].extend([(at(100), packet(1500, 1)), (at(200), packet(1500, 2))]);
    let (snapshot, result) = run(&mut emulation(""), &mut fake, 500);
    result.unwrap();
    // Due at 111, delivered at 115.
    assert_eq!(fake.output[0].0, at(115));
    assert_eq!(fake.output[1].0, at(211));
    let there = &snapshot.directions[0];
    assert_eq!((there.late_packets, there.lateness.max_us), (1, 4000.0));
    assert_eq!(there.lateness.histogram.iter().map(|(_, count)| count).sum::<u64>(), 2);
    assert_eq!((snapshot.stalls, snapshot.longest_stall_us), (1, 4000.0));
}

#[test]
fn a_late_poll_does_not_move_later_packets() {
    // Both wait in the device; each leaves after the other, at the speed of the link.
    let mut fake = Fake { held_up: Some((at(120), Duration::from_millis(40))), ..Fake::default() };
    fake.input[0].extend([(at(100), packet(1500, 1)), (at(130), packet(1500, 2)), (at(130), packet(1500, 3))]);
    let (_, result) = run(&mut emulation(""), &mut fake, 500);
    result.unwrap();
    let times: Vec<u64> = fake.output.iter().map(|(time, ..)| time.as_nanos() / 1_000_000).collect();
    assert_eq!(times, [111, 171, 172]);
}

#[test]
fn an_invalid_packet_is_counted_and_dropped() {
    let mut fake = Fake::default();
    let junk = [Vec::new(), vec![0x15; 40], vec![0x45; 19], packet(1500, 1)[..1499].to_vec(), vec![0x60; 39]];
    fake.input[0].extend(junk.into_iter().map(|bytes| (at(100), bytes)));
    fake.input[0].push_back((at(101), packet(20, 7)));
    let (snapshot, result) = run(&mut emulation(""), &mut fake, 500);
    result.unwrap();
    assert_eq!(fake.output.len(), 1);
    let there = &snapshot.directions[0];
    assert_eq!((there.taken_packets, there.dropped_not_ip, there.dropped_truncated), (6, 2, 3));
}

#[test]
fn the_largest_packet_crosses() {
    let mut fake = Fake::default();
    fake.input[0].push_back((at(0), packet(65_535, 9)));
    let (_, result) = run(&mut emulation(""), &mut fake, 500);
    result.unwrap();
    assert_eq!(fake.output[0].2, packet(65_535, 9));
}

#[test]
fn every_packet_is_delivered_dropped_with_a_cause_or_in_transit() {
    let mut fake = Fake::default();
    fake.input[0].extend((0..2000).map(|n| (at(n / 4), packet(1500, n as u8))));
    let link = "queue = \"20 packets\"\nloss = 0.1\nduplicate = 0.1\nreorder = { probability = 0.1, delay = \"3 ms\" }";
    let (snapshot, result) = run(&mut emulation(link), &mut fake, 500);
    result.unwrap();
    let (there, link) = (&snapshot.directions[0], &snapshot.links[0]);
    assert!(link.dropped_queue > 1000 && link.dropped_error > 20 && link.duplicated > 20 && link.reordered > 20);
    assert_eq!(link.offered, there.taken_packets);
    assert_eq!(link.delivered, there.delivered_packets);
    let left = link.offered + link.duplicated - link.delivered - link.dropped_queue - link.dropped_error;
    assert!((1..60).contains(&left), "{left} are in transit");
}

#[test]
fn marks_of_a_queue_reach_the_real_packet() {
    let mut fake = Fake::default();
    fake.input[0].extend((0..20).map(|n| (at(0), packet(1500, n))));
    let link = "queue = { discipline = \"step\", limit = \"100 packets\", threshold = \"5 packets\" }";
    let (snapshot, result) = run(&mut emulation(link), &mut fake, 500);
    result.unwrap();
    let marked =
        fake.output.iter().filter(|(_, _, bytes)| envelope(bytes).unwrap().ecn == Codepoint::Ce).count() as u64;
    assert_eq!((fake.output.len(), marked), (20, snapshot.links[0].marked));
    assert!(marked > 5);
}

#[test]
fn packets_that_the_kernel_does_not_take_are_counted() {
    let mut fake = Fake { refuses: true, ..Fake::default() };
    fake.input[0].push_back((at(0), packet(100, 1)));
    let (snapshot, result) = run(&mut emulation(""), &mut fake, 500);
    result.unwrap();
    assert_eq!((snapshot.directions[0].delivered_packets, snapshot.directions[0].dropped_refused), (0, 1));
}

#[test]
fn a_device_that_vanishes_ends_the_emulation_and_keeps_its_counters() {
    let mut fake = Fake { vanishes: Some(at(200)), ..Fake::default() };
    fake.input[0].push_back((at(0), packet(100, 1)));
    let (snapshot, result) = run(&mut emulation(""), &mut fake, 60_000);
    assert!(matches!(result, Err(EmulationError::Tun(TunError::Vanished { .. }))));
    assert_eq!(snapshot.directions[0].delivered_packets, 1);
    assert!(fake.now < at(300));
}

#[test]
fn a_request_to_stop_is_honoured() {
    let handle = Handle::default();
    handle.stop();
    emulation("").run(&mut Fake::default(), &handle).unwrap();
}

/// A network in virtual time: two devices and a pair of hosts around a router, with one slow link in each direction.
const STAR: &str = r#"
    duration = "60 s"
    [[links]]
    between = ["left", "router"]
    rate = "100 Mbit/s"
    delay = "1 ms"
    [[links]]
    between = ["client", "router"]
    rate = "100 Mbit/s"
    delay = "1 ms"
    [[links]]
    between = ["router", "gateway"]
    rate = "4 Mbit/s"
    delay = "5 ms"
    queue = "20 packets"
    [[links]]
    between = ["gateway", "right"]
    rate = "100 Mbit/s"
    delay = "1 ms"
    [[links]]
    between = ["gateway", "server"]
    rate = "100 Mbit/s"
    delay = "1 ms"
    [[flows]]
    from = "left"
    to = "right"
"#;

fn star(client: serde_json::Value) -> Emulation {
    let server = serde_json::json!({"node": "server", "address": "10.77.0.4", "port": 9, "connections": 1});
    let kernel = [1, 2].map(|last| vec![([10, 77, 0, last].into(), 24)]);
    Emulation::new(&plan(STAR, &["left", "right"], &[client, server]), &kernel).unwrap()
}

fn sender(more: serde_json::Value) -> serde_json::Value {
    let mut host =
        serde_json::json!({"node": "client", "address": "10.77.0.3", "connect": "10.77.0.4:9", "send": "1 MB"});
    host.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    host
}

#[test]
fn hosts_and_devices_share_one_queue() {
    let mut emulation = star(sender(serde_json::json!({})));
    let mut fake = Fake::default();
    // The kernel's packets, 2 Mbit/s of 1,500 bytes, from the device on the left to the one on the right.
    fake.input[0].extend((0..500).map(|n| (at(6 * n), packet(1500, n as u8))));
    for (_, packet) in &mut fake.input[0] {
        packet[12..20].copy_from_slice(&[10, 77, 0, 1, 10, 77, 0, 2]);
    }
    let handle = Handle::default();
    emulation.end = EmulationEnd::After(Duration::from_secs(10));
    emulation.run(&mut fake, &handle).unwrap();
    let reports: Vec<_> = handle
        .take_events()
        .into_iter()
        .filter_map(|event| if let Event::Closed(report) = event { Some(report) } else { None })
        .collect();
    assert_eq!(reports.iter().map(|report| report.bytes_in + report.bytes_out).collect::<Vec<_>>(), [1_000_000; 2]);
    // 1 MB alone takes 2 s at 4 Mbit/s. Half of that rate is the kernel's for 3 s.
    assert!(reports[0].seconds > 2.5, "{}", reports[0].seconds);
    let snapshot = handle.snapshot();
    let shared = snapshot.links.iter().find(|link| link.name == "router->gateway").unwrap();
    let [left, right, client, server] = &snapshot.directions[..] else { panic!("there are four sources") };
    assert_eq!((left.taken_packets, right.taken_packets), (500, 0));
    assert_eq!(shared.offered, left.taken_packets + client.taken_packets);
    assert_eq!(shared.delivered, left.delivered_packets + client.delivered_packets);
    assert!(shared.dropped_queue > 0 && left.delivered_packets < 500);
    assert_eq!(server.taken_packets, server.delivered_packets);
    assert!(fake.output.iter().all(|(_, device, _)| *device == 1));
    let names: Vec<_> = snapshot.links.iter().map(|link| (link.name.as_str(), link.direction)).collect();
    assert_eq!(names[1], ("router->gateway", Some(0)));
    assert!(names.contains(&("gateway->server", None)));
    let counters = snapshot.host_counters.unwrap();
    assert_eq!((counters.connections, counters.dropped_by_queue), (2, shared.dropped_queue));
}

#[test]
fn a_client_connects_at_its_start() {
    let mut emulation = star(sender(serde_json::json!({"start": "2 s", "connect": "10.77.0.2:80"})));
    let mut fake = Fake::default();
    let (snapshot, result) = run(&mut emulation, &mut fake, 2500);
    result.unwrap();
    // 40 to 60 bytes over three links of 7 ms in total; the SYN is retransmitted after a second.
    let (first, device, _) = &fake.output[0];
    assert!(*first > at(2007) && *first < at(2008), "{first:?}");
    assert_eq!((*device, snapshot.directions[2].taken_packets), (1, 1));
    // The connection is reset at the end, past the network.
    assert_eq!(snapshot.elapsed_s, 2.5);
}

#[test]
fn packets_of_a_device_find_hosts_and_the_other_device() {
    let mut emulation = star(sender(serde_json::json!({"start": "1 h"})));
    let mut fake = Fake::default();
    for (n, last) in [2, 3, 4, 9].into_iter().enumerate() {
        let mut bytes = packet(100, n as u8);
        bytes[12..20].copy_from_slice(&[10, 77, 0, 1, 10, 77, 0, last]);
        fake.input[0].push_back((at(0), bytes));
    }
    let (snapshot, result) = run(&mut emulation, &mut fake, 500);
    result.unwrap();
    // Hosts count UDP; addresses of neither device nor host leave at the other device.
    assert_eq!(snapshot.host_counters.unwrap().other_protocols + snapshot.host_counters.unwrap().bad_packets, 2);
    assert_eq!(fake.output.iter().map(|(_, device, bytes)| (*device, bytes[19])).collect::<Vec<_>>(), [(1, 2), (1, 9)]);
    assert_eq!(snapshot.directions[0].delivered_packets, 4);
}

#[test]
fn hosts_between_two_devices_need_the_addresses_of_both() {
    let plan = plan(STAR, &["left", "right"], &[sender(serde_json::json!({}))]);
    let error = Emulation::new(&plan, &[vec![([10, 77, 0, 1].into(), 24)], Vec::new()]).err().unwrap();
    assert_eq!(
        error.to_string(),
        "ll-right: has no address, which hosts need to reach it; give --address ADDRESS/PREFIX ADDRESS/PREFIX"
    );
}
