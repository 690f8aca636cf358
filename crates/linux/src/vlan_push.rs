// SPDX-License-Identifier: MIT OR Apache-2.0
//! 802.1Q tags for the frames of chosen sockets, without a VLAN interface: the kernel leaves a tag to the interface
//! (`tx-vlan-hw-insert`), or inserts it itself where that is off (net/core/dev.c, `validate_xmit_vlan`).
//!
//! A BPF program at the interface's egress (TCX) pushes the tag that a socket's priority names. Its link ends with the
//! process, even by `kill -9`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use crate::bpf::{
    Assembler, Condition, Helper, Instruction, Program, ProgramKind, Register, Size, network,
};
use crate::sockopt;
use Register::{R0, R1, R2, R3, R6, R7};

/// Pushes tags at one interface until it is dropped.
#[derive(Debug)]
pub struct VlanPush {
    _link: OwnedFd,
}

impl VlanPush {
    /// At an interface of the calling thread's network namespace.
    ///
    /// # Errors
    /// What failed, and what it needs: root outside user namespaces, Linux 6.6.
    pub fn attach(interface_index: u32) -> io::Result<Self> {
        let code = program().ok_or(io::ErrorKind::Other)?;
        let program = Program::load(ProgramKind::Classifier, NAME, &code)
            .map_err(|why| failed("load", &why, "root outside user namespaces"))?;
        let link = program
            .attach_to_egress(interface_index)
            .map_err(|why| failed("attach", &why, "Linux 6.6"))?;
        Ok(Self { _link: link })
    }

    /// Frames that this socket sends from now on get a tag while one is attached: priority (3 bits), DEI, number (12 bits).
    ///
    /// # Errors
    /// EPERM without CAP_NET_ADMIN.
    pub fn tag(socket: impl AsFd, tag: u16) -> io::Result<()> {
        let priority = MARK << 16 | i32::from(tag);
        sockopt::set_int(socket, libc::SOL_SOCKET, libc::SO_PRIORITY, priority)
    }
}

fn failed(op: &str, why: &dyn std::error::Error, needs: &str) -> io::Error {
    io::Error::other(format!(
        "cannot {op} the BPF program that asks for a VLAN tag ({why}); it needs {needs}"
    ))
}

/// At each packet before the queueing discipline, which sees no priority of ours; `None` never.
fn program() -> Option<Vec<Instruction>> {
    let mut a = Assembler::default();
    let out = a.label();
    a.copy(R6, R1);
    a.load(Size::Word, R7, R6, PRIORITY);
    a.copy(R3, R7);
    a.shift_right(R3, 16);
    a.jump_if(R3, Condition::NotEqual, MARK, out);
    a.set(R1, 0);
    a.store(Size::Word, R6, PRIORITY, R1);
    a.copy(R1, R6);
    a.set(R2, network(VLAN));
    a.copy(R3, R7);
    a.and(R3, 0xffff);
    a.call(Helper::VlanPush);
    a.place(out);
    a.set(R0, NEXT);
    a.exit();
    a.finish()
}

const NAME: &str = "linerate_vlan";
/// The upper half of the priority of our sockets.
const MARK: i32 = 0x4c52;
/// IEEE 802.1Q.
const VLAN: u16 = 0x8100;
/// `struct __sk_buff`.
const PRIORITY: i16 = 32;
/// `TCX_NEXT`.
const NEXT: i32 = -1;
