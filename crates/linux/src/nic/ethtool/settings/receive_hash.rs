// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool -X X equal N`, `weight …`, `hkey …`: the indirection table and the key of the receive hash, read and set.

use std::io;

use super::super::request::{Card, command, get, put};

/// The table as ethtool(8) would set it: `equal 4`, `weight 2 6`; the queue of each entry (`0,0,1,0`) where no such words say it.
///
/// # Errors
/// EOPNOTSUPP if the driver has none.
pub fn table(card: &dyn Card) -> io::Result<String> {
    let table = Hash::read(card)?.table()?;
    Ok(equal(&table)
        .or_else(|| weights(&table))
        .unwrap_or_else(|| {
            let queues: Vec<String> = table.iter().map(u32::to_string).collect();
            queues.join(",")
        }))
}

/// Sets the table: what [`table`] returns, or `default`.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN, EINVAL for a queue that does not exist, EOPNOTSUPP if the driver has none.
pub fn set_table(card: &dyn Card, value: &str) -> io::Result<()> {
    let now = Hash::read(card)?;
    let entries = now.entries()?;
    if entries == 0 {
        return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
    }
    if value == "default" {
        return now.write(card, Some(&[]), None);
    }
    let wanted = of_words(value, entries).ok_or_else(|| invalid(value))?;
    // Without a user's table the kernel spreads again when the number of queues changes; with one it refuses fewer queues.
    if wanted == spread(entries, queues(card).unwrap_or(0)) {
        now.write(card, Some(&[]), None)?;
        if Hash::read(card)?.table()? == wanted {
            return Ok(());
        }
    }
    now.write(card, Some(&wanted), None)
}

/// The key in hexadecimal, a colon between two bytes.
///
/// # Errors
/// EOPNOTSUPP if the driver has none, or does not report it.
pub fn key(card: &dyn Card) -> io::Result<String> {
    let key = Hash::read(card)?.key()?;
    let digits: Vec<String> = key.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(digits.join(":"))
}

/// Sets the key.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN, `InvalidInput` for another length, EOPNOTSUPP if the driver cannot.
pub fn set_key(card: &dyn Card, value: &str) -> io::Result<()> {
    let now = Hash::read(card)?;
    let bytes = value
        .split(':')
        .map(|byte| u8::from_str_radix(byte, 16).ok());
    let bytes: Vec<u8> = bytes.collect::<Option<_>>().ok_or_else(|| invalid(value))?;
    match bytes.len() == now.key()?.len() {
        true => now.write(card, None, Some(&bytes)),
        false => Err(invalid(value)),
    }
}

/// `struct ethtool_rxfh`: cmd, rss_context, indir_size, key_size, hfunc, input_xfrm and reserved bytes, reserved; then the
/// table, then the key.
struct Hash(Vec<u8>);

impl Hash {
    /// With sizes of 0 the driver reports them.
    fn read(card: &dyn Card) -> io::Result<Self> {
        let sizes = card.ask(ETHTOOL_GRSSH, HEADER_BYTES)?;
        let entries = get(&sizes, TABLE_SIZE)?.min(MOST_ENTRIES);
        let key_bytes = get(&sizes, KEY_SIZE)?.min(MOST_KEY_BYTES);
        let length = HEADER_BYTES + 4 * entries as usize + key_bytes as usize;
        let mut request = command(ETHTOOL_GRSSH, length);
        put(&mut request, TABLE_SIZE, entries);
        put(&mut request, KEY_SIZE, key_bytes);
        card.exchange(&mut request)?;
        Ok(Self(request))
    }

    fn entries(&self) -> io::Result<usize> {
        Ok(get(&self.0, TABLE_SIZE)? as usize)
    }

    fn table(&self) -> io::Result<Vec<u32>> {
        let each = (0..self.entries()?).map(|entry| get(&self.0, HEADER_BYTES + 4 * entry));
        let table: Vec<u32> = each.collect::<io::Result<_>>()?;
        something(table)
    }

    fn key(&self) -> io::Result<Vec<u8>> {
        let from = HEADER_BYTES + 4 * self.entries()?;
        something(self.0.get(from..).unwrap_or_default().to_vec())
    }

    /// What is none stays as it is; an empty table is the driver's own. The function and transformation are those in force.
    fn write(&self, card: &dyn Card, table: Option<&[u32]>, key: Option<&[u8]>) -> io::Result<()> {
        let mut request = self.0.get(..HEADER_BYTES).unwrap_or_default().to_vec();
        put(&mut request, 0, ETHTOOL_SRSSH);
        put(
            &mut request,
            TABLE_SIZE,
            table.map_or(NO_CHANGE, |table| table.len() as u32),
        );
        put(
            &mut request,
            KEY_SIZE,
            key.map_or(0, |key| key.len() as u32),
        );
        let table = table.unwrap_or_default().iter();
        request.extend(table.flat_map(|queue| queue.to_ne_bytes()));
        request.extend(key.unwrap_or_default());
        card.exchange(&mut request)
    }
}

