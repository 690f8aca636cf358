// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes a command run as if on an old vendor kernel (about Linux 4.4), or without single facilities.
//!
//! A seccomp filter (seccomp(2), classic BPF over `struct seccomp_data`) answers what such a
//! kernel answers: ENOPROTOOPT to socket options it does not know, EPROTONOSUPPORT to generic
//! netlink (so no ethtool netlink), ENOSYS to newer system calls. It cannot see through
//! pointers: control messages pass.
#![expect(unsafe_code, reason = "prctl in a forked child")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes `command` and all its descendants see an old kernel.
pub fn see_old_kernel(command: &mut Command) {
    filter(command, &old_kernel());
}

/// A facility that a sandbox may withhold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// `recvmmsg` (Linux 2.6.33) and `sendmmsg` (3.0): ENOSYS.
    Batches,
    /// Programs and maps: EPERM.
    Bpf,
    /// AF_XDP sockets: EAFNOSUPPORT.
    Xdp,
    /// Rings of packet sockets to send from: ENOMEM.
    SendRing,
}

/// Withholds facilities from `command` and all its descendants.
pub fn withhold(command: &mut Command, withheld: &[Withheld]) {
    let rules: Vec<_> = withheld.iter().flat_map(|one| one.rules()).collect();
    filter(command, &rules);
}

impl Withheld {
    fn rules(self) -> Vec<Rule> {
        let rule = match self {
            Self::Batches => {
                return [libc::SYS_recvmmsg, libc::SYS_sendmmsg]
                    .map(|call| Rule::refuse(call, Vec::new(), libc::ENOSYS))
                    .into();
            }
            Self::Bpf => Rule::refuse(libc::SYS_bpf, Vec::new(), libc::EPERM),
            Self::Xdp => {
                let family = vec![(0, libc::AF_XDP as u32)];
                Rule::refuse(libc::SYS_socket, family, libc::EAFNOSUPPORT)
            }
            Self::SendRing => {
                let option = vec![
                    (1, libc::SOL_PACKET as u32),
                    (2, libc::PACKET_TX_RING as u32),
                ];
                Rule::refuse(libc::SYS_setsockopt, option, libc::ENOMEM)
            }
        };
        vec![rule]
    }
}

fn filter(command: &mut Command, rules: &[Rule]) {
    let filter = program(rules);
    let install = move || install(&filter);
    // SAFETY: `install` makes two system calls on memory prepared here.
    unsafe { command.pre_exec(install) };
}

/// One rule: this system call, with these low halves of arguments, is answered so.
pub(crate) struct Rule {
    pub call: libc::c_long,
    pub arguments: Vec<(u32, u32)>,
    pub answer: u32,
}

impl Rule {
    fn refuse(call: libc::c_long, arguments: Vec<(u32, u32)>, errno: i32) -> Self {
        Self {
            call,
            arguments,
            answer: ERRNO | errno as u32,
        }
    }
}

fn old_kernel() -> Vec<Rule> {
    let options = [
        (libc::SOL_UDP, 103, "UDP_SEGMENT, 4.18"),
        (libc::SOL_UDP, 104, "UDP_GRO, 5.0"),
        (libc::SOL_SOCKET, 60, "SO_ZEROCOPY, 4.14"),
        (libc::SOL_SOCKET, 61, "SO_TXTIME, 4.19"),
        (libc::SOL_SOCKET, 63, "SO_TIMESTAMP_NEW, 5.1"),
        (libc::SOL_SOCKET, 64, "SO_TIMESTAMPNS_NEW, 5.1"),
        (libc::SOL_SOCKET, 65, "SO_TIMESTAMPING_NEW, 5.1"),
        (libc::SOL_SOCKET, 66, "SO_RCVTIMEO_NEW, 5.1"),
        (libc::SOL_SOCKET, 67, "SO_SNDTIMEO_NEW, 5.1"),
        (libc::SOL_PACKET, 23, "PACKET_IGNORE_OUTGOING, 4.20"),
    ];
    let options = options.into_iter().map(|(level, option, _since)| {
        let arguments = vec![(1, level as u32), (2, option)];
        Rule::refuse(libc::SYS_setsockopt, arguments, libc::ENOPROTOOPT)
    });
    let generic = vec![
        (0, libc::AF_NETLINK as u32),
        (2, libc::NETLINK_GENERIC as u32),
    ];
    let generic_netlink = Rule::refuse(libc::SYS_socket, generic, libc::EPROTONOSUPPORT);
    let calls = NEWER_CALLS
        .iter()
        .map(|&call| Rule::refuse(call, Vec::new(), libc::ENOSYS));
    options.chain([generic_netlink]).chain(calls).collect()
}

