// SPDX-License-Identifier: MIT OR Apache-2.0
//! A tracepoint's description, `events/GROUP/NAME/format` of tracefs: the names of a field's values.
//! Source: kernel/trace/trace_events.c, include/trace/stages/stage3_trace_output.h.

/// Numbers and names that the description prints for `field`; empty if it prints none.
#[must_use]
pub fn symbols(format: &str, field: &str) -> Vec<(u32, String)> {
    let Some(rest) = after(format, &format!("__print_symbolic(REC->{field},")) else {
        return Vec::new();
    };
    let end = rest.find("})").unwrap_or(rest.len());
    rest[..end].split('{').filter_map(symbol).collect()
}

/// ` 2, "NOT_SPECIFIED" }`
fn symbol(text: &str) -> Option<(u32, String)> {
    let (number, rest) = text.split_once(',')?;
    let number = number.trim();
    let number = match number.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    let name = rest.trim_start().strip_prefix('"')?;
    let (name, _) = name.split_once('"')?;
    Some((number, name.to_owned()))
}

fn after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    text.find(mark).and_then(|at| text.get(at + mark.len()..))
}

#[cfg(test)]
mod tests {
    use super::symbols;

    const FORMAT: &str = "name: kfree_skb\nID: 1500\nformat:\n\
        \tfield:enum skb_drop_reason reason;\toffset:28;\tsize:4;\tsigned:0;\n\n\
        print fmt: \"skbaddr=%p protocol=%u location=%pS reason: %s\", REC->skbaddr, REC->protocol, REC->location, \
        __print_symbolic(REC->reason, { 2, \"NOT_SPECIFIED\" }, { 3, \"NO_SOCKET\" }, { 0x4, \"TCP_CSUM\" })\n";

    #[test]
    fn a_fields_names_are_read() {
        let names = symbols(FORMAT, "reason");
        let names: Vec<(u32, &str)> = names.iter().map(|(n, s)| (*n, s.as_str())).collect();
        assert_eq!(
            names,
            [(2, "NOT_SPECIFIED"), (3, "NO_SOCKET"), (4, "TCP_CSUM")]
        );
        assert_eq!(symbols(FORMAT, "protocol"), []);
        assert_eq!(symbols("", "reason"), []);
    }
}
