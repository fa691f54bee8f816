//! The table of functions by which packetdrill drives a stack, in C's terms, and the entry to [`World`].
//!
//! The order of the fields is the tool's. Every function here only turns pointers into slices and results into `errno`;
//! the calls themselves are in [`crate::calls`].

use crate::calls::Peer;
use crate::errno::{Errno, Outcome};
use crate::options::TCP_INQ;
use crate::preload::answer_option;
use crate::world::World;
use libc::{
    c_char, c_int, c_longlong, c_uint, c_ulong, c_void, epoll_event, iovec, loff_t, msghdr, nfds_t, pollfd, size_t,
    sockaddr, socklen_t, ssize_t, timeval, useconds_t,
};
use std::slice;

type User = *mut c_void;

/// The table that `packetdrill_interface_init` fills in.
#[repr(C)]
#[allow(missing_docs, reason = "each field is the system call of its name")]
pub struct Interface {
    /// The first argument of every function.
    pub userdata: User,
    /// Called when the tool has finished.
    pub free: unsafe extern "C" fn(User),
    pub socket: unsafe extern "C" fn(User, c_int, c_int, c_int) -> c_int,
    pub bind: unsafe extern "C" fn(User, c_int, *const sockaddr, socklen_t) -> c_int,
    pub listen: unsafe extern "C" fn(User, c_int, c_int) -> c_int,
    pub accept: unsafe extern "C" fn(User, c_int, *mut sockaddr, *mut socklen_t) -> c_int,
    pub connect: unsafe extern "C" fn(User, c_int, *const sockaddr, socklen_t) -> c_int,
    pub read: unsafe extern "C" fn(User, c_int, *mut c_void, size_t) -> ssize_t,
    pub readv: unsafe extern "C" fn(User, c_int, *const iovec, c_int) -> ssize_t,
    pub recv: unsafe extern "C" fn(User, c_int, *mut c_void, size_t, c_int) -> ssize_t,
    pub recvfrom:
        unsafe extern "C" fn(User, c_int, *mut c_void, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t,
    pub recvmsg: unsafe extern "C" fn(User, c_int, *mut msghdr, c_int) -> ssize_t,
    pub write: unsafe extern "C" fn(User, c_int, *const c_void, size_t) -> ssize_t,
    pub writev: unsafe extern "C" fn(User, c_int, *const iovec, c_int) -> ssize_t,
    pub send: unsafe extern "C" fn(User, c_int, *const c_void, size_t, c_int) -> ssize_t,
    pub sendto: unsafe extern "C" fn(User, c_int, *const c_void, size_t, c_int, *const sockaddr, socklen_t) -> ssize_t,
    pub sendmsg: unsafe extern "C" fn(User, c_int, *const msghdr, c_int) -> ssize_t,
    /// Variadic in C; on Linux a variadic integer is passed like a named one.
    pub fcntl: unsafe extern "C" fn(User, c_int, c_int, c_ulong) -> c_int,
    /// Variadic in C, like `fcntl`.
    pub ioctl: unsafe extern "C" fn(User, c_int, c_ulong, *mut c_void) -> c_int,
    pub close: unsafe extern "C" fn(User, c_int) -> c_int,
    pub shutdown: unsafe extern "C" fn(User, c_int, c_int) -> c_int,
    pub getsockopt: unsafe extern "C" fn(User, c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int,
    pub setsockopt: unsafe extern "C" fn(User, c_int, c_int, c_int, *const c_void, socklen_t) -> c_int,
    pub poll: unsafe extern "C" fn(User, *mut pollfd, nfds_t, c_int) -> c_int,
    /// Hands a packet to the stack.
    pub netdev_send: unsafe extern "C" fn(User, *const c_void, size_t) -> c_int,
    /// Returns the next packet of the stack: its bytes, their number (0 if none will come) and its departure time in
    /// µs.
    pub netdev_receive: unsafe extern "C" fn(User, *mut c_void, *mut size_t, *mut c_longlong) -> c_int,
    pub usleep: unsafe extern "C" fn(User, useconds_t) -> c_int,
    pub gettimeofday: unsafe extern "C" fn(User, *mut timeval, *mut c_void) -> c_int,
    pub epoll_create: unsafe extern "C" fn(User, c_int) -> c_int,
    pub epoll_ctl: unsafe extern "C" fn(User, c_int, c_int, c_int, *mut epoll_event) -> c_int,
    pub epoll_wait: unsafe extern "C" fn(User, c_int, *mut epoll_event, c_int, c_int) -> c_int,
    pub pipe: unsafe extern "C" fn(User, *mut c_int) -> c_int,
    pub splice: unsafe extern "C" fn(User, c_int, *mut loff_t, c_int, *mut loff_t, size_t, c_uint) -> ssize_t,
}

impl Interface {
    /// Returns the table of a world; the table owns the world.
    pub(crate) fn new(world: Box<World>) -> Self {
        Self {
            userdata: Box::into_raw(world).cast(),
            free,
            socket,
            bind,
            listen,
            accept,
            connect,
            read,
            readv,
            recv,
            recvfrom,
            recvmsg,
            write,
            writev,
            send,
            sendto,
            sendmsg,
            fcntl,
            ioctl,
            close,
            shutdown,
            getsockopt,
            setsockopt,
            poll,
            netdev_send,
            netdev_receive,
            usleep,
            gettimeofday,
            epoll_create,
            epoll_ctl,
            epoll_wait,
            pipe,
            splice,
        }
    }
}

/// The world that `userdata` points to.
///
/// # Safety
///
/// `user` comes from [`Interface::new`] and `free` was not called on it.
unsafe fn world<'a>(user: User) -> &'a World {
    // SAFETY: by the contract above it points to a live `World`, which is only used by shared reference.
    unsafe { &*user.cast::<World>() }
}

fn errno(error: Errno) {
    // SAFETY: libc gives the address of this thread's error number.
    unsafe { *libc::__errno_location() = error.0 };
}

fn size(outcome: Outcome<usize>) -> ssize_t {
    match outcome {
        Ok(count) => count as ssize_t,
        Err(error) => {
            errno(error);
            -1
        }
    }
}

fn number(outcome: Outcome<c_int>) -> c_int {
    match outcome {
        Ok(number) => number,
        Err(error) => {
            errno(error);
            -1
        }
    }
}

fn done(outcome: Outcome<()>) -> c_int {
    number(outcome.map(|()| 0))
}

/// # Safety
///
/// `data` points to `len` bytes, or is null.
unsafe fn bytes<'a>(data: *const c_void, len: usize) -> Outcome<&'a [u8]> {
    match (data.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Errno(libc::EFAULT)),
        // SAFETY: by the contract above.
        _ => Ok(unsafe { slice::from_raw_parts(data.cast(), len) }),
    }
}

/// # Safety
///
/// `data` points to `len` bytes that no one else uses, or is null.
unsafe fn bytes_mut<'a>(data: *mut c_void, len: usize) -> Outcome<&'a mut [u8]> {
    match (data.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Errno(libc::EFAULT)),
        // SAFETY: by the contract above.
        _ => Ok(unsafe { slice::from_raw_parts_mut(data.cast(), len) }),
    }
}