/// Numbers are the same on every architecture from 403 on.
const NEWER_CALLS: &[libc::c_long] = &[
    libc::SYS_statx,
    libc::SYS_copy_file_range,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_pidfd_send_signal,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_pidfd_open,
    libc::SYS_clone3,
    libc::SYS_close_range,
    libc::SYS_openat2,
    libc::SYS_pidfd_getfd,
    libc::SYS_faccessat2,
    441, // epoll_pwait2
];

/// Foreign architecture: allowed. Else the rules in turn, then allowed.
pub(crate) fn program(rules: &[Rule]) -> Vec<libc::sock_filter> {
    let mut code = vec![
        load(ARCH_OFFSET),
        jump_if_equal(NATIVE_ARCH, 1, 0),
        answer(ALLOW),
    ];
    for rule in rules {
        code.extend(decide(rule));
    }
    code.push(answer(ALLOW));
    code
}

/// A comparison that fails jumps over the rest of its rule.
fn decide(rule: &Rule) -> Vec<libc::sock_filter> {
    let call = (NUMBER_OFFSET, rule.call as u32);
    let arguments = rule
        .arguments
        .iter()
        .map(|&(n, value)| (argument_offset(n), value));
    let conditions: Vec<_> = std::iter::once(call).chain(arguments).collect();
    let mut code = Vec::new();
    for (done, &(offset, value)) in conditions.iter().enumerate() {
        let left = conditions.len() - 1 - done;
        code.push(load(offset));
        code.push(jump_if_equal(value, 0, (2 * left + 1) as u8));
    }
    code.push(answer(rule.answer));
    code
}

const fn load(offset: u32) -> libc::sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

const fn jump_if_equal(value: u32, then: u8, otherwise: u8) -> libc::sock_filter {
    let code = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    instruction(code, then, otherwise, value)
}

const fn answer(value: u32) -> libc::sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, 0, 0, value)
}

const fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    }
}

/// The low half of argument `n` in `struct seccomp_data`.
const fn argument_offset(n: u32) -> u32 {
    let low = if cfg!(target_endian = "big") { 4 } else { 0 };
    16 + 8 * n + low
}

fn install(filter: &[libc::sock_filter]) -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    let program = libc::sock_fprog {
        len: filter.len() as libc::c_ushort,
        filter: filter.as_ptr().cast_mut(),
    };
    let mode = libc::SECCOMP_MODE_FILTER as libc::c_ulong;
    // SAFETY: `program` describes `filter`; the kernel copies it and writes to neither.
    let done = unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program) };
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

const NUMBER_OFFSET: u32 = 0;
const ARCH_OFFSET: u32 = 4;
const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;

/// linux/audit.h: the ELF machine, with flags for 64-bit and little-endian.
const NATIVE_ARCH: u32 = MACHINE | WIDTH | ENDIAN;
const WIDTH: u32 = if cfg!(target_pointer_width = "64") {
    0x8000_0000
} else {
    0
};
const ENDIAN: u32 = if cfg!(target_endian = "little") {
    0x4000_0000
} else {
    0
};
const MACHINE: u32 = if cfg!(target_arch = "x86_64") {
    62
} else if cfg!(target_arch = "x86") {
    3
} else if cfg!(target_arch = "aarch64") {
    183
} else if cfg!(target_arch = "arm") {
    40
} else if cfg!(any(target_arch = "mips", target_arch = "mips64")) {
    8
} else if cfg!(any(target_arch = "riscv32", target_arch = "riscv64")) {
    243
} else {
    0
};
