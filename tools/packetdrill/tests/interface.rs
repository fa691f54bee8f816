//! The interface as the tool uses it: through the table that the entry point fills in.

#![allow(unsafe_code)]

use lightlag_packetdrill::interface::Interface;
use lightlag_packetdrill::packetdrill_interface_init;
use lightlag_packetdrill::world::World;
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber, SynOptions};
use lightlag_wire::{Addresses, IpFields, TcpPacket};
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

/// Allows one world at a time, because descriptors and the registry of the preloaded library belong to the process.
static ALONE: Mutex<()> = Mutex::new(());

/// The tool's side of the table.
struct Tool {
    table: Interface,
    sysctl: PathBuf,
}

// SAFETY: the functions of the table may be called from any thread; the tool does so.
unsafe impl Sync for Tool {}

/// The address of a connection's peer.
const PEER: &str = "192.0.2.1:40000";
const HOST: &str = "192.168.0.1:8080";

impl Tool {
    /// Returns a world whose kernel has these settings.
    fn new(name: &str, settings: &[(&str, &str)]) -> Self {
        Self::with_flags(name, settings, "")
    }

    /// Like [`Self::new`], with additional flags of the tool.
    fn with_flags(name: &str, settings: &[(&str, &str)], more: &str) -> Self {
        let sysctl = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&sysctl).unwrap();
        for (name, value) in settings {
            std::fs::write(sysctl.join(name), value).unwrap();
        }
        let flags = CString::new(format!("local=192.168.0.1,sysctl={},{more}", sysctl.display())).unwrap();
        let mut table = MaybeUninit::uninit();
        // SAFETY: a C string, and space for the table, which is filled in afterwards.
        let table = unsafe {
            packetdrill_interface_init(flags.as_ptr(), table.as_mut_ptr());
            table.assume_init()
        };
        Self { table, sysctl }
    }

    fn socket(&self) -> i32 {
        // SAFETY: the table's own data; numbers only.
        let fd = unsafe { (self.table.socket)(self.table.userdata, libc::AF_INET, libc::SOCK_STREAM, 0) };
        assert!(fd >= 0);
        fd
    }

    /// Returns the `sockaddr_in` of an address.
    fn address(text: &str) -> libc::sockaddr_in {
        let SocketAddr::V4(address) = text.parse().unwrap() else { panic!("IPv4 only") };
        libc::sockaddr_in {
            sin_family: libc::AF_INET as u16,
            sin_port: address.port().to_be(),
            sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
            sin_zero: [0; 8],
        }
    }

    fn listen(&self) -> i32 {
        let fd = self.socket();
        let address = Self::address(HOST);
        // SAFETY: the address lives here, and its size is given.
        let bound = unsafe { (self.table.bind)(self.table.userdata, fd, (&raw const address).cast(), 16) };
        assert_eq!(bound, 0);
        // SAFETY: numbers only.
        assert_eq!(unsafe { (self.table.listen)(self.table.userdata, fd, 1) }, 0);
        fd
    }

    fn accept(&self, fd: i32) -> (i32, u16) {
        let (mut address, mut len) = (Self::address("0.0.0.0:0"), 16);
        // SAFETY: address and length live here.
        let fd = unsafe { (self.table.accept)(self.table.userdata, fd, (&raw mut address).cast(), &mut len) };
        (fd, u16::from_be(address.sin_port))
    }

    fn read(&self, fd: i32, len: usize) -> Result<Vec<u8>, i32> {
        let mut data = vec![0; len];
        // SAFETY: the buffer has this size.
        let count = unsafe { (self.table.read)(self.table.userdata, fd, data.as_mut_ptr().cast(), len) };
        if count < 0 {
            return Err(errno());
        }
        data.truncate(count as usize);
        Ok(data)
    }

    fn write(&self, fd: i32, data: &[u8]) -> isize {
        // SAFETY: the buffer has this size.
        unsafe { (self.table.write)(self.table.userdata, fd, data.as_ptr().cast(), data.len()) }
    }

    /// Lets other threads run until one of them is in a blocking call, like the tool.
    fn wait_for_a_blocked_thread(&self) {
        // SAFETY: the entry point puts a `World` there.
        let world = unsafe { &*self.table.userdata.cast::<World>() };
        while world.waiting() == 0 {
            thread::yield_now();
        }
    }

    fn set_nonblocking(&self, fd: i32) {
        let flags = (libc::O_RDWR | libc::O_NONBLOCK) as u64;
        // SAFETY: numbers only.
        assert_eq!(unsafe { (self.table.fcntl)(self.table.userdata, fd, libc::F_SETFL, flags) }, 0);
    }

    /// The time in microseconds.
    fn now(&self) -> u64 {
        let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the structure lives here.
        unsafe { (self.table.gettimeofday)(self.table.userdata, &mut time, std::ptr::null_mut()) };
        time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64
    }

    fn sleep(&self, micros: u32) {
        // SAFETY: numbers only.
        unsafe { (self.table.usleep)(self.table.userdata, micros) };
    }

    /// Hands a segment of the peer to the stack.
    fn inject(&self, segment: &Segment, payload: &[u8]) {
        let addresses = Addresses { source: PEER.parse().unwrap(), destination: HOST.parse().unwrap() };
        let mut packet = Vec::new();
        lightlag_wire::encode(&mut packet, &addresses, &IpFields::default(), segment, payload);
        // SAFETY: the buffer has this size.
        let rc = unsafe { (self.table.netdev_send)(self.table.userdata, packet.as_ptr().cast(), packet.len()) };
        assert_eq!(rc, 0);
    }

    /// Returns the next packet and its departure time; `None` if no packet will ever be sent.
    fn sniff(&self) -> Option<(Vec<u8>, u64)> {
        let (mut packet, mut len, mut time) = (vec![0; 65_536], 65_536, 0);
        // SAFETY: the buffer has this size; the numbers live here.
        let rc = unsafe {
            (self.table.netdev_receive)(self.table.userdata, packet.as_mut_ptr().cast(), &mut len, &mut time)
        };
        assert_eq!(rc, 0, "an error would let the tool ask for ever");
        packet.truncate(len);
        (len > 0).then_some((packet, time as u64))
    }

    /// Returns the bytes of an option.
    fn option(&self, fd: i32, level: i32, name: i32, room: usize) -> Result<Vec<u8>, i32> {
        let (mut value, mut len) = (vec![0; room], room as libc::socklen_t);
        // SAFETY: the buffer has this size.
        let rc = unsafe {
            (self.table.getsockopt)(self.table.userdata, fd, level, name, value.as_mut_ptr().cast(), &mut len)
        };
        if rc < 0 {
            return Err(errno());
        }
        value.truncate(len as usize);
        Ok(value)
    }

    /// The peer opens a connection to a listener. Returns the sequence numbers after both SYNs.
    fn handshake(&self) -> (SeqNumber, SeqNumber) {
        let options = SynOptions { mss: Some(1_000), window_scale: Some(7), sack_permitted: true };
        let syn = Segment::new(SeqNumber(0), SeqNumber(0), 32_792, Flags::SYN).with_syn_options(options);
        self.inject(&syn, &[]);
        let (packet, _) = self.sniff().expect("a SYN-ACK");
        let answer = decoded(&packet).segment;
        assert!(answer.flags.has(Flags::SYN.with(Flags::ACK)));
        let (ours, theirs) = (answer.seq.plus(1), SeqNumber(1));
        self.sleep(10_000);
        self.inject(&Segment::new(theirs, ours, 257, Flags::ACK), &[]);
        (ours, theirs)
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        // SAFETY: once, and nothing is called afterwards.
        unsafe { (self.table.free)(self.table.userdata) };
        let _ = std::fs::remove_dir_all(&self.sysctl);
    }
}

