// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of this host and its interfaces, and their way through lines of limited length.

use std::collections::BTreeMap;

use linerate_linux::nic;
use linerate_linux::setup::{self, RawSetting};
use linerate_model::output::Role;
use linerate_model::setting::Setting;

use crate::lines::LINE_BYTES;

/// All that can be read, in the network namespace of the calling thread.
#[must_use]
pub fn settings() -> Vec<Setting> {
    let mut all: Vec<Setting> = setup::of_host()
        .into_iter()
        .map(|one| of(one, None))
        .collect();
    for link in nic::list().unwrap_or_default() {
        let own = setup::of_interface(&link.name).into_iter();
        all.extend(own.map(|one| of(one, Some(&link.name))));
    }
    all
}

fn of(raw: RawSetting, interface: Option<&String>) -> Setting {
    Setting {
        host: Role::Remote,
        source: raw.source,
        interface: interface.cloned(),
        values: raw.values.into_iter().collect(),
    }
}

/// Parts of a setting that each fit in a line. A value that fits in none is left out.
pub(super) fn parts(setting: Setting) -> Vec<Setting> {
    let Setting {
        host,
        source,
        interface,
        values,
    } = setting;
    let room = ROOM.saturating_sub(length(&source));
    let part = |values| Setting {
        host,
        source: source.clone(),
        interface: interface.clone(),
        values,
    };
    let (mut parts, mut now, mut used) = (Vec::new(), BTreeMap::new(), 0);
    for (name, value) in values {
        let bytes = length(&name) + length(&value);
        if bytes > room {
            continue;
        }
        if used + bytes > room {
            parts.push(part(std::mem::take(&mut now)));
            used = 0;
        }
        used += bytes;
        now.insert(name, value);
    }
    parts.push(part(now));
    parts
}

/// Puts parts together again.
pub(super) fn joined(parts: Vec<Setting>) -> Vec<Setting> {
    let mut all: Vec<Setting> = Vec::new();
    for part in parts {
        match all.last_mut() {
            Some(last) if last.source == part.source && last.interface == part.interface => {
                last.values.extend(part.values);
            }
            _ => all.push(part),
        }
    }
    all
}

/// As JSON, at most: a control character takes six bytes; quotes, a colon and a comma.
fn length(text: &str) -> usize {
    let of = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        0..=0x1f => 6,
        _ => 1,
    };
    text.bytes().map(of).sum::<usize>() + 6
}

/// Of a line, less the words around the values and the name of an interface.
const ROOM: usize = LINE_BYTES - 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::text;

    #[test]
    fn settings_longer_than_a_line_travel_in_parts() {
        let value = |number: usize| (format!("{number:05}"), "\n\"x".repeat(100));
        let long = Setting {
            source: "sysctl".to_owned(),
            values: (0..500).map(value).collect(),
            ..Setting::default()
        };
        let other = Setting {
            source: "ethtool -g".to_owned(),
            interface: Some("eth0".to_owned()),
            ..Setting::default()
        };
        let parts = [parts(long.clone()), parts(other.clone())].concat();
        assert!(parts.len() > 5 && parts.iter().all(|part| text(part).is_ok()));
        assert_eq!(joined(parts), [long, other]);
    }

    #[test]
    fn a_value_longer_than_a_line_is_left_out() {
        let setting = Setting {
            values: [
                ("a".to_owned(), "x".repeat(LINE_BYTES)),
                ("b".to_owned(), "1".to_owned()),
            ]
            .into(),
            ..Setting::default()
        };
        let parts = parts(setting);
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].values.keys().collect::<Vec<_>>(), ["b"]);
    }
}
