// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tbf`: its rate, burst and limit, where it has no peak rate and no other link layer than Ethernet.

use super::super::attribute::{find, word};
use super::super::discipline::token_bucket;
use super::Pair;
use super::number::{RATES, SIZES, scaled};

/// `struct tc_tbf_qopt`: two `tc_ratespec`, limit, buffer, mtu.
pub(super) fn pairs(options: &[u8]) -> Option<Vec<Pair>> {
    let parameters = find(options, PARAMETERS)?;
    let at = |at: usize| word(parameters.get(at..)?);
    let rate = u64::from(at(8)?);
    // tc_ratespec: cell_log, linklayer, overhead, cell_align, mpu, rate.
    let is_ethernet = parameters.get(1)? & 0xf <= 1;
    let (overhead, mpu) = (parameters.get(2..4)?, parameters.get(6..8)?);
    let is_plain = is_ethernet && overhead == [0; 2] && mpu == [0; 2];
    let has_peak = at(20)? != 0 || find(options, RATE64).is_some();
    if !is_plain || has_peak {
        return None;
    }
    // The burst as a time in units of 64 ns, rounded down.
    let burst = (u64::from(at(28)?) * 64 * rate).div_ceil(1_000_000_000);
    Some(vec![
        ("rate", format!("{}bit", rate * 8)),
        ("burst", burst.to_string()),
        ("limit", at(24)?.to_string()),
    ])
}

/// All three are needed.
pub(super) fn options(words: &[&str]) -> Option<Vec<u8>> {
    let (mut rate, mut burst, mut limit) = (None, None, None);
    for pair in words.chunks(2) {
        let [name, value] = pair else { return None };
        match *name {
            "rate" => rate = Some(scaled(value, &RATES)? / 8),
            "burst" | "buffer" | "maxburst" => burst = Some(scaled(value, &SIZES)?),
            "limit" => limit = Some(scaled(value, &SIZES)?),
            _ => return None,
        }
    }
    let number = |value: Option<u64>| u32::try_from(value?).ok();
    Some(token_bucket(number(rate)?, number(burst)?, number(limit)?))
}

const PARAMETERS: u16 = 1;
const RATE64: u16 = 4;

#[cfg(test)]
mod tests {
    use super::super::{options, words};
    use super::*;

    /// At 10 Gbit/s 64 ns are 80 bytes.
    #[test]
    fn a_bucket_is_set_to_what_it_was() {
        for (set, shown) in [
            (
                "rate 10mbit burst 3000 limit 60000",
                "rate 10000000bit burst 3000 limit 60000",
            ),
            ("rate 8bit burst 1 limit 2", "rate 8bit burst 1 limit 2"),
            (
                "rate 10gbit burst 125000 limit 1000000",
                "rate 10000000000bit burst 124960 limit 1000000",
            ),
        ] {
            for text in [set, shown] {
                let list: Vec<&str> = text.split(' ').collect();
                let encoded = options("tbf", &list, None).unwrap();
                assert_eq!(words("tbf", &encoded).as_deref(), Some(shown));
            }
        }
        assert_eq!(options("tbf", &["rate", "1mbit"], None), None);
    }

    #[test]
    fn a_peak_rate_cannot_be_said() {
        let mut encoded = token_bucket(1000, 1000, 1000);
        assert!(pairs(&encoded).is_some());
        // The attribute's header, the first rate, and the rate of the second.
        encoded[4 + 20] = 1;
        assert_eq!(pairs(&encoded), None);
    }
}
