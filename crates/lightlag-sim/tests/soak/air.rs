//! Generates a scenario with swarms and listed nodes with radios for each index, with all registered models.

use crate::generator::{Draw, traffic};
use crate::tcp::ends;
use lightlag_core::params::{Described, Parameter, Range, Registered, Value, parameters};
use lightlag_core::{Duration, Probability, RandomStream};
use lightlag_mobility::{Area, Mobility, Placement, Vector};
use lightlag_routing::Protocol;
use lightlag_wifi::phy::Standard;
use lightlag_wifi::propagation::{Fading, PathLoss, Shadowing};
use lightlag_wifi::rate::RateControl;
use lightlag_wifi::{Class, MediumConfig, Radio};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Number of nodes in the trace file, which is the maximum number of nodes in a swarm.
const TRACED: usize = 60;

/// Nodes that are listed individually in the scenario. The first one is on every medium.
struct Named {
    /// Names of the nodes.
    names: Vec<String>,
    /// Number of further nodes without a radio.
    wired: usize,
}

/// Returns the swarm with this index.
pub fn scenario(number: u64) -> String {
    let mut draw = Draw::new(RandomStream::new(number, "soak swarm"));
    let media = if draw.percent(80) { 1 } else { draw.between(2, 3) };
    let has_swarm = draw.percent(70);
    let nodes = if has_swarm { draw.magnitude(1, TRACED as u64) } else { 0 };
    // Many nodes send many frames.
    let max_ms = if nodes > 15 { 4_000 } else { 40_000 };
    let mut text = format!(
        "name = \"swarm\"\nduration = \"{} ms\"\nseed = {}\n",
        draw.magnitude(max_ms / 40, max_ms),
        draw.between(0, u32::MAX.into())
    );
    if draw.percent(20) {
        text += "routing = \"follow links\"\n";
    }
    if draw.percent(20) {
        text += "ip = \"v6\"\n";
    }
    let trace = draw.pick(&["change", "sampled", "off"]);
    let positions = draw.pick(&["1 s", "20 ms", "off"]);
    writeln!(
        text,
        "record = {{ interval = \"50 ms\", trace = {trace:?}, acks = {}, queueing = {}, positions = {positions:?} }}",
        draw.flag(),
        draw.flag()
    )
    .unwrap();
    let area = area(&mut draw);
    let listed = draw.between(if has_swarm { u64::from(nodes == 1) } else { 2 }, if has_swarm { 3 } else { 8 });
    let named = Named {
        names: (0..listed).map(|at| format!("n{at}")).collect(),
        wired: if listed > 0 && draw.percent(30) { draw.between(1, 3) as usize } else { 0 },
    };
    if has_swarm {
        text += &swarm(&mut draw, nodes, &area, listed > 0);
    }
    for medium in u64::from(has_swarm)..media {
        let (keys, _) = self::medium(&mut draw);
        write!(text, "\n[[media]]\nname = \"m{medium}\"\n{}\n", keys.join("\n")).unwrap();
    }
    for index in 0..listed {
        text += &node(&mut draw, index, media, has_swarm, &area);
    }
    text += &links(&mut draw, &named);
    let mut all: Vec<String> = named.names.clone();
    all.extend((0..named.wired).map(|at| format!("w{at}")));
    all.extend((1..=nodes).map(|at| format!("uav{at}")));
    // Without a node on all of them, media are not connected.
    let together = if media > 1 && listed == 0 { nodes as usize } else { all.len() };
    for _ in 0..draw.between(1, 5) {
        let from = draw.between(0, together as u64 - 1);
        let to = (from + draw.between(1, together as u64 - 1)) % together as u64;
        text += &flow(&mut draw, &all[from as usize], &all[to as usize]);
    }
    text
}

/// Picks the dimensions of a box at random: it may be tiny, flat, wide or tall.
fn area(draw: &mut Draw) -> Area {
    let [x, y] = [(); 2].map(|()| draw.magnitude(1, 1_000) as f64);
    let z = if draw.percent(30) { 0.0 } else { draw.magnitude(1, 300) as f64 };
    Area::new(Vector::ZERO, Vector::new(x, y, z)).unwrap()
}

