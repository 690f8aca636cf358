// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/kallsyms`: the addresses of the kernel's functions (kernel/kallsyms.c).

/// Addresses in the kernel's code, each with its function.
#[derive(Debug, Clone)]
pub struct Symbols<'t> {
    /// In their order.
    addresses: Vec<u64>,
    /// Of each address the last function that begins before it.
    functions: Vec<Option<(u64, &'t str)>>,
}

/// A function, and the module that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol<'t> {
    /// Its name.
    pub name: &'t str,
    /// `None`: the kernel's image.
    pub module: Option<&'t str>,
}

impl<'t> Symbols<'t> {
    /// Finds in `text` the functions of these addresses. `None` where it has no address: each is 0
    /// (`kernel.kptr_restrict`).
    #[must_use]
    pub fn of(text: &'t str, addresses: impl Iterator<Item = u64>) -> Option<Self> {
        let mut sorted: Vec<u64> = Vec::new();
        for address in addresses {
            if let Err(place) = sorted.binary_search(&address) {
                sorted.insert(place, address);
            }
        }
        let mut functions = vec![None; sorted.len()];
        let mut last = 0;
        for (begin, rest) in text.lines().filter_map(function) {
            last = begin.max(last);
            let place = sorted.partition_point(|address| *address < begin);
            let known: Option<&mut Option<(u64, &str)>> = functions.get_mut(place);
            if let Some(known) = known.filter(|known| known.is_none_or(|(other, _)| other <= begin))
            {
                *known = Some((begin, rest));
            }
        }
        inherit(&mut functions);
        let addresses = sorted;
        (last > 0).then_some(Self {
            addresses,
            functions,
        })
    }

    /// The function that has the instruction at one of the addresses.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<Symbol<'t>> {
        let place = self.addresses.binary_search(&address).ok()?;
        let (_, rest) = (*self.functions.get(place)?)?;
        let mut words = rest.split_ascii_whitespace();
        Some(Symbol {
            name: words.next()?,
            module: words.next().map(|word| word.trim_matches(['[', ']'])),
        })
    }
}

/// Where no function begins between two addresses, the second is in the function of the first.
fn inherit(functions: &mut [Option<(u64, &str)>]) {
    let mut before = None;
    for function in functions {
        before = function.or(before);
        *function = before;
    }
}

/// Address and the rest of a line, if it is of code.
fn function(line: &str) -> Option<(u64, &str)> {
    let (address, rest) = line.split_once(' ')?;
    let (kind, rest) = rest.split_once(' ')?;
    let is_code = matches!(kind, "t" | "T" | "w" | "W");
    let address = u64::from_str_radix(address, 16).ok();
    Some((address.filter(|_| is_code)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
ffffffff81000000 T _stext
ffffffff81000100 T udp_sendmsg
ffffffff81000100 d a_table
ffffffffc0100200 t veth_xmit\t[veth]
ffffffff81000200 t udp_recvmsg.part.0
";

    #[test]
    fn an_address_is_of_the_function_that_begins_before_it() {
        let wanted = [
            (0xffff_ffff_c010_0210, Some(("veth_xmit", Some("veth")))),
            (0xffff_ffff_8100_01ff, Some(("udp_sendmsg", None))),
            (0xffff_ffff_8100_0200, Some(("udp_recvmsg.part.0", None))),
            (0xffff_ffff_8100_0201, Some(("udp_recvmsg.part.0", None))),
            (0xffff_ffff_80ff_ffff, None),
        ];
        let twice = wanted.iter().chain(&wanted).map(|(address, _)| *address);
        let symbols = Symbols::of(TEXT, twice).unwrap();
        for (address, function) in wanted {
            let found = symbols.at(address).map(|one| (one.name, one.module));
            assert_eq!(found, function, "{address:x}");
        }
        assert_eq!(symbols.at(0xffff_ffff_8100_0202), None, "not asked for");
    }

    #[test]
    fn a_text_without_addresses_is_no_table() {
        let zeros = "0000000000000000 T _stext\n0000000000000000 T udp_sendmsg\n";
        for text in [zeros, "", "no such file\nx y z w\n"] {
            assert!(Symbols::of(text, [1].into_iter()).is_none(), "{text}");
        }
    }
}
