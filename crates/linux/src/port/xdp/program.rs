// SPDX-License-Identifier: MIT OR Apache-2.0
//! The program that takes test frames out of the receive path: UDP, with a VLAN tag or without, goes to the socket of the queue it came
//! from. Everything else passes to the kernel, so that ARP, neighbour discovery, LLDP and a shell on the interface continue
//! to work; a packet socket sees it there for the tester's own addresses.

use crate::bpf::{Assembler, Condition, Helper, Instruction, Register, Size};
use Condition::{Equal, Less, NotEqual};
use Register::{R0, R1, R2, R3, R4, R6};

/// Redirects to the sockets of this map; `None` never.
pub(super) fn redirect_udp(sockets: i32) -> Option<Vec<Instruction>> {
    let mut a = Assembler::default();
    let (untagged, version_6, protocol, pass) = (a.label(), a.label(), a.label(), a.label());
    a.copy(R6, R1);
    a.load(Size::Word, R2, R6, DATA);
    a.load(Size::Word, R3, R6, DATA_END);
    a.copy(R4, R2);
    a.add(R4, LEAST_BYTES);
    a.jump_if_register(R3, Less, R4, pass);
    a.load(Size::Half, R4, R2, TYPE_AT);
    a.jump_if(R4, NotEqual, network(VLAN), untagged);
    a.add(R2, TAG_BYTES);
    a.load(Size::Half, R4, R2, TYPE_AT);
    a.place(untagged);
    a.jump_if(R4, Equal, network(IPV6), version_6);
    a.jump_if(R4, NotEqual, network(IPV4), pass);
    a.load(Size::Byte, R4, R2, IPV4_PROTOCOL_AT);
    a.jump(protocol);
    a.place(version_6);
    a.load(Size::Byte, R4, R2, IPV6_PROTOCOL_AT);
    a.place(protocol);
    a.jump_if(R4, NotEqual, UDP, pass);
    a.load(Size::Word, R2, R6, QUEUE);
    a.map(R1, sockets);
    // To the kernel where the queue has no socket.
    a.set(R3, PASS);
    a.call(Helper::RedirectMap);
    a.exit();
    a.place(pass);
    a.set(R0, PASS);
    a.exit();
    a.finish()
}

/// What a load of two bytes finds where these are in network order.
const fn network(kind: u16) -> i32 {
    kind.to_be() as i32
}

/// `struct xdp_md`.
const DATA: i16 = 0;
const DATA_END: i16 = 4;
const QUEUE: i16 = 16;
/// `XDP_PASS`.
const PASS: i32 = 2;
/// Ethernet, a tag, IPv4: as far as is read, and less than any frame on a wire.
const LEAST_BYTES: i32 = 14 + 4 + 20;
const TAG_BYTES: i32 = 4;
const TYPE_AT: i16 = 12;
const IPV4_PROTOCOL_AT: i16 = 14 + 9;
const IPV6_PROTOCOL_AT: i16 = 14 + 6;
const VLAN: u16 = 0x8100;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const UDP: i32 = 17;