fn errno() -> i32 {
    // SAFETY: libc gives the address of this thread's error number.
    unsafe { *libc::__errno_location() }
}

fn decoded(packet: &[u8]) -> TcpPacket<'_> {
    lightlag_wire::decode(packet).unwrap()
}

/// A segment of the peer with data.
fn data(seq: SeqNumber, ack: SeqNumber, len: u16) -> Segment {
    let mut segment = Segment::new(seq, ack, 257, Flags::ACK);
    segment.len = len;
    segment
}

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[test]
fn a_handshake_and_data_in_both_directions() {
    let _alone = alone();
    let tool = Tool::new("both-ways", &[("tcp_rmem", "4096 540000 15728640"), ("tcp_timestamps", "0")]);
    let listener = tool.listen();
    let (ours, theirs) = tool.handshake();
    let (fd, port) = tool.accept(listener);
    assert_eq!(port, 40_000);
    assert_eq!(tool.write(fd, &[7; 3_000]), 3_000);
    let mut stream = Vec::new();
    for (len, push) in [(1_000, false), (1_000, true), (1_000, true)] {
        let (packet, _) = tool.sniff().unwrap();
        let packet = decoded(&packet);
        assert_eq!((packet.segment.len, packet.segment.flags.has(Flags::PSH)), (len, push));
        stream.extend_from_slice(packet.payload);
    }
    assert_eq!(stream, [7; 3_000]);
    tool.inject(&Segment::new(theirs, ours.plus(3_000), 257, Flags::ACK), &[]);
    tool.inject(&data(theirs, ours.plus(3_000), 5), b"hello");
    assert_eq!(tool.read(fd, 100).unwrap(), b"hello");
    let (packet, _) = tool.sniff().unwrap();
    assert_eq!(decoded(&packet).segment.ack, theirs.plus(5));
}

