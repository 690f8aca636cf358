// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool --cable-test X`: the PHY measures the pairs of its cable. The link is down meanwhile.

use std::io;

use linerate_wire::netlink::ethtool::cable::{Pair, request, result};

use super::family::{Family, Kernel};
use super::settings::Values;
use crate::clock::monotonic_ns;

/// Tests the cable of an interface, and returns the result as `ethtool` prints it.
///
/// # Errors
/// `EOPNOTSUPP` if the driver or its PHY cannot, `EPERM` without CAP_NET_ADMIN, `NotFound` without such an interface;
/// `TimedOut` if the PHY reports nothing.
pub fn test(interface: &str) -> io::Result<Values> {
    let index = crate::nic::link(interface)?.index;
    tested(&mut Kernel::open_listening()?, index)
}

/// The same of the interface of this number, as `family` answers.
///
/// # Errors
/// As [`fn@test`].
pub fn tested(family: &mut dyn Family, index: u32) -> io::Result<Values> {
    family.ask(&request(index), &mut |_| {})?;
    let deadline_ns = monotonic_ns() + LONGEST_NS;
    let mut pairs = None;
    while pairs.is_none() && monotonic_ns() < deadline_ns {
        let mut wanted = |message: &[u8]| {
            pairs = result(message, index);
            pairs.is_some() || monotonic_ns() >= deadline_ns
        };
        match family.listen(&mut wanted) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
    let pairs = pairs.ok_or(io::ErrorKind::TimedOut)?;
    Ok(pairs.iter().flat_map(said).collect())
}

fn said(pair: &Pair) -> Values {
    let name = pair.name;
    let code = pair
        .state
        .map(|state| (format!("Pair {name} code"), state.to_owned()));
    let metres = |cm: u32| format!("{:.2}m", f64::from(cm) / 100.0);
    let length = pair
        .fault_cm
        .map(|cm| (format!("Pair {name}, fault length"), metres(cm)));
    code.into_iter().chain(length).collect()
}

/// A PHY takes some seconds.
const LONGEST_NS: u64 = 30_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::netlink::attribute::push;
    use linerate_wire::netlink::generic;

    /// A PHY that reports a broken pair, after it has announced the beginning.
    struct Phy {
        can: bool,
        asked: u32,
    }

    impl Family for Phy {
        fn ask(&mut self, _: &[u8], _: &mut dyn FnMut(&[u8])) -> io::Result<()> {
            self.asked += 1;
            match self.can {
                true => Ok(()),
                false => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
            }
        }

        fn listen(&mut self, wanted: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
            if !wanted(&notification(1)) {
                assert!(wanted(&notification(2)));
            }
            Ok(())
        }
    }

    fn notification(status: u8) -> Vec<u8> {
        let nest = |attributes: &[(u16, &[u8])]| {
            let mut nest = Vec::new();
            for (kind, value) in attributes {
                push(&mut nest, *kind, value);
            }
            nest
        };
        let broken = nest(&[(1, &[1]), (2, &[2])]);
        let length = nest(&[(1, &[1]), (2, &420_u32.to_ne_bytes())]);
        let header = nest(&[(1, &7_u32.to_ne_bytes())]);
        let pairs = nest(&[(1, &broken), (2, &length)]);
        generic::command(27, &nest(&[(1, &header), (2, &[status]), (3, &pairs)]))
    }

    #[test]
    fn a_broken_pair_has_a_distance() {
        let mut phy = Phy {
            can: true,
            asked: 0,
        };
        let said = tested(&mut phy, 7).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [
            pair("Pair B code", "Open Circuit"),
            pair("Pair B, fault length", "4.20m"),
        ];
        assert_eq!((said, phy.asked), (expected.to_vec(), 1));
    }

    #[test]
    fn a_phy_that_cannot_says_so() {
        let mut phy = Phy {
            can: false,
            asked: 0,
        };
        let error = tested(&mut phy, 7).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EOPNOTSUPP));
    }

    #[test]
    fn the_loopback_has_no_cable() {
        let error = test("lo").unwrap_err();
        assert_ne!(error.kind(), io::ErrorKind::TimedOut, "{error}");
    }
}
