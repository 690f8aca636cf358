// SPDX-License-Identifier: MIT OR Apache-2.0
//! The source of a statement: a file and a function of the kernel, or memory.

/// The kind of source that a statement cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A function, array or macro in a file of the kernel that the table names (`Driver::kernel`).
    Kernel,
    /// From memory, not verified.
    Recall,
}

impl Source {
    /// The notation, for error messages.
    pub const FORM: &str = "`recall`, or a path from the kernel's root and a function: \
         `drivers/net/veth.c veth_get_stats64`";

    /// Parses a source; none if the text does not have the [`Self::FORM`].
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        if text == "recall" {
            return Some(Self::Recall);
        }
        let (file, place) = text.split_once(' ')?;
        (is_kernel_path(file) && is_identifier(place)).then_some(Self::Kernel)
    }
}

fn is_kernel_path(file: &str) -> bool {
    let known_root = ROOTS.iter().any(|root| file.starts_with(root));
    let known_kind = file
        .rsplit_once('.')
        .is_some_and(|(_, kind)| matches!(kind, "c" | "h" | "rst"));
    known_root && known_kind
}

fn is_identifier(place: &str) -> bool {
    !place.is_empty() && place.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

const ROOTS: [&str; 4] = ["drivers/", "net/", "include/", "Documentation/"];