#[test]
fn a_blocking_accept_and_read_return_at_the_time_of_the_packet() {
    let _alone = alone();
    let tool = Tool::new("blocking", &[]);
    let listener = tool.listen();
    thread::scope(|scope| {
        let second = scope.spawn(|| {
            let (fd, _) = tool.accept(listener);
            let accepted = tool.now();
            let heard = tool.read(fd, 100).unwrap();
            (accepted, heard, tool.now())
        });
        tool.wait_for_a_blocked_thread();
        let start = tool.now();
        tool.sleep(100_000);
        let (ours, theirs) = tool.handshake();
        let opened = tool.now();
        tool.wait_for_a_blocked_thread();
        tool.sleep(200_000);
        let segment = data(theirs, ours, 2);
        tool.inject(&segment, b"hi");
        let sent = tool.now();
        let (accepted, heard, read) = second.join().unwrap();
        assert_eq!(heard, b"hi");
        assert!(accepted > start + 100_000 && accepted <= opened, "{start} {accepted} {opened}");
        assert!(read >= opened + 200_000 && read <= sent, "{opened} {read} {sent}");
    });
}

#[test]
fn a_blocking_connect_returns_when_the_peer_answers_and_fails_when_it_refuses() {
    let _alone = alone();
    let tool = Tool::new("connect", &[]);
    for refused in [false, true] {
        let fd = tool.socket();
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                let address = Tool::address(PEER);
                // SAFETY: the address lives here, and its size is given.
                let rc = unsafe { (tool.table.connect)(tool.table.userdata, fd, (&raw const address).cast(), 16) };
                let error = errno();
                tool.now();
                (rc, error)
            });
            tool.wait_for_a_blocked_thread();
            let packet = loop {
                let (packet, _) = tool.sniff().unwrap();
                if decoded(&packet).segment.flags.has(Flags::SYN) {
                    break packet;
                }
            };
            let packet = decoded(&packet);
            let syn = packet.segment;
            assert_eq!(packet.addresses.destination, PEER.parse().unwrap());
            let flags = if refused { Flags::RST.with(Flags::ACK) } else { Flags::SYN.with(Flags::ACK) };
            let answer = Segment::new(SeqNumber(0), syn.seq.plus(1), 1_000, flags);
            let mut bytes = Vec::new();
            lightlag_wire::encode(&mut bytes, &packet.addresses.reversed(), &IpFields::default(), &answer, &[]);
            // SAFETY: the buffer has this size.
            unsafe { (tool.table.netdev_send)(tool.table.userdata, bytes.as_ptr().cast(), bytes.len()) };
            let (rc, error) = second.join().unwrap();
            assert_eq!(rc, if refused { -1 } else { 0 });
            assert!(!refused || error == libc::ECONNREFUSED);
        });
    }
}

