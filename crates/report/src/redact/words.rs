// SPDX-License-Identifier: MIT OR Apache-2.0
//! The replacements of names and addresses, and texts with these in place.

use linerate_model::order;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use linerate_model::output::Output;

use super::free::{self, Kind};

/// The names and addresses found so far; the number in a replacement is the position.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Lower case, longest first where one is within another; each with its word.
    hosts: Vec<(String, String)>,
    addresses: Vec<IpAddr>,
    macs: Vec<[u8; 6]>,
    boots: usize,
}

impl Words {
    /// Adds a host's name, and the short form of a long one. An address is not a name.
    pub(super) fn host(&mut self, name: &str) {
        let name = name.trim().to_ascii_lowercase();
        let known = self.hosts.iter().any(|(known, _)| *known == name);
        if known || name.is_empty() || name == "localhost" || name.parse::<IpAddr>().is_ok() {
            return;
        }
        let short = name.split('.').next().unwrap_or(&name).to_owned();
        let alike = self
            .hosts
            .iter()
            .find(|(known, _)| known.split('.').next() == Some(&short));
        let word = match alike {
            Some((_, word)) => word.clone(),
            None => format!("host-{}", self.count("host-") + 1),
        };
        self.add(short, &word);
        self.add(name, &word);
    }

    /// One start of a machine.
    pub(super) fn boot(&mut self, id: &str) {
        let id = id.to_ascii_lowercase();
        if !id.is_empty() && !self.hosts.iter().any(|(known, _)| *known == id) {
            self.boots += 1;
            let word = format!("boot-{}", self.boots);
            self.add(id, &word);
        }
    }

    /// Replaces the directory of a run: in its command, and in any text if the full path is known.
    pub(super) fn directories(&mut self, output: &mut Output, label: &str) {
        let mut asked = false;
        let mut known: Vec<String> = output.run_dir.iter().cloned().collect();
        for typed in &mut output.command {
            if std::mem::replace(&mut asked, typed == "-o") {
                known.push(std::mem::replace(typed, label.to_owned()));
            }
        }
        let whole = known
            .into_iter()
            .filter(|name| name.matches('/').count() > 1);
        whole.for_each(|name| self.add(name.to_ascii_lowercase(), label));
    }

    fn count(&self, start: &str) -> usize {
        let mut words: Vec<&str> = self
            .hosts
            .iter()
            .map(|(_, word)| word.as_str())
            .filter(|word| word.starts_with(start))
            .collect();
        words.sort_unstable();
        words.dedup();
        words.len()
    }

    fn add(&mut self, name: String, word: &str) {
        if name.is_empty() || self.hosts.iter().any(|(known, _)| *known == name) {
            return;
        }
        self.hosts.push((name, word.to_owned()));
        order::by_key(&mut self.hosts, |(name, _)| std::cmp::Reverse(name.len()));
    }

    /// Replaces names that follow a key (`hostname=`).
    fn keyed(&mut self, text: &str) -> String {
        let mut safe = text.to_owned();
        for (place, kind) in free::named(text).into_iter().rev() {
            if let Some(word) = self.word(&text[place.clone()], kind) {
                safe.replace_range(Range::clone(&place), &word);
            }
        }
        safe
    }

    /// A common word is not replaced elsewhere.
    fn word(&mut self, name: &str, kind: Kind) -> Option<String> {
        let small = name.trim_matches('.').to_ascii_lowercase();
        let is_number = small.chars().any(|char| char.is_ascii_digit());
        match kind {
            Kind::Host if small.parse::<IpAddr>().is_ok() || is_word_of_ours(&small) => None,
            Kind::Host => {
                if small.len() >= SHORTEST && !ORDINARY.contains(&small.as_str()) {
                    self.host(&small);
                }
                Some(self.known(&small).unwrap_or("host".to_owned()))
            }
            Kind::Mac => Some(self.mac_of_digits(&small).unwrap_or("mac".to_owned())),
            Kind::User if is_word_of_ours(&small) => None,
            Kind::User => Some("user".to_owned()),
            Kind::Serial | Kind::Uuid if small.len() < SHORTEST || !is_number => {
                Some("serial".to_owned())
            }
            Kind::Serial => Some(self.numbered("serial-", small)),
            Kind::Uuid => Some(self.numbered("uuid-", small)),
        }
    }

