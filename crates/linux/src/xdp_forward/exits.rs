// SPDX-License-Identifier: MIT OR Apache-2.0
//! The beginning and the ends that the programs share: reading the frame's bounds, counting, passing, redirecting.

use super::verdict::Verdict;
use crate::bpf::{Assembler, Condition, Helper, Label, Register, Size};
use Condition::{Equal, Less};
use Register::{R0, R1, R2, R3, R4, R6, R7, R8, R9};

/// One of the two ports, as the program of that port knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Port {
    pub(super) mac: [u8; 6],
    pub(super) index: u32,
}

/// What a program is made for: where frames come in, where they go out, and the maps' descriptors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) own: Port,
    pub(super) other: Port,
    /// The other port's entry in `ports`.
    pub(super) other_slot: i32,
    pub(super) counts: i32,
    pub(super) ports: i32,
}

/// The labels of all ways to pass a frame to the kernel.
#[derive(Debug)]
pub(super) struct Exits([Label; Verdict::ALL.len()]);

impl Exits {
    pub(super) fn new(a: &mut Assembler) -> Self {
        Self(Verdict::ALL.map(|_| a.label()))
    }

    /// Where a frame with this verdict goes.
    pub(super) fn of(&self, verdict: Verdict) -> Label {
        self.0[verdict as usize]
    }

    /// Writes the exits that are in use: the verdict's number in r9, then one common end.
    pub(super) fn write(&self, a: &mut Assembler, place: &Place) {
        let end = a.label();
        let passing = Verdict::ALL
            .into_iter()
            .filter(|verdict| a.is_target(self.of(*verdict)))
            .collect::<Vec<_>>();
        for verdict in passing {
            a.place(self.of(verdict));
            a.set(R9, verdict as i32);
            a.jump(end);
        }
        a.place(end);
        count(a, place.counts);
        a.set(R0, PASS);
        a.exit();
    }
}

/// r6 = the context, r7 = the frame, r8 = its end; frames shorter than `least` are not understood.
pub(super) fn read_bounds(a: &mut Assembler, least: i32, short: Label) {
    a.copy(R6, R1);
    a.load(Size::Word, R7, R6, DATA);
    a.load(Size::Word, R8, R6, DATA_END);
    a.copy(R4, R7);
    a.add(R4, least);
    a.jump_if_register(R8, Less, R4, short);
}

/// Counts the frame and sends it out of the other port. Where that is gone, the frame is dropped: it may be changed already.
pub(super) fn redirect(a: &mut Assembler, place: &Place) {
    a.set(R9, Verdict::Redirected as i32);
    count(a, place.counts);
    a.map(R1, place.ports);
    a.set(R2, place.other_slot);
    a.set(R3, ABORTED);
    a.call(Helper::RedirectMap);
    a.exit();
}

/// Adds one to the counter that r9 names, which belongs to this processor alone.
pub(super) fn count(a: &mut Assembler, counts: i32) {
    let out = a.label();
    a.store_stack(Size::Word, COUNTER, R9);
    a.map(R1, counts);
    a.stack_address(R2, COUNTER);
    a.call(Helper::MapLookup);
    a.jump_if(R0, Equal, 0, out);
    a.load(Size::Double, R1, R0, 0);
    a.add(R1, 1);
    a.store(Size::Double, R0, 0, R1);
    a.place(out);
}

/// `struct xdp_md`.
const DATA: i16 = 0;
const DATA_END: i16 = 4;
/// `XDP_ABORTED` and `XDP_PASS`.
const ABORTED: i32 = 0;
const PASS: i32 = 2;
/// A place on the stack, below what else is there.
const COUNTER: i16 = -72;
