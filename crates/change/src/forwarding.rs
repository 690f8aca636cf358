// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forwarding of IPv6. `net.ipv6.conf.all.forwarding` decides (net/ipv6/ip6_output.c, `ip6_forward`), and writing it overwrites
//! the value of each interface (net/ipv6/addrconf.c, `addrconf_forward_change`): so one setting has all of them, as `0`, or
//! `0 eth1=1` where an interface has another value than all.

use std::fs;
use std::io;
use std::path::Path;

use linerate_linux::{sysctl, sysfs};

use crate::kernel::Kernel;
use crate::knob::{invalid, trimmed};

/// The name of the setting, after `sysctl `.
pub(crate) const ALL: &str = "net.ipv6.conf.*.forwarding";

/// The sysctl of one interface, named as in the value.
pub(crate) fn of(interface: &str) -> String {
    format!("net.ipv6.conf.{interface}.forwarding")
}

pub(crate) fn read(kernel: &dyn Kernel) -> io::Result<String> {
    let file = kernel.sysctl(&of(EVERY))?;
    let all = trimmed(&file)?;
    let folder = file.ancestors().nth(2).unwrap_or(Path::new("/"));
    let each = sysfs::names(folder).into_iter();
    let others = each.filter(|name| name != EVERY).filter_map(|name| {
        // One that has gone meanwhile has none.
        let value = trimmed(&folder.join(&name).join("forwarding")).ok()?;
        (value != all).then(|| format!(" {}={value}", sysctl::swapped(&name)))
    });
    Ok(format!("{all}{}", others.collect::<String>()))
}

/// Of all, then of those that differ. One that has gone has none.
pub(crate) fn write(kernel: &dyn Kernel, value: &str) -> io::Result<()> {
    let (all, others) = value.split_once(' ').unwrap_or((value, ""));
    fs::write(kernel.sysctl(&of(EVERY))?, all)?;
    for word in others.split(' ').filter(|word| !word.is_empty()) {
        let (name, value) = word.split_once('=').ok_or_else(|| invalid("no value"))?;
        match fs::write(kernel.sysctl(&of(name))?, value) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
            _ => {}
        }
    }
    Ok(())
}

const EVERY: &str = "all";
