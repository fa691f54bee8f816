//! Any bytes on a connection of the HTTP server give one answer or none yet, however they are split; never a panic, and
//! never a file outside the directory.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_live::serve::Http;
use std::path::PathBuf;

/// The only served directory; the crate's own manifest next to it must never be sent.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
const SECRET: &[u8] = b"[package]";

fuzz_target!(|request: &[u8]| {
    let whole = answer(request, request.len().max(1));
    assert_eq!(answer(request, 7), whole);
    if !whole.is_empty() {
        assert!(whole.starts_with(b"HTTP/1.1 "));
        assert!(!whole.windows(SECRET.len()).any(|part| part == SECRET));
    }
});

/// Returns the answer to a request that arrives in parts of the given size.
fn answer(request: &[u8], size: usize) -> Vec<u8> {
    let (mut http, mut out) = (Http::new(PathBuf::from(FOLDER)), Vec::new());
    for piece in request.chunks(size) {
        http.take(piece, &mut out).expect("the directory can be read");
    }
    while !http.is_answered() {
        let before = out.len();
        http.next(1000, &mut out).expect("the directory can be read");
        if out.len() == before {
            break;
        }
    }
    out
}
