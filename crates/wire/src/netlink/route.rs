// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RTM_GETROUTE` of one destination, as `ip route get` (include/uapi/linux/rtnetlink.h).

use std::net::IpAddr;

use super::attribute::{attributes, push, word};

/// The kind of the request.
pub const GET: u16 = 26;

/// The payload that asks for the route to `destination`.
#[must_use]
pub fn request(destination: IpAddr) -> Vec<u8> {
    let (family, octets) = match destination {
        IpAddr::V4(ip) => (INET, ip.octets().to_vec()),
        IpAddr::V6(ip) => (INET6, ip.octets().to_vec()),
    };
    let mut bytes = vec![0; HEADER_BYTES];
    bytes[0] = family;
    bytes[1] = u8::try_from(octets.len() * 8).unwrap_or(0);
    push(&mut bytes, DESTINATION, &octets);
    bytes
}

/// The number of the interface through which it goes.
#[must_use]
pub fn interface(payload: &[u8]) -> Option<u32> {
    let mut all = attributes(payload.get(HEADER_BYTES..)?);
    all.find(|(kind, _)| *kind == INTERFACE)
        .and_then(|(_, value)| word(value))
}

/// `struct rtmsg`.
const HEADER_BYTES: usize = 12;
const INET: u8 = 2;
const INET6: u8 = 10;
const DESTINATION: u16 = 1;
const INTERFACE: u16 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_asked_for_and_an_interface_is_read() {
        let asked = request("198.18.0.2".parse().unwrap());
        assert_eq!(asked[..2], [2, 32]);
        assert_eq!(asked[16..], [198, 18, 0, 2]);
        assert_eq!(request("::1".parse().unwrap())[..2], [10, 128]);
        let mut answer = vec![0; HEADER_BYTES];
        push(&mut answer, DESTINATION, &[198, 18, 0, 2]);
        assert_eq!(interface(&answer), None);
        push(&mut answer, INTERFACE, &7_u32.to_ne_bytes());
        assert_eq!(interface(&answer), Some(7));
        assert_eq!(interface(&[]), None);
    }
}
