// SPDX-License-Identifier: MIT OR Apache-2.0
//! Windows: `route print` and `netstat -r`: how many routes there are. Only headings differ between languages:
//! `          0.0.0.0          0.0.0.0        192.0.2.1        192.0.2.7     25`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    let headed = is_heading(first) || (is_rule(first) && heads(lines));
    (headed || Route::of(first).is_some()).then_some(())?;
    let found = lines.run(0, |line| is_part(line) || (headed && is_listed(line)));
    let routes = found.iter().filter(|(_, line)| is_route(line)).count();
    if routes < 1 + usize::from(!headed) {
        return Block::says_nothing(&found, "route print");
    }
    let kept = found.iter().filter(|(_, line)| is_kept(line)).count();
    let mut values = vec![("routes".to_owned(), routes.to_string())];
    values.extend((kept > 0).then(|| ("persistent routes".to_owned(), kept.to_string())));
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "route print",
        content: vec![Settings::new("route print", None, values)],
    })
}

/// An active route of IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// With length 0: the default route.
    pub to: (Ipv4Addr, u32),
    /// `None`: on-link, what Windows XP shows as the interface's address.
    pub via: Option<Ipv4Addr>,
    /// The interface, by its address.
    pub interface: Ipv4Addr,
}

impl Route {
    /// Reads a row of the table of active routes: network, mask, gateway, interface, metric.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        let starts = |letter: char| letter.is_ascii_digit();
        (line.len() < LINE_MOST && line.trim_start().starts_with(starts)).then_some(())?;
        let words: Vec<&str> = line.split_whitespace().take(WORDS_MOST).collect();
        let [to, mask, gateway @ .., interface, metric] = words.as_slice() else {
            return None;
        };
        metric.parse::<u32>().ok()?;
        let interface = interface.parse().ok()?;
        let via = match gateway {
            [gateway] => gateway.parse().ok().map_or_else(|| word(gateway), Some),
            // `Auf Verbindung`.
            [first, second] => word(first).and(word(second)),
            _ => None,
        }?;
        Some(Self {
            to: (to.parse().ok()?, length(mask)?),
            via: Some(via).filter(|via| !via.is_unspecified() && *via != interface),
            interface,
        })
    }

    /// Whether it is a default route.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        self.to.1 == 0
    }
}

/// No gateway: a word instead of it, as `On-link` or `En vínculo`.
fn word(word: &str) -> Option<Ipv4Addr> {
    let is_word = word.starts_with(char::is_alphabetic);
    is_word.then_some(Ipv4Addr::UNSPECIFIED)
}

fn length(mask: &str) -> Option<u32> {
    let bits = mask.parse::<Ipv4Addr>().ok()?.to_bits();
    (bits.leading_ones() == bits.count_ones()).then_some(bits.count_ones())
}

/// The gateway of a default route of IPv6: ` 12    281 ::/0                     fe80::1`.
#[must_use]
pub fn ipv6_gateway(line: &str) -> Option<Ipv6Addr> {
    let mut words = line.split_whitespace();
    let (_, _, to) = (
        number(words.next()?)?,
        number(words.next()?)?,
        words.next()?,
    );
    let gateway = words.next().filter(|_| to == "::/0")?.parse().ok();
    gateway.filter(|_| words.next().is_none())
}

fn number(word: &str) -> Option<u32> {
    word.parse().ok()
}

fn is_route(line: &str) -> bool {
    Route::of(line).is_some() || is_version_6(line)
}

/// `  1    331 ::1/128                  On-link`; a long network has its gateway on the next line.
fn is_version_6(line: &str) -> bool {
    let mut words = line.split_whitespace().take(WORDS_MOST);
    let mut next = || words.next();
    let numbered = next().and_then(number).and(next().and_then(number));
    let network = next().and_then(|word| word.split_once('/'));
    let is_network = |(address, length): (&str, &str)| {
        address.parse::<Ipv6Addr>().is_ok() && length.parse::<u8>().is_ok()
    };
    line.len() < LINE_MOST && numbered.is_some() && network.is_some_and(is_network)
}

/// A persistent route has no interface: `0.0.0.0  0.0.0.0  192.0.2.1  Default`.
fn is_kept(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(WORDS_MOST).collect();
    let [to, mask, via, metric] = words.as_slice() else {
        return false;
    };
    let is_metric = number(metric).is_some() || word(metric).is_some();
    let addressed = [to, via]
        .iter()
        .all(|word| word.parse::<Ipv4Addr>().is_ok());
    is_metric && addressed && length(mask).is_some()
}

/// What needs no heading above it.
fn is_part(line: &str) -> bool {
    is_route(line) || is_heading(line) || is_rule(line)
}

/// What belongs to the output below a heading: interfaces, persistent routes, the second line of a long route, `None`.
fn is_listed(line: &str) -> bool {
    let text = line.trim();
    // `255.255.255.255  255.255.255.255  192.0.2.7  2  1` of Windows XP: an interface without an address.
    let mut words = text.split_whitespace();
    let masked = words.nth(1).and_then(length).is_some();
    let alone = text.parse::<IpAddr>().is_ok() || ALONE.contains(&text);
    line.len() < LINE_MOST && (is_kept(line) || masked || alone || is_interface(text))
}

