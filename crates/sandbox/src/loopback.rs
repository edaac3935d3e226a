//! The loopback of a new, empty network, which begins switched off. With it a program can speak to itself, as test runners and
//! servers under test do, and still to nobody else.
//!
//! One message to the kernel (rtnetlink(7)) instead of a library for all of them.

use std::io;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

/// In every network the first interface is the loopback.
const LOOPBACK: i32 = 1;
const HEADER: usize = 16;
const MESSAGE: usize = HEADER + 16;

/// Switches it on.
///
/// # Errors
/// When this process may not set up the network that it is in.
pub(crate) fn switch_on() -> io::Result<()> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sendto(&socket, &request(), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 256];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // Behind the header of every acknowledgement: zero, or the negative number of an error.
    let code = answer.get(HEADER..length.min(HEADER + 4)).and_then(|code| code.try_into().ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(code.saturating_neg())),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// `struct nlmsghdr` with `struct ifinfomsg`.
fn request() -> [u8; MESSAGE] {
    let mut message = [0; MESSAGE];
    let mut put = |at: usize, bytes: &[u8]| message[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &(MESSAGE as u32).to_ne_bytes());
    put(4, &libc::RTM_NEWLINK.to_ne_bytes());
    put(6, &((libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16).to_ne_bytes());
    put(HEADER + 4, &LOOPBACK.to_ne_bytes());
    // Which flags it is to have, and which of them are meant.
    put(HEADER + 8, &(libc::IFF_UP as u32).to_ne_bytes());
    put(HEADER + 12, &(libc::IFF_UP as u32).to_ne_bytes());
    message
}