/// Some drivers have a table and no key, and the reverse.
fn something<T>(values: Vec<T>) -> io::Result<Vec<T>> {
    match values.is_empty() {
        true => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        false => Ok(values),
    }
}

/// In turn over the first queues: `ethtool_rxfh_indir_default`.
fn equal(table: &[u32]) -> Option<String> {
    let queues = table.iter().max()?.checked_add(1)?;
    (table == spread(table.len(), queues)).then(|| format!("equal {queues}"))
}

fn spread(entries: usize, queues: u32) -> Vec<u32> {
    let each = (0..entries as u32).map(|entry| entry.checked_rem(queues));
    each.collect::<Option<_>>().unwrap_or_default()
}

/// One queue after the other, each for as many entries as its weight.
fn weights(table: &[u32]) -> Option<String> {
    let queues = *table.last()?;
    if !table.is_sorted() || queues as usize >= table.len() {
        return None;
    }
    let count = |queue| table.iter().filter(|entry| **entry == queue).count();
    let each: Vec<String> = (0..=queues).map(|queue| count(queue).to_string()).collect();
    Some(format!("weight {}", each.join(" ")))
}

fn of_words(value: &str, entries: usize) -> Option<Vec<u32>> {
    let numbers = |text: &str, between: char| -> Option<Vec<u32>> {
        text.split(between)
            .map(|number| number.parse().ok())
            .collect()
    };
    match value.split_once(' ') {
        Some(("equal", queues)) => Some(spread(entries, queues.parse().ok()?)),
        Some(("weight", weights)) => weighted(&numbers(weights, ' ')?, entries),
        Some(_) => None,
        None => numbers(value, ',').filter(|table| table.len() == entries),
    }
    .filter(|table| !table.is_empty())
}

/// As ethtool's `fill_indir_table` does: an entry is of the first queue whose share of the entries ends after it.
fn weighted(weights: &[u32], entries: usize) -> Option<Vec<u32>> {
    let weights: Vec<usize> = weights.iter().map(|weight| *weight as usize).collect();
    let sum: usize = weights.iter().sum();
    let queue_of = |entry: usize| {
        let mut before = 0;
        let ends_after = |weight: &usize| {
            before += weight;
            entry < (entries * before).checked_div(sum).unwrap_or(0)
        };
        let queue = weights.iter().position(ends_after)?;
        u32::try_from(queue).ok()
    };
    (0..entries).map(queue_of).collect()
}

/// struct ethtool_rxnfc: cmd, flow_type, data (64 bits), …
fn queues(card: &dyn Card) -> io::Result<u32> {
    get(&card.ask(ETHTOOL_GRXRINGS, RXNFC_BYTES)?, 8)
}

fn invalid(value: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("`{value}` does not fit"),
    )
}

/// include/uapi/linux/ethtool.h
const ETHTOOL_GRXRINGS: u32 = 0x2d;
const ETHTOOL_GRSSH: u32 = 0x46;
const ETHTOOL_SRSSH: u32 = 0x47;
/// `ETH_RXFH_INDIR_NO_CHANGE`.
const NO_CHANGE: u32 = u32::MAX;
const HEADER_BYTES: usize = 24;
const TABLE_SIZE: usize = 8;
const KEY_SIZE: usize = 12;
const RXNFC_BYTES: usize = 256;
const MOST_ENTRIES: u32 = 4096;
const MOST_KEY_BYTES: u32 = 512;

#[cfg(test)]
mod tests {
    use super::*;

    fn words(table: &[u32]) -> Option<String> {
        equal(table).or_else(|| weights(table))
    }

    #[test]
    fn a_table_is_the_words_that_set_it() {
        for (table, expected) in [
            (vec![0, 1, 2, 3, 0, 1, 2, 3], Some("equal 4")),
            (vec![0, 0, 0, 0], Some("equal 1")),
            (vec![0, 1, 2, 0, 1], Some("equal 3")),
            (vec![0, 0, 1, 1], Some("weight 2 2")),
            (vec![1, 1, 1, 2], Some("weight 0 3 1")),
            (vec![0, 1, 1, 0], None),
        ] {
            let said = words(&table);
            assert_eq!(said.as_deref(), expected, "{table:?}");
            if let Some(said) = said {
                assert_eq!(of_words(&said, table.len()), Some(table));
            }
        }
        assert_eq!(of_words("0,1,1,0", 4), Some(vec![0, 1, 1, 0]));
        for none in ["equal 0", "equal", "weight 0 0", "0,1", "default", ""] {
            assert_eq!(of_words(none, 4), None, "{none}");
        }
    }

    /// Weights whose sum is not the number of entries, as ethtool rounds them.
    #[test]
    fn weights_share_the_entries() {
        assert_eq!(
            of_words("weight 1 1", 8),
            Some(vec![0, 0, 0, 0, 1, 1, 1, 1])
        );
        assert_eq!(of_words("weight 1 2", 4), Some(vec![0, 1, 1, 1]));
    }
}
