//! Satellite beams and random access in runs.

mod text;

use lightlag_scenario::parse_toml;
use lightlag_sim::results::AccessSummary;
use lightlag_sim::{Control, Parallel, RunResult, Simulation};
use text::run;

/// Returns a scenario with a gateway and `terminals` terminals on a medium with these keys.
fn beam(medium: &str, terminals: u32, rest: &str) -> String {
    format!(
        "duration = \"30 s\"\n[topology]\nkind = \"swarm\"\nnodes = {}\nmedium = {{ {medium} }}\n{rest}",
        terminals + 1
    )
}

fn messages(size: u32, every: &str) -> String {
    format!(
        "flow = {{ transport = \"udp\", traffic = {{ kind = \"poisson\", size = \"{size} B\", every = \"{every}\" }} }}\n"
    )
}

fn delivered(result: &RunResult) -> u64 {
    result.summary.flows.iter().map(|flow| flow.delivered_bytes).sum()
}

#[test]
fn transfers_cross_a_beam_in_both_directions() {
    let text = beam("kind = \"rcs2\", logon = true", 5, "flow = { transfer = \"100 kB\" }\n")
        + "[[flows]]\nfrom = \"gateway\"\nto = \"terminal1\"\ntransfer = \"200 kB\"\n"
        + "[[flows]]\nfrom = \"terminal2\"\nto = \"terminal3\"\ntransfer = \"50 kB\"\n";
    let result = run(&text);
    assert_eq!(delivered(&result), 5 * 100_000 + 200_000 + 50_000);
    let terminal = &result.summary.interfaces[1];
    let access = terminal.access.as_ref().unwrap();
    assert!(access.used_slots > 0 && access.granted_slots >= access.used_slots + access.idle_slots, "{access:?}");
    assert!(access.requests > 0 && access.queueing_mean_s.unwrap() > 0.0, "{access:?}");
}

/// A beam with one terminal and a link with `on_demand` have the same rate, frame and latency. A packet waits for
/// a frame once on the link and twice in the beam, for random access and for its slot.
#[test]
fn one_terminal_has_the_delay_of_a_link_on_demand() {
    let flow = "[[flows]]\nfrom = \"terminal1\"\nto = \"gateway\"\ntransport = \"udp\"\n\
                traffic = { kind = \"periodic\", size = \"772 B\", every = \"1013 ms\" }\n";
    // A burst carries 800 B of packets and 3 B of RLE, with 10 slots for assignment in 26.5 ms: 2.416 Mbit/s.
    let medium = "kind = \"rcs2\", carriers = 1, slots = 14, contention_slots = 4, contention = \"slotted-aloha\", \
                  slot_payload = \"807 B\", delay = \"130 ms\"";
    let shared = format!(
        "duration = \"60 s\"\n[[media]]\n{}\n[[nodes]]\nname = \"gateway\"\n[[nodes]]\nname = \"terminal1\"\n{flow}",
        medium.replace(", ", "\n")
    );
    // The latency of the link starts with a request and ends with the granted frame, both at the terminal: a delay to
    // the NCC, and one back.
    let alone = format!(
        "duration = \"60 s\"\n[[links]]\nbetween = [\"terminal1\", \"gateway\"]\nrate = \"2.416 Mbit/s\"\ndelay = \"130 ms\"\n\
         on_demand = {{ frame = \"26.5 ms\", latency = \"260 ms\" }}\n{flow}"
    );
    let delay = |text: &str| {
        let result = run(text);
        let flow = &result.summary.flows[0];
        assert!(flow.delivered_bytes > 772 * 55, "{flow:#?}");
        flow.datagrams.as_ref().and_then(|of| of.mean_delay_s).expect("datagrams have a delay")
    };
    let [shared, alone] = [delay(&shared), delay(&alone)];
    // The link: half a frame, 260 ms, 2.66 ms of transmission and 130 ms. The beam: half a frame, then random access, whose
    // request reaches the NCC 4/14 F after its frame; 260 ms later is 10.1 F, so the assigned frame is the eleventh, and
    // its slot ends 5/14 F later; 130 ms in between.
    let frame = 0.0265;
    let expected = [0.130 + frame * (0.5 + 11.0 + 5.0 / 14.0), 0.5 * frame + 0.260 + 0.00266 + 0.130];
    assert!((shared - expected[0]).abs() < 0.002, "{shared} s in the beam, not {}", expected[0]);
    assert!((alone - expected[1]).abs() < 0.002, "{alone} s on the link, not {}", expected[1]);
    assert!((shared - alone).abs() < 2.0 * frame, "{shared} s in the beam, {alone} s on the link");
}

