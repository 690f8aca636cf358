// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ethtool --cable-test X` and `--cable-test-tdr X`: the PHY measures the pairs of its cable. The link is down meanwhile.

use std::io;

use linerate_wire::netlink::ethtool::cable::reflections::{self, Reflection};
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
    let pairs = awaited(family, &request(index), &|message| result(message, index))?;
    Ok(pairs.iter().flat_map(said).collect())
}

/// Measures the reflections along the cable of an interface. For each pair: all amplitudes, and the largest.
///
/// # Errors
/// As [`fn@test`].
pub fn reflected(interface: &str) -> io::Result<Values> {
    let index = crate::nic::link(interface)?.index;
    reflected_by(&mut Kernel::open_listening()?, index)
}

/// The same of the interface of this number, as `family` answers.
///
/// # Errors
/// As [`fn@test`].
pub fn reflected_by(family: &mut dyn Family, index: u32) -> io::Result<Values> {
    let read = |message: &[u8]| reflections::result(message, index);
    let all = awaited(family, &reflections::request(index), &read)?;
    Ok(('A'..='D').flat_map(|pair| of_pair(pair, &all)).collect())
}

/// Orders a test, and waits for the notification of its result.
fn awaited<T>(
    family: &mut dyn Family,
    order: &[u8],
    read: &dyn Fn(&[u8]) -> Option<T>,
) -> io::Result<T> {
    family.ask(order, &mut |_| {})?;
    let deadline_ns = monotonic_ns() + LONGEST_NS;
    let mut result = None;
    while result.is_none() && monotonic_ns() < deadline_ns {
        let mut wanted = |message: &[u8]| {
            result = read(message);
            result.is_some() || monotonic_ns() >= deadline_ns
        };
        match family.listen(&mut wanted) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
    }
    result.ok_or_else(|| io::ErrorKind::TimedOut.into())
}

/// `Pair A, largest reflection`: `-480 mV at 12.80m`; `Pair A, reflections`: `0.00m 3 mV, 0.80m -4 mV, …`.
fn of_pair(pair: char, all: &[Reflection]) -> Values {
    let of_pair = || all.iter().filter(move |one| one.pair == pair);
    let Some(largest) = of_pair().max_by_key(|one| one.amplitude_millivolts.unsigned_abs()) else {
        return Values::new();
    };
    let (at, millivolts) = (metres(largest.distance_cm), largest.amplitude_millivolts);
    let each = of_pair().map(|one| {
        let at = metres(one.distance_cm);
        format!("{at} {} mV", one.amplitude_millivolts)
    });
    let each: Vec<String> = each.collect();
    vec![
        (
            format!("Pair {pair}, largest reflection"),
            format!("{millivolts} mV at {at}"),
        ),
        (format!("Pair {pair}, reflections"), each.join(", ")),
    ]
}

fn metres(cm: u32) -> String {
    format!("{:.2}m", f64::from(cm) / 100.0)
}

fn said(pair: &Pair) -> Values {
    let name = pair.name;
    let code = pair
        .state
        .map(|state| (format!("Pair {name} code"), state.to_owned()));
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

    /// A PHY that measures one pair, and reports its beginning and another interface's result first.
    struct Measuring;

    impl Family for Measuring {
        fn ask(&mut self, order: &[u8], _: &mut dyn FnMut(&[u8])) -> io::Result<()> {
            assert_eq!(order[0], 27, "ETHTOOL_MSG_CABLE_TEST_TDR_ACT");
            Ok(())
        }

        fn listen(&mut self, wanted: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
            assert!(!wanted(&measured(7, 1)), "begun");
            assert!(!wanted(&measured(8, 2)), "another interface");
            assert!(wanted(&measured(7, 2)));
            Ok(())
        }
    }

    fn measured(index: u32, status: u8) -> Vec<u8> {
        let nest = |attributes: &[(u16, &[u8])]| {
            let mut nest = Vec::new();
            for (kind, value) in attributes {
                push(&mut nest, *kind, value);
            }
            nest
        };
        let steps = nest(&[(1, &100_u32.to_ne_bytes()), (3, &80_u32.to_ne_bytes())]);
        let amplitude = |millivolts: i16| nest(&[(1, &[1]), (2, &millivolts.to_ne_bytes())]);
        let [near, far] = [12, -480].map(amplitude);
        let results = nest(&[(1, &steps), (2, &near), (2, &far)]);
        let header = nest(&[(1, &index.to_ne_bytes())]);
        generic::command(28, &nest(&[(1, &header), (2, &[status]), (3, &results)]))
    }

    #[test]
    fn reflections_have_the_largest_and_all() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [
            pair("Pair B, largest reflection", "-480 mV at 1.80m"),
            pair("Pair B, reflections", "1.00m 12 mV, 1.80m -480 mV"),
        ];
        assert_eq!(reflected_by(&mut Measuring, 7).unwrap(), expected);
    }

    #[test]
    fn a_phy_that_cannot_measure_says_so() {
        let mut phy = Phy {
            can: false,
            asked: 0,
        };
        let error = reflected_by(&mut phy, 7).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EOPNOTSUPP));
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
