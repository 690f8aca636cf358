// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which word stands for what, and texts with the words in it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What was met so far: its number is its place.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Lower case, longest first where one is within another; each with its word.
    hosts: Vec<(String, String)>,
    addresses: Vec<IpAddr>,
    macs: Vec<[u8; 6]>,
    boots: usize,
}

impl Words {
    /// A host's name. Of a long one the short form is meant by itself, too. An address is no name.
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

    fn count(&self, start: &str) -> usize {
        let mut words: Vec<&String> = self
            .hosts
            .iter()
            .map(|(_, word)| word)
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
        self.hosts
            .sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    }

    /// The text with words in place of names and addresses.
    pub(super) fn replaced(&mut self, text: &str) -> String {
        let named = self.names_replaced(text);
        let mut safe = String::with_capacity(named.len());
        let mut rest = named.as_str();
        while let Some(start) = rest.find(is_part) {
            let (before, from) = rest.split_at(start);
            let end = from.find(|char| !is_part(char)).unwrap_or(from.len());
            let (token, after) = from.split_at(end);
            safe.push_str(before);
            safe.push_str(&self.token(token));
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

    /// Digits, colons and points: perhaps an address, with what clings to it.
    fn token(&mut self, token: &str) -> String {
        let core = token.trim_matches(['.', '-']);
        let core = core
            .strip_suffix(':')
            .filter(|core| !core.ends_with(':'))
            .unwrap_or(core);
        let word = self
            .mac(core)
            .or_else(|| self.address(core))
            .or_else(|| self.with_port(core));
        match word {
            Some(word) => token.replacen(core, &word, 1),
            None => self.parts(token),
        }
    }

    /// What holds several: a range of addresses, an address with a word at it.
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
