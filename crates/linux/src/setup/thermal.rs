// SPDX-License-Identifier: MIT OR Apache-2.0
//! What heat does to the processors: throttling, temperatures with the points at which something acts, and cooling.

use std::path::{Path, PathBuf};

use super::{RawSetting, lines, setting};
use crate::sysfs;

/// Thermal zones, and the sensors of the processors.
pub(crate) fn sensors() -> Vec<RawSetting> {
    let root = Path::new("/sys");
    let zones = zones(root).into_iter();
    zones.chain(processor_sensors(root)).collect()
}

/// Throttling, thermal zones, cooling of processors, and their sensors.
pub(super) fn read() -> Vec<RawSetting> {
    let root = Path::new("/sys");
    let mut all = vec![throttling(root)];
    all.extend(zones(root));
    all.extend(cooling(root));
    all.extend(processor_sensors(root));
    all
}

/// The sensors of an interface's device: of the card, or of its PHY.
pub(crate) fn of_interface(name: &str) -> Vec<RawSetting> {
    let folder = sysfs::device(name).map(|device| device.join("hwmon"));
    let folders = folder.iter().flat_map(|folder| below(folder, "hwmon"));
    folders.map(|folder| sensor(&folder)).collect()
}

/// How often the processors have throttled: the sum of the cores, and the most of any package, which each of its
/// processors reports.
fn throttling(root: &Path) -> RawSetting {
    let cpus = below(&root.join("devices/system/cpu"), "cpu");
    let counts = |name: &str| -> Vec<u64> {
        let files = cpus
            .iter()
            .map(|cpu| cpu.join("thermal_throttle").join(name));
        files
            .filter_map(|file| sysfs::line(&file)?.parse().ok())
            .collect()
    };
    let value = |name: &str, count: u64| (name.to_owned(), count.to_string());
    let cores = counts("core_throttle_count");
    let core = (!cores.is_empty()).then(|| value("core_throttle_count", cores.iter().sum()));
    let package = counts("package_throttle_count").into_iter().max();
    let package = package.map(|most| value("package_throttle_count", most));
    let values = core.into_iter().chain(package);
    setting("/sys/devices/system/cpu/thermal_throttle", values.collect())
}

/// `/sys/class/thermal/thermal_zoneN`: type, temperature (m°C), and the trip points at which the kernel throttles, warns or
/// shuts down. An active one starts a fan.
fn zones(root: &Path) -> Vec<RawSetting> {
    let one = |zone: PathBuf| {
        let mut values = lines(&zone, &["type", "temp"]);
        for number in 0..MOST_TRIPS {
            let part = |what: &str| sysfs::line(&zone.join(format!("trip_point_{number}_{what}")));
            let Some(kind) = part("type") else { break };
            let point = part("temp").filter(|_| kind != "active");
            values.extend(point.map(|point| (format!("trip_{number}_{kind}"), point)));
        }
        setting(shown(root, &zone), values)
    };
    let zones = below(&root.join("class/thermal"), "thermal_zone");
    zones.into_iter().map(one).collect()
}

/// `/sys/class/thermal/cooling_deviceN` of those that slow a processor down: not fans, not backlights.
fn cooling(root: &Path) -> Vec<RawSetting> {
    let devices = below(&root.join("class/thermal"), "cooling_device");
    let slows = |device: &PathBuf| {
        let kind = sysfs::line(&device.join("type")).unwrap_or_default();
        SLOWING.iter().any(|word| kind.contains(word))
    };
    let devices = devices.into_iter().filter(slows);
    devices
        .map(|device| {
            let values = lines(&device, &["type", "cur_state", "max_state"]);
            setting(shown(root, &device), values)
        })
        .collect()
}

/// `/sys/class/hwmon/hwmonN` of the processors. Others are not read: a disk's sensor wakes the disk.
fn processor_sensors(root: &Path) -> Vec<RawSetting> {
    let all = below(&root.join("class/hwmon"), "hwmon").into_iter();
    let is_processor = |folder: &PathBuf| {
        let name = sysfs::line(&folder.join("name")).unwrap_or_default();
        SENSORS.contains(&name.as_str())
    };
    all.filter(is_processor)
        .map(|folder| {
            let read = sensor(&folder);
            setting(shown(root, &folder), read.values)
        })
        .collect()
}

/// `temp1_input` (m°C) with its limits.
fn sensor(folder: &Path) -> RawSetting {
    let wanted = |name: &String| {
        let kind = name
            .strip_prefix("temp")
            .and_then(|rest| rest.split_once('_'));
        kind.is_some_and(|(_, kind)| ["input", "max", "crit"].contains(&kind))
    };
    let names: Vec<String> = sysfs::names(folder).into_iter().filter(wanted).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    setting(folder.display().to_string(), lines(folder, &names))
}

