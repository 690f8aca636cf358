// SPDX-License-Identifier: MIT OR Apache-2.0
//! A udev rule: udev(7). It applies when the interface appears, and names the device rather than the interface where the
//! device is known: another one may get the name.

use super::kind::Kind;
use super::surroundings::{Interface, Surroundings};
use super::{DropIn, Kept, Refusal, header, name};
use crate::entry::{Device, Key, Place};

pub(super) fn file(kept: &Kept, kind: Kind<'_>, around: &Surroundings) -> Result<DropIn, Refusal> {
    let Place::Interface { netns, device } = &kept.key.place else {
        return Err(Refusal::new("it is not a setting of an interface"));
    };
    let matches = matches(device, around.interfaces.get(&device.name))?;
    let named = Device {
        name: "$name".to_owned(),
        ..device.clone()
    };
    let key = Key {
        knob: kept.key.knob.clone(),
        place: Place::Interface {
            netns: *netns,
            device: named,
        },
    };
    let does = action(&key, kind, &kept.value, around)?;
    let path = format!("{}/90-linerate-{}.rules", name::UDEV, name::name(&kept.key));
    let body = format!("ACTION==\"add|change\", SUBSYSTEM==\"net\", {matches}, {does}\n");
    let mut file = header::alone(kept, path, &body, around);
    file.activates = vec![
        "udevadm control --reload".to_owned(),
        format!(
            "udevadm trigger --action=change /sys/class/net/{}",
            device.name
        ),
    ];
    Ok(file)
}

/// By its place (`ID_PATH`), else by the address in its memory; a virtual interface by its name, which its creator chose.
pub(super) fn matches(device: &Device, interface: Option<&Interface>) -> Result<String, Refusal> {
    let place = interface.and_then(|interface| interface.id_path.as_deref());
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'"')
    };
    if let Some(place) = place.filter(|place| is_plain(place)) {
        // Several ports of one device have the same place.
        let port = interface.and_then(|interface| interface.port.as_deref());
        let port = port.filter(|port| *port != "0");
        let port = port.map_or_else(String::new, |port| {
            format!(", ATTR{{dev_port}}==\"{port}\"")
        });
        return Ok(format!("ENV{{ID_PATH}}==\"{}\"{port}", literal(place)));
    }
    if let Some(address) = &device.permanent_address {
        let address = address.to_ascii_lowercase();
        return Ok(format!(
            "ATTR{{address}}==\"{address}\", ATTR{{type}}==\"1\""
        ));
    }
    let name = &device.name;
    match interface.is_some_and(|interface| interface.is_virtual) && is_plain(name) {
        true => Ok(format!(
            "DEVPATH==\"/devices/virtual/net/{}\"",
            literal(name)
        )),
        false => Err(Refusal::new(format!(
            "neither place nor permanent address of {name} is known: another device could get its name"
        ))),
    }
}

/// Not a pattern.
fn literal(text: &str) -> String {
    let special = |letter| "*?[]|".contains(letter);
    text.replace(special, "?")
}

fn action(
    key: &Key,
    kind: Kind<'_>,
    value: &str,
    around: &Surroundings,
) -> Result<String, Refusal> {
    let file = match kind {
        Kind::QueueLength => "tx_queue_len",
        // `ethtool -L`, which runs after all assignments, makes new queues.
        Kind::File(file) if file.starts_with("queues/") => {
            let shell = format!("echo {value} > /sys/class/net/$name/{file}");
            return Ok(format!("RUN+=\"/bin/sh -c '{}'\"", percent(&shell)));
        }
        Kind::File(file) => file,
        _ => return run(&crate::command(key, value), around),
    };
    Ok(format!("ATTR{{{file}}}=\"{}\"", percent(value)))
}

fn run(command: &str, around: &Surroundings) -> Result<String, Refusal> {
    let command = absolute(command, around)?;
    Ok(format!("RUN+=\"{}\"", percent(&command)))
}

/// udev replaces `%k` and the like.
fn percent(text: &str) -> String {
    text.replace('%', "%%")
}

/// udev and systemd start programs by their path.
pub(super) fn absolute(command: &str, around: &Surroundings) -> Result<String, Refusal> {
    let (program, words) = command.split_once(' ').unwrap_or((command, ""));
    match around.tools.get(program) {
        Some(path) => Ok(format!("{path} {words}")),
        None => Err(
            Refusal::new(format!("there is no {program}(8) to apply it"))
                .by_hand(format!("install {program}, or run: {command}")),
        ),
    }
}
