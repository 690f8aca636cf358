// SPDX-License-Identifier: MIT OR Apache-2.0
//! Assembles instructions, with jumps to labels. No system calls.

pub(super) mod packet;

use super::instruction::{Condition, Helper, Instruction, Register, Size};
use Register::{R0, R10};

/// A target of forward jumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// A program under construction.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    code: Vec<Instruction>,
    /// Which instruction jumps to which label.
    jumps: Vec<(usize, Label)>,
    /// The position of each placed label.
    places: Vec<Option<usize>>,
}

impl Assembler {
    pub(crate) fn label(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() - 1)
    }

    /// Places the label here.
    pub(crate) fn place(&mut self, label: Label) {
        self.places[label.0] = Some(self.code.len());
    }

    /// `to = value`, extended by its sign.
    pub(crate) fn set(&mut self, to: Register, value: i32) {
        self.push(ALU64 | MOVE, to, R0, 0, value);
    }

    /// `to = value`, all 64 bits.
    pub(crate) fn set_wide(&mut self, to: Register, value: u64) {
        self.wide(to, R0, value);
    }

    /// `to = from`.
    pub(crate) fn copy(&mut self, to: Register, from: Register) {
        self.push(ALU64 | BY_REGISTER | MOVE, to, from, 0, 0);
    }

    /// `to += value`.
    pub(crate) fn add(&mut self, to: Register, value: i32) {
        self.push(ALU64 | ADD, to, R0, 0, value);
    }

    /// `to += from`.
    pub(crate) fn add_register(&mut self, to: Register, from: Register) {
        self.push(ALU64 | BY_REGISTER | ADD, to, from, 0, 0);
    }

    /// `to &= value`.
    pub(crate) fn and(&mut self, to: Register, value: i32) {
        self.push(ALU64 | AND, to, R0, 0, value);
    }

    /// `to <<= bits`.
    pub(crate) fn shift_left(&mut self, to: Register, bits: i32) {
        self.push(ALU64 | LEFT, to, R0, 0, bits);
    }

    /// `to >>= bits`, filled with zeros.
    pub(crate) fn shift_right(&mut self, to: Register, bits: i32) {
        self.push(ALU64 | RIGHT, to, R0, 0, bits);
    }

    /// `to = *(from + offset)`, filled with zeros.
    pub(crate) fn load(&mut self, size: Size, to: Register, from: Register, offset: i16) {
        self.push(LOAD | size as u8, to, from, offset, 0);
    }

    /// `to = *(stack + offset)`.
    pub(crate) fn load_stack(&mut self, size: Size, to: Register, offset: i16) {
        self.load(size, to, R10, offset);
    }

    /// `*(stack + offset) = from`.
    pub(crate) fn store_stack(&mut self, size: Size, offset: i16, from: Register) {
        self.push(STORE | size as u8, R10, from, offset, 0);
    }

    /// `*(stack + offset) = value`.
    pub(crate) fn put_stack(&mut self, size: Size, offset: i16, value: i32) {
        self.push(PUT | size as u8, R10, R0, offset, value);
    }

    /// `to = stack + offset`.
    pub(crate) fn stack_address(&mut self, to: Register, offset: i16) {
        self.copy(to, R10);
        self.add(to, i32::from(offset));
    }

    /// `to` = the map of this descriptor.
    pub(crate) fn map(&mut self, to: Register, descriptor: i32) {
        self.push(WIDE, to, MAP_DESCRIPTOR, 0, descriptor);
        self.push(0, R0, R0, 0, 0);
    }

    /// `*(u64 *)to += from`, at once.
    pub(crate) fn add_atomically(&mut self, to: Register, from: Register) {
        self.push(STORE_ATOMICALLY, to, from, 0, i32::from(ADD));
    }

    /// Calls the kernel: `r0 = helper(r1, …)`.
    pub(crate) fn call(&mut self, helper: Helper) {
        self.push(CALL, R0, R0, 0, helper as i32);
    }

    /// `if register CONDITION value goto label`, the value extended by its sign.
    pub(crate) fn jump_if(
        &mut self,
        register: Register,
        condition: Condition,
        value: i32,
        label: Label,
    ) {
        self.jumps.push((self.code.len(), label));
        self.push(JUMP | condition as u8, register, R0, 0, value);
    }

    /// `if register CONDITION other goto label`.
    pub(crate) fn jump_if_register(
        &mut self,
        register: Register,
        condition: Condition,
        other: Register,
        label: Label,
    ) {
        self.jumps.push((self.code.len(), label));
        let code = JUMP | BY_REGISTER | condition as u8;
        self.push(code, register, other, 0, 0);
    }

    /// `goto label`.
    pub(crate) fn jump(&mut self, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.push(JUMP, R0, R0, 0, 0);
    }

    /// Ends the program with `r0`.
    pub(crate) fn exit(&mut self) {
        self.push(EXIT, R0, R0, 0, 0);
    }

    /// Returns the program; `None` if a label is missing, before its jump, or too far away.
    pub(crate) fn finish(mut self) -> Option<Vec<Instruction>> {
        for (from, label) in &self.jumps {
            let over = self.places[label.0]?.checked_sub(from + 1)?;
            self.code[*from].offset = i16::try_from(over).ok()?;
        }
        Some(self.code)
    }

    fn wide(&mut self, to: Register, kind: Register, value: u64) {
        self.push(WIDE, to, kind, 0, value as i32);
        self.push(0, R0, R0, 0, (value >> 32) as i32);
    }

    fn push(&mut self, code: u8, to: Register, from: Register, offset: i16, immediate: i32) {
        let instruction = Instruction::new(code, to, from, offset, immediate);
        self.code.push(instruction);
    }
}

