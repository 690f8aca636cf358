// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the PHY and the pluggable module of an interface report of themselves, in the words of `ethtool`.
//!
//! Modules answer over a slow bus: a module takes tens of milliseconds, so this is read once per run.

use std::io;

use linerate_wire::module::{self, Part, Stretch};
use linerate_wire::netlink::ethtool::{eeprom, link_state, mse};

use super::family::{Family, Kernel};
use super::request::{Card, Ethtool, command, get, put};
use super::settings::Values;

/// The output of each command, with the command. What the kernel refuses has no entry; modules need CAP_NET_ADMIN.
#[must_use]
pub fn read(interface: &str) -> Vec<(&'static str, Values)> {
    let Ok(link) = crate::nic::link(interface) else {
        return Vec::new();
    };
    let mut kernel = Kernel::open();
    let mut all = match &mut kernel {
        Ok(kernel) => of(kernel, link.index),
        Err(_) => Vec::new(),
    };
    let module = match kernel {
        Ok(mut kernel) => module(&mut kernel, link.index),
        Err(_) => Err(io::ErrorKind::Unsupported.into()),
    };
    // A module that does not answer is not asked twice.
    let module = module.or_else(|error| match error.kind() {
        io::ErrorKind::Unsupported => {
            let card = Ethtool::of(interface)?;
            of_module(|stretch| by_ioctl(&card, stretch))
        }
        _ => Err(error),
    });
    let has_slot = || super::bus(interface).is_ok_and(|bus| bus.is_some());
    let module = module.or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied if has_slot() => Ok(unreadable()),
        _ => Err(error),
    });
    all.extend(module.ok().map(|values| ("ethtool -m", values)));
    all
}

/// Nobody knows whether there is one.
fn unreadable() -> Values {
    vec![("Module".to_owned(), UNREADABLE.to_owned())]
}

const UNREADABLE: &str = "not readable (needs CAP_NET_ADMIN)";

/// The same of the interface of this number, as `family` answers, without its module.
#[must_use]
pub fn of(family: &mut dyn Family, index: u32) -> Vec<(&'static str, Values)> {
    let all = [
        (
            "ethtool",
            values(family, &link_state::request(index), link_state::values),
        ),
        (
            "ethtool --show-mse",
            values(family, &mse::request(index), mse::values),
        ),
    ];
    all.into_iter()
        .filter(|(_, values)| !values.is_empty())
        .collect()
}

/// What the module of the interface of this number says, as `family` answers.
///
/// # Errors
/// What the first read was refused with.
pub fn module(family: &mut dyn Family, index: u32) -> io::Result<Values> {
    of_module(|stretch| by_netlink(family, index, stretch))
}

fn values(family: &mut dyn Family, request: &[u8], read: fn(&[u8]) -> Values) -> Values {
    let mut values = Values::new();
    let refused = family.ask(request, &mut |answer| values.extend(read(answer)));
    refused.map_or_else(|_| Values::new(), |()| values)
}

/// A page that a module does not have is refused, or read as nothing.
fn of_module(mut read: impl FnMut(Stretch) -> io::Result<Vec<u8>>) -> io::Result<Values> {
    let first = read(module::FIRST)?;
    let identifier = *first.first().ok_or(io::ErrorKind::UnexpectedEof)?;
    let part = |stretch: &Stretch| -> Part { (*stretch, read(*stretch).unwrap_or_default()) };
    let parts: Vec<Part> = module::stretches(&first).iter().map(part).collect();
    Ok(module::values(identifier, &parts))
}

fn by_netlink(family: &mut dyn Family, index: u32, stretch: Stretch) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let request = eeprom::request(index, stretch);
    family.ask(&request, &mut |answer| bytes.extend(eeprom::bytes(answer)))?;
    Ok(bytes)
}

