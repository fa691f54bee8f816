//! TUN devices. The kernel routes IP packets into them, and accepts packets from them as if they came from a wire.
//!
//! A device that does not exist is created. It is removed when its [`Tun`] is dropped or the process ends in any way,
//! because the kernel keeps it only as long as its descriptor is open. A device that existed before (`ip tuntap add`)
//! is used and left in place.

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

/// Directory of the network namespaces that `ip netns add` creates.
const NAMESPACES: &str = "/run/netns";
/// Maximum length of a device's name in bytes: the kernel's IFNAMSIZ without the terminating zero.
const LONGEST_NAME: usize = 15;
/// Maximum size of an IP packet in bytes.
pub const LARGEST_PACKET: usize = 65_535;

/// A TUN device to open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TunConfig {
    /// Name of the device, at most 15 bytes.
    pub name: String,
    /// Name of the device's network namespace, as in `ip netns`; `None` means the caller's.
    pub namespace: Option<String>,
    /// Maximum size of an IP packet on the device, in bytes.
    pub mtu: u16,
    /// Addresses for the device, with their prefix lengths. IPv6 addresses are omitted if IPv6 is disabled.
    pub addresses: Vec<(IpAddr, u8)>,
}

impl TunConfig {
    /// Returns the name of the device with its namespace, for messages.
    pub fn place(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{} in namespace {namespace}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Errors of a TUN device. Each message names the device, the cause and the fix.
#[derive(Debug, thiserror::Error)]
pub enum TunError {
    /// The name is not valid for a network device.
    #[error("{0:?} is not a valid name for a network device: use 1 to 15 bytes without spaces and slashes")]
    Name(String),
    /// The network namespace does not exist.
    #[error(
        "there is no network namespace {0:?}; `ip netns list` lists the existing namespaces, `ip netns add {0}` \
         creates it"
    )]
    NoNamespace(String),
    /// The caller lacks the permission to open a TUN device.
    #[error("{place}: opening a TUN device needs root or the capabilities CAP_NET_ADMIN and CAP_SYS_ADMIN")]
    NotAllowed {
        /// Name of the device with its namespace.
        place: String,
    },
    /// The kernel does not support TUN devices.
    #[error(
        "{place}: /dev/net/tun is missing; load the module with `modprobe tun`, or pass the device to the container"
    )]
    NoTunDriver {
        /// Name of the device with its namespace.
        place: String,
    },
    /// Another program uses the device, or the name belongs to a device other than TUN.
    #[error("{place}: the name is in use by another program or by a device other than TUN; choose another name")]
    InUse {
        /// Name of the device with its namespace.
        place: String,
    },
    /// The device or its namespace was deleted while in use.
    #[error("{place}: the device no longer exists; it or its namespace was deleted")]
    Vanished {
        /// Name of the device with its namespace.
        place: String,
    },
    /// Any other error.
    #[error("{place}: {doing}: {error}")]
    System {
        /// Name of the device with its namespace.
        place: String,
        /// The failed operation.
        doing: &'static str,
        /// The error that the kernel returned.
        error: io::Error,
    },
}

/// The kernel's decision about a packet written to a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteResult {
    /// The kernel accepted it.
    Taken,
    /// The kernel rejected it because the device is down, the packet is not IP, or memory is short.
    Refused,
}

/// An open TUN device.
pub struct Tun {
    device: SyncDevice,
    place: String,
    is_ours: bool,
    left_out: Vec<IpAddr>,
    addresses: Vec<(IpAddr, u8)>,
    /// Path and inode of the namespace's file, to detect its deletion: the open descriptor would keep the namespace
    /// alive.
    namespace: Option<(PathBuf, u64)>,
}

impl Tun {
    /// Opens the device, creating it if it does not exist, and brings it up.
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

    /// Returns the name of the device with its namespace.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns true if the device was created here, so that it is removed when this value is dropped.
    pub fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// Returns the addresses that were omitted because IPv6 is disabled.
    pub fn left_out(&self) -> &[IpAddr] {
        &self.left_out
    }

    /// Returns the addresses that the kernel had on the device when it was opened, with their prefix lengths, except
    /// link-local ones.
    pub fn addresses(&self) -> &[(IpAddr, u8)] {
        &self.addresses
    }

    /// Reads the next packet that the kernel has routed into the device; `None` if there is none at present. Packets
    /// longer than `buffer` are cut, so it should have [`LARGEST_PACKET`] bytes.
    ///
    /// # Errors
    /// If the device no longer exists.
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
    /// If the device no longer exists.
    pub fn write(&mut self, packet: &[u8]) -> Result<WriteResult, TunError> {
        match self.device.send(packet) {
            Ok(_) => Ok(WriteResult::Taken),
            Err(error) => match errno(&error) {
                Errno::EBADFD | Errno::EBADF | Errno::ENODEV => {
                    Err(system_error(self.place.clone(), "writing a packet", error))
                }
                _ => Ok(WriteResult::Refused),
            },
        }
    }

    /// Returns an error if the namespace of the device was deleted. Otherwise the open device would continue to exist
    /// in a namespace without a name.
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

fn system_error(location: String, doing: &'static str, error: io::Error) -> TunError {
    match errno(&error) {
        Errno::EPERM | Errno::EACCES => TunError::NotAllowed { place: location },
        Errno::EBUSY | Errno::EINVAL => TunError::InUse { place: location },
        Errno::ENOENT | Errno::ENXIO => TunError::NoTunDriver { place: location },
        Errno::EBADFD | Errno::EBADF | Errno::ENODEV => TunError::Vanished { place: location },
        _ => TunError::System { place: location, doing, error },
    }
}

fn check_name(name: &str) -> Result<(), TunError> {
    let is_name = (1..=LONGEST_NAME).contains(&name.len())
        && name != "."
        && name != ".."
        && !name.contains(|c: char| c == '/' || c == ':' || c == '%' || c.is_whitespace() || c.is_control());
    if is_name { Ok(()) } else { Err(TunError::Name(name.to_owned())) }
}

/// Checks that the name of a namespace is a valid name of a file in a single directory.
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
    fn names_that_no_device_can_have_are_rejected_before_a_device_is_created() {
        for name in ["", ".", "..", "a/b", "a b", "a:1", "sixteen-bytes-xx", "tun%d"] {
            assert!(matches!(Tun::open(&config(name, None)), Err(TunError::Name(_))), "{name:?}");
        }
    }

    #[test]
    fn a_missing_namespace_is_named() {
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
