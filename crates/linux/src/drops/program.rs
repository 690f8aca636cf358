// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two programs, as instructions. Source of what they read: include/linux/skbuff.h, include/trace/events/skb.h.

use super::offsets::{NetnsOffsets, Offsets};
use crate::bpf::{Assembler, Condition, Helper, Instruction, Label, Register, Size};
use Condition::{Equal, Less, NotEqual};
use Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9};

/// Counts every packet freed, for its reason; `None` if it cannot be assembled.
pub(super) fn unfiltered(counts: i32) -> Option<Vec<Instruction>> {
    let mut a = Assembler::default();
    keep_reason(&mut a);
    a.set(R7, 1);
    count(&mut a, counts);
    a.finish()
}

/// Counts the packets of `flows` in one network namespace, by segments, for their reason.
pub(super) fn filtered(
    offsets: &Offsets,
    netns: Option<u32>,
    counts: i32,
    flows: i32,
) -> Option<Vec<Instruction>> {
    let mut p = Filtered {
        a: Assembler::default(),
        offsets,
    };
    let out = p.a.label();
    p.keep_arguments();
    p.find_header(out);
    p.read_header(out);
    p.look_up(flows, out);
    if let (Some(inode), Some(of)) = (netns, offsets.netns) {
        p.compare_netns(&of, inode, out);
    }
    p.count_segments();
    count(&mut p.a, counts);
    p.a.place(out);
    p.a.set(R0, 0);
    p.a.exit();
    p.a.finish()
}

/// Throughout: r6 is the packet, r8 its head, r9 its network header.
struct Filtered<'o> {
    a: Assembler,
    offsets: &'o Offsets,
}

