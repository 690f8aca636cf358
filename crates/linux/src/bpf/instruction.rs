// SPDX-License-Identifier: MIT OR Apache-2.0
//! One instruction in the kernel's layout. Source: Documentation/bpf/standardization/instruction-set.rst.

/// `struct bpf_insn`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) code: u8,
    registers: u8,
    pub(crate) offset: i16,
    pub(crate) immediate: i32,
}

impl Instruction {
    pub(crate) const fn new(
        code: u8,
        to: Register,
        from: Register,
        offset: i16,
        immediate: i32,
    ) -> Self {
        let (to, from) = (to as u8, from as u8);
        // Bit fields, so their order follows the machine's.
        let registers = if cfg!(target_endian = "little") {
            from << 4 | to
        } else {
            to << 4 | from
        };
        Self {
            code,
            registers,
            offset,
            immediate,
        }
    }
}

/// 0 holds results, 1 to 5 are a call's arguments and lost in it, 6 to 9 stay, 10 is the stack's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Register {
    R0,
    R1,
    R2,
    R3,
    R4,
    R6 = 6,
    R7,
    R8,
    R9,
    R10,
}

/// How much a load or store moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Word = 0x00,
    Half = 0x08,
    Byte = 0x10,
    Double = 0x18,
}

impl Size {
    /// The load of this many bytes, if there is one.
    pub(crate) const fn of_bytes(bytes: u32) -> Option<Self> {
        match bytes {
            1 => Some(Self::Byte),
            2 => Some(Self::Half),
            4 => Some(Self::Word),
            8 => Some(Self::Double),
            _ => None,
        }
    }

    pub(crate) const fn bytes(self) -> i32 {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Word => 4,
            Self::Double => 8,
        }
    }
}

/// Unsigned 64-bit comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Equal = 0x10,
    NotEqual = 0x50,
    Less = 0xa0,
}

/// Functions of the kernel. Source: include/uapi/linux/bpf.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Helper {
    MapLookup = 1,
    MapUpdate = 2,
    /// Linux 4.2.
    CloneRedirect = 13,
    /// Linux 4.3.
    VlanPush = 18,
    /// With the flags as the answer where the map has no entry: Linux 5.3.
    RedirectMap = 51,
    /// Linux 4.18.
    FibLookup = 69,
    /// Linux 5.5.
    ProbeReadKernel = 113,
}
