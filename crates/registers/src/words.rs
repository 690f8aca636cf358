// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words that a register map may use. Each list is what an error message prints as allowed.

use linerate_knowledge::words;

words! {
    /// How a register is reached.
    Bus {
        /// At an offset into the device's memory.
        Memory = "memory",
        /// By MDIO; the offset is the register's number, 0 to 31 (IEEE 802.3 clause 22).
        Mdio = "mdio",
    }
}

words! {
    /// What software may do with a register.
    Access {
        /// Read and write.
        ReadWrite = "rw",
        /// Only read.
        ReadOnly = "ro",
        /// Write only: a read returns nothing useful.
        WriteOnly = "wo",
        /// A one that is written clears the bit.
        WriteOneClears = "w1c",
    }
}

words! {
    /// What reading a register does to it.
    Read {
        /// Nothing.
        Safe = "safe",
        /// It forgets something that the driver still wants to know.
        Clears = "clears",
        /// Not looked up.
        Unknown = "unknown",
    }
}

words! {
    /// What a field's number counts in.
    Unit {
        /// Bytes.
        Bytes = "bytes",
        /// Frames on the wire.
        Frames = "frames",
        /// Occurrences that are no frames.
        Events = "events",
        /// Descriptors or ring entries.
        Descriptors = "descriptors",
        /// Pause time: 512 bit times each, so that it depends on the link's speed.
        PauseQuanta = "pause-quanta",
        /// Nanoseconds.
        Nanoseconds = "nanoseconds",
        /// Microseconds.
        Microseconds = "microseconds",
        /// Milliseconds.
        Milliseconds = "milliseconds",
        /// Bits on the wire at the link's speed.
        BitTimes = "bit-times",
        /// Not a number to calculate with: an address, an id, a key. Shown in hexadecimal.
        Address = "address",
    }
}

words! {
    /// How the blob of `ethtool -d` is laid out.
    Layout {
        /// The 32-bit word `n` is the register at the offset `4 n`.
        Offset = "offset",
        /// Each register says which 32-bit word it is (`word = n`).
        Words = "words",
    }
}
