// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/net/snmp`: pairs of lines, names and values, each begun by its group.
//! Source: net/ipv4/proc.c, RFC 4293, RFC 4113.

/// Reads the file; a name is the group and the kernel's name in one word, as `nstat` prints it: `UdpRcvbufErrors`.
#[must_use]
pub fn parse(text: &str) -> Vec<(String, i64)> {
    let lines: Vec<&str> = text.lines().collect();
    lines
        .windows(2)
        .flat_map(|pair| pair_of_lines(pair[0], pair[1]))
        .collect()
}

/// A line of names and one of values belong together if they begin alike and the second has only numbers.
fn pair_of_lines(names: &str, values: &str) -> Vec<(String, i64)> {
    let (Some((group, names)), Some((same, values))) =
        (names.split_once(':'), values.split_once(':'))
    else {
        return Vec::new();
    };
    let names = names.split_whitespace();
    if group != same || names.clone().any(|name| name.parse::<i64>().is_ok()) {
        return Vec::new();
    }
    let values = values.split_whitespace().map(|value| value.parse().ok());
    let named =
        |(name, value): (&str, Option<i64>)| Some((format!("{}{name}", group.trim()), value?));
    names.zip(values).filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_names_and_values() {
        let text =
            "Tcp: MaxConn RetransSegs\nTcp: -1 7\nUdp: InDatagrams RcvbufErrors\nUdp: 100 3\n";
        let expected = [
            ("TcpMaxConn", -1),
            ("TcpRetransSegs", 7),
            ("UdpInDatagrams", 100),
            ("UdpRcvbufErrors", 3),
        ];
        assert_eq!(
            parse(text),
            expected.map(|(name, value)| (name.to_owned(), value))
        );
    }

    #[test]
    fn a_trimmed_paste_gives_what_is_whole() {
        assert_eq!(
            parse("Udp: 100 3\nUdp: InDatagrams NoPorts\nUdp: 5"),
            [("UdpInDatagrams".to_owned(), 5)]
        );
        assert_eq!(parse("Udp: InDatagrams\nTcp: 1"), []);
    }
}
