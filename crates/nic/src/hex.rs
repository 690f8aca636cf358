// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes as text between the hosts and in examples.

/// Two digits a byte.
pub(crate) fn of(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or('0');
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(digit).collect()
}

/// The bytes; `None` for anything else than pairs of digits.
pub(crate) fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |letter: &u8| char::from(*letter).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some(digit(high)? << 4 | digit(low)?);
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes(&of(&all)), Some(all));
        assert_eq!(of(&[0x0A, 0xF0]), "0af0");
        for wrong in ["0", "0g", "+1", "é"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
