// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exit codes, the same in text and in JSON mode.

use std::process::ExitCode;

use linerate_model::failure::Kind;

/// How a command ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Measured, every expectation met.
    #[default]
    Ok = 0,
    /// Measured, an expectation failed.
    ExpectationFailed = 1,
    /// The command line or a configuration is wrong.
    Usage = 2,
    /// Could not measure: no permission, no such host, no answer.
    CouldNotMeasure = 3,
    /// Measured, but the numbers are not valid.
    Invalid = 4,
    /// Stopped by a signal; what was measured until then is printed and stored.
    Interrupted = 130,
}

impl Exit {
    /// Every exit with its meaning in a few words, for the manual.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Ok, "measured, every expectation met"),
        (Self::ExpectationFailed, "measured, an expectation failed"),
        (Self::Usage, "wrong command line"),
        (Self::CouldNotMeasure, "could not measure"),
        (Self::Invalid, "measured, but the numbers are not valid"),
        (
            Self::Interrupted,
            "interrupted; the partial result is printed and stored",
        ),
    ];

    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Kind> for Exit {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Usage => Self::Usage,
            Kind::CouldNotMeasure => Self::CouldNotMeasure,
            Kind::Invalid => Self::Invalid,
            Kind::Interrupted => Self::Interrupted,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
