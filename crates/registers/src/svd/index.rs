// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `derivedFrom` may point to, by name: looked up at once, not searched for each time.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::element;

/// Registers, clusters and lists of values by their name.
#[derive(Debug, Default)]
pub(super) struct Index<'d> {
    named: BTreeMap<String, Vec<Node<'d, 'd>>>,
}

impl<'d> Index<'d> {
    /// Of a whole file. A list of values is found by its own name and by that of its field.
    pub(super) fn of(device: Node<'d, 'd>) -> Self {
        let mut index = Self::default();
        for node in device.descendants() {
            match node.tag_name().name() {
                "register" | "cluster" => index.add(element::name(node), node),
                "enumeratedValues" => {
                    index.add(element::name(node), node);
                    index.add(node.parent().map(element::name).unwrap_or_default(), node);
                }
                _ => {}
            }
        }
        index
    }

    /// What a path such as `RCR`, `ENET.RCR` or `QUEUE.RCR` means to a node of this kind: beside
    /// it first, then wherever something around bears the path's next name.
    pub(super) fn find(&self, beside: Node<'d, 'd>, path: &str) -> Option<Node<'d, 'd>> {
        let mut names = path.rsplit('.');
        let last = names.next()?;
        let kind = beside.tag_name();
        let all = || {
            self.all(last)
                .filter(|n| n.tag_name() == kind && *n != beside)
        };
        let next_to_it = all().find(|n| n.parent() == beside.parent());
        next_to_it.or_else(|| {
            let outer = names.next()?;
            all().find(|n| is_within(*n, outer))
        })
    }

    /// A list of values by a path, best from the same peripheral.
    pub(super) fn values(&self, list: Node<'d, 'd>, path: &str) -> Option<Node<'d, 'd>> {
        let last = path.rsplit('.').next()?;
        let has_values = |n: &Node<'d, 'd>| element::child(*n, "enumeratedValue").is_some();
        let all = || self.all(last).filter(has_values);
        let here = peripheral(list);
        let same = all().find(|n| here.is_some() && peripheral(*n) == here);
        same.or_else(|| all().next())
    }

    fn all(&self, name: &str) -> impl Iterator<Item = Node<'d, 'd>> {
        self.named
            .get(name)
            .into_iter()
            .flatten()
            .copied()
            .take(MOST_OF_A_NAME)
    }

    fn add(&mut self, name: String, node: Node<'d, 'd>) {
        if !name.is_empty() {
            self.named.entry(name).or_default().push(node);
        }
    }
}

fn is_within(node: Node<'_, '_>, name: &str) -> bool {
    let around = node.ancestors().skip(1).take(FARTHEST);
    around.into_iter().any(|n| element::name(n) == name)
}

fn peripheral<'d>(node: Node<'d, 'd>) -> Option<Node<'d, 'd>> {
    let mut around = node.ancestors().take(FARTHEST);
    around.find(|n| n.tag_name().name() == "peripheral")
}

const FARTHEST: usize = 32;
/// Chips have some dozen peripherals of a kind, with registers of the same names.
const MOST_OF_A_NAME: usize = 256;
