// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words of one of `ethtool`'s structures: read together, written together. A driver may refuse one of them alone (fec:
//! `rx` of `-A` has to be as `tx`), and another loses the link once for each write.

use std::io;

use linerate_linux::nic::{Card, Parameters};

use crate::knob::{invalid, on_off, switched};

/// The values of `names`, in their order.
pub(crate) fn read(of: Parameters, names: &str, card: &dyn Card) -> io::Result<String> {
    let names: Vec<&str> = names.split(' ').collect();
    let values = of.read(card, &names)?;
    let shown = names
        .iter()
        .zip(values)
        .map(|(name, value)| match is_switch(of, name) {
            true => on_off(value != 0).to_owned(),
            false => value.to_string(),
        });
    Ok(shown.collect::<Vec<_>>().join(" "))
}

/// Writes a value for each of `names`.
pub(crate) fn write(of: Parameters, names: &str, card: &dyn Card, value: &str) -> io::Result<()> {
    let (names, values): (Vec<&str>, Vec<&str>) =
        (names.split(' ').collect(), value.split(' ').collect());
    if names.len() != values.len() {
        return Err(invalid(format!("{} values are needed", names.len())));
    }
    let numbers = names.iter().zip(values).map(|(name, value)| {
        let number = match is_switch(of, name) {
            true => u32::from(switched(value)?),
            false => value.parse().map_err(invalid)?,
        };
        Ok((*name, number))
    });
    of.write(card, &numbers.collect::<io::Result<Vec<_>>>()?)
}

/// The largest values of `names`, where each has one.
pub(crate) fn most(of: Parameters, names: &str, card: &dyn Card) -> io::Result<Option<String>> {
    let each = names.split(' ').map(|name| of.most(card, name));
    let each: Vec<Option<u32>> = each.collect::<io::Result<_>>()?;
    let each: Option<Vec<u32>> = each.into_iter().collect();
    let shown = |all: Vec<u32>| all.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    Ok(each.map(shown))
}

/// `ethtool` shows these as on and off.
fn is_switch(of: Parameters, name: &str) -> bool {
    of == Parameters::Pause || name.starts_with("adaptive")
}
