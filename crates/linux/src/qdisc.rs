// SPDX-License-Identifier: MIT OR Apache-2.0
//! The root queueing discipline of an interface as words of tc(8), read and replaced; only where it can be put back as it was.

use std::io;

use linerate_wire::netlink::discipline;
use linerate_wire::netlink::qdisc::{self, INGRESS, Qdisc};
use linerate_wire::netlink::qdisc_words::{self, words};

use crate::netlink::Netlink;
use crate::{nic, sysctl};

/// `fq limit 10000 …`; `default fq_codel` for the kernel's own, which is there again when no other is set. A handle that a person
/// chose is before its kind: `handle 1: fq …`.
///
/// # Errors
/// `Unsupported` for a tree of disciplines, filters, a kind or an option that could not be put back; those of netlink.
pub fn read(interface: &str) -> io::Result<String> {
    let found = Found::of(interface)?;
    let Some(root) = &found.root else {
        return Ok(DEFAULT.to_owned());
    };
    let kind = &root.qdisc.kind;
    if root.qdisc.handle == 0 && found.would_be_made_again() {
        return Ok(format!("{DEFAULT} {kind}"));
    }
    found.can_be_put_back()?;
    let options = words(kind, &root.options);
    let options =
        options.ok_or_else(|| unsupported(format!("the options of {kind} are not all known")))?;
    let handle = match root.qdisc.handle >> 16 {
        0 | FIRST_OF_KERNEL.. => String::new(),
        major => format!("handle {major:x}: "),
    };
    Ok(format!("{handle}{kind} {options}").trim_end().to_owned())
}

/// Replaces it: by what [`read`] returns, or by what `tc qdisc replace dev X root` takes.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN, `InvalidInput` for unknown words, ENOENT for a kind that the kernel lacks.
pub fn write(interface: &str, value: &str) -> io::Result<()> {
    let found = Found::of(interface)?;
    let mut list: Vec<&str> = value.split_ascii_whitespace().collect();
    if list.first() == Some(&DEFAULT) {
        let is_default = found.root.is_none_or(|root| root.qdisc.handle == 0);
        return match is_default {
            true => Ok(()),
            false => Netlink::route_orders()?.order(&discipline::remove(found.index)),
        };
    }
    let mut handle = 0;
    if let ["handle", major, ..] = list.as_slice() {
        handle = handle_of(major).ok_or_else(|| invalid(value))?;
        list.drain(..2);
    }
    let (kind, list) = list.split_first().ok_or_else(|| invalid(value))?;
    let same = found
        .root
        .filter(|root| root.qdisc.kind == *kind && root.qdisc.handle != 0);
    let now = same.as_ref().map(|root| root.options.as_slice());
    let options = qdisc_words::options(kind, list, now).ok_or_else(|| invalid(value))?;
    Netlink::route_orders()?.order(&discipline::root(found.index, handle, kind, &options))
}

/// What an interface has.
struct Found {
    index: u32,
    root: Option<Root>,
    /// Below the root.
    children: Vec<Qdisc>,
    has_filters: bool,
}

struct Root {
    qdisc: Qdisc,
    options: Vec<u8>,
    has_size_table: bool,
}

impl Found {
    fn of(interface: &str) -> io::Result<Self> {
        let index = nic::link(interface)?.index;
        let mut netlink = Netlink::route()?;
        let (mut root, mut children) = (None, Vec::new());
        netlink.ask(
            qdisc::GET,
            true,
            &qdisc::request(),
            |answer| match qdisc::parse(answer).filter(|one| one.interface_index == index) {
                Some(one) if one.is_root() => {
                    root = Some(Root {
                        qdisc: one,
                        options: qdisc::options(answer).to_vec(),
                        has_size_table: qdisc::has_size_table(answer),
                    });
                }
                Some(one) if one.parent != INGRESS => children.push(one),
                _ => {}
            },
        )?;
        let handle = root.as_ref().map_or(0, |root| root.qdisc.handle);
        Ok(Self {
            index,
            has_filters: handle != 0 && has_filters(&mut netlink, index, handle)?,
            root,
            children,
        })
    }

    /// Whether the kernel would choose the same again. `net.core.default_qdisc` may have changed since; a namespace does not
    /// show it, and cannot change it.
    fn would_be_made_again(&self) -> bool {
        let default = sysctl::read("net.core.default_qdisc").ok();
        let leaves = || {
            self.children
                .iter()
                .chain(self.root.iter().map(|root| &root.qdisc))
        };
        let is_as_now = |one: &Qdisc| {
            let is_kernels = ["noqueue", "mq", "pfifo_fast"].contains(&one.kind.as_str());
            is_kernels || default.as_ref().is_none_or(|default| *default == one.kind)
        };
        leaves().all(|one| one.handle & 0xffff_0000 == 0 || self.is_root(one))
            && leaves().all(is_as_now)
    }

    fn is_root(&self, one: &Qdisc) -> bool {
        self.root.as_ref().is_some_and(|root| root.qdisc == *one)
    }

    fn can_be_put_back(&self) -> io::Result<()> {
        let Some(root) = &self.root else {
            return Ok(());
        };
        let kind = &root.qdisc.kind;
        if !qdisc_words::is_known(kind) {
            return Err(unsupported(format!(
                "{kind} could not be put back as it is"
            )));
        }
        let is_plain = match kind.as_str() {
            "mq" => self.would_be_made_again(),
            _ => self.children.is_empty(),
        };
        match is_plain && !self.has_filters && !root.has_size_table {
            true => Ok(()),
            false => Err(unsupported(format!(
                "{kind} has other disciplines, filters or a size table, which could not be put back"
            ))),
        }
    }
}

fn has_filters(netlink: &mut Netlink, index: u32, handle: u32) -> io::Result<bool> {
    let mut any = false;
    let request = qdisc::filters_request(index, handle);
    match netlink.ask(qdisc::GET_FILTERS, true, &request, |_| any = true) {
        // A kind that takes no filters.
        Err(why)
            if why.raw_os_error() != Some(libc::EINVAL)
                && why.raw_os_error() != Some(libc::EOPNOTSUPP) =>
        {
            Err(why)
        }
        _ => Ok(any),
    }
}

/// `1:` as a number.
fn handle_of(major: &str) -> Option<u32> {
    let digits = major.strip_suffix(':').unwrap_or(major);
    let major = u16::from_str_radix(digits, 16).ok()?;
    Some(u32::from(major) << 16)
}

fn unsupported(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}

fn invalid(value: &str) -> io::Error {
    let why = format!("`{value}` is not a queueing discipline that is known here");
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

const DEFAULT: &str = "default";
/// net/sched/sch_api.c `qdisc_alloc_handle`: 8001, 8002, …
const FIRST_OF_KERNEL: u32 = 0x8000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_has_the_kernels_own() {
        assert_eq!(read("lo").unwrap(), "default noqueue");
        assert!(read("no-such-if").is_err());
        assert_eq!(handle_of("100:"), Some(0x0100_0000));
        assert_eq!(handle_of("1:2"), None);
    }
}
