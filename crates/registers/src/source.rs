// SPDX-License-Identifier: MIT OR Apache-2.0
//! The source of a statement about a register.

use linerate_knowledge::Source as Kernel;

/// The kind of source that a statement cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A macro, function or array in a file of the kernel that the map names (`Map::kernel`).
    Kernel,
    /// A place in a document of one of [`Self::KINDS`].
    Document,
    /// From memory, not verified.
    Recall,
}

impl Source {
    /// The notation, for error messages.
    pub const FORM: &str = "`recall`; a path from the kernel's root and a name in it \
        (`drivers/net/ethernet/freescale/fec.h FEC_R_CNTRL`); or `manual`, `standard`, `header` \
        or `svd`, which one, and the place (`manual i.MX6DQRM ENET_RCR`)";

    /// The kinds of document.
    pub const KINDS: [&str; 4] = ["manual", "standard", "header", "svd"];

    /// Parses a source; none if the text does not have the [`Self::FORM`].
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        if let Some((kind, place)) = text.split_once(' ')
            && Self::KINDS.contains(&kind)
        {
            return (!place.trim().is_empty()).then_some(Self::Document);
        }
        Kernel::of_text(text).map(|source| match source {
            Kernel::Kernel => Self::Kernel,
            Kernel::Recall => Self::Recall,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn a_source_says_where_to_look() {
        assert_eq!(Source::of_text("recall"), Some(Source::Recall));
        assert_eq!(
            Source::of_text("manual i.MX6DQRM ENET_RCR"),
            Some(Source::Document)
        );
        let kernel = "drivers/net/ethernet/freescale/fec.h FEC_R_CNTRL";
        assert_eq!(Source::of_text(kernel), Some(Source::Kernel));
        for vague in [
            "",
            "manual",
            "manual ",
            "the internet",
            "fec.h",
            "recall me",
        ] {
            assert_eq!(Source::of_text(vague), None, "{vague}");
        }
    }
}
