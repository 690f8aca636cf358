// SPDX-License-Identifier: MIT OR Apache-2.0
//! Network namespaces: made, entered by threads, given to commands.
//!
//! Needs CAP_SYS_ADMIN over them, as every thread has after [`crate::sandbox::enter`].
//! A thread or command inside also sees its own `/sys/class/net`; where the mount is forbidden
//! it sees the machine's, and `/proc` is right in any case.
#![expect(unsafe_code, reason = "unshare and pre_exec")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::panic;
use std::process::Command;
use std::thread;

use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

/// One network namespace, alive as long as this value or something inside it.
#[derive(Debug)]
pub struct NetNs {
    fd: OwnedFd,
}

impl NetNs {
    /// A new namespace, with nothing in it but a loopback that is down.
    ///
    /// # Errors
    /// EPERM without CAP_SYS_ADMIN, ENOSPC at the limit `user.max_net_namespaces`.
    pub fn create() -> io::Result<Self> {
        on_new_thread(|| {
            unshare(UnshareFlags::NEWNET)?;
            Self::current()
        })?
    }

    /// The namespace of the calling thread.
    ///
    /// # Errors
    /// Those of opening `/proc/thread-self/ns/net`.
    pub fn current() -> io::Result<Self> {
        let fd = File::open("/proc/thread-self/ns/net")?.into();
        Ok(Self { fd })
    }

    /// Another handle of the same namespace.
    ///
    /// # Errors
    /// EMFILE when no descriptor is left.
    pub fn try_clone(&self) -> io::Result<Self> {
        let fd = self.fd.try_clone()?;
        Ok(Self { fd })
    }

    /// Its identity: the inode that `readlink /proc/self/ns/net` shows.
    ///
    /// # Errors
    /// Those of fstat(2).
    pub fn inode(&self) -> io::Result<u32> {
        let inode = rustix::fs::fstat(&self.fd)?.st_ino;
        u32::try_from(inode).map_err(io::Error::other)
    }

    /// Runs `inside` on a new thread in this namespace. Threads that it starts are inside too.
    ///
    /// # Errors
    /// Those of setns(2) and of starting a thread; a panic of `inside` continues in the caller.
    pub fn run<T: Send>(&self, inside: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_new_thread(|| {
            join(self.fd.as_fd())?;
            Ok(inside())
        })?
    }

    /// Moves the calling thread, and the threads that it starts from now on, here permanently.
    ///
    /// # Errors
    /// Those of setns(2).
    pub fn move_in(&self) -> io::Result<()> {
        join(self.fd.as_fd())
    }

    /// Makes `command` start in this namespace.
    ///
    /// # Errors
    /// EMFILE when no descriptor is left.
    pub fn start_inside(&self, command: &mut Command) -> io::Result<()> {
        let fd = self.fd.try_clone()?;
        let enter = move || join(fd.as_fd());
        // SAFETY: `join` makes system calls only: it neither allocates nor locks.
        unsafe { command.pre_exec(enter) };
        Ok(())
    }
}

impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for NetNs {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// Moves the calling thread, and mounts its own /sys. Async-signal-safe.
fn join(fd: BorrowedFd<'_>) -> io::Result<()> {
    move_into_link_name_space(fd, Some(LinkNameSpaceType::Network))?;
    let _machine_view = own_sys();
    Ok(())
}

fn own_sys() -> io::Result<()> {
    unshare(UnshareFlags::NEWNS)?;
    let below = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    rustix::mount::mount_change(c"/", below)?;
    let quiet = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    rustix::mount::mount(c"sysfs", c"/sys", c"sysfs", quiet, None)?;
    Ok(())
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: only namespaces are unshared, never the table of file descriptors.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(io::Error::from)
}

fn on_new_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, work)?;
        thread
            .join()
            .map_or_else(|panicked| panic::resume_unwind(panicked), Ok)
    })
}
