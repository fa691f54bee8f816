//! Scenarios with a constellation: what is read is written again, and each error has one message with path, value and
//! fix.

use lightlag_scenario::{Scenario, ScenarioError, parse_json, parse_toml};
use std::path::PathBuf;

/// A valid scenario; each case makes one change.
const GOOD: &str = r#"
duration = "60 s"
[constellation]
start = "2026-01-01T00:00:00Z"
shells = [{ name = "a", height = "630 km", inclination = "51.9 deg", planes = 34, slots = 34, phasing = 7 }]
elevation = "25 deg"
isls = "grid"
uplink = { rate = "10 Mbit/s" }
downlink = { rate = "20 Mbit/s" }
selection = "shortest"
handover = { pause = "10 ms" }
[[stations]]
name = "Paris"
[[stations]]
name = "s"
latitude = "10 deg"
longitude = "20 deg"
[[flows]]
from = "Paris"
to = "s"
transfer = "1 MB"
"#;

fn changed(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

fn read(text: &str) -> Result<Scenario, Vec<ScenarioError>> {
    let scenario = parse_toml(text, &[])?;
    scenario.expand().map(|_| scenario)
}

fn refused(from: &str, to: &str) -> (String, String) {
    let errors = read(&changed(from, to)).expect_err(to);
    assert_eq!(errors.len(), 1, "{to}: {errors:?}");
    (errors[0].path.clone(), errors[0].message.clone())
}

#[test]
fn a_value_that_is_read_is_written_unchanged() {
    let cases = [
        ("isls = \"grid\"", "isls = \"none\""),
        ("isls = \"grid\"", "isls = [[\"a-1-1\", \"a-1-2\"], [\"a-1-2\", \"a-1-3\"]]"),
        (
            "rate = \"10 Mbit/s\"",
            "rates = [[\"25 deg\", \"5 Mbit/s\"], [\"60 deg\", \"10 Mbit/s\"]], delay = \"5 ms\", jitter = \"2 ms\"",
        ),
        (
            "rate = \"10 Mbit/s\"",
            "rate = \"10 Mbit/s\", fade = { mean = -2.6, deviation = 1.6, correlation_time = \"20 s\", clear_sky = \"15 dB\", symbol_rate = \"20 MBd\" }",
        ),
        ("rate = \"20 Mbit/s\"", "rate = \"20 Mbit/s\", shared = false"),
        ("pause = \"10 ms\"", "pause = \"10 ms\", burst = \"16.7 ms\", probability = 0.5, lose_in_flight = true"),
        ("selection = \"shortest\"", "selection = { rule = \"highest\", every = \"15 s\" }\nload_penalty = \"2 ms\""),
        ("phasing = 7", "phasing = \"alternating\", may_collide = true"),
        (
            "latitude = \"10 deg\"\nlongitude = \"20 deg\"",
            "waypoints = [{ at = \"0 s\", city = \"Lisbon\" }, { at = \"1 h\", latitude = \"0 deg\", longitude = \"0 deg\", height = \"10 km\" }]\nrelay = true\nuplink = { rate = \"1 Gbit/s\" }",
        ),
    ];
    for (from, to) in cases {
        let scenario = read(&changed(from, to)).unwrap_or_else(|errors| panic!("{to}: {errors:?}"));
        let written = serde_json::to_string(&scenario).unwrap();
        assert_eq!(parse_json(&written, &[]).unwrap(), scenario, "{written}");
    }
}

#[test]
fn each_error_has_one_message() {
    let shell =
        "{ name = \"a\", height = \"630 km\", inclination = \"51.9 deg\", planes = 34, slots = 34, phasing = 7 }";
    let coordinates = "latitude = \"10 deg\"\nlongitude = \"20 deg\"";
    let cases = [
        ("planes = 34", "planes = 0", "shells[0].planes", "0 is not a whole number from 1"),
        ("planes = 34", "planes = 60001", "shells[0].planes", "1 to 60000"),
        (
            shell,
            "{ name = \"a\", height = \"630 km\", inclination = \"50 deg\", planes = 200, slots = 200, may_collide = true }, { name = \"b\", height = \"730 km\", inclination = \"50 deg\", planes = 200, slots = 200, may_collide = true }",
            "constellation",
            "80000 satellites and 2 stations are more than",
        ),
        ("planes = 34", "planes = 2", "shells[0]", "phasing 7 is not below the number of planes"),
        ("phasing = 7", "phasing = 34", "shells[0]", "phasing 34 is not below"),
        ("phasing = 7", "phasing = -1", "shells[0].phasing", "-1 is neither F"),
        ("630 km", "63 km", "shells[0].height", "not from 100000 m"),
        ("630 km", "630000 km", "shells[0].height", "to 50000000 m"),
        ("\"630 km\"", "630", "shells[0].height", "km"),
        ("51.9 deg", "181 deg", "shells[0].inclination", "180"),
        (
            shell,
            "{ height = \"550 km\", inclination = \"53 deg\", planes = 72, slots = 22, phasing = \"alternating\" }",
            "shells[0]",
            "two of its satellites come within 0 m",
        ),
        (
            shell,
            "{ height = \"8062 km\", inclination = \"0 deg\", planes = 1, slots = 20, propagator = \"circular\" }",
            "shells[0]",
            "a grid needs at least 3 planes of 3 satellites",
        ),
        ("slots = 34", "slots = 34, revolutions = 18", "shells[0].revolutions", "18"),
        ("slots = 34", "slots = 34, revolutions = 12.0", "shells[0]", "apart"),
        ("2026-01-01T00:00:00Z", "2026-13-01", "constellation.start", "2026-13-01"),
        ("isls = \"grid\"", "isls = \"mesh\"", "constellation.isls", "\"mesh\" is not \"grid\", \"none\""),
        ("isls = \"grid\"", "isls = [[\"a-1-1\", \"a-1-1\"]]", "isls[0]", "joins \"a-1-1\" to itself"),
        ("isls = \"grid\"", "isls = [[\"a-1-1\", \"a-1-2\"], [\"a-1-2\", \"a-1-1\"]]", "isls[1]", "are already joined"),
        (
            "isls = \"grid\"",
            "isls = [[\"a-1-1\", \"a-1-99\"]]",
            "isls[0]",
            "\"a-1-99\" is not a satellite; did you mean",
        ),
        ("isls = \"grid\"", "isls = [[\"a-1-1\", \"a-1-18\"]]", "isls[0]", "with the Earth between them"),
        ("isls = \"grid\"", "isls = [[\"a-1-1\"]]", "isls[0]", "is not a pair of names"),
        ("25 deg", "90 deg", "constellation.elevation", "90 deg"),
        ("25 deg", "-1 deg", "constellation.elevation", "-1 deg"),
        ("\"10 deg\"", "\"91 deg\"", "stations[1].latitude", "91 deg"),
        ("\"20 deg\"", "\"181 deg\"", "stations[1].longitude", "181 deg"),
        ("latitude = \"10 deg\"\n", "", "stations[1].latitude", "is missing"),
        ("\"Paris\"\n", "\"Paris\"\ncity = \"Pariss\"\n", "stations[0].city", "did you mean \"Paris\"?"),
        (coordinates, "waypoints = []", "stations[1].waypoints", "has no waypoint"),
        (coordinates, "waypoints = [{ at = \"0 s\" }]", "stations[1].waypoints[0]", "has no position"),
        (
            coordinates,
            "waypoints = [{ at = \"1 s\", city = \"Rome\" }, { at = \"1 s\", city = \"Oslo\" }]",
            "stations[1].waypoints[1].at",
            "is not after the previous waypoint",
        ),
        (
            coordinates,
            "latitude = \"10 deg\"\nwaypoints = [{ at = \"1 s\", city = \"Rome\" }]",
            "stations[1].latitude",
            "cannot be combined with waypoints",
        ),
        (
            coordinates,
            "waypoints = [{ at = \"0 s\", latitude = \"10 deg\", longitude = \"0 deg\" }, { at = \"1 s\", latitude = \"-10 deg\", longitude = \"180 deg\" }]",
            "stations[1].waypoints[1]",
            "is opposite",
        ),
        ("rate = \"10 Mbit/s\"", "rates = []", "uplink.rates", "is not a list"),
        ("rate = \"10 Mbit/s\"", "rates = [[\"25 deg\"]]", "uplink.rates[0]", "is not an elevation and a rate"),
        (
            "rate = \"10 Mbit/s\"",
            "rates = [[\"60 deg\", \"1 Mbit/s\"], [\"25 deg\", \"2 Mbit/s\"]]",
            "uplink.rates[1]",
            "ascending",
        ),
        ("rate = \"10 Mbit/s\"", "delay = \"1 ms\", jitter = \"2 ms\"", "uplink.jitter", "more than the delay"),
        ("rate = \"10 Mbit/s\"", "shared = false", "uplink.shared", "not a key here"),
        ("rate = \"20 Mbit/s\"", "fade = { mean = \"6 dB\" }", "downlink.fade", "not a key here"),
        ("rate = \"20 Mbit/s\"", "loss = { rate = 0.1, direction = \"up\" }", "downlink.loss.direction", "remove it"),
        ("rate = \"20 Mbit/s\"", "loss = { rate = 0.1, forward = 0.2 }", "downlink.loss.forward", "remove it"),
        ("pause = \"10 ms\"", "probability = 1.5", "handover.probability", "1.5"),
        ("pause = \"10 ms\"", "burst = \"-1 s\"", "handover.burst", "-1 s"),
        ("selection = \"shortest\"", "selection = \"nearest\"", "constellation.selection", "\"nearest\""),
        ("selection = \"shortest\"", "interval = \"0 s\"", "constellation.interval", "0 s"),
        ("selection = \"shortest\"", "load_penalty = \"60 ms\"", "constellation.load_penalty", "above 50 ms"),
        ("selection = \"shortest\"", "interfaces = 0", "constellation.interfaces", "0"),
        ("selection = \"shortest\"", "visibility = \"slant\"\nfile = \"none.tle\"", "constellation.file", "none.tle"),
        ("to = \"s\"", "to = \"sky\"", "flows[0].to", "sky"),
    ];
    let mut wrong = Vec::new();
    for (from, to, path, part) in cases {
        let (error_path, message) = refused(from, to);
        if !error_path.ends_with(path) || !message.contains(part) {
            wrong.push(format!("{to} -> {error_path}: {message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a scenario without shells, whose satellites come from a file with this text.
fn with_file(name: &str, text: &str) -> Result<Scenario, Vec<ScenarioError>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    let line = GOOD.lines().find(|line| line.starts_with("shells")).unwrap();
    read(
        &changed(line, &format!("file = {:?}", path.display().to_string()))
            .replace("isls = \"grid\"", "isls = \"none\""),
    )
}

#[test]
fn files_of_elements_are_read_in_every_form_and_faults_have_a_line() {
    let lines = "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753\n\
                 2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667\n";
    let csv = "OBJECT_NAME,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,ARG_OF_PERICENTER,MEAN_ANOMALY,NORAD_CAT_ID\n\
               VANGUARD,2000-06-27T18:50:19.7,10.82,.18,34.2,348.7,331.7,19.3,5\n";
    let json = "[{\"OBJECT_NAME\": \"VANGUARD\", \"EPOCH\": \"2000-06-27T18:50:19\", \"MEAN_MOTION\": 10.82, \"ECCENTRICITY\": 0.18, \
                \"INCLINATION\": 34.2, \"RA_OF_ASC_NODE\": 348.7, \"ARG_OF_PERICENTER\": 331.7, \"MEAN_ANOMALY\": 19.3, \"NORAD_CAT_ID\": 5}]";
    for (name, text) in [("good.tle", lines), ("good.csv", csv), ("good.json", json)] {
        assert!(with_file(name, text).is_ok(), "{name}");
    }
    let cases = [
        ("sum.tle", lines.replace("10.824", "10.825"), "line 2: its checksum"),
        ("short.tle", lines.replace("-4 0  4753", ""), "line 1: has 59 columns"),
        ("word.csv", csv.replace("10.82,", "fast,"), "line 2: MEAN_MOTION: \"fast\" is not a number"),
        ("field.json", json.replace("34.2", "200"), "object 1: INCLINATION: 200 is not from 0 to 180"),
        ("empty.tle", String::new(), "line 1: there are no elements"),
        ("fast.csv", csv.replace("10.82,", "17.5,"), "17.5 is not from 0.001 to 17"),
    ];
    for (name, text, part) in cases {
        let errors = with_file(name, &text).expect_err(name);
        assert_eq!((errors.len(), errors[0].path.as_str()), (1, "constellation.file"), "{name}: {errors:?}");
        assert!(errors[0].message.contains(part), "{name}: {}", errors[0].message);
    }
}

/// Returns a scenario whose satellites come from a file of two-line elements: a shell of 6 planes of 11 satellites at
/// 780 km, and a spare. `changes` apply to the text of the scenario.
fn with_planes(name: &str, changes: &[(&str, &str)]) -> Result<Scenario, Vec<ScenarioError>> {
    let mut text = String::new();
    for (plane, slot) in (0..6).flat_map(|plane| (0..11).map(move |slot| (plane, slot))) {
        let number = plane * 11 + slot + 1;
        let (node, along) =
            (31.6 * f64::from(plane), (360.0 / 11.0 * (f64::from(slot) + 0.5 * f64::from(plane))) % 360.0);
        text += &format!("1 {number:05}U 26001A   26001.00000000  .00000000  00000-0  00000-0 0  999\n");
        text += &format!(
            "2 {number:05}  86.4000 {node:8.4} 0002000  90.0000 {:8.4} 14.34217000    0\n",
            (along + 270.0) % 360.0
        );
    }
    // A spare that is lower.
    text += "1 00099U 26001A   26001.00000000  .00000000  00000-0  00000-0 0  999\n";
    text += "2 00099  86.4000   0.0000 0002000  90.0000  10.0000 14.43000000    0\n";
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    let line = GOOD.lines().find(|line| line.starts_with("shells")).unwrap();
    let file = format!("file = {:?}", path.display().to_string());
    let text = changes.iter().fold(changed(line, &file), |text, (from, to)| text.replace(from, to));
    read(&text.replace("elevation = \"25 deg\"", "elevation = \"8 deg\""))
}

#[test]
fn elements_of_planes_get_the_links_of_a_grid() {
    let scenario = with_planes("planes.tle", &[]).unwrap();
    let network = scenario.expand().unwrap();
    let space = network.space.as_ref().unwrap();
    assert_eq!(space.sky.isls().len(), 66 + 55);
    let grid = space.filed.grid.as_ref().unwrap();
    assert_eq!((grid.shells[0].planes, grid.shells[0].satellites, grid.left_out), (6, 66, 1));
    let warnings: Vec<String> = scenario.warnings(&network).iter().map(ToString::to_string).collect();
    assert!(
        warnings.iter().any(|one| one.starts_with("constellation.isls: 1 of 67 satellites have no link")),
        "{warnings:?}"
    );
    assert!(warnings.iter().all(|one| !one.contains("connected at none")), "{warnings:?}");
    // One satellite or two planes make no grid, and say so.
    let lines = "1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753\n\
                 2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667\n";
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("one.tle");
    std::fs::write(&path, lines).unwrap();
    let line = GOOD.lines().find(|line| line.starts_with("shells")).unwrap();
    let errors = read(&changed(line, &format!("file = {:?}", path.display().to_string()))).unwrap_err();
    assert_eq!(errors[0].path, "constellation.isls");
    assert!(
        errors[0].message.contains("in no three planes") && errors[0].message.contains("isls = \"none\""),
        "{errors:?}"
    );
}

#[test]
fn objects_with_one_name_are_distinguished_by_their_numbers() {
    let csv = "OBJECT_NAME,EPOCH,MEAN_MOTION,ECCENTRICITY,INCLINATION,RA_OF_ASC_NODE,ARG_OF_PERICENTER,MEAN_ANOMALY,NORAD_CAT_ID\n\
               DEB,2026-01-01T00:00:00,14.8,.001,51,0,0,0,5\nONE,2026-01-01T00:00:00,14.8,.001,51,0,0,90,7\n\
               DEB,2026-01-01T00:00:00,14.8,.001,51,0,0,180,6\n";
    let network = with_file("twice.csv", csv).unwrap().expand().unwrap();
    let names: Vec<_> = network.space.unwrap().sky.satellites().iter().map(|one| one.name.clone()).collect();
    assert_eq!(names, ["DEB 5", "ONE", "DEB 6"]);
}

#[test]
fn stations_that_are_never_connected_are_warned_of() {
    let warnings = |changes: &[(&str, &str)]| {
        let scenario = with_planes(&format!("never{}.tle", changes.len()), changes).unwrap();
        let network = scenario.expand().unwrap();
        let found = scenario.warnings(&network);
        found.into_iter().filter(|one| one.message.contains("connected at none")).collect::<Vec<_>>()
    };
    let none = ("isls = \"grid\"", "isls = \"none\"");
    assert!(warnings(&[]).is_empty());
    let far = [none, ("longitude = \"20 deg\"", "longitude = \"-160 deg\"")];
    let reported = warnings(&far);
    assert_eq!((reported.len(), reported[0].path.as_str()), (1, "constellation"));
    assert!(
        reported[0]
            .message
            .starts_with("Paris and s are connected at none of 25 times of the run, over any number of the 0 links")
    );
}

#[test]
fn captures_name_satellite_links_as_results_do() {
    let captured = |name: &str, more: (&str, &str)| {
        let text = changed(more.0, more.1) + &format!("[record]\npcap = {{ at = [\"{name}\"] }}\n");
        parse_toml(&text, &[]).and_then(|scenario| scenario.expand())
    };
    let shared = ("elevation = ", "elevation = ");
    let separate = ("downlink = { ", "downlink = { shared = false, ");
    for (name, form) in [
        ("Paris->sky", shared),
        ("s->sky", shared),
        ("a-3-12->ground", shared),
        ("a-3-12->a-3-13", shared),
        ("a-3-13->a-3-12", shared),
        ("a-34-34->a-33-34", shared),
        ("a-1-1->Paris", separate),
        ("a-34-34->s", separate),
        ("a-34-34->a-34-1", separate),
    ] {
        let network = captured(name, form).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
        let [lightlag_scenario::CapturePlace::Link(link)] = network.captures.as_ref().unwrap().places[..] else {
            panic!("{name}")
        };
        assert_eq!(network.links[link.0 as usize].name, name);
    }
    for (name, form, message) in [
        ("Paris->s", shared, "no link joins these nodes; there is \"Paris->sky\""),
        ("Paris->a-1-1", shared, "no link joins these nodes; there is \"Paris->sky\""),
        ("a-1-1->Paris", shared, "no link joins these nodes; there is \"a-1-1->ground\", \"a-1-1->a-"),
        ("a-1-1->ground", separate, "no link joins these nodes; there is \"a-1-1->Paris\", \"a-1-1->s\", \"a-1-1->a-"),
        ("a-1-1->a-1-3", shared, "no link joins these nodes; there is \"a-1-1->ground\", "),
        ("sky->Paris", shared, "no link joins these nodes; there is \"Paris->sky\", \"a-1-1->ground\", "),
        (
            "sky",
            shared,
            "\"sky\" represents several nodes; name one of them, or a link: \"Paris->sky\", \"a-1-1->ground\", ",
        ),
        ("a-99-1->ground", shared, "\"a-99-1\" is not a node of the network"),
    ] {
        let errors = captured(name, form).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:#?}");
        assert_eq!(errors[0].path, "record.pcap.at[0]");
        assert!(errors[0].message.contains(message), "{}", errors[0]);
    }
}
