// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registers of a peripheral, with arrays, clusters and `derivedFrom` written out.

use std::collections::BTreeSet;

use roxmltree::Node;

use super::array::{Member, members};
use super::derived::{self, chain};
use super::element::{self, child, children, number, text};
use super::field::{Field, bits};

/// Every register of one peripheral.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    pub(super) registers: Vec<Register>,
    pub(super) left_out: Vec<String>,
    names: BTreeSet<String>,
    offsets: BTreeSet<u64>,
    /// Registers and fields so far, to stop arrays nested in arrays.
    expanded: usize,
}

/// A register of the map.
#[derive(Debug)]
pub(super) struct Register {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) offset: u64,
    pub(super) width_bits: u64,
    pub(super) access: &'static str,
    pub(super) clears: bool,
    pub(super) reset: Option<u64>,
    /// Whether another register has this offset.
    pub(super) shares: bool,
    pub(super) fields: Vec<Field>,
}

/// Properties that registers inherit from the device, the peripheral and their clusters.
#[derive(Debug, Clone, Copy)]
struct Inherited<'a> {
    width_bits: u64,
    access: &'static str,
    reset: Option<u64>,
    offset: u64,
    prefix: &'a str,
    depth: usize,
}

impl Expansion {
    /// Expands a peripheral; its own elements override those it is derived from.
    pub(super) fn of<'d>(device: Node<'d, 'd>, peripheral: Node<'d, 'd>) -> Result<Self, String> {
        let mut expansion = Self::default();
        let chain = chain(peripheral, |_, name| {
            element::peripherals(device).find(|p| element::name(*p) == name)
        })?;
        for one in &chain {
            let mut inherited = Inherited {
                width_bits: 32,
                access: "rw",
                reset: None,
                offset: 0,
                prefix: "",
                depth: 0,
            };
            inherited = inherited.with(device);
            for basis in chain.iter().rev() {
                inherited = inherited.with(*basis);
            }
            for registers in children(*one, "registers") {
                expansion.level(registers, inherited)?;
            }
        }
        if expansion.registers.is_empty() {
            return Err(format!("`{}` has no registers", element::name(peripheral)));
        }
        expansion.registers.sort_by_key(|r| r.offset);
        Ok(expansion)
    }

    /// Adds the registers and clusters directly in a node.
    fn level(&mut self, node: Node<'_, '_>, inherited: Inherited<'_>) -> Result<(), String> {
        if inherited.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} nested clusters"));
        }
        for one in children(node, "register") {
            self.register(one, inherited)?;
        }
        for one in children(node, "cluster") {
            self.cluster(one, inherited)?;
        }
        Ok(())
    }

    fn cluster(&mut self, cluster: Node<'_, '_>, inherited: Inherited<'_>) -> Result<(), String> {
        let chain = chain(cluster, derived::find)?;
        let offset = first(&chain, |n| number(n, "addressOffset")).unwrap_or(0);
        let of = chain.iter().find(|n| child(**n, "dim").is_some());
        for member in members(*of.unwrap_or(&cluster), &element::name(cluster))? {
            self.count()?;
            let prefix = format!("{}{}_", inherited.prefix, identifier(&member.name));
            let mut inside = Inherited {
                offset: sum(&[inherited.offset, offset, member.distance]),
                prefix: &prefix,
                depth: inherited.depth + 1,
                ..inherited
            };
            for basis in chain.iter().rev() {
                inside = inside.with(*basis);
            }
            for one in &chain {
                self.level(*one, inside)?;
            }
        }
        Ok(())
    }

    fn register(&mut self, register: Node<'_, '_>, inherited: Inherited<'_>) -> Result<(), String> {
        let chain = chain(register, derived::find)?;
        let of = chain.iter().find(|n| child(**n, "dim").is_some());
        for member in members(*of.unwrap_or(&register), &element::name(register))? {
            self.member(&chain, &member, inherited)?;
        }
        Ok(())
    }

    fn member(
        &mut self,
        chain: &[Node<'_, '_>],
        member: &Member,
        mut inherited: Inherited<'_>,
    ) -> Result<(), String> {
        self.count()?;
        for basis in chain.iter().rev() {
            inherited = inherited.with(*basis);
        }
        let name = format!("{}{}", inherited.prefix, identifier(&member.name));
        let own = first(chain, |n| number(n, "addressOffset")).unwrap_or(0);
        let offset = sum(&[inherited.offset, own, member.distance]);
        if let Some(why) = impossible(&name, offset, inherited.width_bits) {
            self.left_out.push(why);
            return Ok(());
        }
        if !self.names.insert(name.to_ascii_uppercase()) {
            // Derived: the peripheral's own register came first.
            return Ok(());
        }
        let listed = chain.iter().find_map(|n| child(*n, "fields"));
        let fields = self.fields(listed, inherited.width_bits, &name)?;
        self.registers.push(Register {
            title: first(chain, |n| text(n, "description")).filter(|t| *t != name),
            shares: !self.offsets.insert(offset),
            clears: chain.iter().any(|n| changes_on_read(*n)),
            reset: inherited.reset.filter(|r| fits(*r, inherited.width_bits)),
            width_bits: inherited.width_bits,
            access: inherited.access,
            name,
            offset,
            fields,
        });
        Ok(())
    }

    /// Returns the fields; of two that overlap the first.
    fn fields(
        &mut self,
        listed: Option<Node<'_, '_>>,
        width_bits: u64,
        register: &str,
    ) -> Result<Vec<Field>, String> {
        let mut found: Vec<Field> = Vec::new();
        for node in listed.into_iter().flat_map(|l| children(l, "field")) {
            for member in members(node, &element::name(node))? {
                self.count()?;
                let name = identifier(&member.name);
                let bits = bits(node, member.distance).filter(|b| u64::from(b.high()) < width_bits);
                match bits.filter(|b| !found.iter().any(|f| f.clashes(&name, *b))) {
                    Some(bits) if !name.is_empty() => {
                        found.push(Field::of(node, name, bits));
                    }
                    _ => self
                        .left_out
                        .push(format!("{register}.{name}: overlaps or does not fit")),
                }
            }
        }
        Ok(found)
    }

    fn count(&mut self) -> Result<(), String> {
        self.expanded += 1;
        if self.expanded > MAX_EXPANDED {
            return Err(format!("more than {MAX_EXPANDED} registers and fields"));
        }
        Ok(())
    }
}