/// # Safety
///
/// `parts` points to `count` descriptions of readable memory.
unsafe fn gather(parts: *const iovec, count: usize) -> Outcome<Vec<u8>> {
    let mut data = Vec::new();
    if count > 0 && parts.is_null() {
        return Err(Errno(libc::EFAULT));
    }
    for index in 0..count {
        // SAFETY: index is below count.
        let part = unsafe { &*parts.add(index) };
        // SAFETY: by the contract above.
        data.extend_from_slice(unsafe { bytes(part.iov_base, part.iov_len) }?);
    }
    Ok(data)
}

/// Reads into one buffer, and copies its bytes to the parts.
///
/// # Safety
///
/// `parts` points to `count` descriptions of writable memory.
unsafe fn scatter(parts: *const iovec, count: usize, read: impl FnOnce(&mut [u8]) -> Outcome<usize>) -> Outcome<usize> {
    let mut places = Vec::new();
    if count > 0 && parts.is_null() {
        return Err(Errno(libc::EFAULT));
    }
    for index in 0..count {
        // SAFETY: index is below count.
        let part = unsafe { &*parts.add(index) };
        // SAFETY: by the contract above.
        places.push(unsafe { bytes_mut(part.iov_base, part.iov_len) }?);
    }
    let mut data = vec![0; places.iter().map(|place| place.len()).sum()];
    let len = read(&mut data)?;
    let mut rest = &data[..len];
    for place in places {
        let (now, later) = rest.split_at(place.len().min(rest.len()));
        place[..now.len()].copy_from_slice(now);
        rest = later;
    }
    Ok(len)
}

