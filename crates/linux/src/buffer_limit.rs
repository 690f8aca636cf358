// SPDX-License-Identifier: MIT OR Apache-2.0
//! Grants a command's datagram sockets no more than a small receive buffer, whatever it asks
//! for: what a machine with a small `net.core.rmem_max` does, without touching the machine.
//!
//! The command's `setsockopt(SO_RCVBUF)`, `setsockopt(SO_RCVBUFFORCE)` and `bind` wait for this
//! process (seccomp user notification, Linux 5.5), which takes a copy of the socket
//! (pidfd_getfd, Linux 5.6), sets its buffer, and answers. Stream sockets are left alone.
#![expect(unsafe_code, reason = "seccomp, its ioctls and pidfd_getfd")]

use std::fs;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg, sockopt,
};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::seccomp::{Rule, program};

/// A limit that waits for its command to be started.
#[derive(Debug)]
pub struct BufferLimit {
    bytes: u32,
    /// Receives the notification descriptor from the started command.
    from_command: UnixStream,
}

impl BufferLimit {
    /// Prepares a command; call [`BufferLimit::watch`] after starting it, or its first socket
    /// blocks for ever.
    ///
    /// # Errors
    /// Those of socketpair(2). A kernel before 5.5 refuses when the command is started (EINVAL).
    pub fn prepare(command: &mut Command, bytes: u32) -> io::Result<Self> {
        let (from_command, to_lab) = UnixStream::pair()?;
        let filter = program(&rules());
        let install = move || send_descriptor(&to_lab, install(&filter)?.as_fd());
        // SAFETY: `install` makes system calls only, on memory prepared here.
        unsafe { command.pre_exec(install) };
        Ok(Self {
            bytes,
            from_command,
        })
    }

    /// Answers the command in a separate thread, until the command and its children end.
    ///
    /// # Errors
    /// Those of receiving the descriptor and of starting the thread.
    pub fn watch(self) -> io::Result<()> {
        let notifications = receive_descriptor(&self.from_command)?;
        thread::Builder::new()
            .name("buffer-limit".to_owned())
            .spawn(move || while answer_one(&notifications, self.bytes) {})?;
        Ok(())
    }
}

fn rules() -> Vec<Rule> {
    let level = (1, libc::SOL_SOCKET as u32);
    let option = |option: i32| vec![level, (2, option as u32)];
    let wait = |call, arguments| Rule {
        call,
        arguments,
        answer: USER_NOTIFICATION,
    };
    vec![
        wait(libc::SYS_setsockopt, option(libc::SO_RCVBUF)),
        wait(libc::SYS_setsockopt, option(libc::SO_RCVBUFFORCE)),
        wait(libc::SYS_bind, Vec::new()),
    ]
}

/// Async-signal-safe.
fn install(filter: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    rustix::thread::set_no_new_privs(true)?;
    let program = libc::sock_fprog {
        len: filter.len() as libc::c_ushort,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: `program` describes `filter`; the kernel copies it and writes to neither.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            NEW_LISTENER,
            &raw const program,
        )
    };
    owned(fd)
}

fn send_descriptor(to: &UnixStream, fd: BorrowedFd<'_>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fds = [fd];
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(
        to,
        &[IoSlice::new(&[0])],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

fn receive_descriptor(from: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        from,
        &mut [IoSliceMut::new(&mut byte)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let fd = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    fd.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// `struct seccomp_notif` (linux/seccomp.h).
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Notification {
    id: u64,
    thread: u32,
    flags: u32,
    call: i32,
    architecture: u32,
    instruction: u64,
    arguments: [u64; 6],
}

/// `struct seccomp_notif_resp`.
#[repr(C)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

const _: () = assert!(size_of::<Notification>() == 80 && size_of::<Answer>() == 24);

/// Returns `false` when no process is left.
fn answer_one(notifications: &OwnedFd, bytes: u32) -> bool {
    let mut fds = [PollFd::new(notifications, PollFlags::IN)];
    let waited = poll(&mut fds, None);
    if waited.is_ok() && !fds[0].revents().contains(PollFlags::IN) {
        return false;
    }
    let mut notification = Notification::default();
    // SAFETY: the command fills one zeroed `struct seccomp_notif`, which outlives the call.
    let asked =
        unsafe { libc::ioctl(notifications.as_raw_fd(), NOTIF_RECV, &raw mut notification) };
    if asked < 0 {
        // The asker was killed or interrupted in the meantime.
        return true;
    }
    let limited = limit(&notification, bytes).unwrap_or(false);
    let is_the_limit = limited && libc::c_long::from(notification.call) == libc::SYS_setsockopt;
    let flags = if is_the_limit { 0 } else { CONTINUE };
    let mut answer = Answer {
        id: notification.id,
        value: 0,
        error: 0,
        flags,
    };
    // SAFETY: the command reads one `struct seccomp_notif_resp`, which outlives the call.
    let _asker_gone =
        unsafe { libc::ioctl(notifications.as_raw_fd(), NOTIF_SEND, &raw mut answer) };
    true
}

/// Sets the buffer of the socket that the call is about; `false`: it is not a datagram socket.
fn limit(notification: &Notification, bytes: u32) -> io::Result<bool> {
    let process = process_of(notification.thread).unwrap_or(notification.thread);
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::NotFound)?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
    let socket = copy_descriptor(&pidfd, notification.arguments[0])?;
    let is_datagram = sockopt::socket_type(&socket)? == rustix::net::SocketType::DGRAM;
    if is_datagram {
        sockopt::set_socket_recv_buffer_size(&socket, bytes as usize)?;
    }
    Ok(is_datagram)
}

/// pidfd_open wants the first thread of a process.
fn process_of(thread: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok()
}

fn copy_descriptor(pidfd: &OwnedFd, number: u64) -> io::Result<OwnedFd> {
    let number = number as u32;
    // SAFETY: takes numbers only and makes a new descriptor.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_getfd, pidfd.as_raw_fd(), number, 0u32) };
    owned(fd)
}

fn owned(fd: libc::c_long) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// `SECCOMP_FILTER_FLAG_NEW_LISTENER`.
const NEW_LISTENER: libc::c_ulong = 1 << 3;
/// `SECCOMP_RET_USER_NOTIF`.
const USER_NOTIFICATION: u32 = 0x7fc0_0000;
/// `SECCOMP_USER_NOTIF_FLAG_CONTINUE`.
const CONTINUE: u32 = 1;
/// `SECCOMP_IOCTL_NOTIF_RECV` and `_SEND`, from the sizes of their structures.
const NOTIF_RECV: libc::Ioctl = 0xc050_2100_u32 as libc::Ioctl;
const NOTIF_SEND: libc::Ioctl = 0xc018_2101_u32 as libc::Ioctl;
