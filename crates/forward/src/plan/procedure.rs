// SPDX-License-Identifier: MIT OR Apache-2.0
//! The benchmarks and their names.

use std::fmt;
use std::str::FromStr;

/// One benchmark, in the order of measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Procedure {
    Throughput,
    LossCurve,
    BackToBack,
    Latency,
    Recovery,
    Reset,
}

impl Procedure {
    /// All of them, in the order of measuring.
    pub const ALL: [Self; 6] = [
        Self::Throughput,
        Self::LossCurve,
        Self::BackToBack,
        Self::Latency,
        Self::Recovery,
        Self::Reset,
    ];

    /// The name in flags and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::LossCurve => "loss-curve",
            Self::BackToBack => "back-to-back",
            Self::Latency => "latency",
            Self::Recovery => "recovery",
            Self::Reset => "reset",
        }
    }

    /// How many frame sizes and ways it is measured for: RFC 6201 section 4 resets with the smallest frames only.
    pub(crate) fn subjects(self) -> usize {
        match self {
            Self::Reset => 1,
            _ => usize::MAX,
        }
    }

    /// Whether the throughput must be known before.
    #[must_use]
    pub fn needs_throughput(self) -> bool {
        !matches!(self, Self::Throughput | Self::LossCurve)
    }
}

impl fmt::Display for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Procedure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|one| one.name() == text);
        let names = Self::ALL.map(Self::name).join(", ");
        known.ok_or_else(|| format!("'{text}' is not one of {names}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for one in Procedure::ALL {
            assert_eq!(one.to_string().parse(), Ok(one));
        }
        let why = "ndr".parse::<Procedure>().unwrap_err();
        assert!(
            why.starts_with("'ndr' is not one of throughput, loss-curve"),
            "{why}"
        );
    }
}
