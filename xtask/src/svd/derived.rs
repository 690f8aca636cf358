// SPDX-License-Identifier: MIT OR Apache-2.0
//! Resolves `derivedFrom`.

use roxmltree::Node;

use super::element::{self, child};

/// Finds the register or cluster that a path such as `RCR`, `ENET.RCR` or `QUEUE.RCR` names:
/// a sibling of `from`, else one inside an element that has the path's next name.
pub(super) fn find<'d>(from: Node<'d, 'd>, path: &str) -> Option<Node<'d, 'd>> {
    let mut names = path.rsplit('.');
    let last = names.next()?;
    let outer = names.next();
    let is_within =
        |node: &Node<'d, 'd>, name| node.ancestors().skip(1).any(|n| element::name(n) == name);
    let named = |n: &Node<'d, 'd>| {
        n.tag_name() == from.tag_name() && *n != from && element::name(*n) == last
    };
    let all: Vec<Node<'d, 'd>> = from.document().descendants().filter(named).collect();
    let sibling = all.iter().find(|n| n.parent() == from.parent());
    let nested = || {
        all.iter()
            .find(|n| outer.is_some_and(|name| is_within(n, name)))
    };
    sibling.or_else(nested).copied()
}

/// Finds a list of enumerated values by its name or its field's, preferably in the same
/// peripheral.
pub(super) fn values<'d>(list: Node<'d, 'd>, path: &str) -> Option<Node<'d, 'd>> {
    let last = path.rsplit('.').next()?;
    let is_named = |n: Node<'d, 'd>| element::name(n) == last;
    let matches = |n: &Node<'d, 'd>| {
        n.tag_name() == list.tag_name()
            && child(*n, "enumeratedValue").is_some()
            && (is_named(*n) || n.parent().is_some_and(is_named))
    };
    let all: Vec<Node<'d, 'd>> = list.document().descendants().filter(matches).collect();
    let same = all.iter().find(|n| peripheral(**n) == peripheral(list));
    same.or(all.first()).copied()
}

/// Returns the node and everything it is derived from, itself first.
pub(super) fn chain<'d>(
    node: Node<'d, 'd>,
    find: impl Fn(Node<'d, 'd>, &str) -> Option<Node<'d, 'd>>,
) -> Result<Vec<Node<'d, 'd>>, String> {
    let mut chain = vec![node];
    let mut current = node;
    while let Some(next) = current
        .attribute("derivedFrom")
        .and_then(|basis| find(current, basis))
    {
        if chain.contains(&next) {
            return Err(format!("`{}` is derived from itself", element::name(node)));
        }
        chain.push(next);
        current = next;
    }
    Ok(chain)
}

fn peripheral<'d>(node: Node<'d, 'd>) -> Option<Node<'d, 'd>> {
    node.ancestors()
        .find(|n| n.tag_name().name() == "peripheral")
}