fn lengths(position: Vector) -> String {
    format!("[\"{} m\", \"{} m\", \"{} m\"]", position.x, position.y, position.z)
}

/// Picks a random point in a box.
fn place(draw: &mut Draw, area: &Area) -> Vector {
    let mut along = |most: f64| most * draw.between(0, 100) as f64 / 100.0;
    let most = area.most();
    Vector::new(along(most.x), along(most.y), along(most.z))
}

/// Picks a random swarm. With `led`, its nodes may follow a listed node.
fn swarm(draw: &mut Draw, nodes: u64, area: &Area, led: bool) -> String {
    let placement = placement(draw, nodes, area);
    let fixed = placement.place(0, nodes as u32, area);
    let mobility = mobility(draw, area, fixed, false, if led { "n0" } else { "uav1" });
    // A leader of the swarm would follow itself.
    let mobility = mobility.filter(|(name, _)| led || *name != "group");
    let (medium, _) = medium(draw);
    let pairs = nodes * (nodes - 1);
    let flows = draw.between(0, 4.min(pairs));
    let mut text = format!(
        "\n[topology]\nkind = \"swarm\"\nnodes = {nodes}\narea = {}\nplacement = {}\nmedium = {{ {} }}\nflows = {flows}\n",
        lengths(area.most()),
        table("kind", &placement),
        medium.join(", ")
    );
    if let Some((_, mobility)) = mobility {
        writeln!(text, "mobility = {mobility}").unwrap();
    }
    if draw.percent(60) {
        writeln!(text, "flow = {{ transfer = \"{} B\" }}", draw.magnitude(1, 300_000)).unwrap();
    }
    text
}

/// Picks a random placement that fits into the box. With a spacing of zero, all nodes are at one point.
fn placement(draw: &mut Draw, nodes: u64, area: &Area) -> Placement {
    let name = draw.pick(Placement::NAMES);
    let mut placement = Placement::named(name).unwrap();
    let shortest = area.most().x.min(area.most().y);
    let spacing = if draw.percent(20) { 0.0 } else { shortest / (2.0 * nodes as f64) };
    for (index, parameter) in placement.parameters().into_iter().enumerate() {
        let value = match parameter.key {
            "spacing" | "radius" => Value::Number(spacing),
            "height" => Value::Number(0.0),
            _ => continue,
        };
        placement.set(index, value);
    }
    assert_eq!(placement.check(nodes as u32, area), Ok(()), "{name}");
    placement
}

/// Picks a random mobility model that is valid with a box and a fixed point. Returns its name and its table; `None` if
/// it is not valid.
fn mobility(
    draw: &mut Draw,
    area: &Area,
    fixed: Option<Vector>,
    listed: bool,
    leader: &str,
) -> Option<(&'static str, String)> {
    let name = draw.pick(Mobility::NAMES);
    let mut mobility = Mobility::named(name).unwrap();
    vary(draw, &mut mobility);
    for (index, parameter) in mobility.parameters().into_iter().enumerate() {
        let value = match parameter.key {
            "file" => Value::Text(trace().to_str().expect("its path is UTF-8").to_owned()),
            "format" => Value::Word(match parameter.range {
                Range::Word { words, .. } => words.iter().position(|word| *word == "bonnmotion").expect("it is read"),
                _ => 0,
            }),
            "leader" => Value::Text(leader.to_owned()),
            "dimension" => Value::Count(2),
            "times" if draw.flag() && fixed.is_none() => Value::Rows(rows(draw, area, true)),
            "places" if mobility.get(index - 1) == Value::Rows(Vec::new()) => Value::Rows(rows(draw, area, false)),
            "node" if listed => Value::Text("7".to_owned()),
            "repeat" => Value::Flag(false),
            _ => continue,
        };
        mobility.set(index, value);
    }
    // A path of a file has its own start, and a member of a group starts near its leader.
    let starts_elsewhere = matches!(name, "trace" | "group");
    let suits = if starts_elsewhere { fixed.is_none() } else { mobility.check(area, fixed).is_ok() };
    suits.then(|| (name, table("model", &mobility)))
}