#[test]
fn terminals_in_rain_change_their_waveforms_and_account_for_every_slot() {
    let rain = "adaptive = true, clear_sky = \"9 dB\", rain_median = \"2 dB\", rain_correlation = \"10 s\"";
    let flow =
        "flow = { transport = \"udp\", traffic = { kind = \"constant\", rate = \"64 kbit/s\", size = \"400 B\" } }\n";
    let result = run(&beam(&format!("kind = \"rcs2\", control_period = 4, {rain}"), 20, flow));
    let access: Vec<_> = result.summary.interfaces[1..].iter().filter_map(|of| of.access.as_ref()).collect();
    let total = |of: fn(&AccessSummary) -> u64| access.iter().map(|terminal| of(terminal)).sum::<u64>();
    assert!(total(|of| of.waveform_changes) > 20 && total(|of| of.lost_bursts) > 0, "{access:?}");
    // Slots that are not used or idle are still in the future: at most the requests of an outage's last packets.
    let [granted, used, idle] = [total(|of| of.granted_slots), total(|of| of.used_slots), total(|of| of.idle_slots)];
    assert!(
        granted >= used + idle && granted - used - idle < granted / 50,
        "{granted} slots, {used} used, {idle} idle"
    );
    let lost: u64 = result.summary.flows.iter().filter_map(|flow| flow.datagrams.as_ref()).map(|of| of.lost).sum();
    let dropped: u64 = result.summary.interfaces.iter().map(|of| of.dropped_queue + of.dropped_retry).sum();
    assert_eq!(lost, dropped + total(|of| of.dropped_error));
}

#[test]
fn sensors_with_aloha_deliver_the_fraction_of_the_theory() {
    // 500 sensors send 100 B (with headers) each second at 800 kbit/s: 1 ms per message, G = 0.5.
    let text = beam("kind = \"random_access\", burst_rate = \"800 kbit/s\"", 500, &messages(72, "1 s"));
    let result = run(&text);
    let sent: u64 = result.summary.interfaces.iter().filter_map(|of| of.access.as_ref()).map(|of| of.contentions).sum();
    let fraction = delivered(&result) as f64 / 72.0 / sent as f64;
    let theory = libm::exp(-1.0);
    // 15,000 messages: a standard deviation of 1.1 %.
    assert!((fraction / theory - 1.0).abs() < 0.035, "{fraction} instead of {theory}");
    let lost: u64 = result.summary.flows.iter().filter_map(|flow| flow.datagrams.as_ref()).map(|of| of.lost).sum();
    let collided: u64 =
        result.summary.interfaces.iter().filter_map(|of| of.access.as_ref()).map(|of| of.dropped_collision).sum();
    assert_eq!(lost, collided);
}

#[test]
fn any_number_of_threads_gives_the_same_result() {
    let text = beam("kind = \"rcs2\", contention_data = true", 20, &messages(400, "200 ms"))
        + "[[links]]\nbetween = [\"gateway\", \"internet\"]\nrate = \"100 Mbit/s\"\ndelay = \"20 ms\"\n\
           [[links]]\nbetween = [\"internet\", \"server\"]\nrate = \"100 Mbit/s\"\ndelay = \"20 ms\"\n\
           [[flows]]\nfrom = \"server\"\nto = \"terminal4\"\n";
    let scenario = parse_toml(&text, &[]).unwrap();
    let hash = |threads: usize| {
        let how = Parallel { lanes: threads, threads, always: true };
        let simulation = Simulation::parallel(&scenario, None, how).unwrap();
        let partitions = simulation.cut().map_or(1, |cut| cut.partitions());
        (simulation.run(&mut |_| Control::Continue).summary.result_hash, partitions)
    };
    let results: Vec<_> = (1..=4).map(hash).collect();
    // A network with a medium is one partition.
    assert!(results.iter().all(|result| *result == (results[0].0.clone(), 1)), "{results:?}");
}

/// Returns sensors whose messages a satellite stores and forwards to the ground. Passes over the sensors start at
/// 10 s and last 20 s; the contact with the ground station starts at 60 s. Both repeat after 100 s.
fn store_and_forward(sensors: u32, every: &str, sink: &str, duration: &str) -> String {
    let passes = "passes = { first = \"10 s\", duration = \"20 s\", period = \"100 s\" }, pass_backoff = \"10 s\"";
    let medium = format!(
        "kind = \"random_access\", technique = \"crdsa-3\", burst_rate = \"800 kbit/s\", delay = \"4 ms\", {passes}"
    );
    beam(&medium, sensors, &messages(72, every)).replace("30 s", duration)
        + &format!(
            "[[links]]\nbetween = [\"gateway\", \"ground\"]\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"100 packets\"\n\
             changes = [{{ at = \"1 ms\", down = true }}, {{ at = \"60 s\", down = false }}, {{ at = \"75 s\", down = true }},\n\
             {{ at = \"160 s\", down = false }}, {{ at = \"175 s\", down = true }}]\n\
             [[flows]]\nfrom = \"gateway\"\nto = \"ground\"\nstart = \"60 s\"\n\
             traffic = {{ kind = \"collect\", {sink}contacts = {{ first = \"60 s\", duration = \"15 s\", period = \"100 s\" }} }}\n"
        )
}

