// SPDX-License-Identifier: MIT OR Apache-2.0
//! `{fact}` in a text stands for the fact's value, `{interface}` for the interface in question.
//! What is not known stays as `<fact>` in a command, which a person can fill in. A sentence leaves it out: whatever may
//! be unknown is in parentheses, and they go with it.

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

/// A sentence with what `ask` knows filled in, without the parentheses of which it does not know all.
pub(super) fn sentence(text: &str, ask: impl Fn(&str) -> Option<String>) -> String {
    let known = |inside: &str| facts(inside).all(|name| ask(name).is_some());
    fill(&with_parentheses(text, known), &ask)
}

/// The facts without which a sentence cannot be said.
pub(super) fn needed(text: &str) -> Vec<String> {
    let sure = with_parentheses(text, |inside| facts(inside).next().is_none());
    facts(&sure).map(str::to_owned).collect()
}

/// The text with those of its parentheses whose inside is to stay.
fn with_parentheses(text: &str, stays: impl Fn(&str) -> bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let Some((inside, behind)) = after.split_once(')') else {
            break;
        };
        kept.push_str(before);
        if stays(inside) {
            kept.push_str(OPEN);
            kept.push_str(inside);
            kept.push(')');
        }
        rest = behind;
    }
    kept + rest
}

const OPEN: &str = " (";

/// The text with everything filled in; `None` if a fact is not known. An interface that is not known can be filled in by
/// a person.
pub(super) fn whole(text: &str, ask: impl Fn(&str) -> Option<String>) -> Option<String> {
    let known = facts(text).all(|name| ask(name).is_some());
    known.then(|| fill(text, ask))
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

    #[test]
    fn a_sentence_leaves_out_what_is_not_known() {
        let ask = |name: &str| (name == "drops").then(|| "12".to_owned());
        for (text, said) in [
            ("its queue ({kind}) dropped {drops}", "its queue dropped 12"),
            ("it dropped some ({drops})", "it dropped some (12)"),
            (
                "it dropped ({drops} of {kind}), see tc(8)",
                "it dropped, see tc(8)",
            ),
            (
                "`sysctl x` (as before), {drops}",
                "`sysctl x` (as before), 12",
            ),
            ("open ({drops}", "open (12"),
        ] {
            assert_eq!(sentence(text, ask), said);
        }
        assert_eq!(needed("{a} of {b} ({c})"), ["a", "b"]);
    }
}
