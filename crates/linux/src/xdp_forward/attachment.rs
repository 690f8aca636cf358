// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs loaded and attached: in both drivers, else to both in generic mode.

use std::io;
use std::os::fd::OwnedFd;

use super::{NAME, features};
use crate::bpf::{Assembler, Instruction, Program, ProgramKind, Register};
use crate::nic::Link;

/// Where the programs run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attached {
    /// In the driver, before the kernel allocates anything for the frame.
    Native,
    /// In the kernel, on a packet that it has allocated: works with every driver, and is slow.
    Generic {
        /// Why not in the driver.
        why: String,
    },
}

/// Forwarding could not begin.
#[derive(Debug, thiserror::Error)]
#[error("cannot {op} {interface}: {source}; try: {attempt}")]
pub struct ForwardError {
    op: &'static str,
    interface: String,
    attempt: &'static str,
    #[source]
    source: io::Error,
}

impl ForwardError {
    /// Whether the process lacks a right, as in a user namespace.
    #[must_use]
    pub fn is_permission(&self) -> bool {
        self.source.kind() == io::ErrorKind::PermissionDenied
    }

    /// What failed, on what, and why.
    #[must_use]
    pub fn why(&self) -> String {
        format!("cannot {} {}: {}", self.op, self.interface, self.source)
    }

    /// What to try.
    #[must_use]
    pub const fn attempt(&self) -> &'static str {
        self.attempt
    }
}

/// An error that does not know its interface yet.
#[derive(Debug)]
pub(super) struct Refusal {
    op: &'static str,
    source: io::Error,
}

impl Refusal {
    pub(super) fn new(op: &'static str, source: io::Error) -> Self {
        Self { op, source }
    }

    pub(super) fn on(self, interface: &str) -> ForwardError {
        let Self { op, source } = self;
        ForwardError {
            op,
            interface: interface.to_owned(),
            attempt: remedy(&source),
            source,
        }
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "as root of the machine: a user namespace may not load BPF programs"
        }
        io::ErrorKind::ResourceBusy => {
            "end the program that holds it (bpftool link show); one of ip(8): ip link set dev IFACE xdp off"
        }
        io::ErrorKind::NotFound => "ip link, for the names of the interfaces",
        io::ErrorKind::AlreadyExists => "two different interfaces",
        _ => "another interface, or Linux 5.9 or later (bridge: 6.6) with CONFIG_BPF_SYSCALL",
    }
}

/// Hands an assembled program to the kernel.
pub(super) fn load(kind: ProgramKind, code: Option<Vec<Instruction>>) -> Result<Program, Refusal> {
    let failed = |source| Refusal::new("load program for", source);
    let code = code.ok_or_else(|| failed(io::Error::other("it cannot be assembled")))?;
    Program::load(kind, NAME, &code)
        .map_err(|error| failed(io::Error::new(error.source.kind(), error)))
}

/// Attaches one program to each interface.
pub(super) fn attach_both(
    programs: &[Program; 2],
    links: &[Link; 2],
) -> Result<(Vec<OwnedFd>, Attached), ForwardError> {
    let why = match attach(programs, links, IN_DRIVER) {
        Ok(held) => match links.iter().find_map(features::refuses_frames) {
            None => return Ok((held, Attached::Native)),
            Some(why) => why,
        },
        Err(error) if error.source.kind() == io::ErrorKind::ResourceBusy => return Err(error),
        Err(error) => format!("{}: {}", error.interface, error.source),
    };
    let held = attach(programs, links, GENERIC)?;
    Ok((held, Attached::Generic { why }))
}

fn attach(
    programs: &[Program; 2],
    links: &[Link; 2],
    flags: u32,
) -> Result<Vec<OwnedFd>, ForwardError> {
    let one = |(program, link): (&Program, &Link)| {
        let attached = program.attach_to_interface(link.index, flags);
        attached.map_err(|error| Refusal::new("attach program to", error).on(&link.name))
    };
    programs.iter().zip(links).map(one).collect()
}

/// Attaches a program that passes every frame.
pub(super) fn welcoming(interface_index: u32) -> Result<OwnedFd, Refusal> {
    let mut a = Assembler::default();
    a.set(Register::R0, PASS);
    a.exit();
    let program = load(ProgramKind::Xdp, a.finish())?;
    let attached = program.attach_to_interface(interface_index, IN_DRIVER);
    attached.map_err(|error| Refusal::new("attach program to", error))
}

/// `XDP_FLAGS_DRV_MODE` and `XDP_FLAGS_SKB_MODE`.
const IN_DRIVER: u32 = 1 << 2;
const GENERIC: u32 = 1 << 1;
/// `XDP_PASS`.
const PASS: i32 = 2;