/// The entries of a directory that are this word and a number.
fn below(folder: &Path, word: &str) -> Vec<PathBuf> {
    let is_it = |name: &String| {
        let number = name.strip_prefix(word);
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let names = sysfs::names(folder).into_iter().filter(is_it);
    names.map(|name| folder.join(name)).collect()
}

/// As a user finds it: below `/sys`.
fn shown(root: &Path, place: &Path) -> String {
    let rest = place.strip_prefix(root).unwrap_or(place);
    Path::new("/sys").join(rest).display().to_string()
}

/// The kernel's own limit was 12 (THERMAL_MAX_TRIPS, include/linux/thermal.h, until Linux 6.9).
const MOST_TRIPS: usize = 12;
/// In the types of cooling devices: `Processor` (ACPI), `cpufreq-cpu0`, `intel_powerclamp`, `cpuidle-cpu0`.
const SLOWING: [&str; 4] = ["Processor", "cpufreq", "powerclamp", "cpuidle"];
/// Drivers in drivers/hwmon, and thermal zones of processors on boards.
const SENSORS: [&str; 7] = [
    "coretemp",
    "cpu_thermal",
    "cputemp",
    "k10temp",
    "soc_thermal",
    "via_cputemp",
    "zenpower",
];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A tree of files below a new directory.
    fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("linerate-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        root
    }

    fn value<'a>(setting: &'a RawSetting, name: &str) -> Option<&'a str> {
        let mut values = setting.values.iter();
        let (_, value) = values.find(|(one, _)| one == name)?;
        Some(value)
    }

    #[test]
    fn throttling_is_one_reading_of_all_processors() {
        let root = tree(
            "throttle",
            &[
                (
                    "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
                    "3",
                ),
                (
                    "devices/system/cpu/cpu1/thermal_throttle/core_throttle_count",
                    "4",
                ),
                (
                    "devices/system/cpu/cpu0/thermal_throttle/package_throttle_count",
                    "9",
                ),
                (
                    "devices/system/cpu/cpu1/thermal_throttle/package_throttle_count",
                    "9",
                ),
                ("devices/system/cpu/cpufreq/x", "1"),
            ],
        );
        let read = throttling(&root);
        assert_eq!(value(&read, "core_throttle_count"), Some("7"));
        assert_eq!(value(&read, "package_throttle_count"), Some("9"));
        assert_eq!(throttling(Path::new("/no/such/tree")).values, []);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_zone_has_its_temperature_and_the_points_that_slow_it() {
        let root = tree(
            "zones",
            &[
                ("class/thermal/thermal_zone0/type", "x86_pkg_temp"),
                ("class/thermal/thermal_zone0/temp", "45000"),
                ("class/thermal/thermal_zone0/trip_point_0_type", "active"),
                ("class/thermal/thermal_zone0/trip_point_0_temp", "60000"),
                ("class/thermal/thermal_zone0/trip_point_1_type", "passive"),
                ("class/thermal/thermal_zone0/trip_point_1_temp", "95000"),
                ("class/thermal/cooling_device0/type", "Fan"),
                ("class/thermal/cooling_device0/cur_state", "1"),
                ("class/thermal/cooling_device1/type", "cpufreq-cpu0"),
                ("class/thermal/cooling_device1/cur_state", "2"),
            ],
        );
        let [zone] = &zones(&root)[..] else {
            panic!("one zone");
        };
        assert_eq!(zone.source, "/sys/class/thermal/thermal_zone0");
        assert_eq!(value(zone, "trip_1_passive"), Some("95000"));
        assert_eq!(value(zone, "trip_0_active"), None);
        let [cooling] = &cooling(&root)[..] else {
            panic!("one that slows");
        };
        assert_eq!(value(cooling, "cur_state"), Some("2"));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn only_the_sensors_of_processors_are_read() {
        let root = tree(
            "sensors",
            &[
                ("class/hwmon/hwmon0/name", "drivetemp"),
                ("class/hwmon/hwmon0/temp1_input", "30000"),
                ("class/hwmon/hwmon1/name", "coretemp"),
                ("class/hwmon/hwmon1/temp1_input", "50000"),
                ("class/hwmon/hwmon1/temp1_crit", "100000"),
                ("class/hwmon/hwmon1/temp1_label", "Package id 0"),
            ],
        );
        let [sensor] = &processor_sensors(&root)[..] else {
            panic!("one of a processor");
        };
        assert_eq!(sensor.source, "/sys/class/hwmon/hwmon1");
        let expected = [("temp1_crit", "100000"), ("temp1_input", "50000")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(sensor.values, expected);
        fs::remove_dir_all(root).unwrap();
    }
}
