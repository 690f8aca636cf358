// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a link: the PHY's signal quality index (OPEN Alliance TC1), and why there is no link.

use super::super::attribute::{find, unsigned};
use super::{generic, header};

/// The payload that asks for it (`ethtool X`, Linux 5.6).
#[must_use]
pub fn request(index: u32) -> Vec<u8> {
    generic::command(LINKSTATE_GET, &header(LINKSTATE_HEADER, index, 0))
}

/// In the words of `ethtool X`; what the driver does not report is absent.
#[must_use]
pub fn values(payload: &[u8]) -> Vec<(String, String)> {
    let state = generic::attributes(payload);
    let number = |kind| find(state, kind).and_then(unsigned);
    let mut values = Vec::new();
    let mut put = |name: &str, value: String| values.push((name.to_owned(), value));
    if let Some(index) = number(SQI) {
        let of = number(SQI_MAX).map_or_else(String::new, |most| format!("/{most}"));
        put("SQI", format!("{index}{of}"));
    }
    let has_link = number(LINK) == Some(1);
    if let Some(why) = number(EXT_STATE).filter(|_| !has_link).and_then(reason) {
        let detail = number(EXT_STATE).zip(number(EXT_SUBSTATE));
        let detail = detail.and_then(|(state, substate)| detail_of(state, substate));
        let detail = detail.map_or_else(String::new, |detail| format!(", {detail}"));
        put("Link detected", format!("no ({why}{detail})"));
    }
    if let Some(downs) = number(DOWN_COUNT) {
        put("Link Down Events", downs.to_string());
    }
    values
}

fn reason(state: u64) -> Option<&'static str> {
    STATES.get(usize::try_from(state).ok()?).copied()
}

/// `enum ethtool_link_ext_substate_*`, in the words of `ethtool`.
fn detail_of(state: u64, substate: u64) -> Option<&'static str> {
    Some(match (state, substate) {
        (0, 1) => "No partner detected",
        (0, 2) => "Ack not received",
        (0, 3) => "Next page exchange failed",
        (0, 4) => "No partner detected during force mode",
        (0, 5) => "FEC mismatch during override",
        (0, 6) => "No HCD",
        (1, 1) => "KR frame lock not acquired",
        (1, 2) => "KR link inhibit timeout",
        (1, 3) => "KR Link partner did not set receiver ready",
        (1, 4) => "Remote side is not ready yet",
        (2, 1) => "PCS did not acquire block lock",
        (2, 2) => "PCS did not acquire AM lock",
        (2, 3) => "PCS did not get align_status",
        (2, 4) => "FC FEC is not locked",
        (2, 5) => "RS FEC is not locked",
        (3, 1) => "Large number of physical errors",
        (3, 2) => "Unsupported rate",
        (3, 3) => "Serdes reference clock lost",
        (3, 4) => "Serdes ALOS",
        (4, 1) => "Unsupported cable",
        (4, 2) => "Cable test failure",
        (10, 1) => "CMIS module is not in ModuleReady state",
        _ => return None,
    })
}

/// include/uapi/linux/ethtool.h `enum ethtool_link_ext_state`, in the words of `ethtool`.
const STATES: [&str; 11] = [
    "Autoneg",
    "Link training failure",
    "Link logical mismatch",
    "Bad signal integrity",
    "No cable",
    "Cable issue",
    "EEPROM issue",
    "Calibration failure",
    "Power budget exceeded",
    "Overheat",
    "Module",
];

const LINKSTATE_GET: u8 = 6;
const LINKSTATE_HEADER: u16 = 1;
const LINK: u16 = 2;
const SQI: u16 = 3;
const SQI_MAX: u16 = 4;
const EXT_STATE: u16 = 5;
const EXT_SUBSTATE: u16 = 6;
const DOWN_COUNT: u16 = 7;

#[cfg(test)]
mod tests {
    use super::super::super::attribute::push;
    use super::*;

    fn said(attributes: &[(u16, &[u8])]) -> Vec<(String, String)> {
        let mut body = Vec::new();
        for (kind, value) in attributes {
            push(&mut body, *kind, value);
        }
        values(&generic::command(LINKSTATE_GET, &body))
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn quality_and_downs_of_a_link() {
        let (index, most) = (3_u32.to_ne_bytes(), 7_u32.to_ne_bytes());
        let with = [
            (LINK, &[1][..]),
            (SQI, &index),
            (SQI_MAX, &most),
            (DOWN_COUNT, &index),
        ];
        assert_eq!(
            said(&with),
            [pair("SQI", "3/7"), pair("Link Down Events", "3")]
        );
        assert_eq!(said(&[(SQI, &index)]), [pair("SQI", "3")]);
    }

    #[test]
    fn why_there_is_no_link() {
        let locked = [(LINK, &[0][..]), (EXT_STATE, &[2]), (EXT_SUBSTATE, &[5])];
        let expected = "no (Link logical mismatch, RS FEC is not locked)";
        assert_eq!(said(&locked), [pair("Link detected", expected)]);
        let cable = [(LINK, &[0][..]), (EXT_STATE, &[4])];
        assert_eq!(said(&cable), [pair("Link detected", "no (No cable)")]);
        // A state that is not known yet, and one of a link that is up.
        assert_eq!(said(&[(LINK, &[0]), (EXT_STATE, &[200])]), []);
        assert_eq!(said(&[(LINK, &[1]), (EXT_STATE, &[4])]), []);
    }
}
