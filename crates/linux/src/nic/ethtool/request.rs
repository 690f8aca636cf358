// SPDX-License-Identifier: MIT OR Apache-2.0
//! `SIOCETHTOOL`: one request, which the driver answers in place.
#![expect(unsafe_code, reason = "ioctls with a pointer in them")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketType};

use crate::nic::{ioctl_name, malformed};

/// Answers the requests of `SIOCETHTOOL`: the driver of an interface, or a model of one in tests.
pub trait Card {
    /// One request, which begins with its command and is answered in place.
    ///
    /// # Errors
    /// Those of the driver: EOPNOTSUPP for a command that it does not have.
    fn exchange(&self, request: &mut [u8]) -> io::Result<()>;

    /// A command of `bytes`, answered.
    ///
    /// # Errors
    /// As [`Card::exchange`].
    fn ask(&self, number: u32, bytes: usize) -> io::Result<Vec<u8>> {
        let mut request = command(number, bytes);
        self.exchange(&mut request)?;
        Ok(request)
    }
}

/// Asks the driver of one interface, of the network namespace of the thread that made this.
#[derive(Debug)]
pub struct Ethtool {
    socket: OwnedFd,
    name: [libc::c_char; libc::IFNAMSIZ],
}

impl Ethtool {
    /// The driver of this interface.
    ///
    /// # Errors
    /// ENODEV for a name that is too long; those of socket(2).
    pub fn of(interface: &str) -> io::Result<Self> {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
        let name = ioctl_name(interface)?;
        Ok(Self { socket, name })
    }
}

impl Card for Ethtool {
    /// One `SIOCETHTOOL`. The commands used here write no more than the sizes that their callers allocate.
    fn exchange(&self, request: &mut [u8]) -> io::Result<()> {
        let data = request.as_mut_ptr().cast();
        let mut call = libc::ifreq {
            ifr_name: self.name,
            ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: data },
        };
        // SAFETY: `call` and the request that it points to outlive the call; the kernel writes what the command's
        // structure holds for the counts in the request, which is the length its caller allocated.
        let result = unsafe {
            libc::ioctl(
                self.socket.as_raw_fd(),
                libc::SIOCETHTOOL as _,
                &raw mut call,
            )
        };
        if result < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }
}

/// A request of `bytes`, its first word the command.
pub(crate) fn command(command: u32, bytes: usize) -> Vec<u8> {
    let mut request = vec![0; bytes];
    put(&mut request, 0, command);
    request
}

pub(crate) fn put(request: &mut [u8], at: usize, value: u32) {
    request[at..at + 4].copy_from_slice(&value.to_ne_bytes());
}

pub(crate) fn get(request: &[u8], at: usize) -> io::Result<u32> {
    let bytes = request.get(at..at + 4).ok_or_else(malformed)?;
    Ok(u32::from_ne_bytes(
        bytes.try_into().map_err(|_| malformed())?,
    ))
}

/// Up to the first NUL.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}