/// Picks random rows of a path, given by times or by points with speeds.
fn rows(draw: &mut Draw, area: &Area, by_times: bool) -> Vec<Vec<f64>> {
    let row = |at: u64| {
        let Vector { x, y, z } = place(draw, area);
        if by_times { vec![at as f64 / 4.0, x, y, z] } else { vec![x, y, z, draw.magnitude(1, 50) as f64] }
    };
    (0..6).map(row).collect()
}

/// Returns the path of a trace file in which nodes move straight from one corner of the largest box to a point near it.
fn trace() -> &'static PathBuf {
    static TRACE: OnceLock<PathBuf> = OnceLock::new();
    TRACE.get_or_init(|| {
        let way = |node: usize| format!("0 {0} 1 0.5 {0} 0.25 3 0 {0}\n", node as f64 / TRACED as f64);
        let text: String = (0..TRACED).map(way).collect();
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("soak-{}.movements", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    })
}

/// Picks a random medium. Returns its keys and the settings of its radios.
fn medium(draw: &mut Draw) -> (Vec<String>, Radio) {
    let mut config = MediumConfig::default();
    vary_settings(draw, &mut config);
    let mut radio = Radio::default();
    vary_settings(draw, &mut radio);
    let modes = config.capabilities().modes();
    for rate in [&mut radio.rate, &mut radio.broadcast_rate] {
        *rate = modes[draw.between(0, modes.len() as u64 - 1) as usize].to_string();
    }
    if draw.percent(70) {
        radio.power = draw.between(20, 45) as f64;
    }
    if radio.check(&config).is_err() {
        radio = Radio::default();
    }
    let mut keys = written(&parameters_of(&config));
    keys.extend(written(&parameters_of(&radio)));
    keys.push(format!("propagation = {}", model::<PathLoss>(draw, "model")));
    if draw.percent(40) {
        keys.push(format!("fading = {}", model::<Fading>(draw, "model")));
    }
    if draw.percent(30) {
        let mut shadowing = Shadowing::default();
        vary_settings(draw, &mut shadowing);
        keys.push(format!("shadowing = {{ {} }}", written(&parameters_of(&shadowing)).join(", ")));
    }
    let routing = model::<Protocol>(draw, "protocol");
    if routing.contains("\"aodv\"") && draw.flag() {
        keys.push("elfn = true".to_owned());
    }
    keys.push(format!("routing = {routing}"));
    if draw.percent(40) {
        keys.push(format!("rate_control = {}", model::<RateControl>(draw, "algorithm")));
    }
    if matches!(config.standard, Standard::N | Standard::Ac) && draw.percent(20) {
        keys.push(format!("edca = {{ {} = {} }}", draw.pick(&Class::NAMES), access(draw)));
    }
    if draw.percent(30) {
        keys.push("arp = \"ns3\"".to_owned());
    }
    (keys, radio)
}

/// Picks the parameters of an access class at random.
fn access(draw: &mut Draw) -> String {
    let narrow = draw.between(1, 10);
    let wide = draw.between(narrow, 10);
    format!(
        "{{ aifsn = {}, cw_min = {}, cw_max = {}, txop = \"{} us\" }}",
        draw.between(2, 15),
        (1 << narrow) - 1,
        (1 << wide) - 1,
        draw.pick(&[0, 32, 1000, 4096, 50_000])
    )
}

/// Picks a random node with a radio on one or several media. The first node has a radio on each medium.
fn node(draw: &mut Draw, index: u64, media: u64, has_swarm: bool, area: &Area) -> String {
    let name = |medium: u64| if has_swarm && medium == 0 { "air".to_owned() } else { format!("m{medium}") };
    let on: Vec<String> = match index {
        0 => (0..media).map(name).collect(),
        _ if draw.percent(20) => (0..media).map(name).collect(),
        _ => vec![name(draw.between(0, media - 1))],
    };
    let position = place(draw, area);
    let fixed = draw.flag().then_some(position);
    let mobility = mobility(draw, area, fixed, true, "n0");
    let mobility =
        mobility.filter(|(name, _)| fixed.is_some() || (*name != "static" && (index > 0 || *name != "group")));
    let mut text = format!("\n[[nodes]]\nname = \"n{index}\"\nmedia = {on:?}\n");
    if fixed.is_some() || mobility.is_none() {
        writeln!(text, "at = {}", lengths(position)).unwrap();
    }
    if let Some((_, mobility)) = mobility {
        writeln!(text, "mobility = {mobility}\narea = {}", lengths(area.most())).unwrap();
    }
    if draw.percent(20) {
        writeln!(text, "radio = {{ power = \"{} dBm\", max_attempts = {} }}", draw.between(0, 40), draw.between(1, 10))
            .unwrap();
    }
    text
}

