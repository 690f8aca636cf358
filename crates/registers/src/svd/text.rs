// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of a map, as an engineer would write it.

use std::fmt::Write as _;

use roxmltree::Node;

use super::SvdError;
use super::element::{self, children, number, text};
use super::register::{Expansion, Register, identifier};

/// The whole file.
pub(super) fn map(
    device: Node<'_, '_>,
    peripheral: Node<'_, '_>,
    expansion: &Expansion<'_>,
) -> Result<String, SvdError> {
    let (chip, block) = (element::name(device), element::name(peripheral));
    let name = format!("{}-{}", identifier(&chip), identifier(&block)).to_ascii_lowercase();
    let about = text(peripheral, "description").unwrap_or_else(|| block.clone());
    let mut toml = String::new();
    let mut line = |text: String| {
        toml.push_str(&text);
        toml.push('\n');
    };
    line(format!("map = {}", quoted(&name)));
    line(format!(
        "hardware = {}",
        quoted(&format!("{chip}: {about}"))
    ));
    line(format!(
        "prefixes = [{}]",
        quoted(&format!("{}_", identifier(&block)))
    ));
    if let Some(base) = number(peripheral, "baseAddress").filter(|b| i64::try_from(*b).is_ok()) {
        line(format!("bases = [{base:#x}]"));
    }
    line(format!("window = {:#x}", window(peripheral, expansion)));
    line("# An SVD file does not tell reliably what reading changes.".to_owned());
    line("read = \"unknown\"".to_owned());
    let source = format!("svd {} {}", identifier(&chip), identifier(&block));
    line(format!("source = [{}]", quoted(&source)));
    for one in &expansion.registers {
        register(&mut toml, one).map_err(|_| SvdError::NoRegisters(block.clone()))?;
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

/// From the address blocks, and at least to the end of the last register.
fn window(peripheral: Node<'_, '_>, expansion: &Expansion<'_>) -> u64 {
    let blocks = children(peripheral, "addressBlock");
    let ends = blocks.filter_map(|b| number(b, "offset")?.checked_add(number(b, "size")?));
    let of_registers = expansion
        .registers
        .iter()
        .map(|r| r.offset + r.width_bits / 8);
    let end = ends.chain(of_registers).max().unwrap_or(0);
    end.min(u64::from(u32::MAX))
}

/// A basic string of TOML; a description that goes on for pages is cut.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for (at, c) in text.chars().enumerate() {
        if at == LONGEST_TEXT {
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

const LONGEST_TEXT: usize = 240;
