// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -k`: each feature, whether it is on, and whether it can be switched. Of a group, `ethtool` prints only whether
//! it is on: the members below it, with an indentation, show the rest.

/// Feature → `on`, `off`, `off [fixed]`, `off [requested on]`.
pub(super) fn values(lines: &[(usize, &str)]) -> Vec<(String, String)> {
    let features: Vec<Feature<'_>> = lines.iter().filter_map(|(_, line)| feature(line)).collect();
    let mut values = Vec::new();
    for (at, one) in features.iter().enumerate() {
        let after = features.iter().skip(at + 1);
        let members: Vec<&Feature<'_>> = after.take_while(|next| next.depth > one.depth).collect();
        let note = one.note.or_else(|| common_note(&members));
        let text = note.map_or_else(
            || one.state.to_owned(),
            |note| format!("{} {note}", one.state),
        );
        values.push((one.name.to_owned(), text));
    }
    values
}

struct Feature<'l> {
    name: &'l str,
    state: &'l str,
    note: Option<&'static str>,
    /// Of its indentation.
    depth: usize,
}

fn feature(line: &str) -> Option<Feature<'_>> {
    let (name, value) = line.trim().split_once(':')?;
    let note = NOTES.iter().find(|note| value.contains(**note));
    Some(Feature {
        name: name.trim(),
        state: value.split_whitespace().next()?,
        note: note.copied(),
        depth: line.len() - line.trim_start().len(),
    })
}

/// A group of which no member can be switched is fixed; of the others, all must say the same.
fn common_note(members: &[&Feature<'_>]) -> Option<&'static str> {
    let free = members.iter().filter(|member| member.note != Some(FIXED));
    let mut notes = free.map(|member| member.note);
    match notes.next() {
        None => (!members.is_empty()).then_some(FIXED),
        Some(first) => first.filter(|_| notes.all(|note| note == first)),
    }
}

const FIXED: &str = "[fixed]";
const NOTES: [&str; 3] = [FIXED, "[requested on]", "[requested off]"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_can_be_switched_if_a_member_can() {
        let text = "rx-checksumming: off [fixed]
tx-checksumming: on
\ttx-checksum-ipv4: off [fixed]
\ttx-checksum-ip-generic: on
tcp-segmentation-offload: off
\ttx-tcp-segmentation: off [fixed]
\ttx-tcp6-segmentation: off [fixed]
scatter-gather: off
\ttx-scatter-gather: off [requested on]
\ttx-scatter-gather-fraglist: off [fixed]
generic-segmentation-offload: off [requested on]";
        let lines: Vec<(usize, &str)> = text.lines().enumerate().collect();
        let values = values(&lines);
        let of = |name: &str| {
            let mut named = values.iter().filter(|(found, _)| found == name);
            named.next().map(|(_, value)| value.as_str())
        };
        assert_eq!(of("rx-checksumming"), Some("off [fixed]"));
        assert_eq!(of("tx-checksumming"), Some("on"));
        assert_eq!(of("tcp-segmentation-offload"), Some("off [fixed]"));
        assert_eq!(of("scatter-gather"), Some("off [requested on]"));
        let gso = of("generic-segmentation-offload");
        assert_eq!(gso, Some("off [requested on]"));
    }
}
