//! Property tests of files of paths.

use lightlag_core::Instant;
use lightlag_mobility::models::trace::TraceFormat;
use lightlag_mobility::{Path, Paths};
use proptest::prelude::*;
use proptest::sample::select;

const FORMATS: [TraceFormat; 3] = [TraceFormat::Csv, TraceFormat::BonnMotion, TraceFormat::Ns2];

/// Generates texts from fragments that occur in such files.
fn text() -> impl Strategy<Value = String> {
    let word = select(vec![
        "time",
        "node",
        "x",
        "y",
        "z",
        "lat",
        "lon",
        "alt",
        ",",
        "\n",
        " ",
        "0",
        "1",
        "2.5",
        "-3",
        "1e300",
        "nan",
        "\"",
        "$node_(0) set X_ 1\n",
        "$node_(0) set Y_ 2\n",
        "$ns_ at 1 \"$node_(0) setdest 5 5 1\"\n",
        "$ns_ at ",
        "setdest",
        "time,node,x,y,z\n",
        "0,a,1,2,3\n",
        "7,a,1,2,3\n",
        "é",
        "#",
    ]);
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_paths_or_an_error_with_a_line(text in text(), dimension in 2u32..=3) {
        let lines = text.matches('\n').count() + 1;
        for format in FORMATS {
            match Paths::read(format, dimension, text.as_bytes()) {
                Ok(paths) => {
                    prop_assert!(!paths.nodes().is_empty());
                    let (least, most) = paths.bounds();
                    prop_assert!(least.is_finite() && most.is_finite());
                }
                Err(error) => prop_assert!((1..=lines).contains(&error.line) && !error.message.is_empty(), "{error}"),
            }
        }
    }

    #[test]
    fn paths_survive_their_csv(
        nodes in prop::collection::vec(
            prop::collection::vec((1u64..1_000_000_000_000, -1e6..1e6, -1e6..1e6, -1e3..1e4), 1..10), 1..10,
        ),
    ) {
        let mut text = String::from("z,y,x,node,time\n");
        for (node, legs) in nodes.iter().enumerate() {
            let mut time = 0;
            for (later, x, y, z) in legs {
                time += later;
                let at = Instant::from_nanos(time).as_secs_f64();
                text.push_str(&format!("{z},{y},{x},{node},{at}\n"));
            }
        }
        let paths = Paths::read(TraceFormat::Csv, 2, text.as_bytes()).unwrap();
        for (legs, Path { track, .. }) in nodes.iter().zip(paths.nodes()) {
            let mut time = 0;
            prop_assert_eq!(legs.len(), track.fixes().len());
            for ((later, x, y, z), fix) in legs.iter().zip(track.fixes()) {
                time += later;
                prop_assert_eq!(fix.at, Instant::from_nanos(time));
                prop_assert_eq!((fix.place.x, fix.place.y, fix.place.z), (*x, *y, *z));
            }
        }
        let again = Paths::read(TraceFormat::Csv, 2, paths.to_csv().as_bytes()).unwrap();
        prop_assert_eq!(again, paths);
    }

    #[test]
    fn positions_of_bonnmotion_match_csv(
        legs in prop::collection::vec((1u64..1_000_000_000_000, -1e6..1e6, -1e6..1e6, -1e3..1e4), 1..10),
    ) {
        let (mut flat, mut solid, mut csv) = (String::new(), String::new(), String::from("time,node,x,y,z\n"));
        let mut time = 0;
        for (later, x, y, z) in &legs {
            time += later;
            let seconds = Instant::from_nanos(time).as_secs_f64();
            flat.push_str(&format!("{seconds} {x} {y} "));
            solid.push_str(&format!("{seconds} {x} {y} {z} "));
            csv.push_str(&format!("{seconds},0,{x},{y},{z}\n"));
        }
        let read = |format, dimension, text: String| Paths::read(format, dimension, text.as_bytes()).unwrap();
        let expected = read(TraceFormat::Csv, 2, csv);
        prop_assert_eq!(&read(TraceFormat::BonnMotion, 3, solid + "\n"), &expected);
        let flat = read(TraceFormat::BonnMotion, 2, flat + "\n");
        for (flat, solid) in flat.nodes()[0].track.fixes().iter().zip(expected.nodes()[0].track.fixes()) {
            prop_assert_eq!((flat.at, flat.place.x, flat.place.y), (solid.at, solid.place.x, solid.place.y));
            prop_assert_eq!(flat.place.z, 0.0);
        }
    }
}
