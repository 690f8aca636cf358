// SPDX-License-Identifier: MIT OR Apache-2.0
//! Puts the rest of the program into private namespaces, so that hosts can be built without root.
//!
//! [`enter`] is called once, before any thread exists. It splits the process in three:
//! the caller stays outside, waits and passes signals and the exit status on; a small
//! process becomes number 1 of a new process namespace; its child returns from `enter` and runs
//! the rest of the program. When any of the first two ends, even by `kill -9`, the kernel
//! kills everything inside and the namespaces vanish with their interfaces.
//!
//! Refused, the caller is untouched and may go on without a lab.
#![expect(unsafe_code, reason = "clone, fork and signal masks")]

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{self, ExitStatus};

use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::process::Signal;

use crate::proc;

/// The privilege with which the namespaces are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// A user namespace in which the caller is root: no privilege outside.
    UserNamespace,
    /// The caller's own privilege: only network, mount and process namespaces are new, so
    /// socket buffers may exceed the machine's limits as they may for any root.
    Root,
}

/// Why no private namespaces could be made.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// `enter` was called after threads were started.
    #[error("the process already has {count} threads")]
    Threads { count: usize },
    /// A switch of the machine forbids user namespaces.
    #[error("user namespaces are switched off by {switch}")]
    Switch { switch: Switch },
    /// The kernel refused, and no known switch is the reason.
    #[error("{op}: {source}")]
    Kernel { op: &'static str, source: io::Error },
}

impl Refusal {
    /// What the user can do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Threads { .. } => "call it before the first thread is started".to_owned(),
            Self::Switch { switch } => format!("run as root, or `{}`", switch.command()),
            Self::Kernel { .. } => {
                "run as root; in a container, allow it user namespaces or CAP_SYS_ADMIN".to_owned()
            }
        }
    }
}

/// The settings by which distributions forbid user namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Ubuntu since 23.10.
    AppArmor,
    /// Debian's kernel patch.
    Clone,
    /// The namespaced limit of Linux 4.9.
    Limit,
}

impl Switch {
    const ALL: [Self; 3] = [Self::AppArmor, Self::Clone, Self::Limit];

    const fn name(self) -> &'static str {
        match self {
            Self::AppArmor => "kernel.apparmor_restrict_unprivileged_userns",
            Self::Clone => "kernel.unprivileged_userns_clone",
            Self::Limit => "user.max_user_namespaces",
        }
    }

    const fn forbidding(self) -> &'static str {
        match self {
            Self::AppArmor => "1",
            Self::Clone | Self::Limit => "0",
        }
    }

    /// The command that lifts the restriction.
    pub fn command(self) -> String {
        let value = match self {
            Self::AppArmor => "0",
            Self::Clone => "1",
            Self::Limit => "10000",
        };
        format!("sysctl -w {}={value}", self.name())
    }

    fn is_set(self) -> bool {
        proc::sysctl(self.name()).is_ok_and(|value| value == self.forbidding())
    }
}

impl std::fmt::Display for Switch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.name(), self.forbidding())
    }
}

/// Moves the rest of the program into private namespaces; returns inside them.
///
/// `privilege` asks for one kind; `None` takes [`Privilege::Root`] where the process has it,
/// else a user namespace.
///
/// # Errors
/// [`Refusal`]: nothing has changed and the caller continues where it was.
pub fn enter(privilege: Option<Privilege>) -> Result<Privilege, Refusal> {
    refuse_threads()?;
    let privilege = privilege.unwrap_or_else(own_privilege);
    let caller = Caller::now();
    let (outside, inside) = UnixStream::pair().map_err(kernel("socketpair"))?;
    match clone_into(privilege).map_err(|source| explain(privilege, source))? {
        Some(init) => {
            drop(inside);
            stay_outside(init, outside, caller)
        }
        None => {
            drop(outside);
            become_init(privilege, caller, inside);
            Ok(privilege)
        }
    }
}

fn refuse_threads() -> Result<(), Refusal> {
    let count = fs::read_dir("/proc/self/task")
        .map_err(kernel("/proc/self/task"))?
        .count();
    if count > 1 {
        Err(Refusal::Threads { count })
    } else {
        Ok(())
    }
}

fn kernel(op: &'static str) -> impl Fn(io::Error) -> Refusal {
    move |source| Refusal::Kernel { op, source }
}

/// Tests for the capabilities, not for the user ID.
fn own_privilege() -> Privilege {
    use rustix::thread::{CapabilitySet, capabilities};
    let can = capabilities(None).is_ok_and(|sets| {
        sets.effective
            .contains(CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN)
    });
    if can {
        Privilege::Root
    } else {
        Privilege::UserNamespace
    }
}

