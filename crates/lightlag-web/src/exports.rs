//! The functions of the module of WebAssembly. The page puts a request into a room that it was given, and reads the answer
//! where it is told: its length in 4 bytes, and the answer behind them.

#![allow(unsafe_code, reason = "memory crosses the border between the page and the module here, and nowhere else")]

use crate::Door;
use std::cell::RefCell;

thread_local! {
    static DOOR: RefCell<Door> = RefCell::default();
}

/// A room of so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Answers the request that was put into a room of this length. The room is given back.
///
/// # Safety
/// The room is from [`room`], with the same length, and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(room: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: by the contract of this function, it was made by `room` just so.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(room, length)) };
    let request = String::from_utf8_lossy(&request);
    let answer = DOOR.with_borrow_mut(|door| door.ask(&request));
    let mut framed = Vec::with_capacity(8 + answer.len());
    // Eight bytes, so that columns lie at multiples of eight.
    framed.extend_from_slice(&(answer.len() as u64).to_le_bytes());
    framed.extend_from_slice(&answer);
    Box::into_raw(framed.into_boxed_slice()).cast()
}

/// Gives the memory of an answer back.
///
/// # Safety
/// The answer is from [`ask`], and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn done(answer: *mut u8) {
    // SAFETY: `ask` wrote the length of what follows in front of each answer.
    let length = unsafe { answer.cast::<u64>().read_unaligned() } as usize;
    // SAFETY: it is the slice that `ask` made.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, 8 + length)) });
}
