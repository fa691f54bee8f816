//! Generates a scenario with a constellation, stations and flows for each index.

use crate::air::flow;
use crate::generator::{Draw, queue};
use lightlag_core::RandomStream;
use lightlag_orbit::{Phasing, Shell};
use std::fmt::Write;

/// Returns the constellation with this index.
pub fn scenario(number: u64) -> String {
    let mut draw = Draw::new(RandomStream::new(number, "soak sky"));
    let mut text = format!(
        "name = \"sky\"\nduration = \"{} ms\"\nseed = {}\n",
        draw.magnitude(1_000, 60_000),
        draw.between(0, u32::MAX.into())
    );
    if draw.percent(20) {
        text += "ip = \"v6\"\n";
    }
    writeln!(text, "record = {{ interval = \"100 ms\", acks = {}, queueing = {} }}", draw.flag(), draw.flag()).unwrap();
    let mut shells = vec![shell(&mut draw, "s")];
    if draw.percent(20) {
        shells.push(shell(&mut draw, "t"));
    }
    let tables: Vec<String> = shells.iter().map(|(_, table)| table.clone()).collect();
    writeln!(text, "\n[constellation]\nstart = \"2026-01-01\"\nshells = [{}]", tables.join(", ")).unwrap();
    text += &isls(&mut draw, &shells);
    writeln!(text, "elevation = \"{} deg\"", draw.between(1, 40)).unwrap();
    if draw.percent(15) {
        text += "visibility = \"slant\"\n";
    }
    if draw.percent(20) {
        writeln!(text, "polar_limit = \"{} deg\"", draw.between(0, 90)).unwrap();
    }
    for key in ["isl", "uplink", "downlink"] {
        let line = line(&mut draw, key);
        writeln!(text, "{key} = {{ {line} }}").unwrap();
    }
    text += &rules(&mut draw);
    text += &handover(&mut draw);
    let stations = draw.between(2, 6);
    for index in 0..stations {
        text += &station(&mut draw, index);
    }
    let mut ends: Vec<String> = (0..stations).map(|at| format!("g{at}")).collect();
    for host in 0..if draw.percent(40) { draw.between(1, 3) } else { 0 } {
        let station_index = draw.between(0, stations - 1);
        let delay = draw.magnitude(1, 30_000);
        writeln!(
            text,
            "\n[[links]]\nbetween = [\"h{host}\", \"g{station_index}\"]\nrate = \"{} kbit/s\"\ndelay = \"{delay} us\"",
            draw.magnitude(50, 50_000)
        )
        .unwrap();
        ends.push(format!("h{host}"));
    }
    for _ in 0..draw.between(1, 4) {
        let from = draw.between(0, ends.len() as u64 - 1);
        let to = (from + draw.between(1, ends.len() as u64 - 1)) % ends.len() as u64;
        text += &flow(&mut draw, &ends[from as usize], &ends[to as usize]);
    }
    text
}

/// Picks a random shell that is valid. Also returns its table.
fn shell(draw: &mut Draw, name: &str) -> (Shell, String) {
    loop {
        let high = draw.percent(10);
        let height = if high { 35_786 } else { draw.between(400, 2_000) };
        let circular = high || draw.percent(40);
        let (planes, slots) = (draw.between(1, 12), draw.between(1, 16));
        let phasing = draw.between(0, planes - 1);
        let alternating = draw.percent(20);
        let spread = if draw.percent(30) { draw.between(90, 200) } else { 360 };
        let may_collide = draw.percent(10);
        let shell = Shell {
            name: name.to_owned(),
            height: height as f64 * 1e3,
            inclination: draw.between(0, 180) as f64,
            planes: planes as u32,
            slots: slots as u32,
            phasing: if alternating { Phasing::Alternating } else { Phasing::Walker(phasing as u32) },
            spread: spread as f64,
            motion: if circular {
                lightlag_orbit::shell::Motion::Circular
            } else {
                lightlag_orbit::shell::Motion::Sgp4
            },
            may_collide,
            ..Shell::default()
        };
        if shell.check().is_err() {
            continue;
        }
        let phasing = if alternating { "\"alternating\"".to_owned() } else { phasing.to_string() };
        let propagator = if circular { "circular" } else { "sgp4" };
        let table = format!(
            "{{ name = \"{name}\", height = \"{height} km\", inclination = \"{} deg\", planes = {planes}, slots = {slots}, \
             phasing = {phasing}, spread = \"{spread} deg\", propagator = \"{propagator}\", may_collide = {may_collide} }}",
            shell.inclination
        );
        return (shell, table);
    }
}