impl Filtered<'_> {
    fn keep_arguments(&mut self) {
        let a = &mut self.a;
        a.load(Size::Double, R6, R1, PACKET);
        if self.offsets.arguments > SOCKET_ARGUMENT {
            a.load(Size::Double, R0, R1, 8 * SOCKET_ARGUMENT as i16);
            a.store_stack(Size::Double, SOCKET, R0);
        } else {
            a.put_stack(Size::Double, SOCKET, 0);
        }
        keep_reason(a);
    }

    /// Before the stack has looked at a packet that came in, its header is where its data begins.
    fn find_header(&mut self, out: Label) {
        let (unset, found) = (self.a.label(), self.a.label());
        self.probe_pointer(R8, R6, self.offsets.head, out);
        self.probe(R6, self.offsets.network_header, Size::Half, out);
        self.a.load_stack(Size::Half, R9, SCRATCH);
        self.a.jump_if(R9, Equal, 0, unset);
        self.a.jump_if(R9, Equal, 0xffff, unset);
        self.a.add_register(R9, R8);
        self.a.jump(found);
        self.a.place(unset);
        self.probe_pointer(R9, R6, self.offsets.data, out);
        self.a.place(found);
    }

    /// Fills the key with addresses, ports, protocol and version.
    fn read_header(&mut self, out: Label) {
        let (version_6, ports) = (self.a.label(), self.a.label());
        for at in 0..5 {
            self.a.put_stack(Size::Double, KEY + 8 * at, 0);
        }
        self.probe_bytes(HEADER, 20, R9, 0, out);
        self.a.load_stack(Size::Byte, R7, HEADER);
        self.a.copy(R0, R7);
        self.a.shift_right(R0, 4);
        self.a.jump_if(R0, Equal, 6, version_6);
        self.a.jump_if(R0, NotEqual, 4, out);
        self.read_version_4(out);
        self.a.jump(ports);
        self.a.place(version_6);
        self.read_version_6(out);
        self.a.place(ports);
        self.a.add_register(R9, R7);
        self.probe_bytes(KEY_PORTS, 4, R9, 0, out);
    }

    /// RFC 791. r7 holds the first byte, and then how long the header is.
    fn read_version_4(&mut self, out: Label) {
        let a = &mut self.a;
        a.and(R7, 0x0f);
        a.shift_left(R7, 2);
        a.load_stack(Size::Byte, R0, HEADER + 6);
        a.and(R0, 0x1f);
        a.jump_if(R0, NotEqual, 0, out);
        a.load_stack(Size::Byte, R0, HEADER + 7);
        a.jump_if(R0, NotEqual, 0, out);
        a.load_stack(Size::Word, R0, HEADER + 12);
        a.store_stack(Size::Word, KEY, R0);
        a.load_stack(Size::Word, R0, HEADER + 16);
        a.store_stack(Size::Word, KEY + 16, R0);
        a.load_stack(Size::Byte, R0, HEADER + 9);
        a.store_stack(Size::Byte, KEY + 36, R0);
        a.put_stack(Size::Byte, KEY + 37, 4);
    }

    /// RFC 8200. Of the extension headers, that of fragments only. r7 becomes how long the headers are.
    fn read_version_6(&mut self, out: Label) {
        let whole = self.a.label();
        self.probe_bytes(KEY, 32, R9, 8, out);
        self.a.set(R7, 40);
        self.a.load_stack(Size::Byte, R0, HEADER + 6);
        self.a.jump_if(R0, NotEqual, FRAGMENT_HEADER, whole);
        self.probe(R9, 40, Size::Double, out);
        self.a.load_stack(Size::Byte, R0, SCRATCH + 2);
        self.a.jump_if(R0, NotEqual, 0, out);
        self.a.load_stack(Size::Byte, R0, SCRATCH + 3);
        self.a.and(R0, 0xf8);
        self.a.jump_if(R0, NotEqual, 0, out);
        self.a.load_stack(Size::Byte, R0, SCRATCH);
        self.a.set(R7, 48);
        self.a.place(whole);
        self.a.store_stack(Size::Byte, KEY + 36, R0);
        self.a.put_stack(Size::Byte, KEY + 37, 6);
    }

    /// With both ports, then with any source port, then with any destination port.
    fn look_up(&mut self, flows: i32, out: Label) {
        let matched = self.a.label();
        self.look_up_key(flows, matched);
        self.a.load_stack(Size::Half, R7, KEY_PORTS);
        self.a.put_stack(Size::Half, KEY_PORTS, 0);
        self.look_up_key(flows, matched);
        self.a.store_stack(Size::Half, KEY_PORTS, R7);
        self.a.put_stack(Size::Half, KEY_PORTS + 2, 0);
        self.look_up_key(flows, matched);
        self.a.jump(out);
        self.a.place(matched);
        self.a.load(Size::Word, R0, R0, 0);
        self.a.store_stack(Size::Word, GROUP, R0);
    }

    fn look_up_key(&mut self, flows: i32, matched: Label) {
        self.a.map(R1, flows);
        self.a.stack_address(R2, KEY);
        self.a.call(Helper::MapLookup);
        self.a.jump_if(R0, NotEqual, 0, matched);
    }

    /// By the receiving socket that the tracepoint names, the packet's device, or its own socket, which may still be the
    /// sender's in another namespace. The last two are other things at times (a queue's links, scratch space): what
    /// does not look like a namespace says nothing, and if none does the packet passes.
    fn compare_netns(&mut self, of: &NetnsOffsets, inode: u32, out: Label) {
        let (device, own, passed) = (self.a.label(), self.a.label(), self.a.label());
        self.a.load_stack(Size::Double, R7, SOCKET);
        self.a.jump_if(R7, Equal, 0, device);
        self.compare_inode(
            of.net_of_socket,
            of.inode_of_net,
            inode,
            [device, passed, out],
        );
        self.a.place(device);
        self.probe_pointer(R7, R6, of.device, own);
        self.a.jump_if(R7, Equal, 0, own);
        self.compare_inode(of.net_of_device, of.inode_of_net, inode, [own, passed, out]);
        self.a.place(own);
        self.probe_pointer(R7, R6, of.socket, passed);
        self.a.jump_if(R7, Equal, 0, passed);
        self.compare_inode(
            of.net_of_socket,
            of.inode_of_net,
            inode,
            [passed, passed, out],
        );
        self.a.place(passed);
    }

    /// r7 has, at `net`, its namespace: unknown, ours, or another.
    fn compare_inode(&mut self, net: i32, of: i32, inode: u32, [unknown, ours, other]: [Label; 3]) {
        self.probe_pointer(R7, R7, net, unknown);
        self.probe(R7, of, Size::Word, unknown);
        self.a.load_stack(Size::Word, R0, SCRATCH);
        self.a.set_wide(R1, u64::from(LEAST_INODE));
        self.a.jump_if_register(R0, Less, R1, unknown);
        self.a.set_wide(R1, u64::from(inode));
        self.a.jump_if_register(R0, NotEqual, R1, other);
        self.a.jump(ours);
    }

    /// r7 becomes the packet's segments: 1 unless it is to be cut, or was put together.
    fn count_segments(&mut self) {
        let (one, done) = (self.a.label(), self.a.label());
        if self.offsets.end_is_address {
            self.probe_pointer(R9, R6, self.offsets.end, one);
        } else {
            self.probe(R6, self.offsets.end, Size::Word, one);
            self.a.load_stack(Size::Word, R9, SCRATCH);
            self.a.add_register(R9, R8);
        }
        self.probe(R9, self.offsets.segments, Size::Half, one);
        self.a.load_stack(Size::Half, R7, SCRATCH);
        self.a.jump_if(R7, NotEqual, 0, done);
        self.a.place(one);
        self.a.set(R7, 1);
        self.a.place(done);
    }

    /// `into = *(base + offset)`, an address.
    fn probe_pointer(&mut self, into: Register, base: Register, offset: i32, failed: Label) {
        self.probe(base, offset, self.offsets.pointer, failed);
        self.a.load_stack(self.offsets.pointer, into, SCRATCH);
    }

    fn probe(&mut self, base: Register, offset: i32, size: Size, failed: Label) {
        self.probe_bytes(SCRATCH, size.bytes(), base, offset, failed);
    }

    /// Kernel memory to the stack; an address that is none goes to `failed`.
    fn probe_bytes(&mut self, to: i16, bytes: i32, base: Register, offset: i32, failed: Label) {
        self.a.stack_address(R1, to);
        self.a.set(R2, bytes);
        self.a.copy(R3, base);
        self.a.add(R3, offset);
        self.a.call(Helper::ProbeReadKernel);
        self.a.jump_if(R0, NotEqual, 0, failed);
    }
}