#[test]
fn a_call_that_would_block_reports_it_and_the_driver_moves_the_clock_itself() {
    let _alone = alone();
    let tool = Tool::new("driver", &[]);
    let listener = tool.listen();
    tool.set_nonblocking(listener);
    assert_eq!(tool.accept(listener).0, -1);
    assert_eq!(errno(), libc::EAGAIN);
    let mut item = libc::pollfd { fd: listener, events: libc::POLLIN, revents: 0 };
    let start = tool.now();
    // SAFETY: one item lives here.
    assert_eq!(unsafe { (tool.table.poll)(tool.table.userdata, &mut item, 1, 500) }, 0);
    assert!(tool.now() >= start + 500_000, "the wait took its time");
    tool.handshake();
    // SAFETY: as above.
    assert_eq!(unsafe { (tool.table.poll)(tool.table.userdata, &mut item, 1, -1) }, 1);
    assert_eq!(item.revents, libc::POLLIN);
    let (fd, _) = tool.accept(listener);
    tool.set_nonblocking(fd);
    assert_eq!(tool.read(fd, 10), Err(libc::EAGAIN));
    assert_eq!(tool.read(9_999, 10), Err(libc::EBADF));
}

#[test]
fn reading_the_clock_takes_a_microsecond_and_sleeping_its_argument() {
    let _alone = alone();
    let tool = Tool::new("clock", &[]);
    let start = tool.now();
    assert_eq!(tool.now(), start + 1);
    tool.sleep(1_000);
    assert_eq!(tool.now(), start + 1_002);
}

#[test]
fn no_packet_for_ever_is_a_success_without_bytes_and_timers_run_meanwhile() {
    let _alone = alone();
    let tool = Tool::new("silence", &[("tcp_early_retrans", "0")]);
    assert_eq!(tool.sniff(), None);
    let listener = tool.listen();
    tool.handshake();
    let (fd, _) = tool.accept(listener);
    assert_eq!(tool.sniff(), None, "an idle connection sends nothing");
    let written = tool.now();
    assert_eq!(tool.write(fd, b"x"), 1);
    let (_, first) = tool.sniff().unwrap();
    let (_, again) = tool.sniff().unwrap();
    // RTO = 10 ms + 200 ms; the clock has run to it.
    assert!(first <= written + 1 && (210_000..=211_000).contains(&(again - first)), "{written} {first} {again}");
    assert!(tool.now() > again);
}

#[test]
fn tcp_info_has_the_size_and_the_members_of_the_kernel() {
    let _alone = alone();
    let tool = Tool::new("info", &[("tcp_timestamps", "0")]);
    let listener = tool.listen();
    tool.handshake();
    let (fd, _) = tool.accept(listener);
    assert_eq!(tool.write(fd, &[0; 3_000]), 3_000);
    let info = tool.option(fd, libc::SOL_TCP, libc::TCP_INFO, 280).unwrap();
    assert_eq!(info.len(), 280);
    let word = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().unwrap());
    assert_eq!((info[0], info[1]), (1, 0), "established, open");
    assert_eq!(info[5], 0b110, "SACK and window scaling");
    assert_eq!(info[6] & 0xf, 7, "the peer's shift");
    assert_eq!(word(std::mem::offset_of!(libc::tcp_info, tcpi_unacked)), 3);
    assert_eq!(word(std::mem::offset_of!(libc::tcp_info, tcpi_snd_cwnd)), 10);
    assert_eq!(word(std::mem::offset_of!(libc::tcp_info, tcpi_snd_mss)), 1_000);
    let rtt = word(std::mem::offset_of!(libc::tcp_info, tcpi_rtt));
    assert!((10_000..10_100).contains(&rtt), "{rtt}");
    assert_eq!(tool.option(fd, libc::SOL_TCP, libc::TCP_INFO, 8).unwrap().len(), 8, "no more than the buffer holds");
    assert_eq!(tool.option(fd, libc::SOL_TCP, 26, 20).unwrap().len(), 0, "TCP_CC_INFO");
    assert_eq!(tool.option(fd, libc::SOL_SOCKET, 55, 36).unwrap().len(), 36, "SO_MEMINFO");
    assert_eq!(tool.option(fd, libc::SOL_TCP, 9_999, 4), Err(libc::ENOPROTOOPT));
}

