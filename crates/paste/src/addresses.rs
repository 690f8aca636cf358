// SPDX-License-Identifier: MIT OR Apache-2.0
//! The addresses of the hosts in a text, and those they sent to, which exclude other hosts as the peer of a test.

/// Maximum number of addresses.
const MOST: usize = 256;

/// Hosts and addresses.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    own: Vec<(String, String)>,
    targets: Vec<(String, String)>,
}

impl Addresses {
    /// Notes the host's address, if this line of `ifconfig` or `ip addr` has one.
    pub(super) fn learn(&mut self, host: &str, line: &str) {
        if let Some(address) = ["inet addr:", "inet "]
            .iter()
            .find_map(|mark| word_after(line, mark))
        {
            note(&mut self.own, host, address);
        }
    }

    /// Notes the address that a command on this host sends to.
    pub(super) fn sends(&mut self, host: &str, command: &str) {
        let mut words = command.split_whitespace().skip_while(|word| *word != "-c");
        if let Some(target) = words.nth(1).filter(|word| is_ipv4(word)) {
            note(&mut self.targets, host, target);
        }
    }

    /// Whether two hosts may be the ends of a test.
    pub(super) fn can_meet(&self, one: &str, other: &str) -> bool {
        !self.misses(one, other) && !self.misses(other, one)
    }

    /// Whether one host sent, but only to other addresses than those of the other.
    fn misses(&self, from: &str, to: &str) -> bool {
        let own = of(&self.own, to);
        let targets = of(&self.targets, from);
        !own.is_empty() && !targets.is_empty() && targets.iter().all(|target| !own.contains(target))
    }
}

fn of<'a>(all: &'a [(String, String)], host: &str) -> Vec<&'a str> {
    let mine = all.iter().filter(|(known, _)| known == host);
    mine.map(|(_, address)| address.as_str()).collect()
}

fn note(all: &mut Vec<(String, String)>, host: &str, address: &str) {
    let known = (host.to_owned(), address.to_owned());
    if all.len() < MOST && !all.contains(&known) {
        all.push(known);
    }
}

fn word_after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(mark)?;
    let rest = rest.trim_start();
    let end = rest
        .find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))
        .unwrap_or(rest.len());
    Some(&rest[..end]).filter(|word| is_ipv4(word))
}

fn is_ipv4(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_never_sent_to_is_no_peer() {
        let mut addresses = Addresses::default();
        addresses.sends("board", "iperf -c 192.168.0.162 -r");
        assert!(
            addresses.can_meet("board", "phone"),
            "nothing is known of it"
        );
        addresses.learn("phone", "inet addr:192.168.0.100  Bcast:192.168.0.255");
        assert!(!addresses.can_meet("phone", "board"));
        addresses.learn("phone", "    inet 192.168.0.162/24 brd 192.168.0.255");
        assert!(addresses.can_meet("board", "phone"), "it has that one too");
    }
}
