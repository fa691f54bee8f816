//! Any file is a page, all of whose objects load, or one error of one line, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_scenario::Files;
use lightlag_scenario::page_file::read_page;
use std::sync::Arc;

fuzz_target!(|bytes: &[u8]| {
    let files = Files::Given(Arc::new([("page.json".to_owned(), bytes.to_vec())].into()));
    let page = match read_page(&files, "page.json") {
        Ok(page) => page,
        Err(error) => {
            assert!(!error.is_empty() && !error.contains(char::is_control), "{error:?}");
            return;
        }
    };
    // Objects are requested in the order in which their parents are complete.
    let objects = page.objects();
    let mut missing: Vec<usize> = objects.iter().map(|object| object.after.len()).collect();
    let mut complete: Vec<u32> = (0..objects.len() as u32).filter(|index| missing[*index as usize] == 0).collect();
    let mut next = 0;
    while let Some(object) = complete.get(next).copied() {
        next += 1;
        assert!((objects[object as usize].host as usize) < page.hosts().len());
        for follower in page.followers(object) {
            missing[*follower as usize] -= 1;
            if missing[*follower as usize] == 0 {
                complete.push(*follower);
            }
        }
    }
    assert_eq!(complete.len(), objects.len(), "every object loads");
    let connections = page.connections(6);
    assert!(page.hosts().iter().zip(0..).all(|(_, host)| connections.contains(&host)), "each host has a connection");
});
