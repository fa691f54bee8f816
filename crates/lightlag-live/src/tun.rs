//! TUN devices: the kernel routes IP packets into them, and accepts packets from them as if from a wire.
//!
//! A device that does not exist is created. It goes away when its [`Tun`] is dropped, or with the process however that
//! ends, because the kernel keeps it only as long as its descriptor. A device that existed before (`ip tuntap add`) is
//! used and left in place.

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::SockaddrStorage;
use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tun_rs::{DeviceBuilder, SyncDevice};

/// The folder of the namespaces that `ip netns add` makes.
const NAMESPACES: &str = "/run/netns";
/// The kernel's IFNAMSIZ, less the terminating zero.
const LONGEST_NAME: usize = 15;
/// The largest IP packet.
pub const LARGEST_PACKET: usize = 65_535;

/// A TUN device to open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TunConfig {
    /// Its name, at most 15 bytes.
    pub name: String,
    /// The network namespace of the device, by its name under `ip netns`; `None` is the caller's.
    pub namespace: Option<String>,
    /// The largest IP packet on it, in bytes.
    pub mtu: u16,
    /// Addresses to give it, with their prefix lengths. IPv6 addresses are left out if IPv6 is switched off.
    pub addresses: Vec<(IpAddr, u8)>,
}

impl TunConfig {
    /// The name with its namespace, for messages.
    pub fn place(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{} in namespace {namespace}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Errors of a TUN device. Each message names the device, the cause and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum TunError {
    /// The name is invalid for a device.
    #[error("{0:?} is no name for a network device: it takes 1 to 15 bytes without blanks and slashes")]
    Name(String),
    /// No such namespace.
    #[error("there is no network namespace {0:?}; `ip netns list` names those there are, `ip netns add {0}` makes it")]
    NoNamespace(String),
    /// The caller may not do this.
    #[error("{place}: opening a TUN device needs root or the capabilities CAP_NET_ADMIN and CAP_SYS_ADMIN")]
    NotAllowed {
        /// The device.
        place: String,
    },
    /// The kernel has no TUN devices.
    #[error(
        "{place}: /dev/net/tun is missing; load the module with `modprobe tun`, or pass the device to the container"
    )]
    NoTunDriver {
        /// The device.
        place: String,
    },
    /// Another program has it, or another kind of device has the name.
    #[error("{place}: the name is in use by another program or by a device that is no TUN device; choose another name")]
    InUse {
        /// The device.
        place: String,
    },
    /// The device or its namespace was deleted while in use.
    #[error("{place}: the device has vanished; it or its namespace was deleted")]
    Vanished {
        /// The device.
        place: String,
    },
    /// Any other error.
    #[error("{place}: {doing}: {error}")]
    System {
        /// The device.
        place: String,
        /// The failed operation.
        doing: &'static str,
        /// The kernel's answer.
        error: io::Error,
    },
}

/// The fate of a packet written to a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// The kernel accepted it.
    Taken,
    /// The kernel refused it: the device is down, the packet is not IP, or memory is short.
    Refused,
}

/// An open TUN device.
pub struct Tun {
    device: SyncDevice,
    place: String,
    is_ours: bool,
    left_out: Vec<IpAddr>,
    addresses: Vec<(IpAddr, u8)>,
    /// The namespace's file and its inode, to notice its deletion: the open descriptor would keep the namespace alive.
    namespace: Option<(PathBuf, u64)>,
}