/// Picks random links from the first listed node to nodes without radios, and occasionally a link parallel to the
/// medium.
fn links(draw: &mut Draw, named: &Named) -> String {
    let mut ends: Vec<[String; 2]> = (0..named.wired)
        .map(|at| [if at > 0 && draw.flag() { format!("w{}", at - 1) } else { "n0".to_owned() }, format!("w{at}")])
        .collect();
    if named.names.len() > 1 && draw.percent(25) {
        ends.push([named.names[0].clone(), named.names[1].clone()]);
    }
    let mut text = String::new();
    for [a, b] in ends {
        let (rate, delay) = (draw.magnitude(50, 50_000), draw.magnitude(1, 300_000));
        write!(text, "\n[[links]]\nbetween = [{a:?}, {b:?}]\nrate = \"{rate} kbit/s\"\ndelay = \"{delay} us\"\n")
            .unwrap();
        if draw.percent(30) {
            writeln!(text, "loss = 0.05\nreorder = true").unwrap();
        }
        if draw.percent(30) {
            let (down, up) = (draw.magnitude(1, 1_000), draw.magnitude(1, 1_000));
            let up = down + up;
            let changes = format!("{{ at = \"{down} ms\", down = true }}, {{ at = \"{up} ms\", down = false }}");
            writeln!(text, "changes = [{changes}]").unwrap();
        }
        if draw.percent(20) {
            writeln!(text, "signals = {{ outage = true, corruption = \"both\" }}").unwrap();
        }
    }
    text
}

pub fn flow(draw: &mut Draw, from: &str, to: &str) -> String {
    let mut text = format!("\n[[flows]]\nfrom = {from:?}\nto = {to:?}\n");
    if draw.flag() {
        writeln!(text, "start = \"{} ms\"", draw.magnitude(1, 200)).unwrap();
    }
    let ends = ends(draw);
    // Transfers may all arrive after the end of so short a run.
    let traffic = Some(traffic(draw)).filter(|traffic| !traffic.contains("\"transfers\""));
    if let Some(traffic) = traffic.filter(|_| draw.percent(40)) {
        text += &traffic;
        if traffic.contains("udp") {
            return text;
        }
        let is_dialogue = traffic.contains("requests") || traffic.contains("web");
        return text + &if is_dialogue { ends.reliable() } else { ends.written() };
    }
    if draw.percent(70) {
        writeln!(text, "transfer = \"{} B\"", draw.magnitude(1, 300_000)).unwrap();
    }
    text + &ends.written()
}

/// Picks one of the models of a registry at random. Returns its table, with random values of some parameters.
fn model<T: Registered>(draw: &mut Draw, key: &str) -> String {
    let mut model = T::named(draw.pick(T::NAMES)).unwrap();
    vary(draw, &mut model);
    table(key, &model)
}

fn table<T: Registered>(key: &str, model: &T) -> String {
    let said: Vec<(Parameter, Value)> =
        model.parameters().into_iter().enumerate().map(|(index, of)| (of, model.get(index))).collect();
    let mut keys = vec![format!("{key} = {:?}", model.name())];
    keys.extend(written(&said));
    format!("{{ {} }}", keys.join(", "))
}

/// Sets some of the parameters of a model to random values. A parameter stays unchanged if the value is not valid
/// together with the others.
fn vary<T: Registered>(draw: &mut Draw, model: &mut T) {
    let parameters = model.parameters();
    for (index, parameter) in parameters.iter().enumerate() {
        let Some(value) = drawn(draw, parameter) else { continue };
        let before = model.get(index);
        model.set(index, value);
        if (0..parameters.len()).any(|index| model.check(index).is_some()) {
            model.set(index, before);
        }
    }
}