    fn known(&self, name: &str) -> Option<String> {
        let found = self.hosts.iter().find(|(known, _)| known == name);
        found.map(|(_, word)| word.clone())
    }

    /// The word for the serial number of a device.
    pub(super) fn serial(&mut self, number: &str) -> String {
        match is_word_of_ours(number) {
            true => number.to_owned(),
            false => self.numbered("serial-", number.to_ascii_lowercase()),
        }
    }

    /// The same word for the same thing.
    fn numbered(&mut self, start: &str, name: String) -> String {
        self.known(&name).unwrap_or_else(|| {
            let word = format!("{start}{}", self.count(start) + 1);
            self.add(name, &word);
            word
        })
    }

    /// `0x00,0x04,…`, `01-00-04-…` and twelve digits in a row.
    fn mac_of_digits(&mut self, text: &str) -> Option<String> {
        let digits: String = text
            .replace("0x", "")
            .chars()
            .filter(char::is_ascii_hexdigit)
            .collect();
        let digits = digits
            .strip_prefix("01")
            .filter(|rest| rest.len() == 12)
            .unwrap_or(&digits);
        let bytes = (0..digits.len())
            .step_by(2)
            .map_while(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok());
        let mac: [u8; 6] = bytes.collect::<Vec<_>>().try_into().ok()?;
        Some(format!("mac-{}", place(&mut self.macs, mac)))
    }

    /// The text with words in place of names and addresses.
    pub(super) fn replaced(&mut self, text: &str) -> String {
        let keyed = self.keyed(text);
        let named = self.names_replaced(&keyed);
        let mut safe = String::with_capacity(named.len());
        let mut rest = named.as_str();
        while let Some(start) = rest.find(is_part) {
            let (before, from) = rest.split_at(start);
            let end = from.find(|char| !is_part(char)).unwrap_or(from.len());
            let (token, after) = from.split_at(end);
            safe.push_str(before);
            // systemd's name of an interface that has no other: enx and its MAC.
            let digits = token.trim_matches([':', '.', '-']);
            let bare = digits.len() == 12 && digits.chars().all(|char| char.is_ascii_hexdigit());
            let word = match bare && (safe.ends_with("enx") || self.is_known_mac(digits)) {
                true => self.mac_of_digits(digits),
                false => None,
            };
            safe.push_str(&match word {
                Some(word) => token.replacen(digits, &word, 1),
                None => self.token(token),
            });
            rest = after;
        }
        safe + rest
    }

