//! Any text has the elements of satellites or one error with its place, never a panic; the same text gives the same; and a satellite
//! is somewhere or has decayed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_orbit::elements::read;

fuzz_target!(|text: &str| {
    let found = read(text);
    match (&found, read(text)) {
        (Err(error), Err(again)) => {
            assert!(!error.place.is_empty() && !error.message.is_empty());
            assert_eq!(*error, again);
        }
        (Ok(sets), Ok(again)) => assert!(!sets.is_empty() && sets.len() == again.len()),
        _ => panic!("the same text is read in two ways"),
    }
    for set in found.into_iter().flatten() {
        assert!(!set.name().is_empty() || set.number() < 1_000_000_000);
        let Ok(satellite) = set.satellite(set.epoch()) else { continue };
        for seconds in [0.0, 60.0, 86_400.0, 1e7] {
            if let Some(at) = satellite.orbit.position(seconds) {
                assert!(at.x.is_finite() && at.y.is_finite() && at.z.is_finite(), "{at:?}");
            }
        }
    }
});
