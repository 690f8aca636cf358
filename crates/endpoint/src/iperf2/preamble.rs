// SPDX-License-Identifier: MIT OR Apache-2.0
//! The first bytes of a TCP client: its header, awaited for a few seconds whatever its spacing.

use crate::bounded_writer::is_pause;
use crate::stop::Stop;
use linerate_linux::clock::monotonic_ns;
use linerate_linux::tcp;
use linerate_wire::iperf2::client_header::{ClientHeader, EXTENDED};
use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

/// The first bytes of a client. Old ones send no header: then they are data like the rest.
pub(super) struct Preamble {
    /// What it announces; empty without one.
    pub(super) header: ClientHeader,
    /// How many they were.
    pub(super) bytes: u64,
    /// When the first came, monotonic.
    pub(super) begun_ns: u64,
}

impl Preamble {
    /// Reads them, within a few seconds.
    pub(super) fn read(stop: &Stop, stream: &TcpStream) -> Result<Self, String> {
        let deadline_ns = monotonic_ns() + HEADER_NS;
        let mut bytes = [0; ClientHeader::EXTENDED_LEN];
        let (short, long) = bytes.split_at_mut(ClientHeader::LEN);
        let begun_ns = fill(stop, stream, short, deadline_ns)?;
        let more = ClientHeader::decode(short).is_none_or(|header| header.flags & EXTENDED != 0);
        if more {
            fill(stop, stream, long, deadline_ns)?;
        }
        let length = if more { bytes.len() } else { ClientHeader::LEN };
        Ok(Self {
            header: ClientHeader::decode(&bytes[..length]).unwrap_or_default(),
            bytes: length as u64,
            begun_ns,
        })
    }
}

/// Fills `bytes` within the deadline, whatever their spacing; the time of the first.
fn fill(
    stop: &Stop,
    mut stream: &TcpStream,
    bytes: &mut [u8],
    deadline_ns: u64,
) -> Result<u64, String> {
    tcp::set_wait(stream, WAIT).map_err(|error| error.to_string())?;
    let (mut filled, mut first_ns) = (0, None);
    while filled < bytes.len() {
        if stop.is_set() || monotonic_ns() >= deadline_ns {
            return Err(format!(
                "no iperf2 header within {} s",
                HEADER_NS / 1_000_000_000
            ));
        }
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => return Err("connection closed within the header".to_owned()),
            Ok(count) => {
                filled += count;
                first_ns.get_or_insert_with(monotonic_ns);
            }
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(first_ns.unwrap_or(deadline_ns))
}

/// The stop flag is checked this often.
const WAIT: Duration = Duration::from_millis(100);
/// Time for the header.
const HEADER_NS: u64 = 5_000_000_000;
