//! Generates a random scenario in TOML for each index.

use crate::tcp;
use lightlag_core::{Probability, RandomStream};
use std::fmt::Write;

/// Total size in bytes of the IPv4 header, a TCP header with all options, and the largest link-layer header used here.
const HEADERS: u64 = 120;

/// The random numbers of one scenario.
pub struct Draw(RandomStream);

impl Draw {
    pub fn new(random: RandomStream) -> Self {
        Self(random)
    }

    /// Returns a random number from `min` to `max`, inclusive.
    pub fn between(&mut self, min: u64, max: u64) -> u64 {
        min + self.0.bits() % (max - min + 1)
    }

    /// Returns a random number from `min` to `max`, with equal probability for each order of magnitude.
    pub fn magnitude(&mut self, min: u64, max: u64) -> u64 {
        let (low, high) = (libm::log(min as f64), libm::log(max as f64 + 1.0));
        (libm::exp(low + self.0.uniform() * (high - low)) as u64).clamp(min, max)
    }

    /// Returns one of these values at random.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.between(0, from.len() as u64 - 1) as usize]
    }

    /// Returns true with a probability of `percent` %.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.0.chance(Probability::new(percent as f64 / 100.0).expect("a percentage"))
    }

    pub fn flag(&mut self) -> bool {
        self.percent(50)
    }
}

/// A generated scenario in TOML.
pub struct Drawn {
    pub text: String,
    /// Whether every flow ends by itself.
    pub finite: bool,
}

/// The lines of a link, which may be long and lossy.
struct Line {
    text: String,
    /// Whether packet loss is likely, in at least one direction.
    lossy: bool,
}

/// Returns the scenario with this index.
pub fn scenario(number: u64) -> Drawn {
    let mut draw = Draw::new(RandomStream::new(number, "soak"));
    // Rarely a flow without end is added to the others: then the run has a short duration.
    let finite = draw.percent(93);
    // Maximum duration of a scenario: a flow that has not finished by then never will.
    let duration = if finite { "480 h" } else { "20 s" };
    let mut text = format!("name = \"soak\"\nduration = \"{duration}\"\nseed = {}\n", draw.between(0, u32::MAX.into()));
    text += "record = { interval = \"1 h\", drops = true, queue = \"off\" }\n";
    // Every fifth network has a path over a satellite.
    let far = draw.percent(20);
    let links = draw.between(1, 3);
    // A separate stream, so that the rest of a scenario is unchanged.
    let mut codes = Draw::new(RandomStream::new(number, "soak code"));
    let mut lossy = false;
    for link in 0..links {
        let mut line = line(&mut draw, far && link == 0, finite);
        line.text += &code(&mut codes, &line.text);
        lossy |= line.lossy;
        write!(text, "\n[[links]]\nbetween = [\"n{link}\", \"n{}\"]\n{}", link + 1, line.text).unwrap();
    }
    let flows = draw.between(1, 3);
    for flow in 0..flows {
        let endless = !finite && flow == 0;
        text += &self::flow(&mut draw, links, lossy, endless);
    }
    Drawn { text, finite }
}

/// Returns a random link with its queue, its losses and its disturbances.
fn line(draw: &mut Draw, far: bool, fast: bool) -> Line {
    let mut text = String::new();
    // An endless flow over a fast link has many packets.
    let fastest = if fast { 50_000 } else { 2_000 };
    let rate = draw.magnitude(20, fastest);
    if draw.percent(20) {
        let up = draw.magnitude(20, fastest);
        writeln!(text, "rate = {{ forward = \"{rate} kbit/s\", backward = \"{up} kbit/s\" }}").unwrap();
    } else {
        writeln!(text, "rate = \"{rate} kbit/s\"").unwrap();
    }
    let delay = if far { draw.between(250_000, 600_000) } else { draw.magnitude(1, 60_000) };
    writeln!(text, "delay = \"{delay} us\"").unwrap();
    writeln!(text, "queue = {}", queue(draw)).unwrap();
    let mut lossy = false;
    if draw.percent(60) {
        lossy = true;
        match draw.between(0, 4) {
            0 => writeln!(text, "loss = {{ bit_error_rate = {} }}", draw.magnitude(1, 100) as f64 * 1e-7),
            1 => {
                let at = draw.magnitude(1, 20_000);
                let times = [at, at, at + draw.between(0, 2_000)].map(|at| format!("\"{at} ms\""));
                writeln!(text, "loss = {{ at = [{}] }}", times.join(", "))
            }
            _ => {
                let [forward, backward] = [draw.between(0, 200), draw.between(0, 200)].map(|n| n as f64 / 1000.0);
                writeln!(text, "loss = {{ forward = {forward}, backward = {backward} }}")
            }
        }
        .unwrap();
    }
    if draw.percent(30) {
        let (often, max_us) = (draw.between(1, 300) as f64 / 1000.0, draw.magnitude(1, 200_000));
        let min_us = draw.between(0, max_us);
        writeln!(text, "reorder = {{ probability = {often}, delay = [\"{min_us} us\", \"{max_us} us\"] }}").unwrap();
    }
    if draw.percent(30) {
        writeln!(text, "duplicate = {}", draw.between(1, 300) as f64 / 1000.0).unwrap();
    }
    if draw.percent(30) {
        writeln!(text, "header = \"{} B\"", draw.between(1, 40)).unwrap();
    }
    Line { text, lossy }
}

