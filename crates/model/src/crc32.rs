// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checksum of a journal's lines and of the files of a workbook: CRC-32 of IEEE 802.3, ISO 3309.

use std::sync::OnceLock;

/// Of these bytes. Four a step ("slicing", Kounavis and Berry 2005): faster ways have larger tables.
#[must_use]
pub fn of(bytes: &[u8]) -> u32 {
    let tables = TABLES.get_or_init(tables);
    let (words, rest) = bytes.as_chunks();
    let crc = words.iter().fold(!0, |crc, word| four(tables, crc, *word));
    !rest.iter().fold(crc, |crc, byte| one(tables, crc, *byte))
}

fn one(tables: &Tables, crc: u32, byte: u8) -> u32 {
    tables[0][((crc ^ u32::from(byte)) & 0xff) as usize] ^ (crc >> 8)
}

fn four(tables: &Tables, crc: u32, word: [u8; 4]) -> u32 {
    let [a, b, c, d] = (crc ^ u32::from_le_bytes(word)).to_le_bytes();
    let of = |table: usize, byte: u8| tables[table][usize::from(byte)];
    of(3, a) ^ of(2, b) ^ of(1, c) ^ of(0, d)
}

/// What a byte does to the checksum, if none, one, two or three follow it in its word.
type Tables = [[u32; 256]; 4];

/// Made when they are first needed: they would be in the binary otherwise.
static TABLES: OnceLock<Box<Tables>> = OnceLock::new();

fn tables() -> Box<Tables> {
    let mut tables = Box::new([[0; 256]; 4]);
    for at in 0..256 {
        tables[0][at] = divided(at as u32);
    }
    for table in 1..4 {
        for at in 0..256 {
            let before = tables[table - 1][at];
            tables[table][at] = tables[0][(before & 0xff) as usize] ^ (before >> 8);
        }
    }
    tables
}

fn divided(mut crc: u32) -> u32 {
    let mut bit = 0;
    while bit < 8 {
        crc = match crc & 1 {
            1 => 0xedb8_8320 ^ (crc >> 1),
            _ => crc >> 1,
        };
        bit += 1;
    }
    crc
}

#[cfg(test)]
mod tests {
    /// The check value of CRC-32/ISO-HDLC.
    #[test]
    fn it_is_that_of_ethernet() {
        assert_eq!(super::of(b"123456789"), 0xcbf4_3926);
        assert_eq!(super::of(b""), 0);
        assert_eq!(super::of(&[0; 32]), 0x190a_55ad);
        let text = b"The quick brown fox jumps over the lazy dog";
        assert_eq!(super::of(text), 0x414f_a339);
    }
}