/// Before Linux 5.13: the pages one after the other; of an SFP the diagnostics after its 256 bytes of identity.
fn by_ioctl(card: &dyn Card, stretch: Stretch) -> io::Result<Vec<u8>> {
    // struct ethtool_modinfo: cmd, type, eeprom_len, reserved[8].
    let held = get(&card.ask(ETHTOOL_GMODULEINFO, 44)?, 8)?;
    let bytes = u32::from(stretch.bytes);
    let place = match stretch.bus_address {
        0x50 => 128 * u32::from(stretch.page) + u32::from(stretch.offset),
        _ => 256 + u32::from(stretch.offset),
    };
    if place + bytes > held {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // struct ethtool_eeprom: cmd, magic, offset, len, data.
    let mut request = command(
        ETHTOOL_GMODULEEEPROM,
        EEPROM_BYTES + usize::from(stretch.bytes),
    );
    put(&mut request, 8, place);
    put(&mut request, 12, bytes);
    card.exchange(&mut request)?;
    Ok(request.split_off(EEPROM_BYTES))
}

const ETHTOOL_GMODULEINFO: u32 = 0x42;
const ETHTOOL_GMODULEEEPROM: u32 = 0x43;
const EEPROM_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_wire::netlink::attribute::{find, push, unsigned};
    use linerate_wire::netlink::generic;

    const MODULE: &str = "ethtool -m";

    /// Answers requests as a kernel with a PHY and an SFP would.
    #[derive(Default)]
    struct Script {
        may_read_modules: bool,
        asked: Vec<u8>,
    }

    impl Script {
        fn module(request: &[u8]) -> Vec<u8> {
            let wanted = generic::attributes(request);
            let number = |kind| find(wanted, kind).and_then(unsigned).unwrap() as usize;
            let (offset, length, address) = (number(2), number(3), number(6));
            let mut memory = [0; 256];
            if address == 0x50 {
                memory[..3].copy_from_slice(&[3, 4, 7]);
                memory[20..27].copy_from_slice(b"EXAMPLE");
                memory[92] = 0x68;
            } else {
                memory[38..40].copy_from_slice(&158_u16.to_be_bytes());
                memory[104..106].copy_from_slice(&63_u16.to_be_bytes());
            }
            let mut body = Vec::new();
            push(&mut body, 7, &memory[offset..offset + length]);
            body
        }
    }

    impl Family for Script {
        fn ask(&mut self, request: &[u8], part: &mut dyn FnMut(&[u8])) -> io::Result<()> {
            self.asked.push(request[0]);
            let mut body = Vec::new();
            match request[0] {
                6 => {
                    push(&mut body, 3, &4_u32.to_ne_bytes());
                    push(&mut body, 4, &7_u32.to_ne_bytes());
                }
                31 if self.may_read_modules => body = Self::module(request),
                31 => return Err(io::Error::from_raw_os_error(libc::EPERM)),
                _ => return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
            }
            part(&generic::command(request[0], &body));
            Ok(())
        }

        fn listen(&mut self, _: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }

    fn said(all: &[(&'static str, Values)], source: &str, name: &str) -> Option<String> {
        let (_, values) = all.iter().find(|(one, _)| *one == source)?;
        let found = values.iter().find(|(one, _)| one == name);
        found.map(|(_, value)| value.clone())
    }

    #[test]
    fn a_phy_and_a_module() {
        let mut script = Script {
            may_read_modules: true,
            ..Script::default()
        };
        let mut all = of(&mut script, 2);
        all.push((MODULE, module(&mut script, 2).unwrap()));
        let said = |source, name| said(&all, source, name);
        assert_eq!(said("ethtool", "SQI").as_deref(), Some("4/7"));
        assert_eq!(
            said("ethtool -m", "Vendor name").as_deref(),
            Some("EXAMPLE")
        );
        let received = said("ethtool -m", "Receiver signal average optical power");
        assert_eq!(received.as_deref(), Some("-22.01 dBm"));
        assert_eq!(said("ethtool --show-mse", "A average"), None);
        assert_eq!(script.asked, [6, 51, 31, 31, 31]);
    }

    /// A driver that has only the ioctls, with a QSFP of 640 bytes.
    struct Old;

    impl Card for Old {
        fn exchange(&self, request: &mut [u8]) -> io::Result<()> {
            let word = |at| get(request, at).unwrap() as usize;
            match word(0) {
                0x42 => put(request, 8, 640),
                0x43 => {
                    let (place, bytes) = (word(8), word(12));
                    let mut memory = [0; 640];
                    memory[0] = 0x11;
                    memory[34..36].copy_from_slice(&10_000_u16.to_be_bytes());
                    memory[512 + 50..512 + 52].copy_from_slice(&457_u16.to_be_bytes());
                    request[16..].copy_from_slice(&memory[place..place + bytes]);
                }
                _ => return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
            }
            Ok(())
        }
    }

    #[test]
    fn an_old_kernel_has_the_pages_one_after_the_other() {
        let values = of_module(|stretch| by_ioctl(&Old, stretch)).unwrap();
        let all = [(MODULE, values)];
        let said = |name| said(&all, MODULE, name);
        let received = said("Rcvr signal avg optical power (Channel 1)");
        assert_eq!(received, None, "OMA: byte 220 is 0");
        assert_eq!(
            said("Receiver signal OMA (Channel 1)").as_deref(),
            Some("0.00 dBm")
        );
        let limit = said("Laser rx power low alarm threshold");
        assert_eq!(limit.as_deref(), Some("-13.40 dBm"));
        let beyond = Stretch {
            page: 4,
            offset: 200,
            ..module::FIRST
        };
        assert!(by_ioctl(&Old, beyond).is_err());
    }

    #[test]
    fn without_rights_there_is_no_module() {
        let refused = module(&mut Script::default(), 2).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        let all = of(&mut Script::default(), 2);
        assert_eq!(all.len(), 1);
        assert_eq!(said(&all, "ethtool", "SQI").as_deref(), Some("4/7"));
    }

    #[test]
    fn the_loopback_has_neither() {
        assert_eq!(read("lo"), []);
        assert_eq!(read("no-such-if"), []);
    }
}
