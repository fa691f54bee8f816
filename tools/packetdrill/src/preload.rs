//! The counterpart of `lightlag-preload`, for calls that the tool makes through libc: options and files.

use crate::errno::{Errno, Outcome};
use crate::world::World;
use libc::{c_int, c_void, off_t, size_t, socklen_t, ssize_t};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The result for a descriptor that does not belong to this world.
const NOT_MINE: c_int = -1;
const NO_FILE_OF_MINE: ssize_t = ssize_t::MIN;

type Answer = unsafe extern "C" fn(c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int;
type SendFile = unsafe extern "C" fn(c_int, c_int, *mut off_t, size_t) -> ssize_t;
type Register = extern "C" fn(Option<Answer>, Option<SendFile>);

static WORLD: AtomicPtr<World> = AtomicPtr::new(std::ptr::null_mut());

/// Registers a world with the preloaded library, if there is one.
///
/// # Safety
///
/// `world` points to a [`World`] that lives until [`unregister`].
pub(crate) unsafe fn register(world: *mut c_void) {
    WORLD.store(world.cast(), Ordering::Release);
    tell(Some(answer), Some(send_file));
}

/// Unregisters the world.
pub(crate) fn unregister() {
    tell(None, None);
    WORLD.store(std::ptr::null_mut(), Ordering::Release);
}

fn tell(answer: Option<Answer>, send_file: Option<SendFile>) {
    // SAFETY: the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"lightlag_preload_register".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the preloaded library exports a function of this type under this name.
        let register: Register = unsafe { std::mem::transmute(found) };
        register(answer, send_file);
    }
}

/// `getsockopt`, for the table and for the preloaded library.
///
/// # Safety
///
/// `value` points to `*len` bytes.
pub(crate) unsafe fn answer_option(
    world: &World,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> Outcome<()> {
    if value.is_null() || len.is_null() {
        return Err(Errno(libc::EFAULT));
    }
    let found = world.get_option(fd, level, name)?;
    // SAFETY: by the contract above.
    unsafe {
        let room = (*len as usize).min(found.len());
        value.cast::<u8>().copy_from_nonoverlapping(found.as_ptr(), room);
        *len = room as socklen_t;
    }
    Ok(())
}

unsafe extern "C" fn answer(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut socklen_t) -> c_int {
    // SAFETY: null, or a world that lives until it is unregistered.
    let Some(world) = (unsafe { WORLD.load(Ordering::Acquire).as_ref() }) else { return NOT_MINE };
    if !world.owns(fd) {
        return NOT_MINE;
    }
    // SAFETY: the caller of `getsockopt` guarantees the contract of this function.
    match unsafe { answer_option(world, fd, level, name, value, len) } {
        Ok(()) => 0,
        Err(Errno(error)) => error,
    }
}

unsafe extern "C" fn send_file(to: c_int, file: c_int, offset: *mut off_t, len: size_t) -> ssize_t {
    // SAFETY: null, or a world that lives until it is unregistered.
    let Some(world) = (unsafe { WORLD.load(Ordering::Acquire).as_ref() }) else { return NO_FILE_OF_MINE };
    if !world.owns(to) {
        return NO_FILE_OF_MINE;
    }
    // SAFETY: the caller of `sendfile` guarantees null or a number.
    let place = unsafe { offset.as_mut() };
    match world.send_file(to, file, place.as_deref().copied(), len) {
        Ok(sent) => {
            if let Some(place) = place {
                *place += sent as off_t;
            }
            sent as ssize_t
        }
        Err(Errno(error)) => -(error as ssize_t),
    }
}
