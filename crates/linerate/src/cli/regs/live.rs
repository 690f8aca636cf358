// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registers of an interface: from the driver, from the PHY, and on request from the device's
//! memory where reading has no side effects.

use std::io;

use linerate_linux::errno;
use linerate_linux::nic::{self, Phy, Window};
use linerate_registers::{self, Bus, Map, Read, Register, Undecodable, apart, registers_of_dump};

use super::view::{RegisterView, Shown};
use linerate_model::failure::Failure;
use linerate_model::output::LinkKind;

/// Reads every readable register of an interface, or those of these names.
pub(super) fn read(
    interface: &str,
    names: &[String],
    speed: Option<u64>,
    device_memory: bool,
) -> Result<RegisterView, Failure> {
    let described = nic::describe(interface).map_err(|why| no_interface(interface, &why))?;
    let driver = described.driver.clone().unwrap_or_default();
    let request = Request {
        interface,
        maps: maps_of(&driver),
        driver,
        names,
        speed: speed.or(described.link_bits_per_second),
    };
    request.every_name_is_known()?;
    let mut view = RegisterView::default();
    let mut failures = Vec::new();
    let map = request.dump(&mut view, &mut failures);
    request.phy(&mut view, &mut failures);
    if device_memory {
        request.memory(map, &mut view, &mut failures);
    }
    if view.registers.is_empty() {
        return Err(request.nothing(described.link_kind, &failures));
    }
    failures.iter().for_each(|(_, why)| view.miss(why.clone()));
    Ok(view.together())
}

struct Request<'a> {
    interface: &'a str,
    driver: String,
    /// Of the driver's hardware.
    maps: Vec<&'static Map>,
    /// Empty: all.
    names: &'a [String],
    speed: Option<u64>,
}

/// What could not be read: whether permission was missing, and a sentence.
type Missing = (bool, String);

impl Request<'_> {
    /// Refuses a name that no map has.
    fn every_name_is_known(&self) -> Result<(), Failure> {
        let maps = || {
            self.maps
                .iter()
                .copied()
                .chain(linerate_registers::map(PHY))
        };
        for name in self.names {
            if maps().any(|map| map.register(name).is_some()) {
                continue;
            }
            let errors =
                maps().filter_map(|map| linerate_registers::decode(map, name, 0, None).err());
            let near = |e: &Undecodable| match e {
                Undecodable::Unknown { nearest, .. } => !nearest.is_empty(),
                Undecodable::TooWide { .. } => false,
            };
            let all: Vec<Undecodable> = errors.collect();
            let why = all.iter().find(|e| near(e)).or_else(|| all.first());
            let why = why.map_or_else(String::new, ToString::to_string);
            return Err(Failure::usage(
                format!("show {name} of {}", self.interface),
                why,
            ));
        }
        Ok(())
    }

    fn wants(&self, map: &Map, register: &Register) -> bool {
        let is_it = |name: &String| map.register(name).is_some_and(|r| r.name == register.name);
        self.names.is_empty() || self.names.iter().any(is_it)
    }

    fn show(&self, map: &Map, register: &Register, value: u64, source: &'static str) -> Shown {
        Shown::new(apart(map, register, value, self.speed), source)
    }

    /// Decodes the register dump (`ethtool -d`); returns its map.
    fn dump(&self, view: &mut RegisterView, failures: &mut Vec<Missing>) -> Option<&'static Map> {
        let dump = match nic::register_dump(self.interface) {
            Ok(dump) => dump,
            Err(why) => {
                failures.push(missing("the driver's registers (ethtool -d)", &why));
                return None;
            }
        };
        let understood = self.maps.iter().find_map(|map| {
            let registers = registers_of_dump(map, dump.version, &dump.words)?;
            Some((*map, registers))
        });
        let Some((map, registers)) = understood else {
            let why = format!(
                "no map describes the {} bytes, version {:#x}, that {} gives (ethtool -d)",
                dump.words.len() * 4,
                dump.version,
                self.driver
            );
            failures.push((false, why));
            return None;
        };
        let wanted = registers.into_iter().filter(|(r, _)| self.wants(map, r));
        let shown = wanted.map(|(r, value)| self.show(map, r, value, "ethtool -d"));
        view.registers.extend(shown);
        Some(map)
    }

    /// Reads the PHY's registers. One that is cleared by reading is read only if named.
    fn phy(&self, view: &mut RegisterView, failures: &mut Vec<Missing>) {
        let Some(map) = linerate_registers::map(PHY) else {
            return;
        };
        let phy = match Phy::of(self.interface) {
            Ok(phy) => phy,
            Err(why) => return failures.push(missing("the PHY's registers (MDIO)", &why)),
        };
        let wanted = map.registers.iter().filter(|r| self.wants(map, r));
        for register in wanted {
            if self.names.is_empty() && register.read != Read::Safe {
                let name = &register.name;
                let why = format!("{name} is not read: reading clears it; name it to read it");
                view.miss(why);
                continue;
            }
            let Ok(number) = u16::try_from(register.offset) else {
                continue;
            };
            match phy.read(number) {
                Ok(value) => view
                    .registers
                    .push(self.show(map, register, value.into(), "mdio")),
                Err(why) => failures.push(missing(&register.name, &why)),
            }
        }
    }

    /// Reads what the driver did not dump, and only registers without read side effects.
    fn memory(
        &self,
        map: Option<&'static Map>,
        view: &mut RegisterView,
        failures: &mut Vec<Missing>,
    ) {
        let only = match self.maps.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let Some(map) = map.or(only).filter(|map| map.bus == Bus::Memory) else {
            let why = format!("the device's memory: no map for driver {}", self.driver);
            return failures.push((false, why));
        };
        let last = map.registers.iter().map(|r| u64::from(r.offset) + 8).max();
        let window = nic::device_memory(self.interface)
            .and_then(|memory| Window::open(&memory, last.unwrap_or(0)));
        let window = match window {
            Ok(window) => window,
            Err(why) => return failures.push(unmapped(&why)),
        };
        for register in map.registers.iter().filter(|r| self.wants(map, r)) {
            let is_harmless = register.read == Read::Safe && register.width_bits == 32;
            if is_harmless
                && !view.has(map, register)
                && let Some(value) = window.word(register.offset)
            {
                let shown = self.show(map, register, value.into(), "device memory");
                view.registers.push(shown);
            } else if !is_harmless && !self.names.is_empty() {
                let name = &register.name;
                view.miss(format!("{name} is not read: reading it may change it"));
            }
        }
    }

    fn nothing(&self, kind: Option<LinkKind>, failures: &[Missing]) -> Failure {
        let Self {
            interface, driver, ..
        } = self;
        let sentences: Vec<&str> = failures.iter().map(|(_, why)| why.as_str()).collect();
        let failure = Failure::measuring(
            format!("read registers of {interface}"),
            sentences.join("; "),
        );
        if failures.iter().any(|(rights, _)| *rights) {
            return failure.hint(format!("sudo linerate regs {interface}"));
        }
        if let Some(software) = software(interface, kind) {
            let why = format!("it is virtual ({software}) and has no registers");
            return Failure::measuring(format!("read registers of {interface}"), why)
                .hint("a hardware interface; `ip -br link` lists them");
        }
        failure.hint(format!(
            "ethtool -S {interface} has the counters of {driver}; knowledge/README.md says how to write a map"
        ))
    }
}

