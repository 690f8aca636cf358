// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask svd`: writes a peripheral of a CMSIS-SVD file as a register map.
//!
//! Few SVD files say what a read changes. Registers without a `readAction` become
//! `read = "unknown"`: they can be decoded, but are never read from device memory.

mod array;
mod derived;
mod element;
mod field;
mod register;
#[cfg(test)]
mod tests;
mod text;

use std::fs;

use linerate_registers::parse;
use roxmltree::{Document, Node};

use crate::Outcome;
use register::Expansion;

/// Prints the map to standard output, and what it leaves out to standard error.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let (file, peripheral) = match *words {
        [file] => (file, None),
        [file, peripheral] => (file, Some(peripheral)),
        _ => return Err("usage: cargo xtask svd FILE.svd [PERIPHERAL]".into()),
    };
    let text = fs::read_to_string(file).map_err(|why| format!("{file}: {why}"))?;
    let imported = import(&text, peripheral).map_err(|why| format!("{file}: {why}"))?;
    for what in &imported.left_out {
        eprintln!("left out: {what}");
    }
    print!("{}", imported.toml);
    Ok(true)
}

/// A map made from an SVD file.
#[derive(Debug, PartialEq, Eq)]
struct Imported {
    toml: String,
    /// Registers and fields that a map cannot express, with the reason.
    left_out: Vec<String>,
}

/// Converts the named peripheral, or the only one.
fn import(svd: &str, peripheral: Option<&str>) -> Result<Imported, String> {
    let document = Document::parse(svd.trim_start_matches('\u{feff}'))
        .map_err(|why| format!("not an SVD file: {why}"))?;
    let device = document.root_element();
    if device.tag_name().name() != "device" {
        let name = device.tag_name().name();
        return Err(format!("not an SVD file: it begins with <{name}>"));
    }
    let chosen = choose(device, peripheral)?;
    let expansion = Expansion::of(device, chosen)?;
    let toml = text::map(device, chosen, &expansion).map_err(|why| why.to_string())?;
    match parse("imported.toml", &toml) {
        Ok(_) => Ok(Imported {
            toml,
            left_out: expansion.left_out,
        }),
        Err(mistakes) => {
            let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            Err(format!("the map would be wrong: {}", mistakes.join("\n")))
        }
    }
}

fn choose<'d>(device: Node<'d, 'd>, wanted: Option<&str>) -> Result<Node<'d, 'd>, String> {
    let all: Vec<Node<'d, 'd>> = element::peripherals(device).collect();
    let found = match (wanted, all.as_slice()) {
        (None, [only]) => Some(*only),
        (None, _) => None,
        (Some(wanted), _) => all
            .iter()
            .find(|p| element::name(**p).eq_ignore_ascii_case(wanted))
            .copied(),
    };
    found.ok_or_else(|| {
        let names: Vec<String> = all.iter().map(|p| element::name(*p)).collect();
        let wanted = wanted.map_or_else(String::new, |name| format!("no peripheral `{name}`; "));
        format!("{wanted}name one of {}", names.join(", "))
    })
}
