// SPDX-License-Identifier: MIT OR Apache-2.0
//! The decision about a frame. Each is counted.

/// What became of a frame, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Redirected to the other port.
    Redirected,
    /// To a group: passed to the kernel; in a bridge a copy leaves by the other port.
    Group,
    /// Not addressed to this port (route), or addressed to this host (bridge).
    Address,
    /// Neither plain IPv4 nor plain IPv6: ARP, VLAN tags, too short.
    Protocol,
    /// Options, extension headers, a wrong version, length or checksum.
    Header,
    /// An IPv4 fragment.
    Fragment,
    /// TTL or hop limit below 2.
    HopLimit,
    /// A source or destination that routers treat specially, or a source that the route back does not lead to.
    Special,
    /// No route, a local address, or a route that does not forward.
    Route,
    /// The next hop's Ethernet address is not known yet.
    Neighbour,
    /// Longer than the MTU of its route.
    TooLong,
    /// Its route leads to an interface that is not the other port.
    Elsewhere,
    /// A copy of a frame to a group that left by the other port.
    Copied,
}

impl Verdict {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 13] = [
        Self::Redirected,
        Self::Group,
        Self::Address,
        Self::Protocol,
        Self::Header,
        Self::Fragment,
        Self::HopLimit,
        Self::Special,
        Self::Route,
        Self::Neighbour,
        Self::TooLong,
        Self::Elsewhere,
        Self::Copied,
    ];

    /// Its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redirected => "redirected",
            Self::Group => "group",
            Self::Address => "address",
            Self::Protocol => "protocol",
            Self::Header => "header",
            Self::Fragment => "fragment",
            Self::HopLimit => "hop-limit",
            Self::Special => "special",
            Self::Route => "route",
            Self::Neighbour => "neighbour",
            Self::TooLong => "too-long",
            Self::Elsewhere => "elsewhere",
            Self::Copied => "copied",
        }
    }

    /// Whether the frame itself went on to the kernel.
    #[must_use]
    pub const fn passed_to_kernel(self) -> bool {
        !matches!(self, Self::Redirected | Self::Copied)
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict;

    #[test]
    fn each_stands_at_its_number() {
        for (number, verdict) in Verdict::ALL.into_iter().enumerate() {
            assert_eq!(verdict as usize, number);
        }
    }
}
