// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forwards plain IPv4 and IPv6 packets by the kernel's routes and neighbours; everything else passes to the kernel, unchanged.
//! Sources: RFC 1812; RFC 8200; net/ipv4/ip_forward.c and net/ipv6/ip6_output.c, which it must not differ from; `struct
//! bpf_fib_lookup` in include/uapi/linux/bpf.h.

use super::exits::{Exits, Place, read_bounds, redirect};
use super::verdict::Verdict;
use crate::bpf::{Assembler, Condition, Helper, Instruction, Label, Register, Size, network};
use Condition::{Equal, Less, NotEqual};
use Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9};

/// At each frame that the port receives; `None` never.
pub(super) fn program(place: &Place) -> Option<Vec<Instruction>> {
    let mut a = Assembler::default();
    let exits = Exits::new(&mut a);
    let mut route = Route { a, exits, place };
    route.read_ethernet();
    route.forward_version_4();
    route.exits.write(&mut route.a, place);
    route.a.finish()
}

/// Throughout: r6 is the context, r7 the frame, r8 its end.
struct Route<'p> {
    a: Assembler,
    exits: Exits,
    place: &'p Place,
}

impl Route<'_> {
    /// Passes what is not for this port, and goes on with IPv4, or in [`Self::forward_version_6`].
    fn read_ethernet(&mut self) {
        let (short, foreign) = (self.pass(Verdict::Protocol), self.pass(Verdict::Address));
        let group = self.pass(Verdict::Group);
        read_bounds(&mut self.a, LEAST_BYTES, short);
        self.a.load(Size::Byte, R1, R7, 0);
        self.a.and(R1, 1);
        self.a.jump_if(R1, NotEqual, 0, group);
        self.a.expect_mac(R7, 0, self.place.own.mac, foreign);
    }

    fn forward_version_4(&mut self) {
        let version_6 = self.a.label();
        self.a.load(Size::Half, R1, R7, TYPE);
        self.a.jump_if(R1, NotEqual, network(IPV4), version_6);
        self.check_header_4();
        self.check_checksum();
        self.check_addresses_4();
        self.look_back();
        self.ask_4();
        self.look_up();
        self.rewrite_macs();
        self.age_4();
        redirect(&mut self.a, self.place);
        self.a.place(version_6);
        self.forward_version_6();
    }

    fn forward_version_6(&mut self) {
        let other = self.pass(Verdict::Protocol);
        self.a.jump_if(R1, NotEqual, network(IPV6), other);
        self.check_header_6();
        self.check_addresses_6();
        self.ask_6();
        self.look_up();
        self.rewrite_macs();
        self.a.load(Size::Byte, R1, R7, HOP_LIMIT);
        self.a.add(R1, -1);
        self.a.store(Size::Byte, R7, HOP_LIMIT, R1);
        redirect(&mut self.a, self.place);
    }

    /// No options, no fragment, a length that fits, a TTL to take one from.
    fn check_header_4(&mut self) {
        let header = self.pass(Verdict::Header);
        self.expect_byte(IP, 0x45, header);
        self.a.load(Size::Half, R9, R7, TOTAL_LENGTH);
        self.a.swap_network_half(R9);
        self.a.jump_if(R9, Less, HEADER_BYTES, header);
        self.check_length(header);
        self.a.load(Size::Half, R1, R7, FRAGMENT);
        // All but "don't fragment".
        self.a.and(R1, network(0xbfff));
        let fragment = self.pass(Verdict::Fragment);
        self.a.jump_if(R1, NotEqual, 0, fragment);
        self.check_hops(TTL);
    }

    /// r9 bytes of IP must be there, and nothing behind them but the padding of the shortest frame.
    fn check_length(&mut self, header: Label) {
        let exact = self.a.label();
        self.a.copy(R2, R8);
        self.a.subtract_register(R2, R7);
        self.a.add(R2, -ETHERNET_BYTES);
        self.a.jump_if_register(R2, Less, R9, header);
        self.a.jump_if_register(R2, Equal, R9, exact);
        self.a.jump_if(R2, Less, SHORTEST_PACKET_BYTES + 1, exact);
        self.a.jump(header);
        self.a.place(exact);
    }

    fn check_hops(&mut self, at: i16) {
        let old = self.pass(Verdict::HopLimit);
        self.a.load(Size::Byte, R1, R7, at);
        self.a.jump_if(R1, Less, 2, old);
    }

    fn check_checksum(&mut self) {
        let header = self.pass(Verdict::Header);
        self.a.set(R2, 0);
        for word in 0..5 {
            self.a.load(Size::Word, R1, R7, IP + 4 * word);
            self.a.add_register(R2, R1);
        }
        self.a.fold(R2, R3);
        self.a.jump_if(R2, NotEqual, 0xffff, header);
    }

    /// Networks 0 and 127, groups and what is above them are for the kernel to judge (RFC 1812, 5.3.7).
    fn check_addresses_4(&mut self) {
        let special = self.pass(Verdict::Special);
        for at in [SOURCE_4, DESTINATION_4] {
            let usual = self.a.label();
            self.a.load(Size::Byte, R1, R7, at);
            self.a.jump_if(R1, Equal, 0, special);
            self.a.jump_if(R1, Equal, 127, special);
            self.a.jump_if(R1, Less, 224, usual);
            self.a.jump(special);
            self.a.place(usual);
        }
    }

    /// The route to the source must lead to this port: the kernel refuses sources that are its own addresses, and others
    /// according to `rp_filter`, of which the lookup knows nothing.
    fn look_back(&mut self) {
        let (special, known) = (self.pass(Verdict::Special), self.a.label());
        self.begin_question(AF_INET);
        self.a.load(Size::Byte, R1, R7, TOS);
        self.a.store_stack(Size::Byte, ASK_TOS, R1);
        self.copy_to_stack(ASK_SOURCE, DESTINATION_4, 1);
        self.copy_to_stack(ASK_DESTINATION, SOURCE_4, 1);
        self.call_lookup();
        self.a.jump_if(R0, Equal, NO_NEIGHBOUR, known);
        self.a.jump_if(R0, NotEqual, 0, special);
        self.a.place(known);
        self.expect_interface(self.place.own.index, special);
    }

    fn ask_4(&mut self) {
        self.begin_question(AF_INET);
        self.a.load(Size::Byte, R1, R7, TOS);
        self.a.store_stack(Size::Byte, ASK_TOS, R1);
        self.a.load(Size::Byte, R1, R7, PROTOCOL);
        self.ask_transport(PORTS_4);
        self.copy_to_stack(ASK_SOURCE, SOURCE_4, 1);
        self.copy_to_stack(ASK_DESTINATION, DESTINATION_4, 1);
    }

    /// A plain header and a length that fits. Extension headers pass, and so do jumbograms, which have one.
    fn check_header_6(&mut self) {
        let (header, plain) = (self.pass(Verdict::Header), self.a.label());
        self.a.load(Size::Byte, R1, R7, IP);
        self.a.and(R1, 0xf0);
        self.a.jump_if(R1, NotEqual, 0x60, header);
        self.a.load(Size::Byte, R1, R7, NEXT_HEADER);
        for protocol in [TCP, UDP, ICMPV6] {
            self.a.jump_if(R1, Equal, protocol, plain);
        }
        self.a.jump(header);
        self.a.place(plain);
        self.a.load(Size::Half, R9, R7, PAYLOAD_LENGTH);
        self.a.swap_network_half(R9);
        self.a.add(R9, HEADER_6_BYTES);
        self.check_length(header);
        self.check_hops(HOP_LIMIT);
    }

    /// Both addresses must be global unicast (2000::/3) or unique local (fc00::/7).
    fn check_addresses_6(&mut self) {
        let special = self.pass(Verdict::Special);
        for at in [SOURCE_6, DESTINATION_6] {
            let usual = self.a.label();
            self.a.load(Size::Byte, R1, R7, at);
            self.a.copy(R2, R1);
            self.a.and(R1, 0xe0);
            self.a.jump_if(R1, Equal, 0x20, usual);
            self.a.and(R2, 0xfe);
            self.a.jump_if(R2, NotEqual, 0xfc, special);
            self.a.place(usual);
        }
    }

    fn ask_6(&mut self) {
        self.begin_question(AF_INET6);
        self.a.load(Size::Word, R1, R7, IP);
        self.a.set_wide(R2, u64::from(FLOW_INFORMATION.to_be()));
        self.a.and_register(R1, R2);
        self.a.store_stack(Size::Word, ASK_TOS, R1);
        self.a.load(Size::Byte, R1, R7, NEXT_HEADER);
        self.ask_transport(PORTS_6);
        self.copy_to_stack(ASK_SOURCE, SOURCE_6, 4);
        self.copy_to_stack(ASK_DESTINATION, DESTINATION_6, 4);
    }

    /// A question about frames that came in here, with all else 0. Length 0: the MTU does not matter.
    fn begin_question(&mut self, family: i32) {
        for at in (0..ASK_BYTES).step_by(8) {
            self.a.put_stack(Size::Double, ASK + at, 0);
        }
        self.a.put_stack(Size::Byte, ASK, family);
        self.a.set_wide(R1, u64::from(self.place.own.index));
        self.a.store_stack(Size::Word, ASK_INTERFACE, R1);
    }

    /// The protocol of r1, the ports where it has some, and the length of r9: for rules of policy routing and the MTU.
    fn ask_transport(&mut self, ports: i16) {
        let (has_ports, done) = (self.a.label(), self.a.label());
        self.a.store_stack(Size::Half, ASK_LENGTH, R9);
        self.a.store_stack(Size::Byte, ASK_PROTOCOL, R1);
        self.a.jump_if(R1, Equal, TCP, has_ports);
        self.a.jump_if(R1, NotEqual, UDP, done);
        self.a.place(has_ports);
        for at in [0, 2] {
            self.a.load(Size::Half, R1, R7, ports + at);
            self.a.store_stack(Size::Half, ASK_PORTS + at, R1);
        }
        self.a.place(done);
    }

    /// Asks for route and neighbour; goes on only if the other port is next.
    fn look_up(&mut self) {
        let found = self.a.label();
        self.call_lookup();
        self.a.jump_if(R0, Equal, 0, found);
        let (neighbour, long) = (self.pass(Verdict::Neighbour), self.pass(Verdict::TooLong));
        self.a.jump_if(R0, Equal, NO_NEIGHBOUR, neighbour);
        self.a.jump_if(R0, Equal, TOO_LONG, long);
        let route = self.pass(Verdict::Route);
        self.a.jump(route);
        self.a.place(found);
        let elsewhere = self.pass(Verdict::Elsewhere);
        self.expect_interface(self.place.other.index, elsewhere);
    }

    fn call_lookup(&mut self) {
        self.a.copy(R1, R6);
        self.a.stack_address(R2, ASK);
        self.a.set(R3, i32::from(ASK_BYTES));
        self.a.set(R4, 0);
        self.a.call(Helper::FibLookup);
    }

    fn expect_interface(&mut self, index: u32, otherwise: Label) {
        self.a.load_stack(Size::Word, R1, ASK_INTERFACE);
        self.a.set_wide(R2, u64::from(index));
        self.a.jump_if_register(R1, NotEqual, R2, otherwise);
    }

    /// The next hop's and the port's own.
    fn rewrite_macs(&mut self) {
        for (to, from) in [(0, ASK_NEXT_HOP), (6, ASK_OWN)] {
            for at in [0, 2, 4] {
                self.a.load_stack(Size::Half, R1, from + at);
                self.a.store(Size::Half, R7, to + at, R1);
            }
        }
    }

    /// As `ip_decrease_ttl` (include/net/ip.h; RFC 1624).
    fn age_4(&mut self) {
        let done = self.a.label();
        self.a.load(Size::Byte, R1, R7, TTL);
        self.a.add(R1, -1);
        self.a.store(Size::Byte, R7, TTL, R1);
        self.a.load(Size::Half, R1, R7, CHECKSUM);
        self.a.add(R1, network(0x0100));
        self.a.jump_if(R1, Less, 0xffff, done);
        self.a.add(R1, 1);
        self.a.place(done);
        self.a.store(Size::Half, R7, CHECKSUM, R1);
    }

    fn expect_byte(&mut self, at: i16, value: i32, otherwise: Label) {
        self.a.load(Size::Byte, R1, R7, at);
        self.a.jump_if(R1, NotEqual, value, otherwise);
    }

    fn copy_to_stack(&mut self, to: i16, from: i16, words: i16) {
        for at in (0..4 * words).step_by(4) {
            self.a.load(Size::Word, R1, R7, from + at);
            self.a.store_stack(Size::Word, to + at, R1);
        }
    }

    fn pass(&self, verdict: Verdict) -> Label {
        self.exits.of(verdict)
    }
}

