// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two ports as one wire: what comes in on one goes out on the other. What is for this host passes to the kernel. What is
//! for a group does too, and a second program, behind the kernel's first step, sends a copy of it out of the other port: an
//! XDP program cannot do both.

use super::exits::{Exits, Place, count, read_bounds, redirect};
use super::verdict::Verdict;
use crate::bpf::{Assembler, Condition, Helper, Instruction, Label, Register, Size, network};
use Condition::{Equal, NotEqual};
use Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9};

/// At each frame that the port receives; `None` never.
pub(super) fn program(place: &Place) -> Option<Vec<Instruction>> {
    let mut a = Assembler::default();
    let exits = Exits::new(&mut a);
    read_bounds(&mut a, HEADER_BYTES, exits.of(Verdict::Protocol));
    a.load(Size::Byte, R1, R7, 0);
    a.and(R1, GROUP);
    a.jump_if(R1, NotEqual, 0, exits.of(Verdict::Group));
    for mac in [place.own.mac, place.other.mac] {
        let another = a.label();
        a.expect_mac(R7, 0, mac, another);
        a.jump(exits.of(Verdict::Address));
        a.place(another);
    }
    redirect(&mut a, place);
    exits.write(&mut a, place);
    a.finish()
}

/// At each packet that the port hands to the kernel: copies those for groups to the other port; `None` never.
pub(super) fn copier(place: &Place) -> Option<Vec<Instruction>> {
    let mut a = Assembler::default();
    let out = a.label();
    a.copy(R6, R1);
    a.load(Size::Word, R7, R6, PACKET_DATA);
    a.load(Size::Word, R8, R6, PACKET_DATA_END);
    a.copy(R4, R7);
    a.add(R4, HEADER_BYTES);
    a.jump_if_register(R8, Condition::Less, R4, out);
    a.load(Size::Byte, R1, R7, 0);
    a.and(R1, GROUP);
    a.jump_if(R1, Equal, 0, out);
    leave_out_link_local(&mut a, out);
    a.copy(R1, R6);
    a.set_wide(R2, u64::from(place.other.index));
    a.set(R3, 0);
    a.call(Helper::CloneRedirect);
    a.jump_if(R0, NotEqual, 0, out);
    a.set(R9, Verdict::Copied as i32);
    count(&mut a, place.counts);
    a.place(out);
    a.set(R0, NEXT);
    a.exit();
    a.finish()
}

/// 01-80-C2-00-00-00 to -0F stay on their link (IEEE 802.1Q, table 8-1).
fn leave_out_link_local(a: &mut Assembler, out: Label) {
    let other = a.label();
    a.load(Size::Half, R1, R7, 0);
    a.jump_if(R1, NotEqual, network(0x0180), other);
    a.load(Size::Half, R1, R7, 2);
    a.jump_if(R1, NotEqual, network(0xc200), other);
    a.load(Size::Half, R1, R7, 4);
    a.and(R1, network(0xfff0));
    a.jump_if(R1, Equal, 0, out);
    a.place(other);
}

const HEADER_BYTES: i32 = 14;
/// The bit of the first byte that groups have.
const GROUP: i32 = 1;
/// `struct __sk_buff`.
const PACKET_DATA: i16 = 76;
const PACKET_DATA_END: i16 = 80;
/// `TCX_NEXT`.
const NEXT: i32 = -1;
