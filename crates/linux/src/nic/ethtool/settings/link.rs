// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool X` and `ethtool --show-eee X`: supported, advertised and negotiated link modes.

use std::io;

use linerate_wire::link_modes::{modes, negotiates, pause, ports, resolved_pause};

use super::super::request::{Card, get};
use super::super::{ETHTOOL_GSET, LINK_MODE_WORDS, LINKSETTINGS_BYTES, link_settings};
use super::{Values, on_off, pair};

/// A link as the driver reports it, by the new or the old command.
#[derive(Debug)]
pub(in crate::nic::ethtool) struct Link {
    megabits: u32,
    duplex: u8,
    port: u8,
    pub(super) negotiates: bool,
    supported: Vec<u32>,
    pub(super) advertised: Vec<u32>,
    /// Empty if the partner has advertised nothing.
    pub(super) partner: Vec<u32>,
}

impl Link {
    /// `ETHTOOL_GLINKSETTINGS`, or what was before Linux 4.6.
    pub(in crate::nic::ethtool) fn read(card: &dyn Card) -> io::Result<Self> {
        Self::new(card).or_else(|_| Self::old(card))
    }

    fn new(card: &dyn Card) -> io::Result<Self> {
        let answer = link_settings(card)?;
        let words = usize::from(answer[LINK_MODE_WORDS]);
        let map = |number: usize| -> Vec<u32> {
            let at = LINKSETTINGS_BYTES + number * 4 * words;
            (0..words)
                .filter_map(|word| get(&answer, at + 4 * word).ok())
                .collect()
        };
        Ok(Self {
            megabits: get(&answer, 4)?,
            duplex: answer[8],
            port: answer[9],
            negotiates: answer[11] == 1,
            supported: map(0),
            advertised: map(1),
            partner: map(2),
        })
    }

    /// `struct ethtool_cmd`.
    fn old(card: &dyn Card) -> io::Result<Self> {
        let answer = card.ask(ETHTOOL_GSET, 44)?;
        let half = |at: usize| u32::from(u16::from_ne_bytes([answer[at], answer[at + 1]]));
        let speed = half(12) | half(28) << 16;
        Ok(Self {
            megabits: speed,
            duplex: answer[14],
            port: answer[15],
            negotiates: answer[18] == 1,
            supported: vec![get(&answer, 4)?],
            advertised: vec![get(&answer, 8)?],
            partner: vec![get(&answer, 32)?],
        })
    }

    /// The speed; `None` if the link is down or has none.
    pub(in crate::nic::ethtool) fn megabits(&self) -> Option<u32> {
        Some(self.megabits).filter(|megabits| ![0, 0xffff, u32::MAX].contains(megabits))
    }

    /// Whether the partner's advertisement is known.
    pub(super) fn knows_partner(&self) -> bool {
        self.partner.iter().any(|word| *word != 0)
    }

    /// Whether this end obeys and sends pause frames, as resolved from both advertisements.
    pub(super) fn resolved_pause(&self) -> Option<(bool, bool)> {
        let resolved = || resolved_pause(&self.advertised, &self.partner);
        (self.negotiates && self.knows_partner()).then(resolved)
    }

    fn values(&self) -> Values {
        let mut values = Vec::new();
        if self.supported.iter().any(|word| *word != 0) {
            values.push(pair("Supported ports", ports(&self.supported)));
            values.extend(offer(
                "Supported link modes",
                "Supported pause frame use",
                &self.supported,
            ));
            values.push(pair(
                "Supports auto-negotiation",
                yes_no(negotiates(&self.supported)),
            ));
            values.extend(offer(
                "Advertised link modes",
                "Advertised pause frame use",
                &self.advertised,
            ));
            values.push(pair(
                "Advertised auto-negotiation",
                yes_no(negotiates(&self.advertised)),
            ));
        }
        if self.knows_partner() {
            let (modes, pause) = (
                "Link partner advertised link modes",
                "Link partner advertised pause frame use",
            );
            values.extend(offer(modes, pause, &self.partner));
            let negotiates = yes_no(negotiates(&self.partner));
            values.push(pair("Link partner advertised auto-negotiation", negotiates));
        }
        values.extend([
            pair("Speed", speed(self.megabits())),
            pair("Duplex", duplex(self.duplex)),
            pair("Auto-negotiation", on_off(self.negotiates)),
            pair("Port", port(self.port)),
        ]);
        values
    }
}