impl Inherited<'_> {
    /// Overrides what this node defines.
    fn with(self, node: Node<'_, '_>) -> Self {
        let reset = number(node, "resetValue");
        let all_known =
            number(node, "resetMask").is_none_or(|mask| fits_all(mask, self.width_bits));
        Self {
            width_bits: number(node, "size").unwrap_or(self.width_bits),
            access: text(node, "access").map_or(self.access, |a| access(&a)),
            reset: match reset {
                Some(value) if all_known => Some(value),
                Some(_) => None,
                None => self.reset,
            },
            ..self
        }
    }
}

fn first<'d, T>(chain: &[Node<'d, 'd>], ask: impl Fn(Node<'d, 'd>) -> Option<T>) -> Option<T> {
    chain.iter().find_map(|node| ask(*node))
}

/// Whether a read clears, sets or changes the register or one of its fields.
fn changes_on_read(node: Node<'_, '_>) -> bool {
    let fields = children(node, "fields").flat_map(|f| children(f, "field"));
    child(node, "readAction").is_some()
        || fields.into_iter().any(|f| child(f, "readAction").is_some())
}

fn access(text: &str) -> &'static str {
    match text {
        "read-only" => "ro",
        "write-only" | "writeOnce" => "wo",
        _ => "rw",
    }
}

fn impossible(name: &str, offset: u64, width_bits: u64) -> Option<String> {
    if name.is_empty() {
        return Some("a register without a name".to_owned());
    }
    if !matches!(width_bits, 8 | 16 | 32 | 64) {
        return Some(format!("{name}: {width_bits} bits wide"));
    }
    if offset > u64::from(u32::MAX) || !offset.is_multiple_of(width_bits / 8) {
        return Some(format!("{name}: its offset {offset:#x} is not aligned"));
    }
    None
}

/// Replaces what an identifier may not contain by `_`.
pub(super) fn identifier(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(letter).collect()
}

fn fits(value: u64, width_bits: u64) -> bool {
    width_bits >= 64 || value >> width_bits == 0
}

fn fits_all(mask: u64, width_bits: u64) -> bool {
    mask == u64::MAX || (width_bits < 64 && mask & ((1 << width_bits) - 1) == (1 << width_bits) - 1)
}

fn sum(parts: &[u64]) -> u64 {
    parts.iter().fold(0, |sum, part| sum.saturating_add(*part))
}

const MAX_DEPTH: usize = 8;
const MAX_EXPANDED: usize = 100_000;
