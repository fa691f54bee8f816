use super::*;
use crate::Utc;
use crate::elements::ElementSet;
use lightlag_mobility::Vector;
use proptest::prelude::*;

/// Element sets of the official verification (AIAA 2006-6753, appendix D): near the Earth, eccentric, low, and in deep
/// space.
const VERIFICATION: &str = "\
1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753
2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667
1 06251U 62025E   06176.82412014  .00008885  00000-0  12808-3 0  3985
2 06251  58.0579  54.0425 0030035 139.1568 221.1854 15.56387291  6774
1 08195U 75081A   06176.33215444  .00000099  00000-0  11873-3 0   813
2 08195  64.1586 279.0717 6877146 264.7651  20.2257  2.00491383225656
";

#[test]
fn positions_match_the_official_verification() {
    let expected = [
        (0, 360.0, [-7154.03120202, -3783.17682504, -3536.19412294]),
        (0, 4320.0, [-9060.47373569, 4658.70952502, 813.68673153]),
        (1, 2880.0, [1159.27802897, 5056.60175495, 4353.49418579]),
        (2, 120.0, [15223.91713658, -17852.95881713, 25280.39558224]),
    ];
    let sets = read(VERIFICATION).unwrap();
    for (set, minutes, [x, y, z]) in expected {
        let satellite = sets[set].satellite(sets[set].epoch()).unwrap();
        let position = satellite.orbit.position(minutes * 60.0).unwrap();
        let apart = position.distance(Vector::new(x, y, z) * 1e3);
        assert!(apart < 1.0, "set {set} after {minutes} min: {apart} m");
    }
}

#[test]
fn names_are_above_sets_or_absent() {
    let lines: Vec<&str> = VERIFICATION.lines().collect();
    let named = format!("VANGUARD 1\r\n{}\r\n{}\r\n0 DELTA 1\r\n{}\r\n{}\r\n", lines[0], lines[1], lines[2], lines[3]);
    let sets = read(&named).unwrap();
    assert_eq!(sets.iter().map(ElementSet::name).collect::<Vec<_>>(), ["VANGUARD 1", "DELTA 1"]);
    assert_eq!(sets[1].number(), 6251);
    assert!(sets[1].epoch().to_string().starts_with("2006-06-25T19:46:43.98009"));
    let mixed = format!("VANGUARD 1\n{}\n{}\n{}\n{}\n", lines[0], lines[1], lines[2], lines[3]);
    assert_eq!(read(&mixed).unwrap_err().place, "line 4");
}

#[test]
fn a_wrong_line_is_named() {
    let lines: Vec<&str> = VERIFICATION.lines().collect();
    let refused = |first: &str, second: &str| read(&format!("{first}\n{second}\n")).unwrap_err().to_string();
    assert_eq!(
        refused(&lines[0][..60], lines[1]),
        "line 1: has 60 columns, and a line of elements has 69; copy the complete line"
    );
    assert_eq!(
        refused(&format!("{}7", lines[0]), lines[1]),
        "line 1: has 70 columns, and a line of elements has 69; copy the complete line"
    );
    let without_sum = |line: &str, from: &str, to: &str| line[..68].replace(from, to);
    assert_eq!(
        refused(&without_sum(lines[0], "28098-4", "2809x-4"), lines[1]),
        "line 1: columns 54 to 61 are \"2809x-4\": the drag is not a number such as 28098-4"
    );
    assert_eq!(
        refused(lines[0], &without_sum(lines[1], "348.7242", "348 7242")),
        "line 2: columns 18 to 25 are \"348 7242\": the right ascension of the node is not a number"
    );
    assert_eq!(
        refused(lines[0], &without_sum(lines[1], " 331.", "331. ")),
        "line 2: column 34 is '3' and should be blank; copy the line again"
    );
    assert!(refused(&without_sum(lines[0], "00179", "00379"), lines[1]).contains("columns 19 to 32"));
    assert!(refused(&without_sum(lines[0], " 0  4", " 4  4"), lines[1]).contains("SGP4-XP"));
    let wrong = lines[1].replace("10.824", "10.825");
    assert_eq!(
        refused(lines[0], &wrong),
        "line 2: its checksum in column 69 is '7', and its digits give 8; copy the line again"
    );
    assert!(refused(lines[0], lines[3]).starts_with("line 1: "), "the numbers differ");
    assert!(refused(lines[0], lines[0]).starts_with("line 2: is not the second line"));
    assert!(refused(&lines[0].replace("U 58", "é 58"), lines[1]).contains("not plain ASCII"));
    assert!(refused(&lines[0].replace("   ", "\t  "), lines[1]).contains("column"));
    assert_eq!(read("").unwrap_err().place, "line 1");
    let twice = format!("{}\n{}\n{}\n{}\n", lines[0], lines[1], lines[0], lines[1]);
    assert!(read(&twice).unwrap_err().to_string().contains("line 3: number 5 is duplicated (also in line 1)"));
}