#[test]
fn settings_of_the_kernel_hold_from_the_next_socket_on() {
    let _alone = alone();
    let tool =
        Tool::new("settings", &[("tcp_sack", "0"), ("tcp_timestamps", "1"), ("tcp_congestion_control", "reno\n")]);
    let fd = tool.socket();
    let name = tool.option(fd, libc::SOL_TCP, libc::TCP_CONGESTION, 16).unwrap();
    assert!(name.starts_with(b"reno\0"));
    let syn = |fd: i32| {
        tool.set_nonblocking(fd);
        let address = Tool::address(PEER);
        // SAFETY: the address lives here, and its size is given.
        let rc = unsafe { (tool.table.connect)(tool.table.userdata, fd, (&raw const address).cast(), 16) };
        assert_eq!((rc, errno()), (-1, libc::EINPROGRESS));
        let (packet, _) = tool.sniff().unwrap();
        let segment = decoded(&packet).segment;
        (segment.syn_options().sack_permitted, segment.timestamps().is_some())
    };
    assert_eq!(syn(fd), (false, true));
    std::fs::write(tool.sysctl.join("tcp_sack"), "1").unwrap();
    std::fs::write(tool.sysctl.join("tcp_timestamps"), "0").unwrap();
    // SAFETY: numbers only.
    assert_eq!(unsafe { (tool.table.close)(tool.table.userdata, fd) }, 0);
    assert_eq!(syn(tool.socket()), (true, false));
    std::fs::write(tool.sysctl.join("tcp_congestion_control"), "nonesuch").unwrap();
    // SAFETY: numbers only.
    assert_eq!(unsafe { (tool.table.socket)(tool.table.userdata, libc::AF_INET, libc::SOCK_STREAM, 0) }, -1);
}

#[test]
fn descriptors_are_real_ones_and_may_be_closed_through_libc() {
    let _alone = alone();
    let tool = Tool::new("descriptors", &[]);
    let fd = tool.socket();
    // SAFETY: plain system calls on our own descriptor.
    unsafe {
        assert_eq!(libc::fcntl(fd, libc::F_GETFD), libc::FD_CLOEXEC);
        assert_eq!(libc::close(fd), 0);
    }
    drop(tool);
    // The number is free: its next owner keeps it.
    let file = std::fs::File::open("/dev/null").unwrap();
    assert!(file.metadata().is_ok());
}

#[test]
fn a_pipe_and_a_socket_are_spliced() {
    let _alone = alone();
    let tool = Tool::new("splice", &[("tcp_timestamps", "0")]);
    let listener = tool.listen();
    tool.handshake();
    let (fd, _) = tool.accept(listener);
    let mut ends = [0; 2];
    // SAFETY: two ints live here.
    assert_eq!(unsafe { (tool.table.pipe)(tool.table.userdata, ends.as_mut_ptr()) }, 0);
    assert_eq!(tool.write(ends[1], b"through"), 7);
    let none = std::ptr::null_mut();
    // SAFETY: no offsets.
    let moved = unsafe { (tool.table.splice)(tool.table.userdata, ends[0], none, fd, none, 100, 0) };
    assert_eq!(moved, 7);
    let (packet, _) = tool.sniff().unwrap();
    assert_eq!(decoded(&packet).payload, b"through");
}

