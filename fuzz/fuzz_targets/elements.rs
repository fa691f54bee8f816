//! Any text contains the elements of satellites or gives one error with its position, never a panic; reading the same
//! text again gives the same result; and a satellite has a position or has decayed. The satellites of a file have a
//! grid with at most four links each, or there is a reason why not.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_orbit::elements::{ElementSet, read};
use lightlag_orbit::grid::derived::found_grid;

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
    if let Ok(sets) = &found {
        join(sets);
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

/// Joins the satellites of a file, if all of them have an orbit.
fn join(sets: &[ElementSet]) {
    let start = sets[0].epoch();
    let Ok(satellites) = sets.iter().map(|set| set.satellite(start)).collect::<Result<Vec<_>, _>>() else { return };
    match found_grid(sets, &satellites, 0) {
        Ok(grid) => {
            let mut degree = vec![0; satellites.len()];
            for end in grid.isls.iter().flat_map(|isl| isl.ends) {
                degree[end as usize] += 1;
            }
            assert!(degree.iter().all(|links| *links <= 4), "{degree:?}");
            assert_eq!(grid.left_out, degree.iter().filter(|links| **links == 0).count());
        }
        Err(reason) => assert!(!reason.is_empty()),
    }
}
