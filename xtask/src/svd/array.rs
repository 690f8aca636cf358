// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arrays: `<dim>`, `<dimIncrement>`, `<dimIndex>`, and `%s` in the name.

use roxmltree::Node;

use super::element::{number, text};

/// One element of an array, or the only one of something that is not an array.
#[derive(Debug)]
pub(super) struct Member {
    /// The name with its index filled in.
    pub(super) name: String,
    /// Distance from the first element: bytes for a register, bits for a field.
    pub(super) distance: u64,
}

/// Returns the elements of a register, cluster or field called `name`.
pub(super) fn members(node: Node<'_, '_>, name: &str) -> Result<Vec<Member>, String> {
    let count = number(node, "dim");
    if count > Some(MAX_MEMBERS) {
        return Err(format!(
            "`{name}` has more than {MAX_MEMBERS} members of an array"
        ));
    }
    let step = number(node, "dimIncrement").unwrap_or(0);
    let indices = text(node, "dimIndex").map_or_else(Vec::new, |t| indices(&t));
    let index = |at: u64| match (
        count,
        usize::try_from(at).ok().and_then(|at| indices.get(at)),
    ) {
        (None, _) => String::new(),
        (_, Some(index)) => index.clone(),
        (_, None) => at.to_string(),
    };
    let member = |at: u64| Member {
        name: name.replace("[%s]", "%s").replace("%s", &index(at)),
        distance: step.saturating_mul(at),
    };
    Ok((0..count.unwrap_or(1)).map(member).collect())
}

/// Expands `0-3`, `A-D` or `A,B,C`.
fn indices(text: &str) -> Vec<String> {
    if let Some((first, last)) = text.split_once('-') {
        let (first, last) = (first.trim(), last.trim());
        if let (Ok(first), Ok(last)) = (first.parse::<u16>(), last.parse::<u16>()) {
            return (first..=last).map(|n| n.to_string()).collect();
        }
        if let (&[first], &[last]) = (first.as_bytes(), last.as_bytes()) {
            let letters = (first..=last).map(char::from);
            return letters.map(String::from).collect();
        }
    }
    text.split(',')
        .map(|index| index.trim().to_owned())
        .collect()
}

const MAX_MEMBERS: u64 = 1_024;

#[cfg(test)]
mod tests {
    use super::indices;

    #[test]
    fn indices_are_ranges_or_lists() {
        assert_eq!(indices("0-3"), ["0", "1", "2", "3"]);
        assert_eq!(indices("A-C"), ["A", "B", "C"]);
        assert_eq!(indices("RX, TX"), ["RX", "TX"]);
        assert_eq!(indices("3-0"), Vec::<String>::new());
    }
}