/// # Safety
///
/// `address` points to `len` bytes.
unsafe fn peer(address: *const sockaddr, len: socklen_t) -> Outcome<Peer> {
    // SAFETY: by the contract above.
    Peer::parse(unsafe { bytes(address.cast(), len as usize) }?)
}

/// Stores an address like `accept`: as much as fits, and its true length.
///
/// # Safety
///
/// `address` is null, or points to `*len` bytes.
unsafe fn store(found: &[u8], address: *mut sockaddr, len: *mut socklen_t) {
    if address.is_null() || len.is_null() {
        return;
    }
    // SAFETY: by the contract above.
    unsafe {
        let room = (*len as usize).min(found.len());
        address.cast::<u8>().copy_from_nonoverlapping(found.as_ptr(), room);
        *len = found.len() as socklen_t;
    }
}

// The tool calls the following functions through the table, with the contract of the system call of each name: pointers
// point to as much memory as the corresponding lengths. `user` is the `userdata` of the table.

unsafe extern "C" fn free(user: User) {
    crate::preload::unregister();
    // SAFETY: the tool calls this once, after everything else.
    drop(unsafe { Box::from_raw(user.cast::<World>()) });
}

unsafe extern "C" fn socket(user: User, domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: the contract of the table.
    number(unsafe { world(user) }.socket(domain, kind, protocol))
}

unsafe extern "C" fn bind(user: User, fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: the contract of the table.
    done(unsafe { peer(address, len).and_then(|peer| world(user).bind(fd, peer)) })
}

unsafe extern "C" fn listen(user: User, fd: c_int, backlog: c_int) -> c_int {
    // SAFETY: the contract of the table.
    done(unsafe { world(user) }.listen(fd, backlog))
}

unsafe extern "C" fn accept(user: User, fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: the contract of the table.
    number(unsafe { world(user) }.accept(fd).map(|(fd, from)| {
        // SAFETY: the contract of the table.
        unsafe { store(&from, address, len) };
        fd
    }))
}

unsafe extern "C" fn connect(user: User, fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: the contract of the table.
    done(unsafe { peer(address, len).and_then(|peer| world(user).connect(fd, peer)) })
}

unsafe extern "C" fn read(user: User, fd: c_int, data: *mut c_void, len: size_t) -> ssize_t {
    // SAFETY: the contract of the table.
    size(unsafe { bytes_mut(data, len).and_then(|data| world(user).receive(fd, data, 0)) })
}

unsafe extern "C" fn readv(user: User, fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: the contract of the table.
    size(unsafe { scatter(parts, count.max(0) as usize, |data| world(user).receive(fd, data, 0)) })
}

unsafe extern "C" fn recv(user: User, fd: c_int, data: *mut c_void, len: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the contract of the table.
    size(unsafe { bytes_mut(data, len).and_then(|data| world(user).receive(fd, data, flags)) })
}

unsafe extern "C" fn recvfrom(
    user: User,
    fd: c_int,
    data: *mut c_void,
    len: size_t,
    flags: c_int,
    _: *mut sockaddr,
    from_len: *mut socklen_t,
) -> ssize_t {
    // SAFETY: the contract of the table.
    let received = size(unsafe { bytes_mut(data, len).and_then(|data| world(user).receive(fd, data, flags)) });
    if received >= 0 && !from_len.is_null() {
        // SAFETY: checked for null. A stream does not name the sender, which is known (as in Linux).
        unsafe { *from_len = 0 };
    }
    received
}

unsafe extern "C" fn recvmsg(user: User, fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    if message.is_null() {
        return size(Err(Errno(libc::EFAULT)));
    }
    // SAFETY: the contract of the table.
    let message = unsafe { &mut *message };
    // SAFETY: the contract of the table.
    let read = unsafe { scatter(message.msg_iov, message.msg_iovlen, |data| world(user).receive(fd, data, flags)) };
    if read.is_ok() {
        (message.msg_namelen, message.msg_flags) = (0, 0);
        // SAFETY: the contract of the table.
        let left = unsafe { world(user) }.left_to_read(fd);
        // SAFETY: the contract of the table: the control buffer has its stated length.
        message.msg_controllen = left.map_or(0, |left| unsafe { tell_left(message, left) });
    }
    size(read)
}

