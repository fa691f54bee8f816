//! `getsockopt` and `sendfile` for descriptors that belong to a user-space stack.
//!
//! packetdrill calls libc, not the stack under test, for TCP_INFO, TCP_CC_INFO and SO_MEMINFO when a script has a block
//! of code, and its interface has no `sendfile`. This library is preloaded before libc. It calls the stack that
//! registered itself, and libc for every descriptor that does not belong to the stack.

#![allow(unsafe_code)]

use libc::{c_char, c_int, c_void, off_t, size_t, socklen_t, ssize_t};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Performs `getsockopt`. Returns 0, an error number, or [`NOT_MINE`].
pub type Answer = unsafe extern "C" fn(c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int;

/// The result of [`Answer`] for a descriptor that the stack does not know.
pub const NOT_MINE: c_int = -1;

/// Performs `sendfile`. Returns the number of bytes sent, a negative error number, or [`NO_FILE_OF_MINE`].
pub type SendFile = unsafe extern "C" fn(c_int, c_int, *mut off_t, size_t) -> ssize_t;

/// The value that [`SendFile`] returns for a descriptor that the stack does not know.
pub const NO_FILE_OF_MINE: ssize_t = ssize_t::MIN;

static STACK: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static SENDER: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Registers a stack; null unregisters it.
#[unsafe(no_mangle)]
pub extern "C" fn lightlag_preload_register(answer: Option<Answer>, send_file: Option<SendFile>) {
    STACK.store(answer.map_or(std::ptr::null_mut(), |answer| answer as *mut c_void), Ordering::Release);
    SENDER.store(send_file.map_or(std::ptr::null_mut(), |send_file| send_file as *mut c_void), Ordering::Release);
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
        // SAFETY: the caller's pointers, for which it guarantees libc's contract.
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

/// `sendfile(2)`. On a 64-bit machine `sendfile64` is the same.
///
/// # Safety
///
/// As for the function of libc: `offset` is null or points to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendfile(to: c_int, file: c_int, offset: *mut off_t, len: size_t) -> ssize_t {
    let sender = SENDER.load(Ordering::Acquire);
    if !sender.is_null() {
        // SAFETY: only `lightlag_preload_register` stores here, and it stores a function of this type.
        let send_file: SendFile = unsafe { std::mem::transmute(sender) };
        // SAFETY: the caller's pointer, for which it guarantees libc's contract.
        match unsafe { send_file(to, file, offset, len) } {
            NO_FILE_OF_MINE => {}
            sent if sent >= 0 => return sent,
            error => {
                // SAFETY: libc gives the address of this thread's error number.
                unsafe { *libc::__errno_location() = -error as c_int };
                return -1;
            }
        }
    }
    // SAFETY: the name is a C string; the next object that has it is libc.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"sendfile".as_ptr().cast::<c_char>()) };
    assert!(!next.is_null(), "libc has no sendfile");
    // SAFETY: this is the type of libc's function of that name.
    let next: SendFile = unsafe { std::mem::transmute(next) };
    // SAFETY: the caller's pointer, as above.
    unsafe { next(to, file, offset, len) }
}

/// [`sendfile`] under the name that programs with support for large files call.
///
/// # Safety
///
/// As for [`sendfile`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendfile64(to: c_int, file: c_int, offset: *mut off_t, len: size_t) -> ssize_t {
    // SAFETY: the caller's pointer, as above.
    unsafe { sendfile(to, file, offset, len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack that owns descriptor 1000 and rejects all requests for 1001.
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

    unsafe extern "C" fn send_file(to: c_int, _: c_int, _: *mut off_t, len: size_t) -> ssize_t {
        match to {
            1000 => len as ssize_t,
            1001 => -libc::EPIPE as ssize_t,
            _ => NO_FILE_OF_MINE,
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
    fn the_stack_handles_its_descriptors_and_libc_the_rest() {
        // SAFETY: plain system calls.
        let real = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0) };
        assert_eq!(ask(1000), Err(libc::EBADF), "no stack is registered");
        lightlag_preload_register(Some(stack), Some(send_file));
        assert_eq!(ask(1000), Ok(7));
        assert_eq!(ask(1001), Err(libc::ENOPROTOOPT));
        assert_eq!(ask(real), Ok(libc::SOCK_DGRAM));
        // SAFETY: no offset.
        let send = |to| unsafe { sendfile64(to, 0, std::ptr::null_mut(), 9) };
        assert_eq!(send(1000), 9);
        // SAFETY: as in `getsockopt`.
        assert_eq!((send(1001), unsafe { *libc::__errno_location() }), (-1, libc::EPIPE));
        assert_eq!(send(-1), -1, "the descriptor does not exist in libc");
        lightlag_preload_register(None, None);
        assert_eq!(ask(1000), Err(libc::EBADF));
        // SAFETY: our descriptor.
        unsafe { libc::close(real) };
    }
}
