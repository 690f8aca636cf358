// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables of named faults, and how `NAME[=VALUE]` is read; a value may have two parts, `A:B`.

use crate::dut::DeviceKind;
use crate::size::Unreadable;

/// A fault's name, default values and effect.
#[derive(Clone, Copy, Debug)]
pub struct FaultKind<F: 'static> {
    pub name: &'static str,
    /// Empty: takes no value.
    pub default: &'static str,
    pub effect: &'static str,
    /// The devices under test that can have it; empty for a fault of the hosts or the wire.
    pub devices: &'static [DeviceKind],
    pub(crate) parse: fn(&[&str]) -> Result<F, Unreadable>,
}

/// A table of faults: `"name" "default" Variant { field: reader } "effect" devices;` each.
macro_rules! fault_kinds {
    ($fault:ident: $($name:literal $default:literal $variant:ident {
        $($field:ident: $read:ident),*
    } $effect:literal $devices:expr;)*) => {
        &[$(crate::fault_kind::FaultKind {
            name: $name,
            default: $default,
            effect: $effect,
            devices: $devices,
            parse: |values| {
                let mut _values = values.iter().copied();
                Ok($fault::$variant {
                    $($field: crate::size::$read(_values.next().unwrap_or_default())?),*
                })
            },
        }),*]
    };
}
pub(crate) use fault_kinds;

/// Reads `NAME[=VALUE]`.
pub(crate) fn parse<F>(kinds: &[FaultKind<F>], text: &str) -> Result<F, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    match kinds.iter().find(|kind| kind.name == name) {
        Some(kind) => kind.read(value),
        None => {
            let names: Vec<_> = kinds.iter().map(|kind| kind.name).collect();
            let names = names.join(", ");
            Err(format!("unknown fault '{name}'; known: {names}"))
        }
    }
}

impl<F> FaultKind<F> {
    /// Reads a value; the parts that are not given are the default's.
    pub(crate) fn read(&self, value: Option<&str>) -> Result<F, String> {
        let Self { name, default, .. } = self;
        let mut parts: Vec<_> = default.split(':').filter(|part| !part.is_empty()).collect();
        let given: Vec<_> = value.map_or_else(Vec::new, |value| value.split(':').collect());
        match parts.len() {
            0 if value.is_some() => return Err(format!("fault {name} takes no value")),
            most if given.len() > most => {
                return Err(format!(
                    "fault {name}: at most {most} parts, as in {default}"
                ));
            }
            _ => parts[..given.len()].copy_from_slice(&given),
        }
        (self.parse)(&parts).map_err(|why| format!("fault {name}: {why}"))
    }
}