#[test]
fn a_satellite_stores_messages_and_forwards_them_over_tcp() {
    let result = run(&store_and_forward(50, "20 s", "", "200 s"));
    let flow = result.summary.flows.iter().find(|flow| flow.messages.is_some()).unwrap();
    let (messages, store) = (flow.messages.as_deref().unwrap(), flow.store.as_deref().unwrap());
    // Every message is delivered, lost on the channel, dropped on board, still on board, or at a sensor.
    let waiting: u64 = result.summary.interfaces[1..].iter().map(|of| of.sent_frames).sum();
    let at_sensors = messages.sent - waiting - result.summary.interfaces.iter().map(|of| of.dropped_queue).sum::<u64>();
    assert_eq!(messages.sent, messages.lost + messages.dropped + messages.delivered + store.waiting + at_sensors);
    assert!(messages.delivered > 300 && messages.dropped == 0, "{messages:?}");
    assert_eq!(flow.delivered_bytes, 72 * messages.delivered);
    // What is sent in a pass is delivered in the next contact: from the end of the first pass, after 30 s, until 60 s are 30 s;
    // from the first message, at the start of the run, 60 s and the transmission of up to 64 kB at 1 Mbit/s.
    let first = result.summary.flows.iter().filter_map(|flow| flow.datagrams.as_ref()?.mean_delay_s).sum::<f64>();
    let at_satellite = first / 50.0;
    let mean = messages.mean_delay_s.unwrap();
    assert!(mean > at_satellite + 30.0 && mean < at_satellite + 60.0, "{mean} s, {at_satellite} s to the satellite");
    assert!(store.median_delay_s.unwrap() > 30.0 && store.p99_delay_s.unwrap() < 161.0, "{store:?}");
    assert!(store.max_bytes >= 72 * 200 && store.max_bytes % 72 == 0, "{store:?}");
    let fraction = messages.delivered as f64 / messages.sent as f64;
    assert!((store.delivered_fraction.unwrap() - fraction).abs() < 1e-12);
    assert_eq!(flow.failure, None);
    assert!(flow.retransmitted_segments <= 2, "the guard leaves time for the last ACKs: {flow:#?}");
}

#[test]
fn a_full_memory_on_board_drops_the_oldest_or_the_newest_messages() {
    // 50 sensors with a message per second queue 16 each until the pass, and send 1,000 more in it; 20 kB hold 277.
    let delay = |overflow: &str| {
        let sink = format!("buffer = \"20 kB\", overflow = \"{overflow}\", ");
        let result = run(&store_and_forward(50, "1 s", &sink, "100 s"));
        let flow = result.summary.flows.iter().find(|flow| flow.messages.is_some()).unwrap();
        let (messages, store) = (flow.messages.as_deref().copied().unwrap(), flow.store.as_deref().copied().unwrap());
        assert_eq!((messages.delivered, store.waiting, store.max_bytes), (277, 0, 277 * 72), "{store:?}");
        assert!(messages.dropped > 500, "{messages:?}");
        assert_eq!(store.dropped_oldest, if overflow == "oldest" { messages.dropped } else { 0 });
        messages.mean_delay_s.unwrap()
    };
    let [newest, oldest] = ["newest", "oldest"].map(delay);
    // Newest dropped: messages from before the pass, generated around 5 s; oldest dropped: messages from its last seconds.
    assert!(newest > 45.0 && newest < 62.0, "{newest} s");
    assert!(oldest > 30.0 && oldest < 40.0, "{oldest} s");
}

#[test]
fn the_first_message_of_a_contact_has_the_delay_of_its_steps() {
    // One message at 12 s, within a pass: it arrives at the satellite after a frame, and leaves at 60 s with the handshake.
    let text = store_and_forward(1, "1 s", "", "100 s").replace(
        "kind = \"poisson\", size = \"72 B\", every = \"1 s\"",
        "kind = \"periodic\", size = \"72 B\", every = \"1000 s\", first = \"12 s\"",
    );
    let result = run(&text);
    let flow = result.summary.flows.iter().find(|flow| flow.messages.is_some()).unwrap();
    let delay = flow.messages.as_deref().unwrap().mean_delay_s.unwrap();
    // 60 s − 12 s, a round trip of the handshake and 5 ms, and three transmissions of about 100 B at 1 Mbit/s: 40, 40 and
    // 112 to 124 B with TCP options.
    let steps = 48.0 + 0.010 + 0.005;
    assert!(delay > steps && delay < steps + 0.003, "{delay} s instead of {steps} s");
}
