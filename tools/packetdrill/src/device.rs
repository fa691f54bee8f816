//! The device through which the tool would send: only its MTU matters here.

/// The device of the tool.
const NAME: &[u8] = b"tun0";

/// The MTU if there is no such device, as on Ethernet.
pub(crate) const USUAL_MTU: u16 = 1500;

/// The MTU of the device in this network namespace, if it exists.
pub(crate) fn mtu() -> Option<u16> {
    // SAFETY: plain system calls; the request is as large as the kernel needs, with a NUL-terminated name.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return None;
        }
        let mut request: libc::ifreq = std::mem::zeroed();
        for (place, byte) in request.ifr_name.iter_mut().zip(NAME) {
            *place = *byte as libc::c_char;
        }
        let outcome = libc::ioctl(socket, libc::SIOCGIFMTU, &raw mut request);
        libc::close(socket);
        (outcome == 0).then(|| u16::try_from(request.ifr_ifru.ifru_mtu).unwrap_or(u16::MAX))
    }
}
