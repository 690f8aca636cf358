// SPDX-License-Identifier: MIT OR Apache-2.0
//! Source ports of frames that must not be taken for others: a frame of an earlier case may come late, or twice.

/// The next port, above those that the kernel gives to sockets (`net.ipv4.ip_local_port_range`, by default).
#[derive(Debug, Default)]
pub(super) struct Ports(u16);

impl Ports {
    /// Another one each time, until all 4536 were used.
    pub(super) const fn fresh(&mut self) -> u16 {
        let port = FIRST + self.0;
        self.0 = (self.0 + 1) % COUNT;
        port
    }
}

const FIRST: u16 = 61_000;
const COUNT: u16 = u16::MAX - FIRST + 1;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_port_comes_once_before_one_comes_again() {
        let mut ports = Ports::default();
        let all: BTreeSet<u16> = (0..COUNT).map(|_| ports.fresh()).collect();
        assert_eq!((all.len(), all.first()), (4536, Some(&FIRST)));
        assert_eq!((all.last(), ports.fresh()), (Some(&u16::MAX), FIRST));
    }
}
