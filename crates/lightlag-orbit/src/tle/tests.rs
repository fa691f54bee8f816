use super::*;
use crate::Utc;
use crate::elements::ElementSet;
use lightlag_mobility::Vector;
use proptest::prelude::*;

/// Sets of the official verification (AIAA 2006-6753, appendix D): near the Earth, eccentric, low, and in deep space.
const VERIFICATION: &str = "\
1 00005U 58002B   00179.78495062  .00000023  00000-0  28098-4 0  4753
2 00005  34.2682 348.7242 1859667 331.7664  19.3264 10.82419157413667
1 06251U 62025E   06176.82412014  .00008885  00000-0  12808-3 0  3985
2 06251  58.0579  54.0425 0030035 139.1568 221.1854 15.56387291  6774
1 08195U 75081A   06176.33215444  .00000099  00000-0  11873-3 0   813
2 08195  64.1586 279.0717 6877146 264.7651  20.2257  2.00491383225656
";

#[test]
fn positions_are_those_of_the_official_verification() {
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
fn names_stand_above_sets_or_nowhere() {
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
        refused(&lines[0][..68], lines[1]),
        "line 1: has 68 columns, and a line of elements has 69; copy it whole"
    );
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
    assert!(read(&twice).unwrap_err().to_string().contains("line 3: number 5 is also that of line 1"));
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
