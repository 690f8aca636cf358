// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings of this host and of one of its interfaces: each source by the command or file that a user would read, with
//! its values as printed there. What cannot be read is absent. Nothing is changed.

mod addresses;
mod device;
mod interface;
mod kernel;
mod log;
mod machine;
mod processors;
mod programs;
mod queues;
pub mod state;
mod sysctls;
pub(crate) mod thermal;

pub use programs::known as known_programs;

/// What one source says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawSetting {
    /// `ethtool -g`, `sysctl`, `/proc/cmdline` …
    pub source: String,
    /// Names and values.
    pub values: Vec<(String, String)>,
}

/// How the interface called `name` is set up.
#[must_use]
pub fn of_interface(name: &str) -> Vec<RawSetting> {
    let mut all: Vec<RawSetting> = crate::nic::settings::read(name)
        .into_iter()
        .map(|(source, values)| setting(source, values))
        .collect();
    for (source, values) in crate::nic::physical::read(name) {
        add(&mut all, source, values);
    }
    all.push(interface::link(name));
    all.push(interface::neighbours(name));
    all.push(interface::queueing(name));
    all.push(interface::captures(name));
    all.push(queues::steering(name));
    all.push(queues::polling(name));
    all.extend(queues::interrupts(name));
    all.push(device::of(name));
    all.extend(thermal::of_interface(name));
    present(all)
}

/// The system controls alone.
#[must_use]
pub fn sysctls() -> RawSetting {
    sysctls::read()
}

/// Running programs that change settings by themselves.
#[must_use]
pub fn programs() -> RawSetting {
    programs::running()
}

/// How the host itself is set up.
#[must_use]
pub fn of_host() -> Vec<RawSetting> {
    let mut all = vec![sysctls::read(), addresses::held(), addresses::hardware()];
    all.extend(processors::frequency());
    all.extend(processors::idle_states());
    all.push(processors::memory_nodes());
    all.extend(thermal::read());
    all.extend(kernel::read());
    all.push(machine::read());
    all.push(setting("nft list flowtables", crate::nft::flowtables()));
    all.push(log::network_lines());
    all.push(programs::running());
    present(all)
}

/// Adds values to their source; a name that stands there already gets the later value.
fn add(all: &mut Vec<RawSetting>, source: &str, values: Vec<(String, String)>) {
    let known = all.iter_mut().find(|one| one.source == source);
    match known {
        Some(one) => {
            let is_new = |old: &str| values.iter().all(|(name, _)| name != old);
            one.values.retain(|(old, _)| is_new(old));
            one.values.extend(values);
        }
        None => all.push(setting(source, values)),
    }
}

fn present(all: Vec<RawSetting>) -> Vec<RawSetting> {
    all.into_iter()
        .filter(|setting| !setting.values.is_empty())
        .collect()
}

fn setting(source: impl Into<String>, values: Vec<(String, String)>) -> RawSetting {
    RawSetting {
        source: source.into(),
        values,
    }
}

/// The files of these names in a folder that can be read, by their names.
fn lines(folder: &std::path::Path, names: &[&str]) -> Vec<(String, String)> {
    let line = |name: &&str| Some(((*name).to_owned(), crate::sysfs::line(&folder.join(name))?));
    names.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_reports_what_every_host_can() {
        let host = of_host();
        let of = |source: &str| host.iter().find(|setting| setting.source == source);
        assert!(
            of("/proc/version").is_some()
                && of("sysctl").is_some()
                && of("/proc/meminfo").is_some()
        );
        assert!(host.iter().all(|setting| !setting.values.is_empty()));
        let loopback = of_interface("lo");
        let link = loopback
            .iter()
            .find(|setting| setting.source == "ip link")
            .unwrap();
        let flags = link
            .values
            .iter()
            .find(|(name, _)| name == "flags")
            .unwrap();
        assert!(flags.1.starts_with("LOOPBACK,UP"), "{flags:?}");
        assert!(
            loopback
                .iter()
                .all(|setting| setting.source != "ethtool -g")
        );
    }
}
