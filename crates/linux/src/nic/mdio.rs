// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registers of an interface's PHY: `SIOCGMIIPHY` and `SIOCGMIIREG` (include/uapi/linux/mii.h).
#![expect(unsafe_code, reason = "an ioctl that fills a structure")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{AddressFamily, SocketType};

/// The PHY of an interface.
#[derive(Debug)]
pub struct Phy {
    interface: [libc::c_char; libc::IFNAMSIZ],
    socket: OwnedFd,
    address: u16,
}

impl Phy {
    /// Asks the driver for its PHY.
    ///
    /// # Errors
    /// `EOPNOTSUPP` for an interface without one that Linux knows, `EPERM` without
    /// `CAP_NET_ADMIN`, `EINVAL` where the driver wants the interface to be up.
    pub fn of(interface: &str) -> io::Result<Self> {
        let mut phy = Self {
            interface: super::ioctl_name(interface)?,
            socket: rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?,
            address: 0,
        };
        phy.address = phy.exchange(SIOCGMIIPHY, 0)?.phy;
        Ok(phy)
    }

    /// Its address on the MDIO bus.
    #[must_use]
    pub const fn address(&self) -> u16 {
        self.address
    }

    /// Reads one register, 0 to 31. Some are cleared by reading: the caller must know which.
    ///
    /// # Errors
    /// As [`Self::of`], and those of the bus.
    pub fn read(&self, register: u16) -> io::Result<u16> {
        Ok(self.exchange(SIOCGMIIREG, register)?.value_out)
    }

    fn exchange(&self, call: libc::Ioctl, register: u16) -> io::Result<Request> {
        let mut request = Request {
            interface: self.interface,
            phy: self.address,
            register,
            value_in: 0,
            value_out: 0,
            rest: [0; 16],
        };
        // SAFETY: both calls read and write one `struct ifreq`, which `Request` is at least as
        // long as (asserted below), and it outlives the call.
        let done = unsafe { libc::ioctl(self.socket.as_raw_fd(), call, &raw mut request) };
        if done < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(request)
        }
    }
}

/// `struct ifreq` with `struct mii_ioctl_data` in it.
#[repr(C, align(8))]
struct Request {
    interface: [libc::c_char; libc::IFNAMSIZ],
    phy: u16,
    register: u16,
    value_in: u16,
    value_out: u16,
    rest: [u8; 16],
}

const _: () = assert!(size_of::<Request>() >= size_of::<libc::ifreq>());

const SIOCGMIIPHY: libc::Ioctl = 0x8947;
const SIOCGMIIREG: libc::Ioctl = 0x8948;
