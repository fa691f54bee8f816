//! Keys of a link with rain: MODCODs, offset and power control.

use lightlag_core::{Decibels, Duration};
use lightlag_net::{AdaptiveLink, DVB_S2};
use lightlag_scenario::{parse_json, parse_toml};

/// Returns a scenario whose link has rain with these keys.
fn scenario(keys: &str) -> String {
    format!(
        "duration = \"10 s\"\n\
         [[links]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         fade = {{ mean = 0, deviation = 1, clear_sky = \"12 dB\", symbol_rate = \"10 MBd\"{keys} }}\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"1 MB\"\n"
    )
}

/// Returns the link with rain of a scenario with these keys, also after it was written and read again.
fn link(keys: &str) -> AdaptiveLink {
    let read = parse_toml(&scenario(keys), &[]).unwrap_or_else(|errors| panic!("{keys}: {errors:#?}"));
    let written = read.to_json().to_string();
    let again = parse_json(&written, &[]).unwrap_or_else(|errors| panic!("{written}: {errors:#?}"));
    assert_eq!(read, again, "{written}");
    let network = read.expand().unwrap();
    network.links[0].fade.as_ref().unwrap().link.clone()
}

fn names(link: &AdaptiveLink) -> Vec<&str> {
    link.modcods.iter().map(|modcod| &*modcod.name).collect()
}

#[test]
fn modcods_are_a_table_a_selection_or_custom() {
    assert_eq!(*link("").modcods, DVB_S2);
    // Without the six that need more but carry less than another one.
    let all = link(", modcods = \"dvb-s2\"");
    assert_eq!(all.modcods.len(), 28 - 6, "{:?}", names(&all));
    assert_eq!(link(", modcods = { table = \"dvb-s2\" }"), all);
    let extended = link(", modcods = \"dvb-s2x\"");
    assert_eq!((names(&extended)[0], *names(&extended).last().unwrap()), ("QPSK 2/9", "256APSK 3/4"));
    let some = link(", modcods = { table = \"dvb-s2 short\", pilots = true, use = [\"QPSK 1/4\", \"8PSK 2/3\"] }");
    assert_eq!(names(&some), ["QPSK 1/4", "8PSK 2/3"]);
    // (3072 − 80)/(90 · 91 + 36 · 5), and 0.3 dB more than table 13.
    assert!((some.modcods[0].bits_per_symbol - 2_992.0 / 8_370.0).abs() < 1e-12);
    assert_eq!(some.modcods[0].threshold, -2.05);
    let custom = link(
        ", modcods = [{ name = \"slow\", efficiency = 0.5, threshold = \"-1 dB\" }, \
         { name = \"fast\", efficiency = 2, threshold = \"6.5 dB\" }]",
    );
    assert_eq!(names(&custom), ["slow", "fast"]);
    assert_eq!((custom.modcods[1].bits_per_symbol, custom.modcods[1].threshold), (2.0, 6.5));
}

#[test]
fn offset_and_power_control_reach_the_link() {
    let plain = link("");
    assert_eq!((plain.fade.offset, plain.power_control), (Decibels::ZERO, None));
    let link = link(", offset = \"0.3 dB\", power_control = { range = \"6 dB\", delay = \"2 s\" }");
    let control = link.power_control.unwrap();
    assert_eq!((link.fade.offset.value(), control.range.value()), (0.3, 6.0));
    assert_eq!(control.delay, Duration::from_secs(2));
}

#[test]
fn frames_reach_the_link_and_need_the_frames_of_a_standard() {
    assert_eq!(link("").frames, None);
    let frames = link(", modcods = \"dvb-s2x short\", frames = { label = 3, hold = \"5 ms\" }").frames.unwrap();
    assert_eq!((frames.label, frames.hold), (3, Duration::from_millis(5)));
    assert_eq!(link(", frames = {}").frames.unwrap().label, 6);
    let modcods = "modcods = [{ name = \"a\", efficiency = 1, threshold = \"2 dB\" }]";
    let errors = parse_toml(&scenario(&format!(", {modcods}, frames = {{}}")), &[]).unwrap_err();
    assert_eq!((errors.len(), &*errors[0].path), (1, "links[0].fade.frames"), "{errors:#?}");
    assert!(errors[0].message.contains("needs MODCODs of a standard"), "{}", errors[0]);
}

