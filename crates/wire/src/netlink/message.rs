// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages in a datagram: a header of 16 bytes and a payload, aligned to 4.

use super::order::Order;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// What it is; below 16 the control messages of netlink itself.
    pub kind: u16,
    /// The request that it answers.
    pub sequence: u32,
    /// What follows the header.
    pub payload: &'a [u8],
}

/// What a message means to who waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn<'a> {
    /// A part of the answer.
    Part(&'a [u8]),
    /// The answer is complete.
    Done,
    /// The kernel refused with this error number.
    Refused(i32),
}

impl<'a> Message<'a> {
    /// Where it leaves the conversation. An error of number 0 is an acknowledgement.
    #[must_use]
    pub fn turn(&self) -> Turn<'a> {
        let code = || super::attribute::word(self.payload).map_or(0, |code| code as i32);
        match self.kind {
            DONE => Turn::Done,
            ERROR => match code() {
                0 => Turn::Done,
                negative => Turn::Refused(negative.wrapping_neg()),
            },
            _ => Turn::Part(self.payload),
        }
    }
}

/// The messages of a datagram, up to the first that is cut.
pub fn messages(datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let header: &[u8; HEADER_BYTES] = rest.first_chunk()?;
        let word = |at: usize| {
            u32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let length = word(0) as usize;
        let message = Message {
            kind: u16::from_ne_bytes([header[4], header[5]]),
            sequence: word(8),
            payload: rest.get(HEADER_BYTES..length)?,
        };
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some(message)
    })
}

/// A request; `dump` asks for all there is, else for one answer and an acknowledgement.
#[must_use]
pub fn request(kind: u16, dump: bool, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let flags = if dump { DUMP } else { ACKNOWLEDGE };
    framed(kind, flags, sequence, payload)
}

/// An order, to be acknowledged.
#[must_use]
pub fn command(order: &Order, sequence: u32) -> Vec<u8> {
    let flags = ACKNOWLEDGE | order.flags;
    framed(order.kind, flags, sequence, &order.payload)
}

/// `struct nlmsghdr`: length, kind, flags, sequence, port; then the payload.
fn framed(kind: u16, flags: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER_BYTES + payload.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(length as usize);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend((REQUEST | flags).to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

const HEADER_BYTES: usize = 16;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const DUMP: u16 = 0x300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_distinguished_by_length_and_kind() {
        let mut datagram = request(36, true, 7, &[1, 2, 3, 4, 5]);
        datagram.extend([0; 3]);
        datagram.extend(request(DONE, true, 7, &[0; 4]));
        let all: Vec<_> = messages(&datagram).collect();
        assert_eq!((all[0].kind, all[0].sequence), (36, 7));
        assert_eq!(all[0].turn(), Turn::Part(&[1, 2, 3, 4, 5]));
        assert_eq!(all[1].turn(), Turn::Done);
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn an_error_of_zero_is_an_acknowledgement() {
        let error = |code: i32| request(ERROR, false, 1, &code.to_ne_bytes());
        let turn = |bytes: &[u8]| {
            messages(bytes)
                .next()
                .map(|message| format!("{:?}", message.turn()))
        };
        assert_eq!(turn(&error(0)).as_deref(), Some("Done"));
        assert_eq!(turn(&error(-95)).as_deref(), Some("Refused(95)"));
    }

    #[test]
    fn a_cut_or_mad_length_ends_the_datagram() {
        let whole = request(36, true, 7, &[9; 8]);
        for cut in 0..whole.len() {
            assert_eq!(messages(&whole[..cut]).count(), 0, "{cut}");
        }
        let mut mad = whole;
        mad[..4].copy_from_slice(&3_u32.to_ne_bytes());
        assert_eq!(messages(&mad).count(), 0);
    }
}
