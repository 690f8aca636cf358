// SPDX-License-Identifier: MIT OR Apache-2.0
//! One word of `ethtool -a`, `-c`, `-g` or `-l`, read and set. The structures are those of [`super::settings`].

use std::io;

use super::request::{Card, get, put};

/// A structure of 32-bit words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameters {
    /// `-a`, `-A`: struct ethtool_pauseparam.
    Pause,
    /// `-c`, `-C`: struct ethtool_coalesce.
    Coalescing,
    /// `-g`, `-G`: struct ethtool_ringparam.
    Rings,
    /// `-l`, `-L`: struct ethtool_channels.
    Channels,
}

impl Parameters {
    /// Words by the names that `ethtool` takes: `rx`, `rx-usecs`, `combined`.
    ///
    /// # Errors
    /// EOPNOTSUPP if the driver has none of these, `InvalidInput` for another name.
    pub fn read(self, card: &dyn Card, names: &[&str]) -> io::Result<Vec<u32>> {
        let answer = self.asked(card)?;
        let each = names.iter().map(|name| get(&answer, self.at(name)?));
        each.collect()
    }

    /// Sets words together, and leaves the others as they are.
    ///
    /// # Errors
    /// EPERM without CAP_NET_ADMIN, EINVAL out of range, EOPNOTSUPP if the driver has none of these.
    pub fn write(self, card: &dyn Card, values: &[(&str, u32)]) -> io::Result<()> {
        let mut words = self.asked(card)?;
        for (name, value) in values {
            put(&mut words, self.at(name)?, *value);
        }
        // ETHTOOL_S… of each is the number after ETHTOOL_G….
        put(&mut words, 0, self.command() + 1);
        card.exchange(&mut words)
    }

    /// The largest value of a word, where the structure has it: that of a ring, or of the number of channels.
    ///
    /// # Errors
    /// As [`Parameters::read`].
    pub fn most(self, card: &dyn Card, name: &str) -> io::Result<Option<u32>> {
        let has_maxima = matches!(self, Self::Rings | Self::Channels);
        match has_maxima {
            // The four maxima are before the four values.
            true => get(&self.asked(card)?, self.at(name)? - 16).map(Some),
            false => self.at(name).map(|_| None),
        }
    }

    fn asked(self, card: &dyn Card) -> io::Result<Vec<u8>> {
        card.ask(self.command(), self.bytes())
    }

    const fn command(self) -> u32 {
        match self {
            Self::Coalescing => 0x0e,
            Self::Rings => 0x10,
            Self::Pause => 0x12,
            Self::Channels => 0x3c,
        }
    }

    const fn bytes(self) -> usize {
        match self {
            Self::Pause => 16,
            Self::Rings | Self::Channels => 36,
            Self::Coalescing => 92,
        }
    }

    /// Whether it has a word of this name.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        self.words().iter().any(|(word, _)| *word == name)
    }

    const fn words(self) -> &'static [(&'static str, usize)] {
        match self {
            Self::Pause => &[("autoneg", 1), ("rx", 2), ("tx", 3)],
            Self::Rings => &[("rx", 5), ("rx-mini", 6), ("rx-jumbo", 7), ("tx", 8)],
            Self::Channels => &[("rx", 5), ("tx", 6), ("other", 7), ("combined", 8)],
            Self::Coalescing => &[
                ("rx-usecs", 1),
                ("rx-frames", 2),
                ("rx-usecs-irq", 3),
                ("rx-frames-irq", 4),
                ("tx-usecs", 5),
                ("tx-frames", 6),
                ("tx-usecs-irq", 7),
                ("tx-frames-irq", 8),
                ("adaptive-rx", 10),
                ("adaptive-tx", 11),
            ],
        }
    }

    fn at(self, name: &str) -> io::Result<usize> {
        let words = self.words();
        let found = words.iter().find(|(word, _)| *word == name);
        found.map(|(_, word)| 4 * word).ok_or_else(|| {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let why = format!("no `{name}`: there are {}", names.join(", "));
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::Ethtool;
    use super::*;

    #[test]
    fn the_loopback_has_none_and_a_wrong_name_is_reported() {
        for one in [Parameters::Pause, Parameters::Rings, Parameters::Channels] {
            let loopback = Ethtool::of("lo").unwrap();
            let error = one.read(&loopback, &["rx"]).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EOPNOTSUPP), "{one:?}");
        }
        let error = Parameters::Coalescing.at("usecs").unwrap_err();
        assert!(error.to_string().contains("rx-usecs, rx-frames"), "{error}");
    }

    /// Each word lies in its structure.
    #[test]
    fn words_are_inside() {
        for (one, name) in [
            (Parameters::Pause, "tx"),
            (Parameters::Rings, "tx"),
            (Parameters::Channels, "combined"),
            (Parameters::Coalescing, "adaptive-tx"),
        ] {
            assert!(one.at(name).unwrap() + 4 <= one.bytes());
        }
    }
}
