//! Functions of the WebAssembly module. The page writes a request into a buffer from `room` and passes the buffer to
//! `ask`. At the address that `ask` returns, the page reads the length of the reply (8 bytes, little-endian) and the
//! reply itself. It then passes the address to `done`.

#![allow(unsafe_code, reason = "only this module exchanges memory between the page and the engine")]

use crate::Door;
use std::cell::RefCell;

thread_local! {
    static DOOR: RefCell<Door> = RefCell::default();
}

/// Allocates a buffer of `length` bytes for a request.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Handles the request in the buffer of `length` bytes, and frees the buffer. Returns the address of the reply.
///
/// # Safety
/// The buffer is from [`room`], with the same length, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(room: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: by the contract of this function, `room` made it with this length.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(room, length)) };
    let request = String::from_utf8_lossy(&request);
    let answer = DOOR.with_borrow_mut(|door| door.ask(&request));
    let mut framed = Vec::with_capacity(8 + answer.len());
    // Eight bytes, so that columns lie at multiples of eight.
    framed.extend_from_slice(&(answer.len() as u64).to_le_bytes());
    framed.extend_from_slice(&answer);
    Box::into_raw(framed.into_boxed_slice()).cast()
}

/// Frees the memory of a reply.
///
/// # Safety
/// The reply is from [`ask`], and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn done(answer: *mut u8) {
    // SAFETY: `ask` wrote the length before each reply.
    let length = unsafe { answer.cast::<u64>().read_unaligned() } as usize;
    // SAFETY: it is the slice that `ask` made.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, 8 + length)) });
}