/// Writes the control message TCP_CM_INQ if the buffer has space for it. Returns the used length of the buffer.
///
/// # Safety
///
/// `msg_control` points to `msg_controllen` bytes, or is null.
unsafe fn tell_left(message: &msghdr, left: c_int) -> size_t {
    // SAFETY: plain arithmetic.
    let space = unsafe { libc::CMSG_SPACE(size_of::<c_int>() as c_uint) } as size_t;
    // SAFETY: only reads the two fields.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    if header.is_null() || message.msg_controllen < space {
        return 0;
    }
    // SAFETY: the buffer holds a header and an int; the caller aligned it for a header.
    unsafe {
        (*header).cmsg_level = libc::SOL_TCP;
        (*header).cmsg_type = TCP_INQ;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as c_uint) as _;
        libc::CMSG_DATA(header).cast::<c_int>().write_unaligned(left);
    }
    space
}

unsafe extern "C" fn write(user: User, fd: c_int, data: *const c_void, len: size_t) -> ssize_t {
    // SAFETY: the contract of the table.
    size(unsafe { bytes(data, len).and_then(|data| world(user).transmit(fd, data, 0, None)) })
}

unsafe extern "C" fn writev(user: User, fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: the contract of the table.
    size(unsafe { gather(parts, count.max(0) as usize).and_then(|data| world(user).transmit(fd, &data, 0, None)) })
}

unsafe extern "C" fn send(user: User, fd: c_int, data: *const c_void, len: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the contract of the table.
    size(unsafe { bytes(data, len).and_then(|data| world(user).transmit(fd, data, flags, None)) })
}

unsafe extern "C" fn sendto(
    user: User,
    fd: c_int,
    data: *const c_void,
    len: size_t,
    flags: c_int,
    address: *const sockaddr,
    address_len: socklen_t,
) -> ssize_t {
    // SAFETY: the contract of the table.
    let to = if address.is_null() { Ok(None) } else { unsafe { peer(address, address_len) }.map(Some) };
    // SAFETY: the contract of the table.
    size(to.and_then(|to| unsafe { bytes(data, len).and_then(|data| world(user).transmit(fd, data, flags, to)) }))
}

unsafe extern "C" fn sendmsg(user: User, fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    if message.is_null() {
        return size(Err(Errno(libc::EFAULT)));
    }
    // SAFETY: the contract of the table. Without MSG_FASTOPEN the name is not looked at: the socket has a peer.
    size(unsafe {
        let message = &*message;
        let named = flags & libc::MSG_FASTOPEN != 0 && !message.msg_name.is_null();
        let to = if named { peer(message.msg_name.cast(), message.msg_namelen).map(Some) } else { Ok(None) };
        to.and_then(|to| {
            let data = gather(message.msg_iov, message.msg_iovlen)?;
            world(user).transmit(fd, &data, flags, to)
        })
    })
}

unsafe extern "C" fn fcntl(user: User, fd: c_int, command: c_int, argument: c_ulong) -> c_int {
    // SAFETY: the contract of the table.
    number(unsafe { world(user) }.fcntl(fd, command, argument as c_int))
}

unsafe extern "C" fn ioctl(user: User, fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    // SAFETY: the contract of the table.
    done(unsafe { world(user) }.ioctl(fd, request).and_then(|value| {
        if argument.is_null() {
            return Err(Errno(libc::EFAULT));
        }
        // SAFETY: every request that `World::ioctl` answers stores an int.
        unsafe { argument.cast::<c_int>().write_unaligned(value) };
        Ok(())
    }))
}

unsafe extern "C" fn close(user: User, fd: c_int) -> c_int {
    // SAFETY: the contract of the table.
    done(unsafe { world(user) }.close(fd))
}

unsafe extern "C" fn shutdown(user: User, fd: c_int, how: c_int) -> c_int {
    // SAFETY: the contract of the table.
    done(unsafe { world(user) }.shutdown(fd, how))
}

unsafe extern "C" fn getsockopt(
    user: User,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    // SAFETY: the contract of the table.
    done(unsafe { answer_option(world(user), fd, level, name, value, len) })
}

unsafe extern "C" fn setsockopt(
    user: User,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: socklen_t,
) -> c_int {
    // SAFETY: the contract of the table.
    done(unsafe { bytes(value, len as usize).and_then(|value| world(user).set_option(fd, level, name, value)) })
}

