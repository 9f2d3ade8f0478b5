//! What the standard library does not ask of sockets: whether one can be read, sending without a copy,
//! and which addresses belong to which network interface.

use std::ffi::CStr;
use std::io;
use std::mem::{MaybeUninit, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// An address of this machine and the network interface that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceAddress {
    pub interface: String,
    pub address: IpAddr,
    /// Whether the interface leads to this machine itself.
    pub is_loopback: bool,
}

/// Sends without a copy that the kernel is done with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DoneSends {
    pub sends: u64,
    /// Of these the ones that the kernel copied all the same.
    pub copied: u64,
}

/// Waits until bytes, a connection or an end can be taken from a socket; false when the time is over or a
/// signal came.
///
/// # Errors
/// Where the kernel does not wait for this descriptor.
pub fn wait_readable(socket: BorrowedFd<'_>, most: Duration) -> io::Result<bool> {
    wait_for(socket, libc::POLLIN, most)
}

/// Waits until the kernel has told something about earlier sends, or the time is over.
///
/// # Errors
/// Where the kernel does not wait for this descriptor.
pub fn wait_for_done_sends(socket: BorrowedFd<'_>, most: Duration) -> io::Result<bool> {
    // The error queue is told of without being asked for.
    wait_for(socket, 0, most)
}

fn wait_for(socket: BorrowedFd<'_>, events: libc::c_short, most: Duration) -> io::Result<bool> {
    let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events, revents: 0 };
    let timeout = libc::c_int::try_from(most.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: one entry, which lives while the call does.
    let found = unsafe { libc::poll(&raw mut poll, 1, timeout) };
    match found {
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            error => Err(error),
        },
        count => Ok(count > 0),
    }
}

const SOCKLEN_OF_INT: libc::socklen_t = 4;

/// Lets sends of a TCP socket be made without a copy (`SO_ZEROCOPY`, Linux 4.14).
///
/// # Errors
/// Where the kernel does not have it for this socket.
pub fn allow_zero_copy(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option is an int, which lives while the call does.
    let set = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ZEROCOPY,
            (&raw const on).cast(),
            SOCKLEN_OF_INT,
        )
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Hands bytes to the kernel, which sends them from where they are: they should not change before
/// [`done_sends`] has told of it, or what arrives may be the change. How many it took.
///
/// # Errors
/// As send(2): `ENOBUFS` (no [`io::ErrorKind`] of its own) where too many are under way.
pub fn send_without_copy(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_ZEROCOPY | libc::MSG_NOSIGNAL;
    // SAFETY: the range is readable. The kernel holds its pages until it has sent them, so that it never reads
    // memory that is another's by then.
    let sent = unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Whether a send was refused because too many are under way.
pub fn has_too_many_sends(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOBUFS)
}

/// What the kernel has told of sends without a copy since this was asked last. It does not wait.
///
/// # Errors
/// As recvmsg(2), or where what is told is of something else.
pub fn done_sends(socket: BorrowedFd<'_>) -> io::Result<DoneSends> {
    let mut done = DoneSends::default();
    while let Some(told) = next_done(socket)? {
        done.sends += told.sends;
        done.copied += told.copied;
    }
    Ok(done)
}

/// Room for what the kernel tells of one range of sends, aligned as control messages are.
#[repr(C, align(8))]
struct ControlRoom([u8; 256]);

fn next_done(socket: BorrowedFd<'_>) -> io::Result<Option<DoneSends>> {
    let mut room = ControlRoom([0; 256]);
    // SAFETY: a struct of integers and pointers is valid for zero bytes: no name, no data.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_control = room.0.as_mut_ptr().cast();
    message.msg_controllen = room.0.len();
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: the message and the room that it names live while the call does.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    if got < 0 {
        return match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            error => Err(error),
        };
    }
    // SAFETY: the kernel filled the header, whose control pointer and length are of the room above.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    if header.is_null() {
        return Ok(Some(DoneSends::default()));
    }
    // SAFETY: not null, so that a whole header is within the room, which is aligned for it.
    let control = unsafe { header.read() };
    let is_error = matches!(
        (control.cmsg_level, control.cmsg_type),
        (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)
    );
    let least = size_of::<libc::cmsghdr>() + size_of::<libc::sock_extended_err>();
    if !is_error || control.cmsg_len < least {
        return Err(io::Error::other("the kernel told something else than the end of sends"));
    }
    // SAFETY: the header is the first of the room; its data follow it.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: the message is as long as a header and this struct, of which any bytes are valid.
    let told: libc::sock_extended_err =
        unsafe { data.cast::<libc::sock_extended_err>().read_unaligned() };
    if told.ee_origin != SO_EE_ORIGIN_ZEROCOPY {
        return Err(io::Error::from_raw_os_error(told.ee_errno.cast_signed()));
    }
    // A range of sends by number, both ends of it; the numbers begin again at 0.
    let sends = u64::from(told.ee_data.wrapping_sub(told.ee_info)) + 1;
    let is_copied = told.ee_code & SO_EE_CODE_ZEROCOPY_COPIED != 0;
    Ok(Some(DoneSends { sends, copied: if is_copied { sends } else { 0 } }))
}

