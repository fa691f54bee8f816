//! Any file contains paths of nodes or gives an error that names a line, never a panic; paths survive being written as
//! CSV; and a node is at each position at its time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_core::Instant;
use lightlag_mobility::models::Trace;
use lightlag_mobility::models::trace::TraceFormat;
use lightlag_mobility::{Area, Mobility, Motion, Paths, Vector};

fuzz_target!(|text: &[u8]| {
    let lines = 1 + text.iter().filter(|byte| **byte == b'\n').count();
    let formats = [(TraceFormat::Csv, 3), (TraceFormat::BonnMotion, 2), (TraceFormat::BonnMotion, 3), (TraceFormat::Ns2, 2)];
    for (format, dimension) in formats {
        match Paths::read(format, dimension, text) {
            Ok(paths) => fly(&paths),
            Err(error) => {
                assert!((1..=lines).contains(&error.line) && !error.message.is_empty(), "{error} of {lines}");
            }
        }
    }
});

fn fly(paths: &Paths) {
    let again = Paths::read(TraceFormat::Csv, 3, paths.to_csv().as_bytes()).expect("own CSV is read");
    assert_eq!(again.nodes(), paths.nodes());
    let (least, most) = paths.bounds();
    let margin = Vector::new(1.0, 1.0, 1.0);
    let area = Area::new(least - margin, most + margin).expect("an area with a margin");
    for path in paths.nodes() {
        let trace = Trace { track: Some(path.track.clone()), ..Trace::default() };
        let mut motion = Motion::new(&Mobility::Trace(trace), &area, None, 1, &path.node);
        for fix in path.track.fixes() {
            assert_eq!(motion.position(fix.at), fix.place);
        }
        let last = path.track.fixes().last().expect("a track has a position");
        assert_eq!(motion.position(Instant::MAX), last.place);
    }
}
