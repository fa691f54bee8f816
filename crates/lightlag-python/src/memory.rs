//! Memory is returned to the system, and there is an error message if memory runs out. By default Rust would abort the
//! process by a signal, without a message for the user.
//!
//! Python rejects work that is known not to fit (`lightlag.machine.memory`); this handles the remaining cases. No file
//! is left half-written, because results get their final name only at the end.
// An allocator is unsafe to write. This one only forwards, and checks the answer. The other call has no arguments but a number.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// The exit status of a command that failed.
const FAILED: i32 = 1;
/// The file descriptor of stderr.
const STDERR: i32 = 2;

/// Returns freed memory to the system if the allocator holds it. Python could not use it, because it has a separate
/// allocator.
pub(crate) fn return_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call may be made at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

struct Telling;

#[global_allocator]
static ALLOCATOR: Telling = Telling;

#[inline]
fn there(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        end(bytes);
    }
    pointer
}

/// Ends the process without allocating memory, because there is none left.
#[cold]
fn end(bytes: usize) -> ! {
    let mut message = [0; 200];
    let mut left = &mut message[..];
    let megabytes = bytes as f64 / 1e6;
    let _ = writeln!(
        left,
        "error: out of memory: {megabytes:.3} MB more are not available; use a smaller scenario, record less, or use \
         fewer --jobs"
    );
    let len = 200 - left.len();
    #[cfg(windows)]
    let len = len as u32; // the type in the C library of Windows
    // SAFETY: the message has this many bytes, and neither call allocates or runs code of this process.
    unsafe {
        libc::write(STDERR, message.as_ptr().cast(), len);
        libc::_exit(FAILED)
    }
}

// SAFETY: every call goes to the system allocator with the given arguments.
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
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        there(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}