/// Picks the links between satellites at random: the default grid (only if every shell has enough planes and slots),
/// none, or listed links within the planes.
fn isls(draw: &mut Draw, shells: &[(Shell, String)]) -> String {
    let has_room = shells.iter().all(|(shell, _)| shell.planes >= 3 && shell.slots >= 3);
    if has_room && draw.percent(70) {
        return String::new();
    }
    let (shell, _) = &shells[0];
    // Neighbours in a plane see each other if there are enough of them.
    if shell.slots >= 12 && draw.percent(50) {
        let pairs: Vec<String> = (0..shell.planes)
            .flat_map(|plane| (1..shell.slots).map(move |slot| (plane, slot)))
            .map(|(plane, slot)| {
                format!("[{:?}, {:?}]", shell.satellite(plane, slot - 1), shell.satellite(plane, slot))
            })
            .collect();
        return format!("isls = [{}]\n", pairs.join(", "));
    }
    "isls = \"none\"\n".to_owned()
}

fn line(draw: &mut Draw, key: &str) -> String {
    let mut keys =
        vec![format!("rate = \"{} kbit/s\"", draw.magnitude(20, 20_000)), format!("queue = {}", queue(draw))];
    if draw.percent(20) {
        keys.push(format!("loss = {}", draw.between(1, 100) as f64 / 1000.0));
    }
    if draw.percent(20) {
        let delay = draw.between(1, 30);
        keys.push(format!("delay = \"{delay} ms\""));
        if draw.flag() {
            keys.push(format!("jitter = \"{} ms\"", draw.between(1, delay)));
        }
    }
    if key != "isl" && draw.percent(20) {
        let [low, high] = [(); 2].map(|()| draw.magnitude(20, 20_000));
        keys.push(format!("rates = [[\"10 deg\", \"{low} kbit/s\"], [\"50 deg\", \"{high} kbit/s\"]]"));
    }
    if key == "downlink" && draw.percent(30) {
        keys.push("shared = false".to_owned());
    }
    keys.join(", ")
}

fn rules(draw: &mut Draw) -> String {
    let mut text = String::new();
    let selection = match draw.between(0, 7) {
        0 => format!("{{ rule = \"highest\", every = \"{} s\" }}", draw.between(0, 20)),
        1 => format!("{{ rule = \"hysteresis\", margin = \"{} deg\" }}", draw.between(0, 30)),
        2 => format!("{{ rule = \"keep\", longest = {} }}", draw.flag()),
        _ => "\"shortest\"".to_owned(),
    };
    writeln!(text, "selection = {selection}\ninterfaces = {}", draw.between(1, 3)).unwrap();
    if draw.percent(30) {
        writeln!(text, "interval = \"{} ms\"\nexact = {}", draw.magnitude(10, 20_000), draw.flag()).unwrap();
    }
    if draw.percent(20) {
        writeln!(text, "load_penalty = \"{} ms\"", draw.between(1, 50)).unwrap();
    }
    if draw.percent(20) {
        text += "shortest = \"hops\"\n";
    }
    text
}

fn handover(draw: &mut Draw) -> String {
    if draw.percent(40) {
        return String::new();
    }
    format!(
        "handover = {{ waiting = {:?}, lose_in_flight = {}, pause = \"{} ms\", burst = \"{} ms\", probability = {} }}\n",
        draw.pick(&["requeue", "keep", "drop"]),
        draw.flag(),
        draw.pick(&[0, 1, 50, 2_000]),
        draw.pick(&[0, 1, 50, 2_000]),
        draw.pick(&[0.0, 0.3, 1.0])
    )
}

fn station(draw: &mut Draw, index: u64) -> String {
    let mut position = || {
        let (north, east) = (draw.between(0, 180) as i64 - 90, draw.between(0, 360) as i64 - 180);
        format!("latitude = \"{north} deg\", longitude = \"{east} deg\", height = \"{} m\"", draw.between(0, 12_000))
    };
    let first = position();
    let mut text = format!("\n[[stations]]\nname = \"g{index}\"\n");
    if draw.percent(20) {
        // No whole numbers of degrees are opposite to this place.
        let between = "latitude = \"1 deg\", longitude = \"1.5 deg\"";
        writeln!(
            text,
            "waypoints = [{{ at = \"1 s\", {first} }}, {{ at = \"{} s\", {between} }}]",
            draw.between(2, 90)
        )
        .unwrap();
    } else {
        text += &first.replace(", ", "\n");
        text += "\n";
    }
    if draw.percent(25) {
        text += "relay = true\n";
    }
    if draw.percent(15) {
        text += "uplink = { rate = \"30 Mbit/s\" }\n";
    }
    text
}
