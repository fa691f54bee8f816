//! Generates the TCP tables of a flow, with any valid combination of keys.

use crate::generator::Draw;
use lightlag_control::congestion::{AlgorithmInfo, Choice, catalog};
use lightlag_tcp::Profile;
use lightlag_tcp::config::{Config, RttSamples};

/// The TCP tables of a flow: one for both endpoints, or one for each endpoint that has its own.
pub struct Ends(Vec<(&'static str, Drawn)>);

impl Ends {
    /// Returns the TCP keys of the flow.
    pub fn written(&self) -> String {
        self.keys(|table| table.text.clone())
    }

    /// Returns the TCP keys of the flow with partial reliability (BETS) switched off.
    pub fn reliable(&self) -> String {
        self.keys(Drawn::reliable)
    }

    /// Returns the payload of a full segment in bytes, or slightly more.
    pub fn mss(&self) -> u64 {
        self.0.iter().map(|(_, table)| table.mss).min().expect("there is a table")
    }

    fn keys(&self, text: impl Fn(&Drawn) -> String) -> String {
        self.0.iter().map(|(key, table)| format!("{key} = {{ {} }}\n", text(table))).collect()
    }
}

/// Picks the TCP tables of a flow at random. A table for one endpoint never extends a table for both, so that the keys
/// of each table are consistent.
pub fn ends(draw: &mut Draw) -> Ends {
    let keys = match draw.between(0, 9) {
        0 => &["client"][..],
        1 => &["server"],
        2 => &["client", "server"],
        _ => &["tcp"],
    };
    Ends(keys.iter().map(|key| (*key, options(draw))).collect())
}

/// A table of TCP keys, with the values that the rest of the scenario needs.
struct Drawn {
    /// The keys between the braces of the table.
    text: String,
    /// Payload of a full segment in bytes, or slightly more.
    mss: u64,
}

impl Drawn {
    /// Returns the keys with partial reliability (BETS) switched off.
    fn reliable(&self) -> String {
        let Some(begin) = self.text.find("bets = {") else { return self.text.clone() };
        let end = begin + self.text[begin..].find('}').expect("a table ends") + 1;
        format!("{}bets = false{}", &self.text[..begin], &self.text[end..])
    }
}

/// Keys of a table under construction.
#[derive(Default)]
struct Table(Vec<String>);

impl Table {
    fn set(&mut self, key: &str, value: impl std::fmt::Display) {
        self.0.push(format!("{key} = {value}"));
    }

    fn has(&self, text: &str) -> bool {
        self.0.iter().any(|key| key.contains(text))
    }

    fn word(&mut self, key: &str, value: &str) {
        self.set(key, format_args!("{value:?}"));
    }
}

/// Picks random keys that are consistent. Most keys are set with a probability of 50 %; the profile determines the
/// others.
fn options(draw: &mut Draw) -> Drawn {
    let profile = draw.pick(&Profile::ALL);
    let resolved = profile.config();
    let mut table = Table::default();
    table.word("profile", profile.name());
    let algorithm = &catalog()[draw.between(0, catalog().len() as u64 - 1) as usize];
    table.set("congestion", congestion(draw, algorithm));
    marks(draw, &mut table, algorithm.name);
    let (mut sack, mut timestamps) = (resolved.sack, resolved.timestamps);
    let recovery = draw.pick(&[None, Some("reno"), Some("newreno"), Some("sack"), Some("rack"), Some("fack")]);
    let reports = matches!(recovery, Some("sack" | "rack" | "fack"));
    if let Some(recovery) = recovery {
        table.word("recovery", recovery);
    }
    if draw.flag() || (reports && !sack) {
        sack = reports || draw.flag();
        table.set("sack", sack);
    }
    if draw.flag() {
        timestamps = draw.flag();
        table.set("timestamps", timestamps);
    }
    // Without `recovery` it is the profile's, which falls back where SACK is off.
    let by_reports = sack && reports;
    for key in ["prr", "tlp", "dsack_undo"] {
        if draw.flag() {
            table.set(key, by_reports && draw.flag());
        }
    }
    if draw.flag() {
        let free = by_reports && !table.has("prr = true");
        table.set("rate_halving", free && draw.flag());
    }
    if draw.percent(30) {
        table.word("reductions", draw.pick(&["rfc", "linux", "each", "ns3"]));
    }
    // Switched off, it is valid with every other key.
    if draw.percent(30) {
        table.set("prr_marks", false);
    }
    if draw.flag() {
        table.set("eifel", timestamps && draw.flag());
    }
    for key in
        ["dsack", "frto", "pacing", "window_scaling", "limited_transmit", "nagle", "partial_segments", "syn_data"]
    {
        if draw.flag() {
            table.set(key, draw.flag());
        }
    }
    words(draw, &mut table, &resolved);
    let mss = sizes(draw, &mut table, resolved.mss.into());
    timers(draw, &mut table);
    scps(draw, &mut table, mss, recovery.is_some());
    // It fits neither with a gate, which a route may bring, nor with the options of SCPS-TP.
    let beside = ["scps = ", "rate_control = ", "route = "];
    let has_room = resolved.scps.is_none() && !beside.iter().any(|key| table.has(key));
    if has_room && draw.percent(30) {
        table.set("fast_open", draw.pick(&["true", "\"cookie known\"", "false"]));
    }
    if draw.percent(20) {
        table.set("minshall", draw.flag());
    }
    Drawn { text: table.0.join(", "), mss }
}

/// Returns an algorithm, either by name alone or with some of its flags and keywords set at random.
fn congestion(draw: &mut Draw, algorithm: &AlgorithmInfo) -> String {
    let name = algorithm.name;
    if draw.flag() {
        return format!("{name:?}");
    }
    let mut keys = vec![format!("algorithm = {name:?}")];
    for parameter in &algorithm.parameters {
        let words: Vec<&str> = match parameter.range.as_str() {
            "true or false" => vec!["true", "false"],
            range if range.starts_with('"') => range.split(" or ").collect(),
            _ => continue,
        };
        if draw.flag() {
            keys.push(format!("{} = {}", parameter.name, draw.pick(&words)));
        }
    }
    // INET's CUBIC has one slow start, and no Reno-friendly region.
    if keys.iter().any(|key| key.contains("inet2023")) {
        keys.retain(|key| !key.starts_with("slow_start") && key != "reno_friendly = true");
    }
    // Modules of Linux 2.6 and of ns-3, the choice of two profiles, lack these switches; the variants of papers have
    // them.
    let own =
        |key: &String| ["rtt_source", "response", "reno_friendly = true"].iter().any(|word| key.starts_with(word));
    if keys.iter().any(own) {
        let variants = algorithm.parameters.iter().find(|parameter| parameter.name == "variant");
        let words = variants.map_or("", |parameter| parameter.range.as_str()).split(" or ");
        let others = ["\"profile\"", "\"linux-2.6\"", "\"ns3\"", "\"inet2023\""];
        keys.retain(|key| !key.starts_with("variant"));
        keys.extend(
            words
                .filter(|word| word.starts_with('"') && !others.contains(word))
                .take(1)
                .map(|word| format!("variant = {word}")),
        );
    }
    format!("{{ {} }}", keys.join(", "))
}

fn marks(draw: &mut Draw, table: &mut Table, algorithm: &str) {
    let modes: &[&str] = if Choice::named(algorithm).fixed_needs().exact_marks {
        &["classic", "accecn"]
    } else {
        &["off", "off", "classic", "accecn"]
    };
    if draw.flag() {
        table.word("ecn", draw.pick(modes));
    }
    if draw.percent(30) {
        table.word("accecn_option", draw.pick(&["off", "sparse", "always"]));
        table.set("ect_control", draw.flag());
    }
    if draw.percent(30) {
        table.word("ect", draw.pick(&["ect0", "ect1"]));
    }
    if draw.percent(30) {
        table.set("abe", draw.flag());
    }
}

fn words(draw: &mut Draw, table: &mut Table, resolved: &Config) {
    for (key, values) in [
        ("idle_restart", ["off", "rfc5681", "rfc2861", "rfc7661"].as_slice()),
        ("partial_acks", &["impatient", "slow_but_steady"]),
    ] {
        if draw.flag() {
            table.word(key, draw.pick(values));
        }
    }
    if draw.flag() || matches!(resolved.rtt_samples, RttSamples::OnePerRound | RttSamples::Timed) {
        table.word("rtt_samples", draw.pick(&["send_time", "timestamp", "one_per_round", "timed"]));
    }
    if draw.flag() {
        let abc = format!("{{ abc = {} }}", draw.between(1, 8));
        table.set("growth", draw.pick(&["\"per_ack\"", "\"per_segment\"", &abc]));
    }
    if draw.flag() {
        let (segments, timeout, quick) = (draw.between(1, 16), draw.magnitude(1, 2_000), draw.between(0, 20));
        let on = format!("{{ segments = {segments}, timeout = \"{timeout} ms\", quick = {quick} }}");
        table.set("delayed_ack", draw.pick(&["false", "true", &on]));
    }
}

/// Picks random sizes of segments, windows and buffers. Returns the MSS.
fn sizes(draw: &mut Draw, table: &mut Table, profiles: u64) -> u64 {
    let mss =
        if draw.percent(40) { draw.pick(&[36, 64, 88, 100, 256, 536, 1_000, 1_448, 4_000, 9_000]) } else { profiles };
    if mss != profiles {
        table.set("mss", format_args!("\"{mss} B\""));
    }
    if draw.percent(40) {
        table.set("initial_window", draw.magnitude(1, 100));
    }
    if draw.percent(20) {
        table.set("initial_ssthresh", draw.magnitude(2, 10_000));
    }
    if draw.percent(30) {
        table.set("burst_limit", draw.magnitude(1, 20));
    }
    // A sudden start probes for the entire window: a million dummies per round trip with the smallest segments and the
    // maximum window.
    let (kinds, largest) = if table.has("peach") { (2, (1_000 * mss).max(10_000)) } else { (5, 10_000_000) };
    match draw.between(0, kinds) {
        // Less than a segment, a few segments, a lot.
        0 => table.set("receive_buffer", format_args!("\"{} B\"", draw.between(64, 2 * mss))),
        1 => table.set("receive_buffer", format_args!("\"{} B\"", draw.between(mss.max(64), 20 * mss))),
        2 => table.set("receive_buffer", format_args!("\"{} B\"", draw.magnitude(10_000, largest))),
        3 => table.set("receive_buffer", "\"auto\""),
        4 => {
            let initial = draw.magnitude(64, 100_000);
            let max_bytes = draw.magnitude(initial, 10_000_000);
            table.set(
                "receive_buffer",
                format_args!("{{ auto = {{ initial = \"{initial} B\", max = \"{max_bytes} B\" }} }}"),
            );
        }
        _ => {}
    }
    if draw.percent(20) {
        table.set("send_buffer", format_args!("\"{} B\"", draw.magnitude(mss, 200 * mss)));
    }
    mss
}

fn timers(draw: &mut Draw, table: &mut Table) {
    if draw.percent(20) {
        let many = !(table.has("one_per_round") || table.has("\"timed\""));
        let (scaled, every) = (many && draw.flag(), draw.flag());
        table.set("rto", format_args!("{{ variance = \"mean\", scaled_gains = {scaled}, every_ack = {every} }}"));
    } else if draw.percent(30) {
        let (initial, min_ms) = (draw.between(100, 3_000), draw.magnitude(1, 1_000));
        let (floor, max_ms) = (draw.magnitude(1, 200), draw.between(5_000, 120_000));
        table.set(
            "rto",
            format_args!(
                "{{ initial = \"{initial} ms\", min = \"{min_ms} ms\", max = \"{max_ms} ms\", \
                 variance_floor = \"{floor} ms\", variance_gain = {:?} }}",
                draw.pick(&["1/4", "1/8"])
            ),
        );
    }
    for (key, max) in [("syn_retries", 255), ("retries", 255)] {
        if draw.percent(20) {
            table.set(key, draw.magnitude(1, max));
        }
    }
    if draw.percent(20) {
        // Fewer over the duration of a scenario than its maximum number of events.
        let (idle, interval) = (draw.magnitude(500, 100_000), draw.magnitude(10, 10_000));
        let probes = draw.between(1, 20);
        table.set(
            "keep_alive",
            format_args!("{{ idle = \"{idle} ms\", interval = \"{interval} ms\", probes = {probes} }}"),
        );
    }
    for key in ["time_wait", "fin_wait"] {
        if draw.percent(20) {
            table.set(key, format_args!("\"{} ms\"", draw.magnitude(1, 100_000)));
        }
    }
    if draw.percent(20) {
        let (count, every) = (draw.between(1, 20), draw.magnitude(1, 10_000));
        table.set("challenge_acks", format_args!("{{ count = {count}, every = \"{every} ms\" }}"));
    }
}

/// Picks random settings of SCPS-TP. They are independent of each other, because they are valid with every profile.
fn scps(draw: &mut Draw, table: &mut Table, mss: u64, repairs: bool) {
    if draw.percent(30) {
        let (delay, record) = (draw.between(0, 2_000), draw.magnitude(200, 20_000));
        let (max_transmissions, receive_timeout) = (draw.magnitude(1, 20), draw.magnitude(10, 5_000));
        // With another recovery, SNACK has no effect.
        let form = draw.pick(if repairs { &["off"][..] } else { &["off", "short", "long"] });
        let delay = if form == "off" { 0 } else { delay };
        // A compressed header has no bits for marks, nor for a low priority.
        let may_compress = table.has("ecn = \"off\"") && !table.has("peach");
        let mut keys = vec![format!("snack = {form:?}")];
        for key in [
            format!("snack_delay = \"{delay} ms\""),
            format!("record_size = \"{record} B\""),
            "report_corruption = true".to_owned(),
            format!("compression = {may_compress}"),
            format!("bets = {{ max_transmissions = {max_transmissions}, receive_timeout = \"{receive_timeout} ms\" }}"),
        ] {
            if draw.flag() {
                keys.push(key);
            }
        }
        let on = format!("{{ {} }}", keys.join(", "));
        table.set("scps", draw.pick(&["false", "true", &on]));
    }
    if draw.percent(15) {
        table.set("ack_interval", format_args!("\"{} ms\"", draw.magnitude(1, 2_000)));
    }
    if draw.percent(15) {
        let (rate, acks) = (draw.magnitude(20, 5_000), draw.magnitude(20, 5_000));
        // At least a packet with its headers.
        let bucket = mss + draw.magnitude(80, 50_000);
        let mut keys = vec![format!("rate = \"{rate} kbit/s\"")];
        let release = "release = \"acks\"".to_owned();
        for key in [format!("ack_rate = \"{acks} kbit/s\""), format!("bucket = \"{bucket} B\""), release] {
            if draw.flag() {
                keys.push(key);
            }
        }
        table.set("rate_control", format_args!("{{ {} }}", keys.join(", ")));
    }
    // Its first timeout is its own, or the route's.
    if draw.percent(15) && !table.0.iter().any(|key| key.starts_with("rto ")) {
        let (rtt, rate, bdp) = (draw.magnitude(1, 5_000), draw.magnitude(20, 5_000), draw.magnitude(1_000, 1_000_000));
        let keys = format!("{{ rtt = \"{rtt} ms\", rate = \"{rate} kbit/s\", bdp = \"{bdp} B\" }}");
        table.set("route", draw.pick(&["\"path\"", "{ path = true, bdp = \"20 kB\" }", &keys]));
    }
    // Not both: a sender that never slows down and never aborts may send the same data into a full queue forever.
    match draw.between(0, 6) {
        0 => table.word("loss_assumption", draw.pick(&["congestion", "corruption"])),
        1 => table.set("outage_after", draw.between(0, 2)),
        _ => {}
    }
}