/// The kind of a virtual interface, in `ip`'s words; `None` for a device.
fn software(interface: &str, kind: Option<LinkKind>) -> Option<String> {
    let of_link = nic::link(interface).ok().and_then(|link| link.kind);
    let virtual_kind = kind.filter(|kind| *kind != LinkKind::Wire);
    of_link.or_else(|| virtual_kind.map(|kind| kind.name().to_owned()))
}

fn maps_of(driver: &str) -> Vec<&'static Map> {
    linerate_registers::of_driver(driver).collect()
}

fn missing(what: &str, why: &io::Error) -> Missing {
    let no_rights = why.kind() == io::ErrorKind::PermissionDenied;
    let why = match why.raw_os_error() {
        Some(errno::EOPNOTSUPP) => "the driver provides none".to_owned(),
        Some(errno::EPERM | errno::EACCES) => {
            "not permitted: needs root (CAP_NET_ADMIN)".to_owned()
        }
        _ => why.to_string(),
    };
    (no_rights, format!("{what}: {why}"))
}

/// Since Linux 4.5 many kernels keep memory that a driver holds from everybody else.
fn unmapped(why: &io::Error) -> Missing {
    match why.raw_os_error() {
        Some(errno::EPERM | errno::EINVAL) => {
            let why = "the kernel keeps it for the driver (CONFIG_IO_STRICT_DEVMEM; iomem=relaxed on the kernel's command line lifts that)";
            (false, format!("the device's memory: {why}"))
        }
        _ => missing("the device's memory", why),
    }
}

fn no_interface(interface: &str, why: &io::Error) -> Failure {
    let what = format!("read registers of {interface}");
    if why.kind() == io::ErrorKind::NotFound {
        return Failure::usage(what, "there is no such interface, and no such file")
            .hint("`ip link` lists the interfaces; a value is NAME=VALUE");
    }
    Failure::measuring(what, why)
}

/// The map of every PHY.
const PHY: &str = "mii";