/// Ethernet, IPv4, ports: as far as is read of IPv4 at least; with IPv6 and ports, less than any frame on a wire.
const LEAST_BYTES: i32 = ETHERNET_BYTES + HEADER_6_BYTES + 4;
const ETHERNET_BYTES: i32 = 14;
const HEADER_BYTES: i32 = 20;
const HEADER_6_BYTES: i32 = 40;
/// What a frame of 64 bytes carries, without Ethernet's header and check sequence.
const SHORTEST_PACKET_BYTES: i32 = 46;
const TYPE: i16 = 12;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const IP: i16 = 14;
const TOS: i16 = IP + 1;
const TOTAL_LENGTH: i16 = IP + 2;
const FRAGMENT: i16 = IP + 6;
const TTL: i16 = IP + 8;
const PROTOCOL: i16 = IP + 9;
const CHECKSUM: i16 = IP + 10;
const SOURCE_4: i16 = IP + 12;
const DESTINATION_4: i16 = IP + 16;
const PORTS_4: i16 = IP + 20;
const PAYLOAD_LENGTH: i16 = IP + 4;
const NEXT_HEADER: i16 = IP + 6;
const HOP_LIMIT: i16 = IP + 7;
const SOURCE_6: i16 = IP + 8;
const DESTINATION_6: i16 = IP + 24;
const PORTS_6: i16 = IP + 40;
/// Traffic class and flow label, `IPV6_FLOWINFO_MASK`.
const FLOW_INFORMATION: u32 = 0x0fff_ffff;
const TCP: i32 = 6;
const UDP: i32 = 17;
const ICMPV6: i32 = 58;
const AF_INET: i32 = libc::AF_INET;
const AF_INET6: i32 = libc::AF_INET6;
/// `BPF_FIB_LKUP_RET_NO_NEIGH` and `BPF_FIB_LKUP_RET_FRAG_NEEDED`.
const NO_NEIGHBOUR: i32 = 7;
const TOO_LONG: i32 = 8;
/// `struct bpf_fib_lookup` on the stack.
const ASK: i16 = -ASK_BYTES;
const ASK_BYTES: i16 = 64;
const ASK_PROTOCOL: i16 = ASK + 1;
const ASK_PORTS: i16 = ASK + 2;
const ASK_LENGTH: i16 = ASK + 6;
const ASK_INTERFACE: i16 = ASK + 8;
const ASK_TOS: i16 = ASK + 12;
const ASK_SOURCE: i16 = ASK + 16;
const ASK_DESTINATION: i16 = ASK + 32;
const ASK_OWN: i16 = ASK + 52;
const ASK_NEXT_HOP: i16 = ASK + 58;
