//! `getsockopt` for descriptors that belong to a user-space stack.
//!
//! packetdrill asks libc, not the stack under test, for TCP_INFO, TCP_CC_INFO and SO_MEMINFO when a script has a
//! block of code. Preloaded, this library stands before libc: it asks the stack that registered itself, and libc
//! about every descriptor that the stack does not know.

#![allow(unsafe_code)]

use libc::{c_char, c_int, c_void, socklen_t};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Answers a call of `getsockopt`: 0, an error number, or [`NOT_MINE`].
pub type Answer = unsafe extern "C" fn(c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int;

/// What [`Answer`] returns for a descriptor that the stack does not know.
pub const NOT_MINE: c_int = -1;

static STACK: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Makes a stack known; null takes it away.
#[unsafe(no_mangle)]
pub extern "C" fn lightlag_preload_register(answer: Option<Answer>) {
    STACK.store(answer.map_or(std::ptr::null_mut(), |answer| answer as *mut c_void), Ordering::Release);
}

/// `getsockopt(2)`.
///
/// # Safety
///
/// As for the function of libc: `value` points to `*len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    let stack = STACK.load(Ordering::Acquire);
    if !stack.is_null() {
        // SAFETY: only `lightlag_preload_register` stores here, and it stores a function of this type.
        let answer: Answer = unsafe { std::mem::transmute(stack) };
        // SAFETY: the caller's pointers, for which it promises what libc asks for.
        match unsafe { answer(fd, level, name, value, len) } {
            NOT_MINE => {}
            0 => return 0,
            error => {
                // SAFETY: libc gives the address of this thread's error number.
                unsafe { *libc::__errno_location() = error };
                return -1;
            }
        }
    }
    // SAFETY: the name is a C string; the next object that has it is libc.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"getsockopt".as_ptr().cast::<c_char>()) };
    assert!(!next.is_null(), "libc has no getsockopt");
    // SAFETY: this is the type of libc's function of that name.
    let next: Answer = unsafe { std::mem::transmute(next) };
    // SAFETY: the caller's pointers, as above.
    unsafe { next(fd, level, name, value, len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack that owns descriptor 1000 and refuses to say anything about 1001.
    unsafe extern "C" fn stack(fd: c_int, _: c_int, _: c_int, value: *mut c_void, len: *mut socklen_t) -> c_int {
        match fd {
            1000 => {
                // SAFETY: the test hands an integer of four bytes over.
                unsafe {
                    value.cast::<c_int>().write(7);
                    *len = 4;
                }
                0
            }
            1001 => libc::ENOPROTOOPT,
            _ => NOT_MINE,
        }
    }

    fn ask(fd: c_int) -> Result<c_int, c_int> {
        let (mut value, mut len): (c_int, socklen_t) = (0, 4);
        // SAFETY: value and len live here, and len is the size of value.
        let rc = unsafe { getsockopt(fd, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut value).cast(), &mut len) };
        // SAFETY: as in `getsockopt`.
        if rc == 0 { Ok(value) } else { Err(unsafe { *libc::__errno_location() }) }
    }

    #[test]
    fn the_stack_answers_for_its_descriptors_and_libc_for_the_rest() {
        // SAFETY: plain system calls.
        let real = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0) };
        assert_eq!(ask(1000), Err(libc::EBADF), "nobody is registered");
        lightlag_preload_register(Some(stack));
        assert_eq!(ask(1000), Ok(7));
        assert_eq!(ask(1001), Err(libc::ENOPROTOOPT));
        assert_eq!(ask(real), Ok(libc::SOCK_DGRAM));
        lightlag_preload_register(None);
        assert_eq!(ask(1000), Err(libc::EBADF));
        // SAFETY: our descriptor.
        unsafe { libc::close(real) };
    }
}