#[test]
fn epoll_reports_what_is_ready() {
    let _alone = alone();
    let tool = Tool::new("epoll", &[]);
    let listener = tool.listen();
    // SAFETY: numbers only.
    let epoll = unsafe { (tool.table.epoll_create)(tool.table.userdata, 1) };
    let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 42 };
    // SAFETY: the event lives here.
    let rc = unsafe { (tool.table.epoll_ctl)(tool.table.userdata, epoll, libc::EPOLL_CTL_ADD, listener, &mut event) };
    assert_eq!(rc, 0);
    let wait = || {
        let mut found = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: space for one event.
        let count = unsafe { (tool.table.epoll_wait)(tool.table.userdata, epoll, &mut found, 1, 0) };
        (count, found.u64)
    };
    assert_eq!(wait().0, 0);
    tool.handshake();
    assert_eq!(wait(), (1, 42));
}

#[test]
fn the_mtu_of_the_device_bounds_the_mss() {
    let _alone = alone();
    let tool = Tool::with_flags("mtu", &[], "mtu=1020");
    tool.listen();
    let options = SynOptions { mss: Some(1_460), window_scale: None, sack_permitted: false };
    tool.inject(&Segment::new(SeqNumber(0), SeqNumber(0), 1_000, Flags::SYN).with_syn_options(options), &[]);
    let (packet, _) = tool.sniff().expect("a SYN-ACK");
    assert_eq!(decoded(&packet).segment.syn_options().mss, Some(980));
}

#[test]
fn an_edge_is_reported_once_for_each_arrival() {
    let _alone = alone();
    let tool = Tool::new("edge", &[("tcp_timestamps", "0")]);
    let listener = tool.listen();
    let (ours, theirs) = tool.handshake();
    let (fd, _) = tool.accept(listener);
    // SAFETY: numbers only.
    let epoll = unsafe { (tool.table.epoll_create)(tool.table.userdata, 1) };
    let mut event = libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLET) as u32, u64: 1 };
    // SAFETY: the event lives here.
    let rc = unsafe { (tool.table.epoll_ctl)(tool.table.userdata, epoll, libc::EPOLL_CTL_ADD, fd, &mut event) };
    assert_eq!(rc, 0);
    let wait = || {
        let mut found = libc::epoll_event { events: 0, u64: 0 };
        // SAFETY: space for one event.
        unsafe { (tool.table.epoll_wait)(tool.table.userdata, epoll, &mut found, 1, 0) }
    };
    assert_eq!(wait(), 0);
    for offset in [0, 10] {
        tool.inject(&data(theirs.plus(offset), ours, 10), &[1; 10]);
        assert_eq!((wait(), wait()), (1, 0), "nothing was read in between");
    }
    assert_eq!(tool.read(fd, 5).unwrap().len(), 5);
    assert_eq!(wait(), 0);
}

#[test]
fn a_message_reports_how_much_is_left_to_read() {
    let _alone = alone();
    let tool = Tool::new("inq", &[("tcp_timestamps", "0")]);
    let listener = tool.listen();
    let (ours, theirs) = tool.handshake();
    let (fd, _) = tool.accept(listener);
    // TCP_INQ of linux/tcp.h.
    let (inq, on) = (36, 1_i32);
    // SAFETY: an int lives here.
    let rc = unsafe { (tool.table.setsockopt)(tool.table.userdata, fd, libc::SOL_TCP, inq, (&raw const on).cast(), 4) };
    assert_eq!(rc, 0);
    let left = |want: usize| {
        let mut bytes = vec![0_u8; want];
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: want };
        let mut control = [0_u64; 8];
        // SAFETY: a message of zeroes is valid.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), 64);
        // SAFETY: all that the message points to lives here.
        let count = unsafe { (tool.table.recvmsg)(tool.table.userdata, fd, &mut message, 0) };
        // SAFETY: the buffer lives here, and holds what the call wrote.
        let header = unsafe { &*libc::CMSG_FIRSTHDR(&message) };
        assert_eq!((header.cmsg_level, header.cmsg_type), (libc::SOL_TCP, inq));
        // SAFETY: as above.
        (count, unsafe { libc::CMSG_DATA(header).cast::<i32>().read_unaligned() })
    };
    tool.inject(&data(theirs, ours, 900), &[1; 900]);
    assert_eq!(left(300), (300, 600));
    let mut last = data(theirs.plus(900), ours, 100);
    last.flags = Flags::FIN.with(Flags::ACK);
    tool.inject(&last, &[1; 100]);
    assert_eq!(left(700), (700, 1), "the end counts as one");
}

