// SPDX-License-Identifier: MIT OR Apache-2.0
//! `{fact}` in a text stands for the fact's value, `{interface}` for the interface in question.
//! What is not known stays as `<fact>`, which a person can fill in.

/// The names that a text asks for, `interface` apart.
pub(super) fn facts(text: &str) -> impl Iterator<Item = &str> {
    let braced = text.split('{').skip(1);
    braced
        .filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
        .filter(|name| is_name(name) && *name != "interface")
}

/// The text with what `ask` knows filled in.
pub(super) fn fill(text: &str, ask: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        rest = after;
        match after.split_once('}') {
            Some((name, behind)) if is_name(name) => {
                filled.push_str(&ask(name).unwrap_or_else(|| format!("<{name}>")));
                rest = behind;
            }
            _ => filled.push('{'),
        }
    }
    filled + rest
}

/// Braces of a shell or of nft are not ours.
fn is_name(text: &str) -> bool {
    let name = text.strip_prefix(crate::facts::PEER).unwrap_or(text);
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in_and_other_braces_stay() {
        let ask = |name: &str| (name == "interface").then(|| "eth0".to_owned());
        assert_eq!(
            fill("ethtool -g {interface} rx {ring_rx}", ask),
            "ethtool -g eth0 rx <ring_rx>"
        );
        assert_eq!(fill("nft { drop; } {", ask), "nft { drop; } {");
        assert_eq!(
            facts("{interface} {ring_rx} { x }").collect::<Vec<_>>(),
            ["ring_rx"]
        );
    }
}
