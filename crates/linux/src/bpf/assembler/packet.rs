// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instructions that programs on packets use more than others.

use super::super::instruction::{Condition, Register, Size};
use super::{ALU64, AND, Assembler, BY_REGISTER, Label, STORE};
use Register::{R0, R1};

impl Assembler {
    /// Whether something jumps to the label; the verifier refuses what cannot be reached.
    pub(crate) fn is_target(&self, label: Label) -> bool {
        self.jumps.iter().any(|(_, target)| *target == label)
    }

    /// `*(to + offset) = from`.
    pub(crate) fn store(&mut self, size: Size, to: Register, offset: i16, from: Register) {
        self.push(STORE | size as u8, to, from, offset, 0);
    }

    /// `to -= from`.
    pub(crate) fn subtract_register(&mut self, to: Register, from: Register) {
        self.push(ALU64 | BY_REGISTER | SUBTRACT, to, from, 0, 0);
    }

    /// `to &= from`.
    pub(crate) fn and_register(&mut self, to: Register, from: Register) {
        self.push(ALU64 | BY_REGISTER | AND, to, from, 0, 0);
    }

    /// `to` = its lower 32 bits.
    pub(crate) fn truncate(&mut self, to: Register) {
        self.push(MOVE_32, to, to, 0, 0);
    }

    /// Between the network's order and the machine's: the lower 16 bits of `to`, the others 0.
    pub(crate) fn swap_network_half(&mut self, to: Register) {
        self.push(TO_BIG_ENDIAN, to, R0, 0, 16);
    }

    /// Goes to `other` unless the six bytes at `base + offset` are these. Destroys r1.
    pub(crate) fn expect_mac(&mut self, base: Register, offset: i16, mac: [u8; 6], other: Label) {
        for (pair, at) in mac.chunks_exact(2).zip([0, 2, 4]) {
            self.load(Size::Half, R1, base, offset + at);
            let value = u16::from_ne_bytes([pair[0], pair[1]]);
            self.jump_if(R1, Condition::NotEqual, i32::from(value), other);
        }
    }

    /// Folds a sum of 16-bit or 32-bit words to the 16 bits of RFC 1071. Destroys `scratch`.
    pub(crate) fn fold(&mut self, sum: Register, scratch: Register) {
        self.copy(scratch, sum);
        self.shift_right(scratch, 32);
        self.truncate(sum);
        self.add_register(sum, scratch);
        for _carry in 0..FOLDS {
            self.copy(scratch, sum);
            self.shift_right(scratch, 16);
            self.and(sum, 0xffff);
            self.add_register(sum, scratch);
        }
    }
}

/// What a load of two bytes finds where these are in network order.
pub(crate) const fn network(value: u16) -> i32 {
    value.to_be() as i32
}

const SUBTRACT: u8 = 0x10;
const MOVE_32: u8 = 0xbc;
const TO_BIG_ENDIAN: u8 = 0xdc;
/// 33 bits become 18, then 17, then 16.
const FOLDS: usize = 3;

#[cfg(test)]
mod tests {
    use super::super::super::instruction::{Instruction, Register, Size};
    use super::super::Assembler;
    use Register::{R0, R1, R2, R6};

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
        let store = one(|a| a.store(Size::Byte, R6, 22, R1));
        assert_eq!(store, plain(0x73, R6, R1, 22, 0));
        let subtract = one(|a| a.subtract_register(R1, R2));
        assert_eq!(subtract, plain(0x1f, R1, R2, 0, 0));
        assert_eq!(one(|a| a.truncate(R2)), plain(0xbc, R2, R2, 0, 0));
        let swap = one(|a| a.swap_network_half(R1));
        assert_eq!(swap, plain(0xdc, R1, R0, 0, 16));
    }

    #[test]
    fn a_mac_is_compared_in_three_parts() {
        let code = one(|a| {
            let other = a.label();
            a.expect_mac(R6, 0, [1, 2, 3, 4, 5, 6], other);
            a.place(other);
        });
        assert_eq!(code.len(), 6);
        let last = i32::from(u16::from_ne_bytes([5, 6]));
        assert_eq!(code[4], Instruction::new(0x69, R1, R6, 4, 0));
        assert_eq!(code[5], Instruction::new(0x55, R1, R0, 0, last));
    }
}