/// ` 12...02 00 5e 00 53 01 ......Ethernet adapter`, `0x2 ...02 00 5e 00 53 01 ...... Ethernet adapter`.
fn is_interface(text: &str) -> bool {
    let Some((index, rest)) = text.split_once("...") else {
        return false;
    };
    let index = index.trim().trim_start_matches("0x");
    let is_index = !index.is_empty() && index.chars().all(|letter| letter.is_ascii_hexdigit());
    is_index && rest.contains("..")
}

fn is_heading(line: &str) -> bool {
    let text = line.trim();
    line.len() < LINE_MOST && HEADINGS.iter().any(|heading| text.starts_with(heading))
}

/// `===========`.
fn is_rule(line: &str) -> bool {
    let text = line.trim();
    text.len() > RULE_LEAST && text.chars().all(|letter| letter == '=')
}

/// Whether a heading follows the rule above it.
fn heads(lines: Lines<'_>) -> bool {
    let next = lines.skip_blank(1).and_then(|at| lines.get(at));
    next.is_some_and(is_heading)
}

const LINE_MOST: usize = 160;
const RULE_LEAST: usize = 20;
const WORDS_MOST: usize = 8;
/// How lines above routes begin, in English and in German.
const HEADINGS: [&str; 17] = [
    "Interface List",
    "IPv4 Route Table",
    "IPv6 Route Table",
    "Active Routes:",
    "Persistent Routes:",
    "Network Destination  ",
    "Network Address  ",
    "If Metric Network Destination",
    "Default Gateway:  ",
    "Schnittstellenliste",
    "IPv4-Routentabelle",
    "IPv6-Routentabelle",
    "Aktive Routen:",
    "Ständige Routen:",
    "Netzwerkziel  ",
    "Netzwerkadresse  ",
    "If Metrik Netzwerkziel",
];
/// Lines of words below headings.
const ALONE: [&str; 4] = ["None", "On-link", "Keine", "Auf Verbindung"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Content, block_of};

    fn of(text: &str) -> Option<(usize, Vec<(String, String)>)> {
        let mut block = block_of(text, read)?;
        match block.content.pop()? {
            Content::Settings(settings) => Some((block.lines, settings.values)),
            _ => None,
        }
    }

    fn values(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    const FOUR: &str = "          0.0.0.0          0.0.0.0        192.0.2.1        192.0.2.7     25\n        127.0.0.0        255.0.0.0         On-link         127.0.0.1    331\n        192.0.2.0    255.255.255.0         On-link         192.0.2.7    281\n";

    fn whole() -> String {
        let rule = "=".repeat(75);
        format!(
            "{rule}\nInterface List\n 12...02 00 5e 00 53 01 ......Gigabit adapter #2\n  1...........................Software Loopback Interface 1\n{rule}\n\nIPv4 Route Table\n{rule}\nActive Routes:\nNetwork Destination        Netmask          Gateway       Interface  Metric\n{FOUR}{rule}\nPersistent Routes:\n  Network Address          Netmask  Gateway Address  Metric\n          0.0.0.0          0.0.0.0        192.0.2.1  Default \n{rule}\n\nIPv6 Route Table\n{rule}\nActive Routes:\n If Metric Network Destination      Gateway\n 12    281 ::/0                     fe80::1\n 12    281 2001:db8::7a:1234:5678:9abc/128\n                                    On-link\n{rule}\nPersistent Routes:\n  None\n\nHelp!\n"
        )
    }

    #[test]
    fn the_whole_output() {
        let text = whole();
        let expected = values(&[("routes", "5"), ("persistent routes", "1")]);
        let lines = text.lines().count() - 2;
        assert_eq!(of(&text), Some((lines, expected)));
    }

    #[test]
    fn rows_of_every_language_and_age() {
        assert_eq!(of(FOUR), Some((3, values(&[("routes", "3")]))));
        let german = "IPv4-Routentabelle\nAktive Routen:\n     Netzwerkziel    Netzwerkmaske          Gateway    Schnittstelle Metrik\n        192.0.2.0    255.255.255.0   Auf Verbindung         192.0.2.7    281\nStändige Routen:\n  Keine\n";
        assert_eq!(of(german), Some((6, values(&[("routes", "1")]))));
        let route = |line| Route::of(line).map(|route| (route.to.1, route.via));
        let gateway = Some(Ipv4Addr::new(192, 0, 2, 1));
        assert_eq!(
            route("0.0.0.0 0.0.0.0 192.0.2.1 192.0.2.7 25"),
            Some((0, gateway))
        );
        assert_eq!(
            route("192.0.2.0 255.255.255.0 En vínculo 192.0.2.7 281"),
            Some((24, None))
        );
        assert_eq!(
            route("192.0.2.0 255.255.255.0 192.0.2.7 192.0.2.7 20"),
            Some((24, None))
        );
        assert_eq!(route("0.0.0.0 0.0.0.0 192.0.2.1 Default"), None);
        assert_eq!(
            ipv6_gateway(" 12    281 ::/0     fe80::1"),
            "fe80::1".parse().ok()
        );
        assert_eq!(ipv6_gateway(" 12    281 ::/0     On-link"), None);
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "Active Routes: there are none\n",
            "======================\nnothing\n",
            "192.0.2.1 255.255.255.0 to 192.0.2.7 25 times\n",
            "0.0.0.0         192.0.2.1       0.0.0.0         UG    100    0        0 eth0\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
