// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this kernel calls its drop reasons. The numbers change from kernel to kernel.

use linerate_model::order::Gather as _;
use std::collections::BTreeMap;

use linerate_wire::btf::Btf;
use linerate_wire::tracefs;

/// Names by number.
#[derive(Debug, Default)]
pub(super) struct Names(pub(super) BTreeMap<u32, String>);

impl Names {
    /// From the type information; empty if it has none.
    pub(super) fn of_types(btf: &Btf<'_>) -> Self {
        let values = ASKED
            .iter()
            .filter_map(|name| btf.enumeration(name))
            .flatten();
        let named = values.filter_map(|(name, value)| {
            let short = PREFIXES.iter().find_map(|p| name.strip_prefix(p));
            let short = short.unwrap_or(&name);
            let number = u32::try_from(value).ok()?;
            (!NO_REASONS.contains(&short)).then(|| (number, short.to_owned()))
        });
        Self(named.gather())
    }

    /// From the tracepoint's description.
    pub(super) fn of_format(text: &str) -> Self {
        Self(tracefs::symbols(text, "reason").into_iter().gather())
    }

    /// Returns every name with its count; unknown reasons keep their number.
    pub(super) fn name(&self, mut counted: BTreeMap<u32, u64>) -> Vec<(String, u64)> {
        let known = self.0.iter();
        let mut all: Vec<_> = known
            .map(|(number, name)| (name.clone(), counted.remove(number).unwrap_or_default()))
            .collect();
        all.extend(
            counted
                .into_iter()
                .map(|(number, count)| (unnamed(number), count)),
        );
        all
    }
}

/// `include/net/dropreason.h`: the upper half is the subsystem.
fn unnamed(number: u32) -> String {
    match number >> 16 {
        0 => format!("reason {number}"),
        subsystem => format!("subsystem {subsystem} reason {}", number & 0xffff),
    }
}

/// The types that are asked for by name.
pub(super) const ASKED: [&str; 3] = ["skb_drop_reason", "mac80211_drop_reason", "ovs_drop_reason"];
const PREFIXES: [&str; 2] = ["SKB_DROP_REASON_", "SKB_"];
const NO_REASONS: [&str; 3] = ["NOT_DROPPED_YET", "MAX", "SUBSYS_MASK"];

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn known_reasons_are_named_even_at_zero_and_unknown_ones_are_not_lost() {
        let names = Names([(2, "NOT_SPECIFIED".to_owned()), (3, "NO_SOCKET".to_owned())].into());
        let named = names.name([(3, 7), (200, 1), (0x2_0005, 4)].into());
        let named: Vec<(&str, u64)> = named.iter().map(|(n, c)| (n.as_str(), *c)).collect();
        let expected = [
            ("NOT_SPECIFIED", 0),
            ("NO_SOCKET", 7),
            ("reason 200", 1),
            ("subsystem 2 reason 5", 4),
        ];
        assert_eq!(named, expected);
    }

    #[test]
    fn the_tracepoint_has_names_too() {
        let text = "__print_symbolic(REC->reason, { 2, \"NOT_SPECIFIED\" })";
        let named = Names::of_format(text).name([(2, 1)].into());
        assert_eq!(named, [("NOT_SPECIFIED".to_owned(), 1)]);
    }
}