/// Returns forward error correction for some of the links that preserve the order of packets; otherwise an empty
/// string.
fn code(draw: &mut Draw, line: &str) -> String {
    let (data, repair) = (draw.magnitude(1, 200), draw.magnitude(1, 55));
    let (flush, in_order) = (draw.magnitude(1, 200_000), draw.flag());
    if !draw.percent(30) || line.contains("reorder") || line.contains("duplicate") {
        return String::new();
    }
    format!("fec = {{ data = {data}, repair = {repair}, flush = \"{flush} us\", in_order = {in_order} }}\n")
}

/// Returns a random queue, with any discipline.
pub fn queue(draw: &mut Draw) -> String {
    let limit = match draw.between(0, 5) {
        0 | 1 => format!("\"{} packets\"", draw.between(1, 8)),
        2 => format!("\"{} packets\"", draw.magnitude(8, 1_000)),
        3 => format!("\"{} B\"", draw.magnitude(9_000 + HEADERS, 500_000)),
        _ => format!("\"{} bdp\"", draw.between(1, 30) as f64 / 10.0),
    };
    let (packets, ms, ecn) = (draw.between(1, 20), draw.between(1, 50), draw.flag());
    let discipline = match draw.between(0, 11) {
        0 => format!(
            "\"red\", min_threshold = \"{packets} packets\", max_threshold = \"{} packets\", weight = {}, \
             max_probability = {}, gentle = {}, ecn = {ecn}",
            packets + draw.between(1, 40),
            draw.pick(&[1.0, 0.1, 0.002]),
            draw.pick(&[0.02, 0.1, 1.0]),
            draw.flag()
        ),
        1 => format!("\"codel\", target = \"{ms} ms\", interval = \"{} ms\", ecn = {ecn}", draw.between(1, 200)),
        2 => format!(
            "\"fq_codel\", target = \"{ms} ms\", flows = {packets}, quantum = \"{} B\", ecn = {ecn}",
            draw.between(100, 3_000)
        ),
        3 => format!("\"pie\", target = \"{ms} ms\", burst = \"{} ms\", ecn = {ecn}", draw.between(0, 150)),
        4 => format!("\"dualpi2\", target = \"{ms} ms\", coupling = {}", draw.between(1, 5)),
        5 => format!(
            "\"step\", threshold = \"{packets} packets\", drop_not_ect = {}, weight = {}",
            draw.flag(),
            draw.pick(&[1.0, 1.0, 0.02])
        ),
        _ => return limit,
    };
    if draw.percent(70) {
        format!("{{ limit = {limit}, discipline = {discipline} }}")
    } else {
        format!("{{ discipline = {discipline} }}")
    }
}

/// Returns a random flow between two of the nodes.
fn flow(draw: &mut Draw, links: u64, lossy: bool, endless: bool) -> String {
    let from = draw.between(0, links);
    let to = (from + draw.between(1, links)) % (links + 1);
    let mut text = format!("\n[[flows]]\nfrom = \"n{from}\"\nto = \"n{to}\"\n");
    if draw.flag() {
        writeln!(text, "start = \"{} ms\"", draw.magnitude(1, 3_000)).unwrap();
    }
    let ends = tcp::ends(draw);
    if !endless && draw.percent(35) {
        let traffic = traffic(draw);
        let tcp = match () {
            () if traffic.contains("udp") => String::new(),
            () if traffic.contains("requests") || traffic.contains("web") => ends.reliable(),
            () => ends.written(),
        };
        return text + &traffic + &tcp;
    }
    if !endless {
        // Limits the segments: losses make each of them more expensive.
        let segments = draw.magnitude(1, if lossy { 400 } else { 2_000 });
        let bytes = (segments * ends.mss() - draw.between(0, ends.mss() - 1)).min(2_000_000);
        writeln!(text, "transfer = \"{bytes} B\"").unwrap();
    }
    match draw.between(0, 9) {
        0 => writeln!(text, "reader = {{ rate = \"{} kB/s\" }}", draw.magnitude(2, 1_000)).unwrap(),
        1 => {
            let (burst, every) = (draw.magnitude(500, 100_000), draw.magnitude(10, 2_000));
            writeln!(text, "reader = {{ burst = \"{burst} B\", every = \"{every} ms\" }}").unwrap();
        }
        _ => {}
    }
    text + &ends.written()
}