    fn names_replaced(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, word) in &self.hosts {
            let mut from = 0;
            while let Some(found) = text[from..].to_ascii_lowercase().find(name.as_str()) {
                let (start, end) = (from + found, from + found + name.len());
                let apart = |char: Option<char>| !char.is_some_and(|char| char.is_alphanumeric());
                if apart(text[..start].chars().next_back()) && apart(text[end..].chars().next()) {
                    text.replace_range(start..end, word);
                    from = start + word.len();
                } else {
                    from = start + text[start..].chars().next().map_or(1, char::len_utf8);
                }
            }
        }
        text
    }

    /// Hexadecimal digits, colons, dots and hyphens: perhaps an address with punctuation around it.
    fn token(&mut self, token: &str) -> String {
        let core = token.trim_matches(['.', '-']);
        let core = core
            .strip_suffix(':')
            .filter(|core| !core.ends_with(':'))
            .unwrap_or(core);
        let word = self
            .mac(core)
            .or_else(|| self.uuid(core))
            .or_else(|| self.address(core))
            .or_else(|| self.with_port(core));
        match word {
            Some(word) => token.replacen(core, &word, 1),
            None => self.parts(token),
        }
    }

    /// Several parts: a range of addresses, an address with a suffix.
    fn parts(&mut self, token: &str) -> String {
        for gap in ['-', ':'] {
            if token.contains(gap) && token.contains('.') {
                let parts: Vec<String> = token.split(gap).map(|part| self.token(part)).collect();
                return parts.join(&gap.to_string());
            }
        }
        let bare = token.trim_matches(|char: char| char == '.' || char.is_ascii_alphabetic());
        let word = bare
            .parse::<Ipv4Addr>()
            .ok()
            .and_then(|_| self.address(bare));
        word.map_or_else(|| token.to_owned(), |word| token.replacen(bare, &word, 1))
    }

    fn is_known_mac(&self, digits: &str) -> bool {
        let number = u64::from_str_radix(digits, 16).ok();
        let as_number = |mac: &[u8; 6]| {
            mac.iter()
                .fold(0, |all, byte| (all << 8) | u64::from(*byte))
        };
        self.macs.iter().any(|mac| Some(as_number(mac)) == number)
    }

    /// Eight, four, four, four and twelve digits.
    fn uuid(&mut self, text: &str) -> Option<String> {
        let lengths = text.split('-').map(str::len);
        let is_uuid = lengths.eq([8, 4, 4, 4, 12]) && !text.contains([':', '.']);
        is_uuid.then(|| self.numbered("uuid-", text.to_ascii_lowercase()))
    }

    fn mac(&mut self, text: &str) -> Option<String> {
        let parts: Vec<&str> = text.split([':', '-']).collect();
        let byte = |part: &&str| (part.len() == 2).then(|| u8::from_str_radix(part, 16).ok())?;
        let bytes: Vec<u8> = parts.iter().filter_map(byte).collect();
        let mac: [u8; 6] = bytes.try_into().ok().filter(|_| parts.len() == 6)?;
        if mac == [0; 6] || mac == [0xff; 6] {
            return None;
        }
        Some(format!("mac-{}", place(&mut self.macs, mac)))
    }

    fn address(&mut self, text: &str) -> Option<String> {
        let address: IpAddr = text.parse().ok()?;
        if tells_nothing(address) {
            return None;
        }
        Some(format!("address-{}", place(&mut self.addresses, address)))
    }

    fn with_port(&mut self, text: &str) -> Option<String> {
        let (address, port) = text.rsplit_once(':')?;
        let address: Ipv4Addr = address.parse().ok()?;
        port.parse::<u16>().ok()?;
        Some(format!("{}:{port}", self.address(&address.to_string())?))
    }
}

/// Whether a text is a replacement.
fn is_word_of_ours(text: &str) -> bool {
    let starts = ["host-", "address-", "mac-", "uuid-", "serial-", "boot-"];
    let numbers = starts.iter().filter_map(|start| text.strip_prefix(start));
    let mut numbers = numbers.filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    ["host", "mac", "serial", "user"].contains(&text) || numbers.next().is_some()
}

/// From 1 on.
fn place<T: PartialEq>(known: &mut Vec<T>, new: T) -> usize {
    match known.iter().position(|one| *one == new) {
        Some(at) => at + 1,
        None => {
            known.push(new);
            known.len()
        }
    }
}

fn tells_nothing(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_loopback() || address.is_unspecified() || address.octets()[0] == 255
        }
        IpAddr::V6(address) => address == Ipv6Addr::LOCALHOST || address == Ipv6Addr::UNSPECIFIED,
    }
}

fn is_part(char: char) -> bool {
    char.is_ascii_hexdigit() || matches!(char, ':' | '.' | '-')
}

/// A shorter name also occurs by chance.
const SHORTEST: usize = 4;
/// Values of `hostname=` and the like that are words of any text.
const ORDINARY: &[&str] = &[
    "auto", "default", "dhcp", "false", "linux", "local", "none", "remote", "true",
];
