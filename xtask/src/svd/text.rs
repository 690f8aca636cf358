// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of a map, as an engineer would write it.

use std::fmt::Write as _;

use roxmltree::Node;

use super::element::{self, children, number, text};
use super::register::{Expansion, Register, identifier};

/// Writes the whole file.
pub(super) fn map(
    device: Node<'_, '_>,
    peripheral: Node<'_, '_>,
    expansion: &Expansion,
) -> Result<String, std::fmt::Error> {
    let (chip, block) = (element::name(device), element::name(peripheral));
    let about = text(peripheral, "description").unwrap_or_else(|| block.clone());
    let (chip_id, block_id) = (identifier(&chip), identifier(&block));
    let name = format!("{chip_id}-{block_id}").to_ascii_lowercase();
    let mut toml = String::new();
    writeln!(toml, "map = {}", quoted(&name))?;
    writeln!(toml, "hardware = {}", quoted(&format!("{chip}: {about}")))?;
    writeln!(toml, "prefixes = [\"{block_id}_\"]")?;
    if let Some(base) = number(peripheral, "baseAddress").filter(|b| i64::try_from(*b).is_ok()) {
        writeln!(toml, "bases = [{base:#x}]")?;
    }
    writeln!(toml, "window = {:#x}", window(peripheral, expansion))?;
    writeln!(
        toml,
        "# Few SVD files say what a read changes.\nread = \"unknown\""
    )?;
    writeln!(toml, "source = [\"svd {chip_id} {block_id}\"]")?;
    for one in &expansion.registers {
        register(&mut toml, one)?;
    }
    Ok(toml)
}

fn register(toml: &mut String, register: &Register) -> std::fmt::Result {
    writeln!(toml, "\n[[register]]\nname = {}", quoted(&register.name))?;
    if let Some(title) = &register.title {
        writeln!(toml, "title = {}", quoted(title))?;
    }
    writeln!(toml, "offset = {:#05x}", register.offset)?;
    if register.width_bits != 32 {
        writeln!(toml, "width = {}", register.width_bits)?;
    }
    writeln!(toml, "access = {}", quoted(register.access))?;
    if register.clears {
        writeln!(toml, "read = \"clears\"")?;
    }
    if let Some(reset) = register.reset {
        writeln!(toml, "reset = {}", quoted(&format!("{reset:#x}")))?;
    }
    if register.shares {
        writeln!(toml, "shares = true")?;
    }
    for field in &register.fields {
        writeln!(toml, "[[register.field]]\nname = {}", quoted(&field.name))?;
        writeln!(toml, "bits = {}", quoted(&field.bits.to_string()))?;
        if let Some(means) = &field.means {
            writeln!(toml, "means = {}", quoted(means))?;
        }
        if !field.values.is_empty() {
            let all = field.values.iter();
            let all = all.map(|(value, means)| format!("{value} = {}", quoted(means)));
            writeln!(
                toml,
                "values = {{ {} }}",
                all.collect::<Vec<_>>().join(", ")
            )?;
        }
    }
    Ok(())
}

/// Returns the end of the address blocks or of the last register.
fn window(peripheral: Node<'_, '_>, expansion: &Expansion) -> u64 {
    let blocks = children(peripheral, "addressBlock");
    let ends = blocks.filter_map(|b| number(b, "offset")?.checked_add(number(b, "size")?));
    let of_registers = expansion
        .registers
        .iter()
        .map(|r| r.offset + r.width_bits / 8);
    let end = ends.chain(of_registers).max().unwrap_or(0);
    end.min(u64::from(u32::MAX))
}

/// Writes a basic string of TOML; truncates long descriptions.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for (at, c) in text.chars().enumerate() {
        if at == MAX_TEXT {
            quoted.push('…');
            break;
        }
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

const MAX_TEXT: usize = 240;
