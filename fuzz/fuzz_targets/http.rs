//! Any bytes on a connection of the HTTP server give one answer or none yet, whatever the pieces in which they come;
//! never a panic, and never a file outside of the folder.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_live::serve::Http;
use std::path::PathBuf;

/// The only file in the folder, and what must never be answered: the crate's own description beside the folder.
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

/// The answer to a request that comes in pieces of a size.
fn answer(request: &[u8], size: usize) -> Vec<u8> {
    let (mut http, mut out) = (Http::new(PathBuf::from(FOLDER)), Vec::new());
    for piece in request.chunks(size) {
        http.take(piece, &mut out).expect("the folder can be read");
    }
    while !http.is_answered() {
        let before = out.len();
        http.next(1000, &mut out).expect("the folder can be read");
        if out.len() == before {
            break;
        }
    }
    out
}
