// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arrays: `<dim>`, `<dimIncrement>`, `<dimIndex>`, and `%s` in the name.

use roxmltree::Node;

use super::SvdError;
use super::element::{number, text};

/// One member of an array; of what is no array, the thing itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// The name with its index in it.
    pub(super) name: String,
    /// How far behind the first: bytes of a register, bits of a field.
    pub(super) behind: u64,
}

/// The members of a register, cluster or field called `name`.
pub(super) fn members(node: Node<'_, '_>, name: &str) -> Result<Vec<Member>, SvdError> {
    let Some(count) = number(node, "dim") else {
        return Ok(vec![Member {
            name: name.replace("[%s]", "").replace("%s", ""),
            behind: 0,
        }]);
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > MOST_MEMBERS {
        return Err(SvdError::TooMany {
            what: "members of an array",
            most: MOST_MEMBERS,
        });
    }
    let step = number(node, "dimIncrement").unwrap_or(0);
    let indices = text(node, "dimIndex").map_or_else(Vec::new, |t| indices(&t));
    let member = |at: usize| {
        let index = indices.get(at).cloned().unwrap_or_else(|| at.to_string());
        Member {
            name: name.replace("[%s]", &index).replace("%s", &index),
            behind: step.saturating_mul(at as u64),
        }
    };
    Ok((0..count).map(member).collect())
}

/// `0-3`, `A-D` or `A,B,C`.
fn indices(text: &str) -> Vec<String> {
    if let Some((first, last)) = text.split_once('-') {
        let (first, last) = (first.trim(), last.trim());
        if let (Ok(first), Ok(last)) = (first.parse::<u16>(), last.parse::<u16>()) {
            let some = (first..=last).take(MOST_MEMBERS);
            return some.map(|n| n.to_string()).collect();
        }
        if let (&[first], &[last]) = (first.as_bytes(), last.as_bytes()) {
            return (first..=last)
                .map(|letter| char::from(letter).to_string())
                .collect();
        }
    }
    let all = text.split(',').take(MOST_MEMBERS);
    all.map(|index| index.trim().to_owned()).collect()
}

const MOST_MEMBERS: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::indices;

    #[test]
    fn indices_are_ranges_or_lists() {
        assert_eq!(indices("0-3"), ["0", "1", "2", "3"]);
        assert_eq!(indices("A-C"), ["A", "B", "C"]);
        assert_eq!(indices("RX, TX"), ["RX", "TX"]);
        assert_eq!(indices("3-0"), Vec::<String>::new());
        assert_eq!(indices("0-65535").len(), 1_024);
    }
}
