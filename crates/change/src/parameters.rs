// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words of one of `ethtool`'s structures: read together, written together. A driver may refuse one of them alone (fec:
//! `rx` of `-A` has to be as `tx`), and another loses the link once for each write.

use std::io;

use linerate_linux::nic::Parameters;

use crate::knob::{invalid, on_off, switched};

/// The values of `names`, in their order.
pub(crate) fn read(of: Parameters, names: &str, interface: &str) -> io::Result<String> {
    let names: Vec<&str> = names.split(' ').collect();
    let values = of.read_all(interface, &names)?;
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
pub(crate) fn write(of: Parameters, names: &str, interface: &str, value: &str) -> io::Result<()> {
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
    of.write_all(interface, &numbers.collect::<io::Result<Vec<_>>>()?)
}

/// `ethtool` shows these as on and off.
fn is_switch(of: Parameters, name: &str) -> bool {
    of == Parameters::Pause || name.starts_with("adaptive")
}
