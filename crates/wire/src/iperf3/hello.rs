// SPDX-License-Identifier: MIT OR Apache-2.0
//! The four bytes that set up a UDP stream, in the forms of all versions.
//!
//! Stock servers take any datagram for a hello, so a stray one opens a stream there; linerate checks the form.

/// What a new client sends.
pub const HELLO: [u8; 4] = *b"9876";
/// What a new server answers; every version accepts it.
pub const REPLY: [u8; 4] = *b"6789";

const OLD_HELLO: u32 = 123_456_789;
const OLD_REPLY: u32 = 987_654_321;

/// Whether the datagram is a hello: text (3.12+), or a number in the byte order of the sender's machine (≤ 3.11).
#[must_use]
pub fn is_hello(datagram: &[u8]) -> bool {
    is_form_of(datagram, HELLO, OLD_HELLO)
}

/// Whether the datagram is the answer to a hello.
#[must_use]
pub fn is_reply(datagram: &[u8]) -> bool {
    is_form_of(datagram, REPLY, OLD_REPLY)
}

fn is_form_of(datagram: &[u8], text: [u8; 4], number: u32) -> bool {
    [text, number.to_le_bytes(), number.to_be_bytes()]
        .iter()
        .any(|form| datagram == form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_versions_form_is_known() {
        for hello in [
            b"9876",
            &[0x15, 0xCD, 0x5B, 0x07],
            &[0x07, 0x5B, 0xCD, 0x15],
        ] {
            assert!(is_hello(hello) && !is_reply(hello));
        }
        for reply in [
            b"6789",
            &[0xB1, 0x68, 0xDE, 0x3A],
            &[0x3A, 0xDE, 0x68, 0xB1],
        ] {
            assert!(is_reply(reply) && !is_hello(reply));
        }
    }

    #[test]
    fn other_datagrams_are_not() {
        for other in [&b""[..], b"987", b"98765", b"0000"] {
            assert!(!is_hello(other) && !is_reply(other));
        }
    }
}
