// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs on raw tracepoints and interfaces: loaded, attached, asked about.
#![expect(unsafe_code, reason = "bpf(2) has no safe wrapper")]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::attribute::{
    Command, Info, LinkCreate, NextId, ProgramLoad, RawTracepoint, address_of, address_of_mut, ask,
    name, open,
};
use super::instruction::Instruction;

/// Where a program runs, `enum bpf_prog_type`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ProgramKind {
    /// At each packet of a queueing discipline or an interface (4.1).
    Classifier = 3,
    /// At each frame that an interface receives (4.8).
    Xdp = 6,
    /// Linux 4.17.
    RawTracepoint = 17,
}

/// A program that the kernel's verifier has passed.
#[derive(Debug)]
pub(crate) struct Program {
    descriptor: OwnedFd,
}

/// Why a program was not taken.
#[derive(Debug, thiserror::Error)]
#[error("{source}{}{log}", if log.is_empty() { "" } else { ": " })]
pub(crate) struct LoadError {
    pub(crate) source: io::Error,
    /// The end of the verifier's log; empty if it was not requested.
    pub(crate) log: String,
}

impl Program {
    /// Hands the program to the kernel.
    ///
    /// # Errors
    /// EPERM without CAP_BPF and CAP_PERFMON in the initial user namespace; EACCES or EINVAL with the verifier's log.
    pub(crate) fn load(
        kind: ProgramKind,
        called: &str,
        code: &[Instruction],
    ) -> Result<Self, LoadError> {
        let first = match Self::load_logged(kind, called, code, &mut []) {
            Ok(program) => return Ok(program),
            Err(source) => source,
        };
        if first.raw_os_error() == Some(libc::EPERM) {
            let log = String::new();
            return Err(LoadError { source: first, log });
        }
        let mut log = vec![0; LOG_BYTES];
        match Self::load_logged(kind, called, code, &mut log) {
            Ok(program) => Ok(program),
            Err(source) => Err(LoadError {
                source,
                log: last_words(&log),
            }),
        }
    }

    fn load_logged(
        kind: ProgramKind,
        called: &str,
        code: &[Instruction],
        log: &mut [u8],
    ) -> io::Result<Self> {
        let mut attribute = ProgramLoad {
            kind: kind as u32,
            instructions: code.len() as u32,
            code: address_of(code),
            license: address_of(LICENSE),
            log_level: u32::from(!log.is_empty()),
            log_bytes: log.len() as u32,
            log: if log.is_empty() {
                0
            } else {
                address_of_mut(log)
            },
            name: name(called),
            ..ProgramLoad::default()
        };
        // SAFETY: lengths are those of the slices; the licence ends with a zero; only the log is written to.
        let descriptor = unsafe { open(Command::ProgramLoad, &mut attribute) }?;
        Ok(Self { descriptor })
    }

    /// Runs the program at each pass of a tracepoint, until the descriptor is closed.
    ///
    /// # Errors
    /// ENOENT if there is no such tracepoint, EINVAL if it has fewer arguments than the program reads.
    pub(crate) fn attach(&self, tracepoint: &std::ffi::CStr) -> io::Result<OwnedFd> {
        let mut attribute = RawTracepoint {
            name: address_of(tracepoint.to_bytes_with_nul()),
            program: self.descriptor.as_raw_fd() as u32,
            ..RawTracepoint::default()
        };
        // SAFETY: the name ends with a zero and is only read.
        unsafe { open(Command::RawTracepointOpen, &mut attribute) }
    }

    /// Runs the program at each frame that the interface receives, until the descriptor is closed (5.9).
    ///
    /// # Errors
    /// EPERM without CAP_NET_ADMIN, EBUSY if another program is there, EOPNOTSUPP and others if the driver cannot with these flags.
    pub(crate) fn attach_to_interface(
        &self,
        interface_index: u32,
        flags: u32,
    ) -> io::Result<OwnedFd> {
        self.link(interface_index, ATTACH_XDP, flags)
    }