#[test]
fn old_and_shortened_forms_are_read() {
    let lines: Vec<&str> = VERIFICATION.lines().collect();
    let whole = read(&format!("{}\n{}\n", lines[0], lines[1])).unwrap();
    let position = |text: &str| {
        let set = &read(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))[0];
        assert_eq!(set.number(), 5);
        set.satellite(whole[0].epoch()).unwrap().orbit.position(1_000.0).unwrap()
    };
    let expected = position(VERIFICATION);
    let (first, second) = (lines[0], lines[1]);
    let forms = [
        format!("{}\n{}", &first[..68], &second[..68]),
        format!("{}\r\n{}\r\n", &first[..61], &second[..63]),
        format!("# TEME example\n#   more\n  {first}  \n  {second}     0.00      4320.0        360.00\n"),
        format!("{}     4\n{second}\n", &first.replace("U 58002B  ", "          ")[..62]),
        format!("{}\n{second}\n", &first.replace(" 28098-4", "+28098-4")[..68]),
        format!("{}\n{}\n", &first.replace(" 00005U", "     5T")[..68], &second.replace(" 00005", "     5")[..68]),
    ];
    for text in forms {
        assert_eq!(position(&text), expected, "{text:?}");
    }
    // Sets of the verification file and of 1997 that have no checksum or blank columns.
    let blank = "1 11801U          80230.29629788  .01431103  00000-0  14311-1      13\n\
                 2 11801  46.7916 230.4354 7318036  47.4722  10.4117  2.28537848    13      0.0      1440.0        360.00\n";
    assert_eq!(read(blank).unwrap()[0].number(), 11_801);
    let old = "1 00058U 60013A   97142.85906518  .00000093  00000-0 +10762-4 0  274\n\
               2 00058 028.3286 356.4726 0164991 158.6392 202.1128 13.4602145880282\n";
    assert_eq!(read(old).unwrap()[0].epoch().to_string(), "1997-05-22T20:37:03.231551999Z");
}

#[test]
fn the_header_of_hypatia_counts_the_sets() {
    let lines: Vec<&str> = VERIFICATION.lines().collect();
    let text = |header: &str| {
        let sets = (0..2).map(|set| format!("Kuiper-630 {set}\n{}\n{}\n", lines[2 * set], lines[2 * set + 1]));
        format!("{header}\n{}", sets.collect::<String>())
    };
    assert_eq!(read(&text("1 2")).unwrap()[1].name(), "Kuiper-630 1");
    assert_eq!(
        read(&text("34 34")).unwrap_err().to_string(),
        "line 1: announces 34 orbits of 34 satellites, and 2 sets follow; copy all of them"
    );
}

#[test]
fn replies_of_servers_are_not_elements() {
    let refused = |text: &str| crate::elements::read(text).unwrap_err().to_string();
    assert!(
        refused("No GP data found\r\n").starts_with("line 1: \"No GP data found\" is not orbital elements: CelesTrak")
    );
    assert!(
        refused("\n<!DOCTYPE html>\n<html>")
            .starts_with("line 2: \"<!DOCTYPE html>\" is not orbital elements: it is a web page")
    );
    assert!(refused("GP data has not updated since your last").contains("once in two hours"));
    assert!(refused("").starts_with("line 1: there are no elements"));
}

#[test]
fn numbers_may_start_with_a_letter() {
    // Alpha-5: A0005 is 100005.
    let summed = |line: &str| {
        let line = &line[..68];
        let sum: u32 = line
            .bytes()
            .map(|byte| if byte.is_ascii_digit() { u32::from(byte - b'0') } else { u32::from(byte == b'-') })
            .sum();
        format!("{line}{}", sum % 10)
    };
    let lines: Vec<String> =
        VERIFICATION.lines().take(2).map(|line| summed(&line.replacen("00005", "A0005", 1))).collect();
    assert_eq!(read(&lines.join("\n")).unwrap()[0].number(), 100_005);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[ -~\\n\\ré]{0,300}", cut in 0_usize..200, byte in any::<u8>()) {
        let _ = read(&text);
        let mut damaged = VERIFICATION.as_bytes().to_vec();
        damaged[cut] = byte;
        if let Ok(sets) = read(&String::from_utf8_lossy(&damaged)) {
            for set in sets {
                if let Ok(satellite) = set.satellite(Utc::Y2000) {
                    prop_assert!(satellite.orbit.position(1e6).is_none_or(Vector::is_finite));
                }
            }
        }
    }
}
