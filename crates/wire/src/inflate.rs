// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unpacks gzip (RFC 1952: all that is read of it is `/proc/config.gz`) and the deflated stream in it (RFC 1951).

/// The content of a gzip member; `None` if it is damaged or longer than `most_bytes`. The check sum is not looked at:
/// the kernel wrote it into its own memory.
#[must_use]
pub fn gunzip(packed: &[u8], most_bytes: usize) -> Option<Vec<u8>> {
    inflate(body(packed)?, most_bytes)
}

/// The content of a deflated stream; `None` if it is damaged or longer than `most_bytes`.
#[must_use]
pub fn inflate(deflated: &[u8], most_bytes: usize) -> Option<Vec<u8>> {
    let mut bits = Bits {
        bytes: deflated,
        at: 0,
    };
    let mut out = Vec::new();
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out, most_bytes)?,
            1 => coded(
                &mut bits,
                &mut out,
                most_bytes,
                &Code::fixed_lengths(),
                &Code::of(&[5; 30])?,
            )?,
            2 => {
                let (literals, distances) = dynamic(&mut bits)?;
                coded(&mut bits, &mut out, most_bytes, &literals, &distances)?;
            }
            _ => return None,
        }
        if last {
            return Some(out);
        }
    }
}

/// What follows the header with its optional fields.
fn body(packed: &[u8]) -> Option<&[u8]> {
    let (&[0x1f, 0x8b, 8, flags], _) = packed.split_first_chunk()? else {
        return None;
    };
    let mut rest = packed.get(10..)?;
    if flags & EXTRA != 0 {
        let (length, tail) = rest.split_first_chunk()?;
        rest = tail.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for field in [NAME, COMMENT] {
        if flags & field != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    rest.get(if flags & HEADER_CHECK != 0 { 2 } else { 0 }..)
}

/// Bits from the least significant up.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: usize) -> Option<usize> {
        let mut value = 0;
        for bit in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            value |= usize::from(byte >> (self.at % 8) & 1) << bit;
            self.at += 1;
        }
        Some(value)
    }
}

/// A canonical Huffman code: how many words of each length, and the symbols in their order.
struct Code {
    counts: [u16; 16],
    symbols: Vec<u16>,
}

impl Code {
    fn of(lengths: &[u8]) -> Option<Self> {
        let mut counts = [0; 16];
        for length in lengths {
            *counts.get_mut(usize::from(*length))? += 1;
        }
        let mut symbols: Vec<u16> = (0..)
            .take(lengths.len())
            .filter(|symbol| lengths[usize::from(*symbol)] > 0)
            .collect();
        symbols.sort_by_key(|symbol| lengths[usize::from(*symbol)]);
        counts[0] = 0;
        Some(Self { counts, symbols })
    }

    fn fixed_lengths() -> Self {
        let lengths: Vec<u8> = (0..288)
            .map(|symbol| match symbol {
                0..144 => 8,
                144..256 => 9,
                256..280 => 7,
                _ => 8,
            })
            .collect();
        Self::of(&lengths).unwrap_or(Self {
            counts: [0; 16],
            symbols: Vec::new(),
        })
    }

    fn next(&self, bits: &mut Bits<'_>) -> Option<usize> {
        let (mut word, mut first, mut index) = (0, 0, 0);
        for count in self.counts.into_iter().skip(1).map(usize::from) {
            word |= bits.take(1)?;
            if word < first + count {
                return self
                    .symbols
                    .get(index + (word - first))
                    .map(|symbol| usize::from(*symbol));
            }
            index += count;
            first = (first + count) << 1;
            word <<= 1;
        }
        None
    }
}

/// Codes whose lengths are coded themselves.
fn dynamic(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let (literals, distances, count) = (bits.take(5)? + 257, bits.take(5)? + 1, bits.take(4)? + 4);
    let mut lengths = [0; 19];
    for place in ORDER.into_iter().take(count) {
        lengths[place] = u8::try_from(bits.take(3)?).ok()?;
    }
    let code = Code::of(&lengths)?;
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < literals + distances {
        let (length, times) = match code.next(bits)? {
            16 => (*lengths.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (u8::try_from(length).ok()?, 1),
        };
        lengths.resize(lengths.len() + times, length);
    }
    let (first, second) = lengths.get(..literals + distances)?.split_at(literals);
    Some((Code::of(first)?, Code::of(second)?))
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>, most_bytes: usize) -> Option<()> {
    let start = bits.at.div_ceil(8);
    let header: &[u8; 2] = bits.bytes.get(start..)?.first_chunk()?;
    let length = usize::from(u16::from_le_bytes(*header));
    out.extend(bits.bytes.get(start + 4..start + 4 + length)?);
    bits.at = (start + 4 + length) * 8;
    (out.len() <= most_bytes).then_some(())
}

fn coded(
    bits: &mut Bits<'_>,
    out: &mut Vec<u8>,
    most_bytes: usize,
    literals: &Code,
    distances: &Code,
) -> Option<()> {
    loop {
        match literals.next(bits)? {
            256 => return Some(()),
            literal @ 0..256 => out.push(literal as u8),
            symbol => {
                let (base, extra) = *LENGTHS.get(symbol - 257)?;
                let length = base + bits.take(extra)?;
                let (base, extra) = *DISTANCES.get(distances.next(bits)?)?;
                let start = out.len().checked_sub(base + bits.take(extra)?)?;
                (0..length).for_each(|step| out.push(out[start + step]));
            }
        }
        if out.len() > most_bytes {
            return None;
        }
    }
}

const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const HEADER_CHECK: u8 = 2;
/// In which the lengths of the code of lengths stand.
const ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];
/// Base and further bits.
const LENGTHS: [(usize, usize); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];
const DISTANCES: [(usize, usize); 30] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (7, 1),
    (9, 2),
    (13, 2),
    (17, 3),
    (25, 3),
    (33, 4),
    (49, 4),
    (65, 5),
    (97, 5),
    (129, 6),
    (193, 6),
    (257, 7),
    (385, 7),
    (513, 8),
    (769, 8),
    (1025, 9),
    (1537, 9),
    (2049, 10),
    (3073, 10),
    (4097, 11),
    (6145, 11),
    (8193, 12),
    (12289, 12),
    (16385, 13),
    (24577, 13),
];