impl Tool {
    fn set_int(&self, fd: i32, name: i32, value: i32) {
        let len = size_of::<i32>() as libc::socklen_t;
        // SAFETY: the value lives here.
        let rc = unsafe {
            (self.table.setsockopt)(self.table.userdata, fd, libc::SOL_TCP, name, (&raw const value).cast(), len)
        };
        assert_eq!(rc, 0);
    }

    fn int(&self, fd: i32, name: i32) -> i32 {
        i32::from_ne_bytes(self.option(fd, libc::SOL_TCP, name, 4).unwrap().try_into().unwrap())
    }

    fn close(&self, fd: i32) {
        // SAFETY: numbers only.
        assert_eq!(unsafe { (self.table.close)(self.table.userdata, fd) }, 0);
    }
}

#[test]
fn a_socket_of_mptcp_is_rejected() {
    let _alone = alone();
    let tool = Tool::new("mptcp", &[]);
    let (kind, protocol) = (libc::SOCK_STREAM, libc::IPPROTO_MPTCP);
    // SAFETY: numbers only.
    let fd = unsafe { (tool.table.socket)(tool.table.userdata, libc::AF_INET, kind, protocol) };
    assert_eq!((fd, errno()), (-1, libc::EPROTONOSUPPORT));
}

#[test]
fn a_listener_that_defers_ignores_acks_without_data() {
    let _alone = alone();
    let tool = Tool::new("defer", &[]);
    let listener = tool.listen();
    tool.set_int(listener, libc::TCP_DEFER_ACCEPT, 2);
    // Two timeouts of the SYN-ACK, of 1 and 2 s.
    assert_eq!(tool.int(listener, libc::TCP_DEFER_ACCEPT), 3);
    tool.set_nonblocking(listener);
    let (ours, theirs) = tool.handshake();
    assert_eq!((tool.accept(listener).0, errno()), (-1, libc::EAGAIN));
    // The first timeout, at 1 s, repeats nothing; the second one does, and then an ACK suffices.
    let start = tool.now();
    let (packet, time) = tool.sniff().unwrap();
    assert!(decoded(&packet).segment.flags.has(Flags::SYN.with(Flags::ACK)));
    assert!(time > start + 2_900_000 && time < start + 3_100_000, "{start} {time}");
    tool.inject(&Segment::new(theirs, ours, 257, Flags::ACK), &[]);
    assert!(tool.accept(listener).0 >= 0);
}

#[test]
fn a_listener_that_defers_opens_with_data() {
    let _alone = alone();
    let tool = Tool::new("defer-data", &[]);
    let listener = tool.listen();
    tool.set_int(listener, libc::TCP_DEFER_ACCEPT, 5);
    tool.set_nonblocking(listener);
    let (ours, theirs) = tool.handshake();
    assert_eq!(tool.accept(listener).0, -1);
    tool.inject(&data(theirs, ours, 4), b"data");
    let (fd, _) = tool.accept(listener);
    assert_eq!(tool.read(fd, 10).unwrap(), b"data");
}

#[test]
fn a_closed_socket_leaves_fin_wait_2_after_its_own_time() {
    let _alone = alone();
    let tool = Tool::new("linger2", &[("tcp_fin_timeout", "60")]);
    let listener = tool.listen();
    let (ours, theirs) = tool.handshake();
    let (fd, _) = tool.accept(listener);
    assert_eq!(tool.int(fd, libc::TCP_LINGER2), 60);
    tool.set_int(fd, libc::TCP_LINGER2, 1);
    tool.close(fd);
    assert!(decoded(&tool.sniff().unwrap().0).segment.flags.has(Flags::FIN));
    tool.inject(&Segment::new(theirs, ours.plus(1), 257, Flags::ACK), &[]);
    tool.sleep(2_000_000);
    tool.inject(&Segment::new(theirs, ours.plus(1), 257, Flags::ACK), &[]);
    assert!(decoded(&tool.sniff().unwrap().0).segment.flags.has(Flags::RST));
}

