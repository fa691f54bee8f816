//! The other half of `lightlag-preload`: it is asked for the options that the tool reads through libc.

use crate::calls::Errno;
use crate::interface::answer_option;
use crate::world::World;
use libc::{c_int, c_void, socklen_t};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What means that the descriptor is not ours.
const NOT_MINE: c_int = -1;

type Answer = unsafe extern "C" fn(c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int;
type Register = extern "C" fn(Option<Answer>);

static WORLD: AtomicPtr<World> = AtomicPtr::new(std::ptr::null_mut());

/// Makes a world known to the preloaded library, if there is one.
///
/// # Safety
///
/// `world` points to a [`World`] that lives until [`unregister`].
pub(crate) unsafe fn register(world: *mut c_void) {
    WORLD.store(world.cast(), Ordering::Release);
    tell(Some(answer));
}

/// The world ends.
pub(crate) fn unregister() {
    tell(None);
    WORLD.store(std::ptr::null_mut(), Ordering::Release);
}

fn tell(answer: Option<Answer>) {
    // SAFETY: the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"lightlag_preload_register".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the preloaded library exports a function of this type under this name.
        let register: Register = unsafe { std::mem::transmute(found) };
        register(answer);
    }
}

unsafe extern "C" fn answer(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut socklen_t) -> c_int {
    // SAFETY: null, or a world that lives until it is unregistered.
    let Some(world) = (unsafe { WORLD.load(Ordering::Acquire).as_ref() }) else { return NOT_MINE };
    if !world.owns(fd) {
        return NOT_MINE;
    }
    // SAFETY: the caller of `getsockopt` promises what the function asks for.
    match unsafe { answer_option(world, fd, level, name, value, len) } {
        Ok(()) => 0,
        Err(Errno(error)) => error,
    }
}