const ALU64: u8 = 0x07;
const BY_REGISTER: u8 = 0x08;
const ADD: u8 = 0x00;
const AND: u8 = 0x50;
const LEFT: u8 = 0x60;
const RIGHT: u8 = 0x70;
const MOVE: u8 = 0xb0;
const WIDE: u8 = 0x18;
const LOAD: u8 = 0x61;
const PUT: u8 = 0x62;
const STORE: u8 = 0x63;
const STORE_ATOMICALLY: u8 = 0xdb;
const JUMP: u8 = 0x05;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
/// `BPF_PSEUDO_MAP_FD` in the place of a register.
const MAP_DESCRIPTOR: Register = Register::R1;

#[cfg(test)]
mod tests {
    use super::super::instruction::{Condition, Helper, Instruction, Register, Size};
    use super::Assembler;
    use Register::{R0, R1, R2, R6, R10};

    /// As `bpftool prog dump` shows an instruction: code, to, from, offset, immediate.
    fn one(write: impl FnOnce(&mut Assembler)) -> Vec<Instruction> {
        let mut a = Assembler::default();
        write(&mut a);
        a.finish().unwrap()
    }

    #[test]
    fn instructions_are_those_of_the_specification() {
        let plain = |code, to, from, offset, immediate| {
            vec![Instruction::new(code, to, from, offset, immediate)]
        };
        assert_eq!(one(|a| a.set(R1, -2)), plain(0xb7, R1, R0, 0, -2));
        assert_eq!(one(|a| a.copy(R6, R1)), plain(0xbf, R6, R1, 0, 0));
        assert_eq!(one(|a| a.add(R2, 8)), plain(0x07, R2, R0, 0, 8));
        assert_eq!(one(|a| a.add_register(R2, R6)), plain(0x0f, R2, R6, 0, 0));
        assert_eq!(one(|a| a.and(R0, 15)), plain(0x57, R0, R0, 0, 15));
        assert_eq!(one(|a| a.shift_left(R0, 2)), plain(0x67, R0, R0, 0, 2));
        assert_eq!(one(|a| a.shift_right(R0, 4)), plain(0x77, R0, R0, 0, 4));
        let load = one(|a| a.load(Size::Double, R2, R1, 16));
        assert_eq!(load, plain(0x79, R2, R1, 16, 0));
        let load = one(|a| a.load_stack(Size::Half, R0, -8));
        assert_eq!(load, plain(0x69, R0, R10, -8, 0));
        let store = one(|a| a.store_stack(Size::Byte, -28, R0));
        assert_eq!(store, plain(0x73, R10, R0, -28, 0));
        let put = one(|a| a.put_stack(Size::Word, -16, 7));
        assert_eq!(put, plain(0x62, R10, R0, -16, 7));
        assert_eq!(one(|a| a.add_atomically(R0, R6)), plain(0xdb, R0, R6, 0, 0));
        let call = one(|a| a.call(Helper::ProbeReadKernel));
        assert_eq!(call, plain(0x85, R0, R0, 0, 113));
        assert_eq!(one(Assembler::exit), plain(0x95, R0, R0, 0, 0));
    }

    #[test]
    fn wide_values_take_two_places() {
        let code = one(|a| a.set_wide(R1, 0xf000_0000_0000_0001));
        let second = Instruction::new(0, R0, R0, 0, 0xf000_0000_u32 as i32);
        assert_eq!(code, [Instruction::new(0x18, R1, R0, 0, 1), second]);
        let code = one(|a| a.map(R1, 5));
        assert_eq!(code[0], Instruction::new(0x18, R1, R1, 0, 5));
    }

    #[test]
    fn a_jump_counts_what_lies_between() {
        let code = one(|a| {
            let end = a.label();
            a.jump_if(R0, Condition::Equal, 6, end);
            a.jump_if_register(R0, Condition::NotEqual, R1, end);
            a.map(R1, 5);
            a.jump(end);
            a.place(end);
            a.exit();
        });
        assert_eq!(code[0], Instruction::new(0x15, R0, R0, 4, 6));
        assert_eq!(code[1], Instruction::new(0x5d, R0, R1, 3, 0));
        assert_eq!(code[4], Instruction::new(0x05, R0, R0, 0, 0));
    }

    #[test]
    fn a_label_that_is_missing_or_before_its_jump_is_an_error() {
        let mut nowhere = Assembler::default();
        let label = nowhere.label();
        nowhere.jump(label);
        assert_eq!(nowhere.finish(), None);
        let mut back = Assembler::default();
        let label = back.label();
        back.place(label);
        back.jump(label);
        assert_eq!(back.finish(), None);
    }

    #[test]
    fn an_instruction_has_eight_bytes() {
        assert_eq!(size_of::<Instruction>(), 8);
    }
}
