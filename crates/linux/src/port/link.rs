// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of a socket, and how its state explains a failure.
#![expect(unsafe_code, reason = "ioctl")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::nic::ioctl_name;

/// An interface as a socket is bound to it.
#[derive(Debug, Clone)]
pub(super) struct Link {
    index: u32,
    name: String,
}

impl Link {
    pub(super) fn new(index: u32, name: &str) -> Self {
        let name = name.to_owned();
        Self { index, name }
    }

    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// Returns an error that names the state of the interface (down, no carrier, gone) if that is the cause, else `error`.
    /// `socket` belongs to the namespace of the interface.
    pub(super) fn explain(&self, socket: BorrowedFd<'_>, error: io::Error) -> io::Error {
        let state = match error.raw_os_error() {
            Some(libc::ENODEV | libc::ENXIO) => Some("is gone"),
            Some(libc::ENETDOWN | libc::ENOBUFS | libc::EBUSY | libc::EAGAIN) => self.state(socket),
            _ => None,
        };
        state.map_or(error, |state| self.lost(state))
    }

    /// Checks that it exists and is up. A carrier may still come.
    ///
    /// # Errors
    /// NetworkDown.
    pub(super) fn must_be_up(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        match self.state(socket) {
            Some(state) if state != NO_CARRIER => Err(self.lost(state)),
            _ => Ok(()),
        }
    }

    fn lost(&self, state: &str) -> io::Error {
        io::Error::new(io::ErrorKind::NetworkDown, format!("{} {state}", self.name))
    }

    pub(super) fn has_carrier(&self, socket: BorrowedFd<'_>) -> bool {
        self.state(socket).is_none()
    }

    /// The longest packet in a frame.
    ///
    /// # Errors
    /// ENODEV when it is gone.
    pub(super) fn mtu_bytes(&self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        let answer = self.ask(socket, libc::SIOCGIFMTU as _)?;
        // SAFETY: the command has written this field of the union.
        let bytes = unsafe { answer.ifr_ifru.ifru_mtu };
        usize::try_from(bytes).map_err(io::Error::other)
    }

    /// What keeps it from carrying frames; `None` if nothing does.
    fn state(&self, socket: BorrowedFd<'_>) -> Option<&'static str> {
        let Ok(answer) = self.ask(socket, libc::SIOCGIFFLAGS as _) else {
            return Some("is gone");
        };
        // SAFETY: the command has written this field of the union.
        let flags = i32::from(unsafe { answer.ifr_ifru.ifru_flags });
        match (flags & libc::IFF_UP != 0, flags & libc::IFF_RUNNING != 0) {
            (false, _) => Some("is down"),
            (true, false) => Some(NO_CARRIER),
            (true, true) => None,
        }
    }

    /// Executes a command that returns a number of an interface.
    fn ask(&self, socket: BorrowedFd<'_>, command: libc::Ioctl) -> io::Result<libc::ifreq> {
        // SAFETY: `ifreq` is plain data, for which zeros are a value.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        request.ifr_name = ioctl_name(&self.name)?;
        // SAFETY: the request is an `ifreq` with a name that a zero ends, as the commands want it.
        check(unsafe { libc::ioctl(socket.as_raw_fd(), command, &raw mut request) })?;
        Ok(request)
    }
}

const NO_CARRIER: &str = "has no carrier";

/// Waits for something to read or an error on one of the sockets, `timeout` at most.
///
/// # Errors
/// What is pending on a socket; those of poll(2) but an interruption.
pub(crate) fn wait(sockets: &mut [PollFd<'_>], timeout: Duration) -> io::Result<()> {
    let timeout = Timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos() as _,
    };
    match rustix::event::poll(sockets, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(errno) => return Err(errno.into()),
    }
    Ok(())
}

/// Whether poll(2) saw a socket in trouble.
pub(super) fn in_trouble(socket: &PollFd<'_>) -> bool {
    socket
        .revents()
        .intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
}

pub(super) fn check(done: i32) -> io::Result<()> {
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