/// linux/errqueue.h.
const SO_EE_ORIGIN_ZEROCOPY: u8 = 5;
const SO_EE_CODE_ZEROCOPY_COPIED: u8 = 1;

/// The addresses of this machine's network interfaces.
///
/// # Errors
/// Where the kernel does not list them.
pub fn interface_addresses() -> io::Result<Vec<InterfaceAddress>> {
    let mut list = MaybeUninit::<*mut libc::ifaddrs>::uninit();
    // SAFETY: the call writes a pointer there or fails.
    if unsafe { libc::getifaddrs(list.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it did not fail.
    let first = unsafe { list.assume_init() };
    let mut addresses = Vec::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: an entry of the list, which is freed below.
        let entry = unsafe { next.read() };
        next = entry.ifa_next;
        // SAFETY: the address is null or one of its family.
        if let Some(address) = unsafe { ip_address(entry.ifa_addr) } {
            // SAFETY: an entry's name ends with a zero byte and lives as long as the list.
            let name = unsafe { CStr::from_ptr(entry.ifa_name) };
            addresses.push(InterfaceAddress {
                interface: name.to_string_lossy().into_owned(),
                address,
                is_loopback: entry.ifa_flags & libc::IFF_LOOPBACK.cast_unsigned() != 0,
            });
        }
    }
    // SAFETY: the list that getifaddrs made, of which nothing is used any more.
    unsafe { libc::freeifaddrs(first) };
    Ok(addresses)
}

/// # Safety
/// The address is null or points to one that is as long as its family says.
unsafe fn ip_address(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: every address begins with its family.
    let family = unsafe { (*address).sa_family };
    match libc::c_int::from(family) {
        libc::AF_INET => {
            // SAFETY: an address of this family has this layout.
            let address = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(IpAddr::V4(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr))))
        }
        libc::AF_INET6 => {
            // SAFETY: an address of this family has this layout.
            let address = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(IpAddr::V6(Ipv6Addr::from(address.sin6_addr.s6_addr)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    fn pair() -> [TcpStream; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        [one, listener.accept().unwrap().0]
    }

    #[test]
    fn bytes_and_ends_are_waited_for() {
        let [mut one, other] = pair();
        assert!(!wait_readable(other.as_fd(), Duration::from_millis(1)).unwrap());
        one.write_all(b"x").unwrap();
        assert!(wait_readable(other.as_fd(), Duration::from_secs(10)).unwrap());
        (&other).read_exact(&mut [0]).unwrap();
        drop(one);
        assert!(wait_readable(other.as_fd(), Duration::from_secs(10)).unwrap());
    }

    /// The kernel copies on loopback, and says so.
    #[test]
    fn sends_without_a_copy_arrive_and_are_told_of() {
        let [one, mut other] = pair();
        allow_zero_copy(one.as_fd()).unwrap();
        let bytes: Vec<u8> = (0..=255).collect();
        let mut sent = 0;
        for _ in 0..3 {
            sent += send_without_copy(one.as_fd(), &bytes).unwrap();
        }
        let mut arrived = vec![0; sent];
        other.read_exact(&mut arrived).unwrap();
        assert!(arrived.chunks(256).all(|chunk| bytes.starts_with(chunk)));
        let mut done = DoneSends::default();
        for _ in 0..1000 {
            let told = done_sends(one.as_fd()).unwrap();
            done = DoneSends { sends: done.sends + told.sends, copied: done.copied + told.copied };
            if done.sends == 3 {
                break;
            }
            wait_for_done_sends(one.as_fd(), Duration::from_millis(10)).unwrap();
        }
        assert_eq!(done, DoneSends { sends: 3, copied: 3 });
    }

    #[test]
    fn loopback_has_its_address() {
        let all = interface_addresses().unwrap();
        let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let found = all.iter().find(|it| it.address == local);
        assert!(found.is_none_or(|it| it.is_loopback), "{all:?}");
        assert!(all.iter().all(|it| !it.interface.is_empty()), "{all:?}");
    }
}