/// Sets some of the settings of a configuration to random values, as [`vary`] does for a model.
fn vary_settings<C: Described>(draw: &mut Draw, config: &mut C) {
    let settings = C::settings();
    for (setting, parameter) in settings.iter().zip(parameters::<C>(C::settings())) {
        let Some(value) = drawn(draw, &parameter) else { continue };
        let before = setting.get(config);
        setting.set(config, value);
        if settings.iter().any(|setting| (setting.check)(config).is_some()) {
            setting.set(config, before);
        }
    }
}

/// Returns a random value of a parameter; in 70 % of the calls `None`, so that the parameter keeps its value.
fn drawn(draw: &mut Draw, parameter: &Parameter) -> Option<Value> {
    if !draw.percent(30) {
        return None;
    }
    let factor = draw.pick(&[0.1, 0.5, 0.9, 1.1, 2.0, 10.0]);
    Some(match (parameter.range, &parameter.default) {
        (Range::Flag, _) => Value::Flag(draw.flag()),
        (Range::Word { words, .. }, _) => Value::Word(draw.between(0, words.len() as u64 - 1) as usize),
        (Range::Count { most, .. }, Value::Count(usual)) => {
            Value::Count(draw.magnitude(1, u64::from(most.min(usual.saturating_mul(4)))) as u32)
        }
        (Range::Time { least, .. }, Value::Time(usual)) => {
            Value::Time(Duration::from_secs_f64(usual.as_secs_f64() * factor).max(least).max(Duration::from_millis(1)))
        }
        (Range::Probability { .. }, _) => Value::Probability(Probability::new(factor.min(1.0)).unwrap()),
        (Range::Quantity { least, most, .. }, Value::Number(usual)) if parameter.key == "frequency" => {
            Value::Number(draw.pick(&[2.412e9, *usual, 5.5e9]).clamp(least, most))
        }
        (Range::Number { least, most }, Value::Number(usual)) => {
            Value::Number((usual * draw.pick(&[0.0, factor])).round().clamp(least.into(), most))
        }
        // Powers are below zero, and so are some ratios.
        (
            Range::Quantity { unit: lightlag_core::Unit::Dbm | lightlag_core::Unit::Decibel, least, most },
            Value::Number(usual),
        ) => Value::Number((usual + draw.between(0, 24) as f64 - 12.0).clamp(least, most)),
        (Range::Quantity { least, most, .. }, Value::Number(usual)) => {
            Value::Number((usual * factor).clamp(least, most))
        }
        _ => return None,
    })
}

fn parameters_of<C: Described>(config: &C) -> Vec<(Parameter, Value)> {
    let values = C::settings();
    parameters::<C>(C::settings()).into_iter().zip(&values).map(|(of, setting)| (of, setting.get(config))).collect()
}

/// Returns `key = value` for each parameter that differs from its default.
fn written(said: &[(Parameter, Value)]) -> Vec<String> {
    let said = said.iter().filter(|(parameter, value)| *value != parameter.default);
    said.map(|(parameter, value)| format!("{} = {}", parameter.key, text(parameter, value))).collect()
}

fn text(parameter: &Parameter, value: &Value) -> String {
    match (value, parameter.range) {
        (Value::Flag(on), _) => on.to_string(),
        (Value::Count(number), _) => number.to_string(),
        (Value::Number(number), Range::Quantity { unit: lightlag_core::Unit::Plain, .. }) => format!("{number:?}"),
        (Value::Number(number), Range::Quantity { unit, .. }) => format!("\"{}\"", unit.show(*number)),
        (Value::Number(number), _) => format!("{number:?}"),
        (Value::Time(time), _) => format!("\"{} ns\"", time.as_nanos()),
        (Value::Probability(probability), _) => probability.to_string(),
        (Value::Word(index), Range::Word { words, .. }) => format!("{:?}", words[*index]),
        (Value::Text(text), _) => format!("{text:?}"),
        (Value::Rows(rows), _) => format!("{rows:?}"),
        (value, _) => panic!("{}: {value:?} is not written", parameter.key),
    }
}
