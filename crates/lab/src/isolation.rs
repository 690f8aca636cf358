// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a lab is isolated: private namespaces, or, where they are forbidden, only the loopback.

use std::fmt;

use linerate_linux::sandbox::{self, Privilege, Refusal};

/// What hosts are made of.
#[derive(Debug)]
pub enum Isolation {
    /// Private namespaces; the process is inside them.
    Namespaces(Privilege),
    /// Namespaces are forbidden: hosts are this machine, over its loopback.
    Loopback { because: Refusal },
}

impl Isolation {
    /// Moves the process into private namespaces if the machine allows it.
    ///
    /// Must be the first thing that a program does: no thread may exist. The process that
    /// called it waits outside, and what follows the call runs in a copy inside.
    pub fn enter() -> Self {
        Self::enter_with(None)
    }

    /// As [`Isolation::enter`], with one kind of privilege or none.
    pub fn enter_with(privilege: Option<Privilege>) -> Self {
        match sandbox::enter(privilege) {
            Ok(privilege) => Self::Namespaces(privilege),
            Err(because) => Self::Loopback { because },
        }
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespaces(Privilege::UserNamespace) => {
                f.write_str("private user and network namespaces")
            }
            Self::Namespaces(Privilege::Root) => f.write_str("private network namespaces (root)"),
            Self::Loopback { because } => write!(
                f,
                "loopback instead of a lab: {because} (to get a lab: {})",
                because.remedy()
            ),
        }
    }
}
