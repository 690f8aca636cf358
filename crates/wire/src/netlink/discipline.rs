// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RTM_NEWQDISC`: which queueing discipline an interface is to have (include/uapi/linux/pkt_sched.h).

use super::attribute::push;
use super::order::{CREATE, Order, terminated};
use super::qdisc::ROOT;

/// Replaces the root queueing discipline of an interface. With the kind in force, only the options given are changed; with a
/// handle of 0 the kernel chooses one.
#[must_use]
pub fn root(index: u32, handle: u32, kind: &str, options: &[u8]) -> Order {
    let order = Order::new(NEW, CREATE | REPLACE, &header(index, handle));
    let order = order.with(KIND, &terminated(kind));
    match options.is_empty() {
        true => order,
        false => order.with(OPTIONS, options),
    }
}

/// Removes the root queueing discipline of an interface: the kernel's own takes its place.
#[must_use]
pub fn remove(index: u32) -> Order {
    Order::new(DELETE, 0, &header(index, 0))
}

/// struct tcmsg: family, index, handle, parent, info.
fn header(index: u32, handle: u32) -> Vec<u8> {
    [0, index, handle, ROOT, 0].map(u32::to_ne_bytes).concat()
}

/// `struct tc_tbf_qopt`: two `tc_ratespec`, limit, buffer, mtu. The buffer is a time in scheduler
/// ticks of 64 ns; `TCA_TBF_BURST` gives it exactly, in bytes.
pub(super) fn token_bucket(rate: u32, burst: u32, limit: u32) -> Vec<u8> {
    let ticks = u64::from(burst) * 1_000_000_000 / u64::from(rate.max(1)) / 64;
    let mut parameters = rate_specification(rate);
    parameters.extend([0; 12]);
    for value in [limit, u32::try_from(ticks).unwrap_or(u32::MAX), 0] {
        parameters.extend(value.to_ne_bytes());
    }
    let mut options = Vec::new();
    push(&mut options, TBF_PARAMETERS, &parameters);
    push(&mut options, TBF_BURST, &burst.to_ne_bytes());
    options
}

/// `struct tc_ratespec`: cell_log, linklayer (Ethernet), overhead, cell_align, mpu, rate.
fn rate_specification(rate: u32) -> Vec<u8> {
    let mut bytes = vec![0, LINK_LAYER_ETHERNET, 0, 0, 0, 0, 0, 0];
    bytes.extend(rate.to_ne_bytes());
    bytes
}

const NEW: u16 = 36;
const DELETE: u16 = 37;
/// `NLM_F_REPLACE`.
const REPLACE: u16 = 0x100;
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
const TBF_PARAMETERS: u16 = 1;
const TBF_BURST: u16 = 6;
const LINK_LAYER_ETHERNET: u8 = 1;

#[cfg(test)]
mod tests {
    use super::super::qdisc::parse;
    use super::*;

    #[test]
    fn what_is_ordered_reads_as_what_the_kernel_answers() {
        let bucket = token_bucket(1_250_000, 3000, 60_000);
        let pfifo = 16_u32.to_ne_bytes();
        for (kind, options, limit) in [("tbf", bucket.as_slice(), 60_000), ("pfifo", &pfifo, 16)] {
            let qdisc = parse(&root(9, 0, kind, options).payload).unwrap();
            assert_eq!((qdisc.kind.as_str(), qdisc.limit), (kind, Some(limit)));
            assert_eq!((qdisc.interface_index, qdisc.is_root()), (9, true));
        }
    }
}
