//! The end of memory as a message: the language would abort the process with a signal and without a word to the user.
//!
//! Python learns of what was refused before (`lightlag._memory`); this is for what nobody foresaw. Nothing is written half:
//! results take their name at the end.
// An allocator is unsafe to write. This one passes on, and looks at the answer.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// The status of a command that failed.
const FAILED: i32 = 1;

struct Telling;

#[global_allocator]
static ALLOCATOR: Telling = Telling;

#[inline]
fn there(at: *mut u8, bytes: usize) -> *mut u8 {
    if at.is_null() {
        end(bytes);
    }
    at
}

/// Ends the process without asking anybody for anything: there is no memory to do more.
#[cold]
fn end(bytes: usize) -> ! {
    let mut message = [0; 200];
    let mut left = &mut message[..];
    let megabytes = bytes as f64 / 1e6;
    let _ = writeln!(
        left,
        "error: there is no memory left for {megabytes:.3} MB more; take a smaller scenario, record less, or use fewer --jobs"
    );
    let len = 200 - left.len();
    // SAFETY: the message has so many bytes, and neither call asks for memory or runs anything of this process.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), len);
        libc::_exit(FAILED)
    }
}

// SAFETY: every call is the system allocator's, with what was given.
unsafe impl GlobalAlloc for Telling {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        there(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        there(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        there(unsafe { System.realloc(at, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}
