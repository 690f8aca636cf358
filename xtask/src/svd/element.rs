// SPDX-License-Identifier: MIT OR Apache-2.0
//! The elements of an SVD file: children by name, their text and numbers.

use linerate_registers::unsigned;
use roxmltree::Node;

/// Returns the text of a child on one line, if there is any.
pub(super) fn text(node: Node<'_, '_>, name: &str) -> Option<String> {
    let words: Vec<&str> = child(node, name)?.text()?.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Returns the number in a child.
pub(super) fn number(node: Node<'_, '_>, name: &str) -> Option<u64> {
    of_number(&text(node, name)?)
}

/// Parses a decimal number, `0x…`, or binary after `#` or `0b`.
pub(super) fn of_number(text: &str) -> Option<u64> {
    unsigned(&text.trim_start_matches('+').replacen('#', "0b", 1))
}

/// Returns the first child of this name.
pub(super) fn child<'d, 'i>(node: Node<'d, 'i>, name: &str) -> Option<Node<'d, 'i>> {
    node.children().find(|c| c.has_tag_name(name))
}

/// Returns every child of this name.
pub(super) fn children<'d, 'i>(
    node: Node<'d, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'d, 'i>> {
    node.children().filter(move |c| c.has_tag_name(name))
}

/// Returns the text of `<name>`, or the empty string.
pub(super) fn name(node: Node<'_, '_>) -> String {
    text(node, "name").unwrap_or_default()
}

/// Returns the peripherals of a device.
pub(super) fn peripherals<'d>(device: Node<'d, 'd>) -> impl Iterator<Item = Node<'d, 'd>> {
    children(device, "peripherals").flat_map(|all| children(all, "peripheral"))
}
