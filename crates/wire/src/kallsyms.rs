// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/kallsyms`: the addresses of the kernel's functions (kernel/kallsyms.c). It has where a function begins, not where
//! it ends. The kernel's image ends at `_etext`, a module with what `/proc/modules` says, a trampoline with its page: code
//! beyond, such as a BPF program without a symbol (`net.core.bpf_jit_kallsyms`), is of no function.

/// Addresses in the kernel's code, each with its function.
#[derive(Debug, Clone)]
pub struct Symbols<'t> {
    /// In their order.
    addresses: Vec<u64>,
    /// Of each address the last function that begins before it.
    functions: Vec<Option<(u64, &'t str)>>,
    /// `_etext`: where the code of the kernel's image ends.
    image_end: Option<u64>,
    /// Modules, and where each ends.
    modules: Vec<(&'t str, u64)>,
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
    /// Finds in `text` the functions of these addresses; `modules` is `/proc/modules`, or empty. `None` where `text` has no
    /// address: each is 0 (`kernel.kptr_restrict`).
    #[must_use]
    pub fn of(
        text: &'t str,
        modules: &'t str,
        addresses: impl Iterator<Item = u64>,
    ) -> Option<Self> {
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
            image_end: text.lines().find_map(image_end),
            modules: modules.lines().filter_map(module).collect(),
        })
    }

    /// The function that has the instruction at one of the addresses.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<Symbol<'t>> {
        let place = self.addresses.binary_search(&address).ok()?;
        let (begin, rest) = (*self.functions.get(place)?)?;
        let mut words = rest.split_ascii_whitespace();
        let symbol = Symbol {
            name: words.next()?,
            module: words.next().map(|word| word.trim_matches(['[', ']'])),
        };
        let end = self.end(symbol.module, begin);
        end.is_none_or(|end| address < end).then_some(symbol)
    }

    /// Where the code ends that a function is part of; `None`: not known.
    fn end(&self, module: Option<&str>, begin: u64) -> Option<u64> {
        let Some(name) = module else {
            return self.image_end;
        };
        let mut modules = self.modules.iter();
        match modules.find(|(known, _)| *known == name) {
            Some((_, end)) => Some(*end),
            None => name
                .starts_with(BUILT_IN)
                .then(|| begin.saturating_add(TRAMPOLINE_BYTES)),
        }
    }
}

/// Of the line of the symbol that ends the code of the image.
fn image_end(line: &str) -> Option<u64> {
    let (address, _) = line.split_once(' ').filter(|(_, rest)| {
        let name = rest.split_ascii_whitespace().nth(1);
        name == Some("_etext")
    })?;
    hexadecimal(address)
}

/// `veth 45056 0 - Live 0xffffffffc0100000`: the name, the end. The address is 0 to whom the kernel hides it.
fn module(line: &str) -> Option<(&str, u64)> {
    let mut words = line.split_ascii_whitespace();
    let (name, bytes) = (words.next()?, words.next()?.parse::<u64>().ok()?);
    let address = words.nth(3)?.strip_prefix("0x").and_then(hexadecimal)?;
    (address > 0).then_some((name, address.saturating_add(bytes)))
}

fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

/// What the kernel itself writes while it runs (`__builtin__ftrace`, `__builtin__kprobes`): a page each.
const BUILT_IN: &str = "__builtin__";
const TRAMPOLINE_BYTES: u64 = 4096;

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
    Some((hexadecimal(address).filter(|_| is_code)?, rest))
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
        let symbols = Symbols::of(TEXT, "", twice).unwrap();
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
            assert!(Symbols::of(text, "", [1].into_iter()).is_none(), "{text}");
        }
    }
    /// A BPF program has a symbol, or is of no function: not of the one that begins before it.
    #[test]
    fn code_beyond_the_end_of_image_module_or_trampoline_is_of_no_function() {
        let text = "\
ffffffff81000100 T udp_sendmsg
ffffffff81000900 T _etext
ffffffff83000000 T _einittext
ffffffffc0100200 t veth_xmit\t[veth]
ffffffffc0200000 t ftrace_trampoline\t[__builtin__ftrace]
ffffffffc0300000 t bpf_prog_6deef7357e7b4530_forward\t[bpf]
";
        let modules =
            "veth 45056 0 - Live 0xffffffffc0100000\nhidden 9 0 - Live 0x0000000000000000\n";
        let wanted = [
            (0xffff_ffff_8100_08ff, Some("udp_sendmsg")),
            (0xffff_ffff_8100_0900, None),
            (0xffff_ffff_8200_0000, None),
            (0xffff_ffff_c00f_0000, None),
            (0xffff_ffff_c010_afff, Some("veth_xmit")),
            (0xffff_ffff_c010_b000, None),
            (0xffff_ffff_c020_0fff, Some("ftrace_trampoline")),
            (0xffff_ffff_c020_1000, None),
            (
                0xffff_ffff_c030_0400,
                Some("bpf_prog_6deef7357e7b4530_forward"),
            ),
        ];
        let addresses = wanted.iter().map(|(address, _)| *address);
        let symbols = Symbols::of(text, modules, addresses).unwrap();
        for (address, function) in wanted {
            let found = symbols.at(address).map(|one| one.name);
            assert_eq!(found, function, "{address:x}");
        }
    }
}
