// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values that a text writes otherwise than they are named: `duplex: half` of sysfs is `ethtool Duplex = Half`, `@[6]: 12` is
//! `drop reason 6 = 12`.

/// The last two words of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    name: String,
    pub(super) value: String,
    /// What else the line has.
    mark: &'static str,
}

impl Written {
    /// The file of `/sys/class/net/eth0` from which a setting may be, with its value.
    pub(super) fn of_setting(source: &str, name: &str, value: &str) -> Option<Self> {
        let (name, value) = match (source, name) {
            ("ethtool", "Speed") => ("speed", value.strip_suffix("Mb/s")?.to_owned()),
            ("ethtool", "Duplex") => ("duplex", value.to_lowercase()),
            ("ethtool", "Link detected") => ("carrier", u8::from(value == "yes").to_string()),
            ("ip link", "state") => ("operstate", value.to_lowercase()),
            _ => return None,
        };
        Some(Self {
            name: name.to_owned(),
            value,
            mark: "",
        })
    }

    /// The key of a map that counts drops.
    pub(super) fn of_counter(name: &str, value: u64) -> Option<Self> {
        let number = name.strip_prefix("drop reason ")?;
        Some(Self {
            name: number.to_owned(),
            value: value.to_string(),
            mark: "[",
        })
    }

    /// Whether a line ends with it, also after a path.
    pub(super) fn ends(&self, line: &str) -> bool {
        let apart = |letter: char| letter.is_whitespace() || ":=[]".contains(letter);
        let mut words = line.rsplit(apart).filter(|word| !word.is_empty());
        let is_value = words.next() == Some(self.value.as_str());
        let name = words.next().and_then(|word| word.rsplit('/').next());
        is_value && name == Some(self.name.as_str()) && line.contains(self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_files_and_of_maps() {
        let duplex = Written::of_setting("ethtool", "Duplex", "Half");
        let speed = Written::of_setting("ethtool", "Speed", "10Mb/s");
        let reason = Written::of_counter("drop reason 6", 12);
        for (written, line, expected) in [
            (&duplex, "duplex: half", true),
            (&duplex, "/sys/class/net/eth0/duplex:half", true),
            (&duplex, "no duplex is half", false),
            (&speed, "speed=10", true),
            (&speed, "speed: 100", false),
            (&speed, "my internet speed 10 years ago", false),
            (&reason, "@drops[6]: 12", true),
            (&reason, "@drops[16]: 12", false),
            (&reason, "port 6: 12", false),
        ] {
            let ends = written.as_ref().map(|written| written.ends(line));
            assert_eq!(ends, Some(expected), "{line}");
        }
        assert_eq!(Written::of_setting("ethtool", "Speed", "Unknown!"), None);
        assert_eq!(Written::of_counter("rx_errors", 12), None);
    }
}