/// `ethtool X`.
pub(super) fn settings(card: &dyn Card) -> io::Result<Values> {
    let mut values = Link::read(card)?.values();
    // struct ethtool_value: cmd, data.
    if let Ok(answer) = card.ask(ETHTOOL_GLINK, 8) {
        values.push(pair("Link detected", yes_no(get(&answer, 4)? != 0)));
    }
    Ok(values)
}

/// `ethtool --show-eee X`. struct ethtool_eee: cmd, supported, advertised, lp_advertised, eee_active, eee_enabled,
/// tx_lpi_enabled, tx_lpi_timer, reserved.
pub(super) fn energy_efficient(card: &dyn Card) -> io::Result<Values> {
    let answer = card.ask(ETHTOOL_GEEE, 40)?;
    let word = |at: usize| get(&answer, 4 * at);
    let status = match (word(1)?, word(5)?, word(4)?) {
        (0, ..) => "not supported",
        (_, 0, _) => "disabled",
        (_, _, 0) => "enabled - inactive",
        _ => "enabled - active",
    };
    let idle = match (word(6)?, word(7)?) {
        (0, _) => "disabled".to_owned(),
        (_, after_us) => format!("{after_us} (us)"),
    };
    Ok(vec![pair("EEE status", status), pair("Tx LPI", idle)])
}

fn offer(modes_name: &str, pause_name: &str, map: &[u32]) -> [(String, String); 2] {
    let modes = modes(map).unwrap_or_else(|| "Not reported".to_owned());
    [pair(modes_name, modes), pair(pause_name, pause(map))]
}

fn speed(megabits: Option<u32>) -> String {
    megabits.map_or_else(|| "Unknown!".to_owned(), |known| format!("{known}Mb/s"))
}

fn duplex(duplex: u8) -> String {
    match duplex {
        0 => "Half".to_owned(),
        1 => "Full".to_owned(),
        other => format!("Unknown! ({other})"),
    }
}

fn port(port: u8) -> &'static str {
    match port {
        0 => "Twisted Pair",
        1 => "AUI",
        2 => "MII",
        3 => "FIBRE",
        4 => "BNC",
        5 => "Direct Attach Copper",
        0xef => "None",
        _ => "Other",
    }
}

fn yes_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

const ETHTOOL_GLINK: u32 = 0x0a;
const ETHTOOL_GEEE: u32 = 0x44;

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH_PAUSES: u32 = 3 << 13;

    fn link(partner: u32) -> Link {
        Link {
            megabits: 1000,
            duplex: 1,
            port: 0,
            negotiates: true,
            supported: vec![0x62ef],
            advertised: vec![0x62ef],
            partner: vec![partner],
        }
    }

    #[test]
    fn a_link_in_the_words_of_ethtool() {
        let values: std::collections::BTreeMap<_, _> =
            link(0x28 | BOTH_PAUSES).values().into_iter().collect();
        assert_eq!(values["Speed"], "1000Mb/s");
        assert_eq!(
            (values["Duplex"].as_str(), values["Port"].as_str()),
            ("Full", "Twisted Pair")
        );
        assert_eq!(
            values["Link partner advertised link modes"],
            "100baseT/Full 1000baseT/Full"
        );
        assert_eq!(
            values["Advertised pause frame use"],
            "Symmetric Receive-only"
        );
    }

    #[test]
    fn a_partner_without_advertisement_is_absent() {
        let silent = link(0);
        assert!(
            silent
                .values()
                .iter()
                .all(|(name, _)| !name.starts_with("Link partner"))
        );
        assert_eq!(silent.resolved_pause(), None);
        assert_eq!(link(BOTH_PAUSES).resolved_pause(), Some((true, true)));
    }

    #[test]
    fn an_unknown_speed_is_no_number() {
        assert_eq!(
            (speed(None), speed(Some(2500))),
            ("Unknown!".to_owned(), "2500Mb/s".to_owned())
        );
    }
}