fn explain(privilege: Privilege, source: io::Error) -> Refusal {
    let switch = Switch::ALL.into_iter().find(|switch| switch.is_set());
    match switch {
        Some(switch) if privilege == Privilege::UserNamespace => Refusal::Switch { switch },
        _ => Refusal::Kernel {
            op: "clone into new namespaces",
            source,
        },
    }
}

/// What cannot be determined any more inside.
#[derive(Clone, Copy)]
struct Caller {
    uid: u32,
    gid: u32,
    /// Without a terminal the program inside gets its own process group, and each signal
    /// exactly once: from here. At a terminal the terminal signals the whole group itself.
    own_group: bool,
}

impl Caller {
    fn now() -> Self {
        Self {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            own_group: !io::stdin().is_terminal(),
        }
    }
}

/// clone(2) as fork(2) is, with new namespaces; `None` in the child.
fn clone_into(privilege: Privilege) -> io::Result<Option<i32>> {
    let mut flags = libc::CLONE_NEWNET | libc::CLONE_NEWPID | libc::CLONE_NEWNS;
    if privilege == Privilege::UserNamespace {
        flags |= libc::CLONE_NEWUSER;
    }
    let flags = (flags | libc::SIGCHLD) as libc::c_ulong;
    // clone(2), "C library/kernel differences": this processor alone takes the stack first.
    let (first, second) = match cfg!(target_arch = "s390x") {
        true => (0, flags),
        false => (flags, 0),
    };
    // SAFETY: no stack is given, so the child continues on a copy of this one as after fork;
    // the process has one thread (checked by the caller), so no lock is held by another.
    let pid = unsafe { libc::syscall(libc::SYS_clone, first, second, 0usize, 0usize, 0usize) };
    match pid {
        0 => Ok(None),
        pid if pid > 0 => {
            #[cfg_attr(
                target_pointer_width = "32",
                expect(clippy::unnecessary_cast, reason = "a long is as wide there")
            )]
            let pid = pid as i32;
            Ok(Some(pid))
        }
        _ => Err(io::Error::last_os_error()),
    }
}

// ---- inside -------------------------------------------------------------------------------

/// Process 1: prepares the namespaces, reports to the outside, forks, and reaps children.
/// Returns in the forked child only.
fn become_init(privilege: Privilege, caller: Caller, mut outside: UnixStream) {
    let errno = match prepare(privilege, caller) {
        Ok(()) => 0,
        Err(error) => error.raw_os_error().unwrap_or(libc::EIO),
    };
    let reported = outside.write_all(&errno.to_ne_bytes());
    if errno != 0 || reported.is_err() {
        leave(1);
    }
    let before = block_signals();
    // SAFETY: one thread; the child is a plain copy that continues the program.
    match unsafe { libc::fork() } {
        0 => {
            if caller.own_group {
                let _same_group = rustix::process::setpgid(None, None);
            }
            restore_signals(&before);
        }
        main if main > 0 => bury(main, outside),
        _ => leave(1),
    }
}

fn prepare(privilege: Privilege, caller: Caller) -> io::Result<()> {
    if privilege == Privilege::UserNamespace {
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("0 {} 1", caller.uid))?;
        fs::write("/proc/self/gid_map", format!("0 {} 1", caller.gid))?;
    }
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let below = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    rustix::mount::mount_change("/", below)?;
    // A container that hides parts of /proc forbids a new one: then the old one stays, in
    // which /proc/self is right and other numbers are those of the outside.
    let quiet = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _old_one = rustix::mount::mount("proc", "/proc", "proc", quiet, None);
    Ok(())
}

/// Waits until the program inside has ended and hands its status out.
fn bury(main: i32, mut outside: UnixStream) -> ! {
    let sent_by_the_outside = |signal, _| {
        PASSED_ON
            .into_iter()
            .find(|one| carrier(*one) == Some(signal))
    };
    let pass = |signal| {
        // SAFETY: sends a signal to a child that has not been waited for.
        let _sent = unsafe { libc::kill(main, signal) };
    };
    let status = pass_signals_until_end(main, sent_by_the_outside, pass).unwrap_or(0x100);
    let _outside_gone = outside.write_all(&status.to_ne_bytes());
    leave(0);
}

/// _exit(2): leaves without running what belongs to the original of this copy.
fn leave(code: i32) -> ! {
    // SAFETY: ends the process; nothing of it is used again.
    unsafe { libc::_exit(code) }
}