impl Tun {
    /// Opens the device, creates it if it does not exist, and switches it on.
    ///
    /// # Errors
    /// If the name is invalid or in use, the namespace does not exist, or the caller lacks permission.
    pub fn open(config: &TunConfig) -> Result<Self, TunError> {
        check_name(&config.name)?;
        let Some(namespace) = &config.namespace else { return Self::open_here(config, None) };
        check_name_of_namespace(namespace)?;
        let path = Path::new(NAMESPACES).join(namespace);
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => TunError::NoNamespace(namespace.clone()),
            _ => system_error(config.place(), "opening the namespace", error),
        })?;
        let inode =
            file.metadata().map_err(|error| system_error(config.place(), "opening the namespace", error))?.ino();
        // A thread of its own, because it never leaves the namespace that it enters.
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| {
                setns(&file, CloneFlags::CLONE_NEWNET)
                    .map_err(|error| system_error(config.place(), "entering the namespace", error.into()))?;
                Self::open_here(config, Some((path, inode)))
            });
            opened.join().expect("opening a device does not panic")
        })
    }

    fn open_here(config: &TunConfig, namespace: Option<(PathBuf, u64)>) -> Result<Self, TunError> {
        let is_ours = if_nametoindex(config.name.as_str()).is_err();
        let mut builder = DeviceBuilder::new().name(&config.name).mtu(config.mtu).enable(true);
        for (address, prefix) in &config.addresses {
            if let IpAddr::V4(address) = address {
                builder = builder.ipv4(*address, *prefix, None);
            }
        }
        // The kernel must never drop packets: the only queue is the simulated one.
        builder = builder.tx_queue_len(10_000);
        let device = builder.build_sync().map_err(|error| system_error(config.place(), "opening it", error))?;
        device.set_nonblocking(true).map_err(|error| system_error(config.place(), "making it non-blocking", error))?;
        let mut left_out = Vec::new();
        for (address, prefix) in &config.addresses {
            let IpAddr::V6(v6) = address else { continue };
            match device.add_address_v6(*v6, *prefix) {
                Ok(()) => {}
                // The error if IPv6 is switched off, or not in the kernel.
                Err(error) if matches!(errno(&error), Errno::EACCES | Errno::EAFNOSUPPORT) => left_out.push(*address),
                // A device that existed before may have the address.
                Err(error) if errno(&error) == Errno::EEXIST => {}
                Err(error) => return Err(system_error(config.place(), "giving it an address", error)),
            }
        }
        let addresses = addresses_of(&config.name)
            .map_err(|error| system_error(config.place(), "reading its addresses", error.into()))?;
        Ok(Self { device, place: config.place(), is_ours, left_out, addresses, namespace })
    }

    /// Its name with its namespace.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Whether it was created here and goes away when it is dropped.
    pub fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// Addresses left out because IPv6 is switched off.
    pub fn left_out(&self) -> &[IpAddr] {
        &self.left_out
    }

    /// The kernel's addresses on it when it was opened, with their prefix lengths, without link-local ones.
    pub fn addresses(&self) -> &[(IpAddr, u8)] {
        &self.addresses
    }

    /// Reads the next packet that the kernel has routed into the device; `None` if there is none now. `buffer` holds
    /// [`LARGEST_PACKET`] bytes, or longer packets are cut.
    ///
    /// # Errors
    /// If the device has vanished.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, TunError> {
        match self.device.recv(buffer) {
            Ok(size) => Ok(Some(size)),
            Err(error) => match errno(&error) {
                Errno::EAGAIN | Errno::EINTR => Ok(None),
                _ => Err(system_error(self.place.clone(), "reading a packet", error)),
            },
        }
    }

    /// Hands a packet to the kernel, as if it had arrived on a wire.
    ///
    /// # Errors
    /// If the device has vanished.
    pub fn write(&mut self, packet: &[u8]) -> Result<Written, TunError> {
        match self.device.send(packet) {
            Ok(_) => Ok(Written::Taken),
            Err(error) => match errno(&error) {
                Errno::EBADFD | Errno::EBADF | Errno::ENODEV => {
                    Err(system_error(self.place.clone(), "writing a packet", error))
                }
                _ => Ok(Written::Refused),
            },
        }
    }

    /// Fails if the namespace of the device was deleted. As long as it is open, the device itself would live on in a
    /// nameless namespace.
    ///
    /// # Errors
    /// [`TunError::Vanished`].
    pub fn check(&self) -> Result<(), TunError> {
        match &self.namespace {
            Some((path, inode)) if std::fs::metadata(path).map_or(true, |found| found.ino() != *inode) => {
                Err(TunError::Vanished { place: self.place.clone() })
            }
            _ => Ok(()),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// Returns the addresses of a device in the namespace of this thread, with their prefix lengths.
fn addresses_of(name: &str) -> nix::Result<Vec<(IpAddr, u8)>> {
    let ip = |address: Option<SockaddrStorage>| -> Option<IpAddr> {
        let address = address?;
        let v4 = address.as_sockaddr_in().map(|v4| IpAddr::from(v4.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::from(v6.ip())))
    };
    let of_device = getifaddrs()?.filter(|one| one.interface_name == name);
    let prefixes = of_device.filter_map(|one| {
        let bits = match ip(one.netmask)? {
            IpAddr::V4(mask) => mask.to_bits().count_ones(),
            IpAddr::V6(mask) => mask.to_bits().count_ones(),
        };
        Some((ip(one.address)?, bits as u8))
    });
    let is_link_local = |address: &IpAddr| matches!(address, IpAddr::V6(address) if address.is_unicast_link_local());
    Ok(prefixes.filter(|(address, _)| !is_link_local(address)).collect())
}

fn errno(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw)
}

fn system_error(place: String, doing: &'static str, error: io::Error) -> TunError {
    match errno(&error) {
        Errno::EPERM | Errno::EACCES => TunError::NotAllowed { place },
        Errno::EBUSY | Errno::EINVAL => TunError::InUse { place },
        Errno::ENOENT | Errno::ENXIO => TunError::NoTunDriver { place },
        Errno::EBADFD | Errno::EBADF | Errno::ENODEV => TunError::Vanished { place },
        _ => TunError::System { place, doing, error },
    }
}

fn check_name(name: &str) -> Result<(), TunError> {
    let is_name = (1..=LONGEST_NAME).contains(&name.len())
        && name != "."
        && name != ".."
        && !name.contains(|c: char| c == '/' || c == ':' || c == '%' || c.is_whitespace() || c.is_control());
    if is_name { Ok(()) } else { Err(TunError::Name(name.to_owned())) }
}

/// Checks that a namespace has the name of a file in one folder.
fn check_name_of_namespace(name: &str) -> Result<(), TunError> {
    let is_name = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0']);
    if is_name { Ok(()) } else { Err(TunError::NoNamespace(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(name: &str, namespace: Option<&str>) -> TunConfig {
        let namespace = namespace.map(str::to_owned);
        TunConfig { name: name.to_owned(), namespace, mtu: 1500, addresses: Vec::new() }
    }

    #[test]
    fn names_that_no_device_can_have_are_refused_before_anything_is_made() {
        for name in ["", ".", "..", "a/b", "a b", "a:1", "sixteen-bytes-xx", "tun%d"] {
            assert!(matches!(Tun::open(&config(name, None)), Err(TunError::Name(_))), "{name:?}");
        }
    }

    #[test]
    fn a_namespace_that_is_not_there_is_named() {
        for name in ["lightlag-test-no-such-namespace", "", "../self/ns/net"] {
            let error = Tun::open(&config("ll0", Some(name))).err().expect("it is not there");
            assert!(matches!(&error, TunError::NoNamespace(_)), "{error}");
        }
    }

    #[test]
    fn addresses_of_a_device_come_with_their_prefix_lengths() {
        assert!(addresses_of("lo").unwrap().contains(&(IpAddr::from([127, 0, 0, 1]), 8)));
        assert_eq!(addresses_of("no-such-device").unwrap(), []);
    }

    #[test]
    fn messages_name_device_and_namespace() {
        assert_eq!(config("ll0", Some("a")).place(), "ll0 in namespace a");
        let error = system_error("ll0".to_owned(), "opening it", Errno::EBUSY.into());
        assert!(error.to_string().starts_with("ll0: the name is in use"), "{error}");
    }
}