/// Returns random traffic keys of an application, which is finite.
pub fn traffic(draw: &mut Draw) -> String {
    let transport = if draw.flag() { "transport = \"udp\"\n" } else { "" };
    let transfer = format!("transfer = \"{} B\"\n", draw.magnitude(1, 200_000));
    let (rate, size) = (draw.magnitude(10, 5_000), draw.magnitude(20, 5_000));
    let rate = format!("rate = \"{rate} kbit/s\", size = \"{size} B\"");
    let (every, count) = (draw.magnitude(1, 2_000), draw.magnitude(1, 100));
    let first = if draw.flag() { ", first = \"100 ms\"" } else { "" };
    let messages = format!("every = \"{every} ms\", count = {count}{first}, size = {}", sizes(draw));
    match draw.between(0, 7) {
        0 => format!("{transport}{transfer}traffic = {{ kind = \"constant\", {rate} }}\n"),
        1 => {
            let [on, off] = [0; 2].map(|_| times(draw));
            format!("{transport}{transfer}traffic = {{ kind = \"on_off\", {rate}, on = {on}, off = {off} }}\n")
        }
        2 => format!("{transport}traffic = {{ kind = \"periodic\", {messages} }}\n"),
        3 => format!("{transport}traffic = {{ kind = \"poisson\", {messages} }}\n"),
        4 => format!("{transport}traffic = {{ kind = \"burst\", messages = {}, {messages} }}\n", draw.between(1, 5)),
        5 => {
            let size = sizes(draw);
            format!(
                "traffic = {{ kind = \"transfers\", every = \"{every} ms\", size = {size}, count = {} }}\n",
                draw.between(1, 20)
            )
        }
        6 => {
            let (response, think) = (sizes(draw), times(draw));
            let server_time = if draw.flag() { "server_time = \"30 ms\", " } else { "" };
            let count = draw.between(1, 20);
            format!(
                "traffic = {{ kind = \"requests\", response = {response}, {server_time}think = {think}, count = {count} }}\n"
            )
        }
        _ => {
            let (html, object, pages) = (sizes(draw), sizes(draw), draw.between(1, 4));
            let objects = draw.between(1, 20);
            let http = if draw.percent(30) {
                "http = \"2\"".to_owned()
            } else {
                format!("connections = {}", draw.between(1, 8))
            };
            format!(
                "traffic = {{ kind = \"web\", html = {html}, object = {object}, objects = {objects}, {http}, \
                 count = {pages} }}\n"
            )
        }
    }
}

/// Returns a random size, or a distribution of sizes.
fn sizes(draw: &mut Draw) -> String {
    let mean = draw.magnitude(1, 20_000);
    match draw.between(0, 5) {
        0 => format!("{{ distribution = \"exponential\", mean = \"{mean} B\" }}"),
        1 => format!("{{ distribution = \"uniform\", min = \"1 B\", max = \"{} B\" }}", mean + 1),
        2 => format!("{{ distribution = \"pareto\", mean = \"{mean} B\", shape = 1.2, max = \"{} B\" }}", 20 * mean),
        3 => format!("{{ distribution = \"lognormal\", median = \"{mean} B\", sigma = 0.8 }}"),
        4 => format!("{{ distribution = \"empirical\", values = [\"{mean} B\", \"7 B\"], weights = [1, 3] }}"),
        _ => format!("\"{mean} B\""),
    }
}

/// Returns a random time, or a distribution of times.
fn times(draw: &mut Draw) -> String {
    let mean = draw.magnitude(1, 2_000);
    if draw.flag() {
        return format!("\"{mean} ms\"");
    }
    format!("{{ distribution = \"exponential\", mean = \"{mean} ms\" }}")
}