// ---- outside ------------------------------------------------------------------------------

/// Reads init's report: returns its error, or waits and ends as the inside ends.
fn stay_outside(init: i32, mut inside: UnixStream, caller: Caller) -> Result<Privilege, Refusal> {
    let errno = read_i32(&mut inside).unwrap_or(libc::ECHILD);
    if errno != 0 {
        // SAFETY: a null status is allowed; init has reported that it exits.
        let _buried = unsafe { libc::waitpid(init, std::ptr::null_mut(), 0) };
        let source = io::Error::from_raw_os_error(errno);
        return Err(kernel("prepare the new namespaces")(source));
    }
    let _as_ours = block_signals();
    let wanted = |signal, code| (caller.own_group || code == libc::SI_USER).then_some(signal);
    let pass = |signal| {
        if let Some(carrier) = carrier(signal) {
            // SAFETY: sends a signal to a child that has not been waited for.
            let _sent = unsafe { libc::kill(init, carrier) };
        }
    };
    let _ended = pass_signals_until_end(init, wanted, pass);
    end_like(read_i32(&mut inside))
}

/// Ends this process the way the program inside ended; `None`: it was killed with its init.
#[expect(
    clippy::exit,
    reason = "the program goes on, and returns from main, inside"
)]
fn end_like(status: Option<i32>) -> ! {
    let Some(status) = status.map(ExitStatus::from_raw) else {
        process::exit(128 + libc::SIGKILL);
    };
    match (status.code(), status.signal()) {
        (Some(code), _) => process::exit(code),
        (None, Some(signal)) => process::exit(128 + signal),
        (None, None) => process::exit(1),
    }
}

fn read_i32(from: &mut UnixStream) -> Option<i32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes).ok()?;
    Some(i32::from_ne_bytes(bytes))
}

const PASSED_ON: [libc::c_int; 6] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// By which real-time signal one is handed to init. A signal of the group may be pending there, and a second one with its number
/// would be lost in it: signal(7), "Queueing and delivery semantics".
fn carrier(signal: libc::c_int) -> Option<libc::c_int> {
    let at = PASSED_ON.iter().position(|one| *one == signal)?;
    Some(libc::SIGRTMIN() + libc::c_int::try_from(at).ok()?)
}

/// The signals that are passed on, their carriers, and SIGCHLD.
fn watched() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `set` is large enough for a signal set.
    let _filled = unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: sigemptyset has written it.
    let mut set = unsafe { set.assume_init() };
    let carriers = PASSED_ON.into_iter().filter_map(carrier);
    for signal in PASSED_ON.into_iter().chain(carriers).chain([libc::SIGCHLD]) {
        // SAFETY: `set` is an initialised signal set.
        let _added = unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

/// Blocks the watched signals; returns the mask from before.
fn block_signals() -> libc::sigset_t {
    let mut before = watched();
    // SAFETY: both sets outlive the call.
    let _set = unsafe { libc::sigprocmask(libc::SIG_BLOCK, &watched(), &raw mut before) };
    before
}

fn restore_signals(before: &libc::sigset_t) {
    // SAFETY: `before` outlives the call; no old mask is asked for.
    let _set = unsafe { libc::sigprocmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
}

/// Sleeps in sigwaitinfo(2) until `child` has ended; reaps every other child too.
/// What a signal and its `si_code` stand for is passed on. Returns the child's wait status.
fn pass_signals_until_end(
    child: i32,
    wanted: impl Fn(i32, i32) -> Option<i32>,
    pass: impl Fn(i32),
) -> Option<i32> {
    let set = watched();
    loop {
        while let Some((pid, status)) = wait_any() {
            if pid == child {
                return Some(status);
            }
        }
        match next_signal(&set) {
            Some((signal, code)) if signal != libc::SIGCHLD => {
                wanted(signal, code).into_iter().for_each(&pass);
            }
            _ => {}
        }
    }
}

/// The next blocked signal with its `si_code`; `None` when interrupted.
fn next_signal(set: &libc::sigset_t) -> Option<(i32, i32)> {
    let mut info = MaybeUninit::<libc::siginfo_t>::uninit();
    // SAFETY: both outlive the call.
    let signal = unsafe { libc::sigwaitinfo(set, info.as_mut_ptr()) };
    if signal < 0 {
        return None;
    }
    // SAFETY: the kernel filled it, because a signal was returned.
    let info = unsafe { info.assume_init() };
    Some((signal, info.si_code))
}

/// A child that has ended, with its status; does not wait.
fn wait_any() -> Option<(i32, i32)> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
    (pid > 0).then_some((pid, status))
}
