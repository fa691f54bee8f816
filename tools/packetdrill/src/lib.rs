//! lightlag's TCP as a user-space stack for packetdrill (its `--so_filename`).
//!
//! Scripts run unchanged and in virtual time. The clock moves when the tool sleeps or waits for a packet, and by one
//! microsecond when it reads the time. It stands still while a thread that a packet has unblocked has not read it yet.
//! The same script gives the same packets at the same times, whatever the machine does.
//!
//! - [`interface`]: the table of functions, in C's terms.
//! - [`world`]: the clock, the packets, and the waiting threads.
//! - [`calls`]: the system calls.
//! - [`sysctl`]: /proc/sys/net/ipv4 as the configuration of TCP.

#![allow(unsafe_code)]

pub mod calls;
mod descriptors;
mod device;
pub mod errno;
mod info;
pub mod interface;
mod options;
mod polling;
mod preload;
pub mod sysctl;
pub mod world;

use interface::Interface;
use libc::c_char;
use world::World;

/// The entry point: fills in the table.
///
/// `flags` are the tool's `--so_flags`: settings of the form `key=value`, separated by commas. `local=ADDRESS` is a
/// source address of connecting sockets (may be repeated; default 192.168.0.1 and fd3d:fa7b:d17d::1).
/// `sysctl=DIRECTORY` replaces /proc/sys/net/ipv4. `hz=250` lets timers fire with the ticks of such a kernel; otherwise
/// they are exact. `mtu=BYTES` replaces the MTU of the device tun0, which is read whenever a socket is opened.
///
/// # Safety
///
/// `flags` is null or a C string, `interface` points to a table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(flags: *const c_char, interface: *mut Interface) {
    // SAFETY: by the contract above.
    let flags = unsafe { interface::text(flags) };
    let world = match World::new(&flags) {
        Ok(world) => Box::new(world),
        Err(message) => {
            eprintln!("lightlag: --so_flags: {message}");
            std::process::exit(1);
        }
    };
    let table = Interface::new(world);
    // SAFETY: the world lives until the tool calls `free`, which unregisters it first.
    unsafe { preload::register(table.userdata) };
    // SAFETY: by the contract above.
    unsafe { interface.write(table) };
}
