// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results of autonegotiation, from the registers of a PHY (IEEE 802.3 clauses 22 and 28).

use super::decode::Decoded;

/// Pause abilities of one end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ability {
    /// The bit PAUSE.
    pub pause: bool,
    /// The bit ASM_DIR.
    pub asymmetric: bool,
}

/// The directions of pause frames, seen from this end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pause {
    /// This end sends them: it may stop its partner.
    pub tx: bool,
    /// This end obeys its partner's.
    pub rx: bool,
}

impl Ability {
    /// Resolves the abilities of both ends (IEEE 802.3 table 28B-3; drivers/net/phy, `linkmode_resolve_pause`).
    #[must_use]
    pub const fn with(self, partner: Self) -> Pause {
        let symmetric = self.pause && partner.pause;
        let asymmetric = self.asymmetric && partner.asymmetric;
        Pause {
            tx: symmetric || (asymmetric && partner.pause),
            rx: symmetric || (asymmetric && self.pause),
        }
    }
}

impl Pause {
    /// Returns a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match (self.tx, self.rx) {
            (false, false) => "pause: off; this end neither sends nor obeys pause frames",
            (true, false) => "pause: this end sends pause frames and does not obey them",
            (false, true) => "pause: this end obeys pause frames and sends none",
            (true, true) => "pause: both directions",
        }
    }
}

/// Combines the registers of a PHY; nothing if one of a pair is missing.
#[must_use]
pub fn agreed(registers: &[Decoded]) -> Vec<String> {
    let find = |name| registers.iter().find(|r| r.map == "mii" && r.name == name);
    let Some((local, partner)) = find("ANAR").zip(find("ANLPAR")) else {
        return Vec::new();
    };
    if partner.value == 0 || partner.value == 0xffff {
        return vec!["the partner has not negotiated: its abilities are unknown".to_owned()];
    }
    let mut said = vec![match find("GBCR").zip(find("GBSR")) {
        Some((ours, theirs)) => {
            let mode = gigabit(ours, theirs).or_else(|| slower(local, partner));
            format!("best common mode: {}", mode.unwrap_or("none"))
        }
        None => {
            let mode = slower(local, partner).unwrap_or("none");
            format!("best common mode up to 100 Mbit/s: {mode}; see GBCR and GBSR for 1000")
        }
    }];
    if let Some((local, partner)) = ability(local).zip(ability(partner)) {
        said.push(local.with(partner).words().to_owned());
    }
    said
}

fn ability(register: &Decoded) -> Option<Ability> {
    Some(Ability {
        pause: set(register, "PAUSE")?,
        asymmetric: set(register, "ASM_DIR")?,
    })
}

fn gigabit(local: &Decoded, partner: &Decoded) -> Option<&'static str> {
    let modes = [
        ("1000FD", "LP_1000FD", "1000BASE-T full duplex"),
        ("1000HD", "LP_1000HD", "1000BASE-T half duplex"),
    ];
    let common = |ours: &str, theirs: &str| Some(set(local, ours)? && set(partner, theirs)?);
    let best = modes.iter().find(|(o, t, _)| common(o, t) == Some(true));
    best.map(|(_, _, name)| *name)
}

fn slower(local: &Decoded, partner: &Decoded) -> Option<&'static str> {
    let common = |field: &str| Some(set(local, field)? && set(partner, field)?);
    let modes = [
        ("100FD", "100BASE-TX full duplex"),
        ("100HD", "100BASE-TX half duplex"),
        ("10FD", "10BASE-T full duplex"),
        ("10HD", "10BASE-T half duplex"),
    ];
    let best = modes.iter().find(|(field, _)| common(field) == Some(true));
    best.map(|(_, name)| *name)
}

fn set(register: &Decoded, field: &str) -> Option<bool> {
    register.field(field).map(|f| f.value == 1)
}
