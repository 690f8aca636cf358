// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a lab stands on: private namespaces, or, where they are forbidden, the loopback.

use std::fmt;

use linerate_linux::sandbox::{self, Privilege, Refusal};

/// Where hosts can be built.
#[derive(Debug)]
pub enum Ground {
    /// Private namespaces; the process is inside them.
    Namespaces(Privilege),
    /// None to be had: hosts are this machine, over its loopback.
    Loopback { because: Refusal },
}

impl Ground {
    /// Moves the process into private namespaces if the machine allows it.
    ///
    /// Must be the first thing that a program does: no thread may exist. The process that
    /// called it waits outside, and what follows the call runs in a copy inside.
    pub fn enter() -> Self {
        Self::enter_with(None)
    }

    /// As [`Ground::enter`], with one kind of privilege or none.
    pub fn enter_with(privilege: Option<Privilege>) -> Self {
        match sandbox::enter(privilege) {
            Ok(privilege) => Self::Namespaces(privilege),
            Err(because) => Self::Loopback { because },
        }
    }
}

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespaces(Privilege::UserNamespace) => {
                f.write_str("private user and network namespaces")
            }
            Self::Namespaces(Privilege::Root) => f.write_str("private network namespaces (root)"),
            Self::Loopback { because } => write!(
                f,
                "loopback, not a link: {because} (to get one: {})",
                because.remedy()
            ),
        }
    }
}
