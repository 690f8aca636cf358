// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checksum of a journal's lines and of the files of a workbook: CRC-32 of IEEE 802.3, ISO 3309.

/// Of these bytes. Four a step ("slicing", Kounavis and Berry 2005): faster ways have larger tables.
#[must_use]
pub fn of(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks();
    !rest.iter().fold(words.iter().fold(!0, four), one)
}

fn one(crc: u32, byte: &u8) -> u32 {
    TABLES[0][((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8)
}

fn four(crc: u32, word: &[u8; 4]) -> u32 {
    let [a, b, c, d] = (crc ^ u32::from_le_bytes(*word)).to_le_bytes();
    let of = |table: usize, byte: u8| TABLES[table][usize::from(byte)];
    of(3, a) ^ of(2, b) ^ of(1, c) ^ of(0, d)
}

/// What a byte does to the checksum, if none, one, two or three follow it in its word.
static TABLES: [[u32; 256]; 4] = {
    let mut tables = [[0; 256]; 4];
    let mut at = 0;
    while at < 4 * 256 {
        let (table, byte) = (at / 256, at % 256);
        tables[table][byte] = match table {
            0 => divided(byte as u32),
            _ => {
                let before: u32 = tables[table - 1][byte];
                tables[0][(before & 0xff) as usize] ^ (before >> 8)
            }
        };
        at += 1;
    }
    tables
};

const fn divided(mut crc: u32) -> u32 {
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
