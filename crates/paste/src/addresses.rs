// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which addresses the hosts of a text have, and to which they sent: who was never sent to is no end of that test.

/// As many as are kept.
const MOST: usize = 256;

/// Hosts and addresses.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    own: Vec<(String, String)>,
    targets: Vec<(String, String)>,
}

impl Addresses {
    /// A host has the address that this line of `ifconfig` or `ip addr` names, if it names one.
    pub(super) fn told(&mut self, host: &str, line: &str) {
        if let Some(address) = ["inet addr:", "inet "]
            .iter()
            .find_map(|mark| behind(line, mark))
        {
            note(&mut self.own, host, address);
        }
    }

    /// A host was typed a command that sends to an address.
    pub(super) fn sends(&mut self, host: &str, command: &str) {
        let mut words = command.split_whitespace().skip_while(|word| *word != "-c");
        if let Some(target) = words.nth(1).filter(|word| is_ipv4(word)) {
            note(&mut self.targets, host, target);
        }
    }

    /// Whether nothing speaks against it that these were two ends of a test.
    pub(super) fn can_meet(&self, one: &str, other: &str) -> bool {
        !self.misses(one, other) && !self.misses(other, one)
    }

    /// Whether all that one sent to is another's than the other.
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

fn behind<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
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
        addresses.told("phone", "inet addr:192.168.0.100  Bcast:192.168.0.255");
        assert!(!addresses.can_meet("phone", "board"));
        addresses.told("phone", "    inet 192.168.0.162/24 brd 192.168.0.255");
        assert!(addresses.can_meet("board", "phone"), "it has that one too");
    }
}
