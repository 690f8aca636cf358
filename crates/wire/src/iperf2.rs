// SPDX-License-Identifier: MIT OR Apache-2.0
//! The small core of iperf2 (port 5001): UDP with its final report, and the header of a client.
//!
//! There is no control connection. Layouts were read off iperf 2.1.8 on a loopback. All fields are big-endian.

pub mod client_header;
pub mod datagram;
pub mod server_report;

fn word(bytes: &[u8], index: usize) -> Option<u32> {
    bytes
        .get(index * 4..)?
        .first_chunk()
        .map(|word| u32::from_be_bytes(*word))
}

fn put(bytes: &mut [u8], index: usize, value: u32) {
    if let Some(word) = bytes.get_mut(index * 4..index * 4 + 4) {
        word.copy_from_slice(&value.to_be_bytes());
    }
}