#[test]
fn a_half_open_connection_of_a_closed_listener_learns_it_with_its_next_segment() {
    let _alone = alone();
    let tool = Tool::new("half-open", &[]);
    let listener = tool.listen();
    let syn = Segment::new(SeqNumber(0), SeqNumber(0), 32_792, Flags::SYN);
    tool.inject(&syn, &[]);
    let answer = decoded(&tool.sniff().unwrap().0).segment;
    tool.close(listener);
    assert_eq!(tool.sniff(), None);
    tool.inject(&Segment::new(SeqNumber(1), answer.seq.plus(1), 257, Flags::ACK), &[]);
    let (packet, _) = tool.sniff().unwrap();
    let reset = decoded(&packet).segment;
    assert!(reset.flags.has(Flags::RST) && !reset.flags.has(Flags::ACK) && reset.seq == answer.seq.plus(1));
}

#[test]
fn a_dissolved_connection_is_reset_and_its_socket_connects_again() {
    let _alone = alone();
    let tool = Tool::new("dissolve", &[]);
    let listener = tool.listen();
    tool.handshake();
    let (fd, _) = tool.accept(listener);
    let connect = |address: &libc::sockaddr_in| {
        // SAFETY: the address lives here, and its size is given.
        unsafe { (tool.table.connect)(tool.table.userdata, fd, (&raw const *address).cast(), 16) }
    };
    let nobody = libc::sockaddr_in { sin_family: libc::AF_UNSPEC as u16, ..Tool::address("0.0.0.0:0") };
    assert_eq!(connect(&nobody), 0);
    let reset = decoded(&tool.sniff().unwrap().0).segment;
    assert!(reset.flags.has(Flags::RST) && reset.window > 0, "with a window, as in Linux");
    // TCP_CLOSE.
    assert_eq!(tool.option(fd, libc::SOL_TCP, libc::TCP_INFO, 1).unwrap(), [7]);
    tool.set_nonblocking(fd);
    assert_eq!((connect(&Tool::address(PEER)), errno()), (-1, libc::EINPROGRESS));
    let (packet, _) = tool.sniff().unwrap();
    assert_eq!(decoded(&packet).segment.flags.0 & Flags::SYN.with(Flags::ACK).0, Flags::SYN.0);
    // TCP_SYN_SENT.
    assert_eq!(tool.option(fd, libc::SOL_TCP, libc::TCP_INFO, 1).unwrap(), [2]);
}

#[test]
fn keep_alive_times_match_the_kernel_s_settings() {
    let _alone = alone();
    let settings = [("tcp_keepalive_time", "15"), ("tcp_keepalive_intvl", "16"), ("tcp_keepalive_probes", "2")];
    let tool = Tool::new("keepalive", &settings);
    let fd = tool.socket();
    let names = [libc::TCP_KEEPIDLE, libc::TCP_KEEPINTVL, libc::TCP_KEEPCNT];
    assert_eq!(names.map(|name| tool.int(fd, name)), [15, 16, 2]);
}

#[test]
fn a_listener_may_use_cookies_immediately() {
    let _alone = alone();
    let tool = Tool::new("cookies", &[("tcp_syncookies", "2"), ("tcp_timestamps", "0")]);
    let listener = tool.listen();
    let options = SynOptions { mss: Some(8_960), window_scale: None, sack_permitted: false };
    tool.inject(&Segment::new(SeqNumber(0), SeqNumber(0), 32_792, Flags::SYN).with_syn_options(options), &[]);
    let answer = decoded(&tool.sniff().unwrap().0).segment;
    // No state is stored: a SYN-ACK is never retransmitted.
    assert_eq!(tool.sniff(), None);
    tool.inject(&Segment::new(SeqNumber(1), answer.seq.plus(1), 60_000, Flags::ACK), &[]);
    let (fd, _) = tool.accept(listener);
    // The largest MSS that a cookie of IPv4 names.
    assert_eq!(tool.int(fd, libc::TCP_MAXSEG), 1_460);
}