    /// Runs the program at each packet that the interface hands to the kernel, until the descriptor is closed (6.6).
    ///
    /// # Errors
    /// EPERM without CAP_NET_ADMIN, EINVAL before Linux 6.6.
    pub(crate) fn attach_to_ingress(&self, interface_index: u32) -> io::Result<OwnedFd> {
        self.link(interface_index, ATTACH_INGRESS, 0)
    }

    /// Runs the program at each packet that leaves by the interface, before any other there, until the descriptor is closed
    /// (6.6).
    ///
    /// # Errors
    /// As [`Self::attach_to_ingress`].
    pub(crate) fn attach_to_egress(&self, interface_index: u32) -> io::Result<OwnedFd> {
        self.link(interface_index, ATTACH_EGRESS, BEFORE)
    }

    fn link(&self, interface_index: u32, kind: u32, flags: u32) -> io::Result<OwnedFd> {
        let mut attribute = LinkCreate {
            program: self.descriptor.as_raw_fd() as u32,
            target: interface_index,
            kind,
            flags,
        };
        // SAFETY: the command's own structure, without addresses.
        unsafe { open(Command::LinkCreate, &mut attribute) }
    }

    /// The kernel's number of this program, and how often it was not run because it was running already on that
    /// processor (5.12; 0 before).
    ///
    /// # Errors
    /// Those of the kernel, none of which is expected.
    pub(crate) fn id_and_missed(&self) -> io::Result<(u32, u64)> {
        let mut into = [0_u64; INFO_WORDS];
        let mut attribute = Info {
            descriptor: self.descriptor.as_raw_fd() as u32,
            bytes: size_of_val(&into) as u32,
            into: address_of_mut(&mut into),
        };
        // SAFETY: the kernel writes no more than the bytes stated, into an array that is ours alone.
        unsafe { ask(Command::ObjectInfo, &mut attribute) }?;
        let first = into[0].to_ne_bytes();
        let id = u32::from_ne_bytes([first[4], first[5], first[6], first[7]]);
        Ok((id, into[MISSED_WORD]))
    }
}

/// The numbers of all programs that the kernel holds.
///
/// # Errors
/// EPERM without CAP_SYS_ADMIN in the initial user namespace.
pub fn ids() -> io::Result<Vec<u32>> {
    let mut ids = Vec::new();
    loop {
        let mut attribute = NextId {
            after: ids.last().copied().unwrap_or_default(),
            ..NextId::default()
        };
        // SAFETY: the command's own structure, without addresses.
        match unsafe { ask(Command::ProgramNextId, &mut attribute) } {
            Ok(_) => ids.push(attribute.next),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => return Ok(ids),
            Err(error) => return Err(error),
        }
    }
}

fn last_words(log: &[u8]) -> String {
    let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    lines[first..].join("; ")
}

/// `BPF_XDP` of `enum bpf_attach_type`.
const ATTACH_XDP: u32 = 37;
/// `BPF_TCX_INGRESS`.
const ATTACH_INGRESS: u32 = 46;
/// `BPF_TCX_EGRESS`.
const ATTACH_EGRESS: u32 = 47;
/// `BPF_F_BEFORE`: first of all, as no other program is named.
const BEFORE: u32 = 1 << 3;
/// The licence that the kernel requires of a program that calls `probe_read_kernel`.
const LICENSE: &[u8] = b"Dual MIT/GPL\0";
const LOG_BYTES: usize = 256 * 1024;
const LAST_LINES: usize = 4;
/// `recursion_misses` in `struct bpf_prog_info`.
const MISSED_WORD: usize = 208 / 8;
const INFO_WORDS: usize = MISSED_WORD + 1;

#[cfg(test)]
mod tests {
    use super::last_words;

    #[test]
    fn the_verifiers_last_words_are_kept() {
        let log = b"0: (b7) r0 = 0\n1: x\n\n2: y\n3: z\nR1 invalid mem access\n\0\0";
        assert_eq!(last_words(log), "1: x; 2: y; 3: z; R1 invalid mem access");
        assert_eq!(last_words(&[]), "");
    }
}