fn keep_reason(a: &mut Assembler) {
    a.load(Size::Double, R0, R1, REASON_ARGUMENT);
    a.store_stack(Size::Word, REASON, R0);
    a.put_stack(Size::Word, GROUP, 0);
}

/// Adds r7 to the reason's count, and ends.
fn count(a: &mut Assembler, counts: i32) {
    let (known, out) = (a.label(), a.label());
    look_up_reason(a, counts);
    a.jump_if(R0, NotEqual, 0, known);
    a.put_stack(Size::Double, SCRATCH, 0);
    a.map(R1, counts);
    a.stack_address(R2, REASON);
    a.stack_address(R3, SCRATCH);
    a.set(R4, ONLY_IF_NEW);
    a.call(Helper::MapUpdate);
    look_up_reason(a, counts);
    a.jump_if(R0, Equal, 0, out);
    a.place(known);
    a.add_atomically(R0, R7);
    a.place(out);
    a.set(R0, 0);
    a.exit();
}

fn look_up_reason(a: &mut Assembler, counts: i32) {
    a.map(R1, counts);
    a.stack_address(R2, REASON);
    a.call(Helper::MapLookup);
}

/// The tracepoint's arguments, eight bytes each: packet, place in the code, reason, receiving socket (6.11).
const PACKET: i16 = 0;
const REASON_ARGUMENT: i16 = 16;
const SOCKET_ARGUMENT: usize = 3;
/// Places on the stack.
const SCRATCH: i16 = -8;
/// Reason and group: the key of the counts.
const REASON: i16 = -16;
const GROUP: i16 = REASON + 4;
const KEY: i16 = -56;
const KEY_PORTS: i16 = KEY + 32;
const HEADER: i16 = -80;
const SOCKET: i16 = -88;
/// `BPF_NOEXIST`.
const ONLY_IF_NEW: i32 = 1;
/// Next header of RFC 8200.
const FRAGMENT_HEADER: i32 = 44;
/// Namespaces have inodes from about here on (`PROC_DYNAMIC_FIRST`, the initial ones just below).
const LEAST_INODE: u32 = 0xefff_0000;

#[cfg(test)]
mod tests {
    use super::super::kernel::Kernel;
    use super::{NetnsOffsets, Offsets, Size, filtered, unfiltered};
    use crate::bpf::{Map, MapKind, Program, ProgramKind};

    const OFFSETS: Offsets = Offsets {
        arguments: 4,
        pointer: Size::Double,
        head: 200,
        data: 208,
        network_header: 182,
        end: 192,
        end_is_address: false,
        segments: 4,
        netns: Some(NetnsOffsets {
            socket: 24,
            net_of_socket: 48,
            device: 16,
            net_of_device: 280,
            inode_of_net: 160,
        }),
    };

    /// This kernel's and its elders': no socket among the arguments, 32 bits, no namespaces.
    fn variants() -> Vec<Offsets> {
        let older = Offsets {
            arguments: 3,
            ..OFFSETS
        };
        let narrow = Offsets {
            pointer: Size::Word,
            end_is_address: true,
            ..older
        };
        let single = Offsets {
            netns: None,
            ..OFFSETS
        };
        vec![OFFSETS, older, narrow, single]
    }

    #[test]
    fn every_variant_can_be_assembled() {
        for offsets in variants() {
            assert!(filtered(&offsets, Some(1), 3, 4).is_some(), "{offsets:?}");
            assert!(filtered(&offsets, None, 3, 4).is_some(), "{offsets:?}");
        }
        assert!(unfiltered(3).is_some());
    }

    #[test]
    fn the_verifier_takes_every_variant() {
        let map = |name| Map::<8, 8>::create(MapKind::Hash, name, 8);
        let (Ok(counts), Ok(flows)) = (
            map("counts"),
            Map::<40, 4>::create(MapKind::Hash, "flows", 8),
        ) else {
            println!("skipped: this process may not make BPF maps");
            return;
        };
        for offsets in variants().iter().chain(&Kernel::this().offsets) {
            for netns in [None, Some(0xf000_0001)] {
                let code = filtered(offsets, netns, counts.number(), flows.number()).unwrap();
                let loaded = Program::load(ProgramKind::RawTracepoint, "variant", &code);
                assert!(loaded.is_ok(), "{offsets:?}: {}", loaded.unwrap_err());
            }
        }
    }
}
