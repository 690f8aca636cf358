// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of machines and users in free text, such as a kernel's command line
//! or a line of its log: the word after `hostname=`, `UUID=`, `serialno=`, after an `@`, before `.lan`.

use std::ops::Range;

use linerate_model::order;

/// What a word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Host,
    Mac,
    Serial,
    User,
    Uuid,
}

/// The places of words that identify something, from left to right, without overlap.
pub(super) fn named(text: &str) -> Vec<(Range<usize>, Kind)> {
    // Only ASCII letters, so that positions do not change.
    let small = text.to_ascii_lowercase();
    let keyed = KEYS
        .iter()
        .flat_map(|(key, kind)| after(&small, key, *kind));
    let ip = after(&small, "ip=", Kind::Host).filter_map(|(value, _)| configured(&small, value));
    let mut all: Vec<_> = keyed
        .chain(ip)
        .chain(hosts_of_users(&small))
        .chain(domains(&small))
        .collect();
    order::by_key(&mut all, |(place, _)| {
        (place.start, std::cmp::Reverse(place.end))
    });
    let mut end = 0;
    all.retain(|(place, _)| {
        let apart = place.start >= end && !place.is_empty();
        if apart {
            end = place.end;
        }
        apart
    });
    all
}

/// Words after a key that begins a word itself.
fn after<'t>(
    text: &'t str,
    key: &'t str,
    kind: Kind,
) -> impl Iterator<Item = (Range<usize>, Kind)> + 't {
    let begins = move |at: usize| {
        let before = text[..at].chars().next_back();
        key.starts_with('/') || !before.is_some_and(char::is_alphanumeric)
    };
    let found = text
        .match_indices(key)
        .map(|(at, _)| at)
        .filter(move |at| begins(*at));
    found.map(move |at| {
        let from = at + key.len();
        let from =
            from + (text[from..].len() - text[from..].trim_start_matches(['"', '<', '\'']).len());
        let ends = |char: char| match kind {
            Kind::Mac => !(char.is_ascii_hexdigit() || matches!(char, ':' | '-' | ',' | 'x')),
            Kind::Host if key != "ip=" => !is_of_a_name(char),
            _ => char.is_whitespace() || "\"'<>,;()\\/".contains(char),
        };
        let many = text[from..].find(ends).unwrap_or(text.len() - from);
        (from..from + many, kind)
    })
}

/// `ip=client:server:gateway:netmask:hostname:…` (Documentation/admin-guide/nfs/nfsroot.rst).
fn configured(text: &str, value: Range<usize>) -> Option<(Range<usize>, Kind)> {
    let mut from = value.start;
    for field in text[value.clone()].split(':').take(HOST_FIELD) {
        from += field.len() + 1;
    }
    let rest = text.get(from..).filter(|_| from < value.end)?;
    let many = rest.find(|char| !is_of_a_name(char)).unwrap_or(rest.len());
    (many > 0).then_some((from..from + many, Kind::Host))
}

/// `user@host`: both names.
fn hosts_of_users(text: &str) -> impl Iterator<Item = (Range<usize>, Kind)> + '_ {
    text.match_indices('@').flat_map(|(at, _)| {
        let before = text[..at].len() - text[..at].trim_end_matches(is_of_a_name).len();
        let after = text[at + 1..]
            .find(|char| !is_of_a_name(char))
            .unwrap_or(text.len() - at - 1);
        let both = before > 0 && after > 0;
        let places = [
            (at - before..at, Kind::User),
            (at + 1..at + 1 + after, Kind::Host),
        ];
        both.then_some(places).into_iter().flatten()
    })
}

/// `nas.example.lan`, by its end.
fn domains(text: &str) -> impl Iterator<Item = (Range<usize>, Kind)> + '_ {
    let words = text.split(|char| !is_of_a_name(char)).scan(0, |at, word| {
        let from = *at;
        *at = from + word.len();
        // The separator may have several bytes.
        *at += text[*at..].chars().next().map_or(0, char::len_utf8);
        Some((from, word))
    });
    words.filter_map(|(from, word)| {
        let name = word.trim_matches(['.', '-']);
        let from = from + (word.len() - word.trim_start_matches(['.', '-']).len());
        let (rest, end) = name.rsplit_once('.')?;
        (ENDS.contains(&end) && !rest.is_empty()).then(|| (from..from + name.len(), Kind::Host))
    })
}

fn is_of_a_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '-' | '.' | '_')
}

/// The fields of `ip=` before the host's name.
const HOST_FIELD: usize = 4;
/// Lower case.
const KEYS: &[(&str, Kind)] = &[
    ("hostname=", Kind::Host),
    ("hostname set to ", Kind::Host),
    ("hostname: ", Kind::Host),
    ("nfsroot=", Kind::Host),
    ("domain=", Kind::Host),
    ("uuid=", Kind::Uuid),
    ("partuuid=", Kind::Uuid),
    ("/by-uuid/", Kind::Uuid),
    ("/by-partuuid/", Kind::Uuid),
    ("/by-id/", Kind::Serial),
    ("label=", Kind::Serial),
    ("serial=", Kind::Serial),
    ("serialno=", Kind::Serial),
    ("serialnumber=", Kind::Serial),
    ("serialnumber: ", Kind::Serial),
    ("serial number: ", Kind::Serial),
    ("macaddr=", Kind::Mac),
    ("ethaddr=", Kind::Mac),
    ("hwaddr=", Kind::Mac),
    ("bootif=", Kind::Mac),
    ("/home/", Kind::User),
];

/// The last labels of private and common domain names.
const ENDS: &[&str] = &[
    "arpa",
    "com",
    "corp",
    "example",
    "home",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "net",
    "org",
    "test",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_they_stand() {
        for (text, expected) in [
            ("root=UUID=1b2c-3D ro quiet", vec![("1b2c-3D", Kind::Uuid)]),
            ("systemd.hostname=Board7 x", vec![("Board7", Kind::Host)]),
            (
                "ip=192.0.2.7:192.0.2.1::255.255.255.0:board7:eth0:off",
                vec![("board7", Kind::Host)],
            ),
            ("ip=dhcp ip=:::::eth0:dhcp6 q", vec![]),
            (
                "androidboot.serialno=\"0A1B\" \u{fc}",
                vec![("0A1B", Kind::Serial)],
            ),
            (
                "fec.macaddr=0x00,0x04,0x9f,0x01,0x02,0x03 rw",
                vec![("0x00,0x04,0x9f,0x01,0x02,0x03", Kind::Mac)],
            ),
            ("Hostname set to <nas>.", vec![("nas", Kind::Host)]),
            (
                "(me@builder.one)",
                vec![("me", Kind::User), ("builder.one", Kind::Host)],
            ),
            (
                "\u{e9} a.lan, .b.example.com. c",
                vec![("a.lan", Kind::Host), ("b.example.com", Kind::Host)],
            ),
            ("-o /home/me/runs", vec![("me", Kind::User)]),
            ("nfsroot=/srv net.core.rmem_max rc.d @0 nouuid=", vec![]),
        ] {
            let found: Vec<_> = named(text)
                .into_iter()
                .map(|(place, kind)| (&text[place], kind))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