#[cfg(test)]
mod tests {
    use super::*;

    // As zlib writes them, one block each.
    const DYNAMIC: [u8; 296] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 101, 210, 75, 78, 195, 48, 20, 133, 225, 57, 171, 201,
        125, 217, 201, 160, 131, 54, 74, 1, 65, 211, 208, 20, 169, 98, 226, 21, 176, 0, 118, 15,
        151, 10, 124, 143, 51, 116, 142, 149, 252, 250, 148, 241, 60, 31, 159, 31, 203, 60, 93, 75,
        183, 251, 122, 24, 239, 199, 229, 50, 77, 167, 229, 90, 104, 247, 249, 247, 232, 125, 61,
        20, 174, 55, 158, 62, 138, 212, 113, 61, 45, 69, 235, 120, 156, 198, 98, 117, 189, 45, 107,
        73, 117, 189, 252, 28, 115, 93, 15, 111, 175, 165, 175, 235, 203, 126, 221, 207, 101, 168,
        251, 124, 246, 143, 81, 168, 243, 88, 10, 105, 255, 181, 161, 207, 115, 41, 20, 250, 43,
        66, 161, 7, 83, 72, 244, 98, 10, 141, 158, 76, 33, 210, 155, 41, 84, 122, 52, 133, 200,
        123, 53, 199, 200, 223, 108, 14, 153, 158, 205, 188, 69, 102, 105, 148, 21, 152, 217, 208,
        153, 19, 66, 115, 70, 105, 238, 145, 154, 7, 180, 150, 174, 197, 22, 106, 181, 133, 81, 91,
        100, 171, 45, 138, 218, 98, 160, 45, 9, 181, 37, 163, 182, 244, 168, 45, 3, 106, 107, 135,
        218, 74, 173, 182, 114, 171, 173, 130, 218, 170, 91, 109, 53, 212, 214, 4, 218, 154, 155,
        191, 186, 71, 109, 29, 80, 219, 58, 212, 54, 66, 109, 227, 86, 219, 164, 213, 54, 69, 109,
        179, 173, 182, 37, 212, 182, 12, 218, 214, 163, 182, 13, 168, 157, 58, 212, 78, 132, 218,
        137, 81, 59, 73, 171, 157, 180, 213, 78, 158, 249, 13, 255, 170, 109, 220, 64, 4, 0, 0,
    ];
    const FIXED: [u8; 36] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 115, 246, 247, 115, 243, 116, 143, 247, 115, 13, 177, 173,
        228, 114, 70, 230, 0, 0, 145, 192, 68, 218, 26, 0, 0, 0,
    ];
    const STORED: [u8; 36] = [
        31, 139, 8, 0, 0, 0, 0, 0, 4, 3, 1, 13, 0, 242, 255, 67, 79, 78, 70, 73, 71, 95, 78, 69,
        84, 61, 121, 10, 44, 72, 31, 13, 13, 0, 0, 0,
    ];

    /// What DYNAMIC was made of.
    fn text() -> String {
        let names = [
            "NET", "PREEMPT", "USB", "HZ", "SMP", "FEC", "XPS", "RPS", "BQL", "KASAN", "NO_HZ",
        ];
        let line = |(number, name): (usize, &&str)| {
            let value = if number % 2 == 0 { 'y' } else { 'm' };
            format!("CONFIG_{name}_{number}={value}\n")
        };
        names
            .iter()
            .cycle()
            .take(66)
            .enumerate()
            .map(line)
            .collect()
    }

    #[test]
    fn every_kind_of_block_unpacks() {
        let unpacked =
            |packed: &[u8]| gunzip(packed, 1 << 16).map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(unpacked(&DYNAMIC), Some(text()));
        assert_eq!(
            unpacked(&FIXED).as_deref(),
            Some("CONFIG_NET=y\nCONFIG_NET=y\n")
        );
        assert_eq!(unpacked(&STORED).as_deref(), Some("CONFIG_NET=y\n"));
    }

    #[test]
    fn damage_is_none_and_length_is_bounded() {
        assert_eq!(gunzip(&DYNAMIC, 100), None);
        for packed in [&DYNAMIC[..], &FIXED[..], &STORED[..]] {
            (0..packed.len() - 8)
                .for_each(|cut| assert_eq!(gunzip(&packed[..cut], 1 << 16), None, "{cut}"));
            for at in 0..packed.len() {
                let mut damaged = packed.to_vec();
                damaged[at] ^= 1 << (at % 8);
                // Any result will do, but a panic.
                let _ = gunzip(&damaged, 1 << 16);
            }
        }
    }
}
