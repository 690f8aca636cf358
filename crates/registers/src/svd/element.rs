// SPDX-License-Identifier: MIT OR Apache-2.0
//! The elements of an SVD file: children by name, numbers, and what is inherited.

use roxmltree::Node;

use crate::number;

/// The text of a child, on one line; none if there is no such child or nothing in it.
pub(super) fn text(node: Node<'_, '_>, name: &str) -> Option<String> {
    let child = child(node, name)?;
    let words: Vec<&str> = child.text()?.split_whitespace().collect();
    let text = words.join(" ");
    (!text.is_empty()).then_some(text)
}

/// The number in a child: decimal, `0x`, and `#` or `0b` for binary.
pub(super) fn number(node: Node<'_, '_>, name: &str) -> Option<u64> {
    of_number(&text(node, name)?)
}

/// SVD's numbers.
pub(super) fn of_number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches('+');
    match text.strip_prefix('#') {
        Some(binary) => number::unsigned(&format!("0b{binary}")),
        None => number::unsigned(text),
    }
}

/// The first child of this name.
pub(super) fn child<'d, 'i>(node: Node<'d, 'i>, name: &str) -> Option<Node<'d, 'i>> {
    children(node, name).next()
}

/// Every child of this name.
pub(super) fn children<'d, 'i>(
    node: Node<'d, 'i>,
    name: &str,
) -> impl Iterator<Item = Node<'d, 'i>> {
    let name = name.to_owned();
    node.children().filter(move |c| c.tag_name().name() == name)
}

/// What `<name>` says; nothing if it says nothing.
pub(super) fn name(node: Node<'_, '_>) -> String {
    text(node, "name").unwrap_or_default()
}

/// The peripherals of a device.
pub(super) fn peripherals<'d>(device: Node<'d, 'd>) -> impl Iterator<Item = Node<'d, 'd>> {
    children(device, "peripherals").flat_map(|all| children(all, "peripheral"))
}