#[test]
fn very_low_ratios_have_modcods_of_their_own() {
    let link = link(", modcods = \"dvb-s2x vl-snr\"");
    let names = names(&link);
    assert_eq!((names[0], names[7], names[8]), ("BPSK-S 1/5", "QPSK 2/9", "QPSK 1/4"));
    // (2,512 − 80) bits in a VL-SNR frame of 33,282 symbols.
    assert!((link.modcods[0].bits_per_symbol - 2_432.0 / 33_282.0).abs() < 1e-12);
    // BPSK 1/3 short needs more than BPSK 1/3 medium and carries less.
    assert!(!names.contains(&"BPSK 1/3 short"), "{names:?}");
}

#[test]
fn every_error_names_its_place_and_a_remedy() {
    for (keys, path, fragment) in [
        ("modcods = \"dvb-s3\"", "modcods", "did you mean \"dvb-s2\"?"),
        ("modcods = 3", "modcods", "is not a table such as"),
        ("modcods = []", "modcods", "is not a table such as"),
        ("modcods = { pilots = true }", "modcods.table", "is missing"),
        ("modcods = { table = \"dvb-s2\", pilot = true }", "modcods.pilot", "did you mean \"pilots\"?"),
        ("modcods = { table = \"dvb-s2\", use = [] }", "modcods.use", "is not a list of MODCODs"),
        (
            "modcods = { table = \"dvb-s2\", use = [\"QPSK 1/5\"] }",
            "modcods.use[0]",
            "is not a MODCOD of the table; did you mean \"QPSK",
        ),
        ("modcods = { table = \"dvb-s2 short\", use = [\"QPSK 9/10\"] }", "modcods.use[0]", "a MODCOD of the table"),
        (
            "modcods = { table = \"dvb-s2\", use = [\"QPSK 9/10\", \"8PSK 3/5\"] }",
            "modcods.use[1]",
            "\"8PSK 3/5\" (5.5 dB, 1.780 bit/symbol) is out of order after \"QPSK 9/10\" (6.42 dB, 1.789 bit/symbol)",
        ),
        (
            "modcods = [{ name = \"a\", efficiency = 1, threshold = \"2 dB\" }, { name = \"b\", efficiency = 1, \
             threshold = \"3 dB\" }]",
            "modcods[1]",
            "is out of order",
        ),
        (
            "modcods = [{ name = \"a\", efficiency = 0, threshold = \"2 dB\" }]",
            "modcods[0].efficiency",
            "from 0.001 to 20",
        ),
        ("modcods = [{ name = \"a\", efficiency = 1, threshold = 2 }]", "modcods[0].threshold", "2 is not a ratio"),
        ("modcods = [{ name = \"a\", efficiency = 1 }]", "modcods[0].threshold", "is missing"),
        ("offset = \"-1 dB\"", "offset", "is negative"),
        ("power_control = { delay = \"1 s\" }", "power_control.range", "is missing"),
        ("power_control = { range = \"-6 dB\" }", "power_control.range", "is negative"),
        ("power_control = \"6 dB\"", "power_control", "is not a table such as"),
    ] {
        let errors = parse_toml(&scenario(&format!(", {keys}")), &[]).expect_err(keys);
        assert_eq!(errors.len(), 1, "{keys}: {errors:#?}");
        assert_eq!(errors[0].path, format!("links[0].fade.{path}"), "{keys}");
        assert!(errors[0].message.contains(fragment), "{keys}: {}", errors[0]);
    }
}

#[test]
fn an_unreachable_modcod_is_an_outage() {
    // Below the lowest threshold even without rain: down all the time, and no error.
    assert_eq!(link(", modcods = { table = \"dvb-s2\", use = [\"32APSK 9/10\"] }").outage_fraction(), 1.0);
    let share = link(", modcods = { table = \"dvb-s2\", use = [\"8PSK 3/4\"] }").outage_fraction();
    // Q(ln 4.09) = Q(1.4085).
    assert!((share - 0.0795).abs() < 0.0002, "{share}");
}
