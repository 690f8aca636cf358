// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulated devices of `devices.toml`.

use linerate_method::simulated::Device;
use toml::{Table, Value};

pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) device: Device,
    pub(crate) seed: u64,
}

/// Lowest and highest load of all searches, in frames per second.
pub(crate) const LOADS: (f64, f64) = (1e4, 1_488_095.0);

/// All devices of the file.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let table: Table = include_str!("devices.toml")
        .parse()
        .unwrap_or_else(|error| panic!("{error}"));
    let devices = table["device"].as_array().cloned().unwrap_or_default();
    devices.iter().map(scenario).collect()
}

fn scenario(entry: &Value) -> Scenario {
    Scenario {
        name: entry["name"].as_str().unwrap_or_default().to_owned(),
        device: device(entry),
        seed: entry.get("seed").map_or(0.0, as_number) as u64,
    }
}

fn device(entry: &Value) -> Device {
    let kind = KINDS.iter().find(|kind| entry.get(kind).is_some());
    let kind = *kind.unwrap_or_else(|| panic!("no known kind of device: {entry}"));
    let number = |key: &str| as_number(&entry[kind][key]);
    let capacity_fps = || number("capacity_fps");
    let frames = || number("frames") as u64;
    match kind {
        "buffered" => Device::Buffered {
            capacity_fps: capacity_fps(),
            frames: frames(),
        },
        "floor" => Device::Floor {
            capacity_fps: capacity_fps(),
            loss_ratio: number("loss_ratio"),
        },
        "noisy" => Device::Noisy {
            capacity_fps: capacity_fps(),
            probability: number("probability"),
            frames: frames(),
        },
        "jittery" => Device::Jittery {
            lowest_fps: number("lowest_fps"),
            highest_fps: number("highest_fps"),
        },
        "every_nth" => Device::EveryNth {
            capacity_fps: capacity_fps(),
            nth: number("nth") as u32,
            frames: frames(),
        },
        _ => Device::Hard {
            capacity_fps: capacity_fps(),
        },
    }
}

fn as_number(value: &Value) -> f64 {
    let integer = || value.as_integer().map(|integer| integer as f64);
    let number = value.as_float().or_else(integer);
    number.unwrap_or_else(|| panic!("{value} is no number"))
}

const KINDS: [&str; 6] = ["hard", "buffered", "floor", "noisy", "jittery", "every_nth"];
