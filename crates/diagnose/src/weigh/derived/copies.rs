// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies and downloads, of which no link speed is known: whether their rate is what a usual link leaves for it.

use super::Fact;
use crate::weigh::observed::{Field, normal};

/// Only that it fits: a copy may be slower for many reasons.
pub(super) fn of_fields(fields: &[Field]) -> Option<Fact> {
    let of = |name: &str| {
        let name = normal(name);
        fields.iter().filter(move |field| field.name == name)
    };
    let is_tcp = of("fact protocol").all(|field| field.value == "tcp");
    let is_known = of("fact line_rate_ratio").next().is_some();
    let rates = of("fact delivered_bits_per_second").filter_map(|field| field.value.parse().ok());
    let most: f64 = rates.max_by(f64::total_cmp)?;
    let fits = LINKS.iter().any(|link| FULL.contains(&(most / link)));
    (is_tcp && !is_known && fits).then(|| Fact {
        line: None,
        ..Fact::new("rate_fits_standard_link", true, 0)
    })
}

/// Copper links that remain in use for years after faster ones exist.
const LINKS: [f64; 3] = [1e7, 1e8, 1e9];
/// What TCP has of them, and less what a program takes to begin and end.
const FULL: std::ops::Range<f64> = 0.89..0.955;

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(facts: &[(&str, &str)]) -> bool {
        let field = |(name, value): &(&str, &str)| Field {
            interface: None,
            name: normal(&format!("fact {name}")),
            title: String::new(),
            value: (*value).to_owned(),
            line: None,
        };
        let fields: Vec<Field> = facts.iter().map(field).collect();
        of_fields(&fields).is_some()
    }

    #[test]
    fn a_copy_that_fills_a_link() {
        let rate = |bits| ("delivered_bits_per_second", bits);
        assert!(fits(&[rate("93952410"), rate("11020000")]));
        assert!(!fits(&[rate("300000000")]));
        assert!(!fits(&[rate("93952410"), ("protocol", "udp")]));
        assert!(!fits(&[rate("93952410"), ("line_rate_ratio", "0.09")]));
        assert!(!fits(&[]));
    }
}
