// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/netstat`: Linux's own counters, in the form of `/proc/net/snmp`. Source: net/ipv4/proc.c.

/// Reads the file; names as in [`super::snmp`]: `TcpExtTCPTimeouts`, `IpExtInOctets`.
#[must_use]
pub fn parse(text: &str) -> Vec<(String, i64)> {
    super::snmp::parse(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_the_extended_groups() {
        let text = "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 4\nIpExt: InOctets\nIpExt: 12";
        let names: Vec<String> = super::parse(text)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            names,
            ["TcpExtSyncookiesSent", "TcpExtTCPTimeouts", "IpExtInOctets"]
        );
    }
}
