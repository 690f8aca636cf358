// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generic netlink (include/uapi/linux/genetlink.h): families are asked for by name.

use super::attribute::{self, find, push, text, unsigned, word};

/// A command of a family: the header of 4 bytes, then its attributes.
#[must_use]
pub fn command(command: u8, attributes: &[u8]) -> Vec<u8> {
    let mut bytes = vec![command, VERSION, 0, 0];
    bytes.extend(attributes);
    bytes
}

/// The attributes of an answer; none if it is cut.
#[must_use]
pub fn attributes(payload: &[u8]) -> &[u8] {
    payload.get(4..).unwrap_or(&[])
}

/// The payload that asks the controller for a family's number.
#[must_use]
pub fn family_request(name: &str) -> Vec<u8> {
    let mut wanted = Vec::new();
    push(&mut wanted, FAMILY_NAME, format!("{name}\0").as_bytes());
    command(GET_FAMILY, &wanted)
}

/// The family's number, which is the kind of its messages.
#[must_use]
pub fn family(payload: &[u8]) -> Option<u16> {
    let id = unsigned(find(attributes(payload), FAMILY_ID)?)?;
    u16::try_from(id).ok()
}

/// The number of the family's multicast group of this name, to which its notifications go.
#[must_use]
pub fn group(payload: &[u8], name: &str) -> Option<u32> {
    let groups = find(attributes(payload), MCAST_GROUPS)?;
    let named = attribute::attributes(groups).map(|(_, group)| group);
    let mut named =
        named.filter(|group| find(group, GROUP_NAME).map(text).as_deref() == Some(name));
    word(find(named.next()?, GROUP_ID)?)
}

/// The kind of messages to the controller.
pub const CONTROLLER: u16 = 0x10;
const VERSION: u8 = 1;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const MCAST_GROUPS: u16 = 7;
const GROUP_NAME: u16 = 1;
const GROUP_ID: u16 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_by_its_name() {
        let mut groups = Vec::new();
        for (at, name) in [(1, "other\0"), (2, "monitor\0")] {
            let mut group = Vec::new();
            push(&mut group, GROUP_NAME, name.as_bytes());
            push(&mut group, GROUP_ID, &(10 + u32::from(at)).to_ne_bytes());
            push(&mut groups, at, &group);
        }
        let mut answer = vec![1, 2, 0, 0];
        push(&mut answer, MCAST_GROUPS, &groups);
        assert_eq!(group(&answer, "monitor"), Some(12));
        assert_eq!(group(&answer, "none"), None);
        assert_eq!(group(&[], "monitor"), None);
    }

    #[test]
    fn a_family_is_a_number() {
        let mut answer = vec![1, 2, 0, 0];
        push(&mut answer, FAMILY_NAME, b"ethtool\0");
        push(&mut answer, FAMILY_ID, &21_u16.to_ne_bytes());
        assert_eq!(family(&answer), Some(21));
        assert_eq!(family(&answer[..3]), None);
        assert_eq!(family_request("netdev")[..4], [GET_FAMILY, VERSION, 0, 0]);
    }
}