unsafe extern "C" fn poll(user: User, list: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    if list.is_null() && count > 0 {
        return number(Err(Errno(libc::EFAULT)));
    }
    // SAFETY: the contract of the table.
    let list = if count == 0 { &mut [] } else { unsafe { slice::from_raw_parts_mut(list, count as usize) } };
    // SAFETY: the contract of the table.
    number(unsafe { world(user) }.poll(list, timeout))
}

unsafe extern "C" fn netdev_send(user: User, data: *const c_void, len: size_t) -> c_int {
    // SAFETY: the contract of the table.
    done(unsafe { bytes(data, len).map(|packet| world(user).packet_in(packet)) })
}

unsafe extern "C" fn netdev_receive(user: User, data: *mut c_void, len: *mut size_t, micros: *mut c_longlong) -> c_int {
    if len.is_null() || micros.is_null() {
        return done(Err(Errno(libc::EFAULT)));
    }
    // SAFETY: the contract of the table: `len` is the size of the buffer.
    let buffer = match unsafe { bytes_mut(data, *len) } {
        Ok(buffer) => buffer,
        Err(error) => return done(Err(error)),
    };
    // SAFETY: the contract of the table.
    let (count, time) = unsafe { world(user) }.next_packet(buffer);
    // SAFETY: checked for null.
    unsafe {
        *len = count;
        *micros = time as c_longlong;
    }
    0
}

unsafe extern "C" fn usleep(user: User, micros: useconds_t) -> c_int {
    // SAFETY: the contract of the table.
    unsafe { world(user) }.sleep(micros.into());
    0
}

unsafe extern "C" fn gettimeofday(user: User, time: *mut timeval, _: *mut c_void) -> c_int {
    // SAFETY: the contract of the table.
    let micros = unsafe { world(user) }.read_clock();
    if !time.is_null() {
        let value = timeval { tv_sec: (micros / 1_000_000) as _, tv_usec: (micros % 1_000_000) as _ };
        // SAFETY: checked for null.
        unsafe { time.write(value) };
    }
    0
}

unsafe extern "C" fn epoll_create(user: User, size: c_int) -> c_int {
    // SAFETY: the contract of the table.
    number(unsafe { world(user) }.epoll_create(size))
}

unsafe extern "C" fn epoll_ctl(
    user: User,
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    // SAFETY: the contract of the table: null, or an event.
    let event = if event.is_null() { None } else { Some(unsafe { event.read_unaligned() }) };
    // SAFETY: the contract of the table.
    done(unsafe { world(user) }.epoll_ctl(epoll, operation, fd, event))
}

unsafe extern "C" fn epoll_wait(
    user: User,
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    if events.is_null() || most <= 0 {
        return number(Err(Errno(libc::EINVAL)));
    }
    // SAFETY: the contract of the table.
    number(unsafe { world(user) }.epoll_wait(epoll, most as usize, timeout).map(|found| {
        for (index, event) in found.iter().enumerate() {
            // SAFETY: there are at most `most` of them.
            unsafe { events.add(index).write_unaligned(*event) };
        }
        found.len() as c_int
    }))
}

unsafe extern "C" fn pipe(user: User, ends: *mut c_int) -> c_int {
    // SAFETY: the contract of the table.
    done(unsafe { world(user) }.pipe().map(|(read, write)| {
        // SAFETY: `pipe` takes two ints.
        unsafe {
            ends.write(read);
            ends.add(1).write(write);
        }
    }))
}

unsafe extern "C" fn splice(
    user: User,
    from: c_int,
    from_offset: *mut loff_t,
    to: c_int,
    to_offset: *mut loff_t,
    len: size_t,
    flags: c_uint,
) -> ssize_t {
    // SAFETY: the contract of the table: null, or an offset. The tool passes the address of 0 for NULL in the script.
    let given = |offset: *mut loff_t| unsafe { offset.as_ref() }.is_some_and(|offset| *offset != 0);
    if given(from_offset) || given(to_offset) {
        // Neither pipes nor sockets have offsets.
        return size(Err(Errno(libc::ESPIPE)));
    }
    // SAFETY: the contract of the table.
    size(unsafe { world(user) }.splice(from, to, len, flags))
}

/// The text of a C string; empty for null.
///
/// # Safety
///
/// `text` is null or ends with a zero byte.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> std::borrow::Cow<'a, str> {
    if text.is_null() {
        return "".into();
    }
    // SAFETY: by the contract above.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy()
}
