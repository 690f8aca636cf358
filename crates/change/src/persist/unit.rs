// SPDX-License-Identifier: MIT OR Apache-2.0
//! A systemd unit that runs a command: for settings that need the interface up, and those of the host. What is of a device is a
//! template that a udev rule for this device wants, whatever its name: systemd.device(5), `SYSTEMD_WANTS`. A unit of the host is
//! wanted by a drop-in of `multi-user.target`. So nothing has to be enabled.

use super::kind::Kind;
use super::surroundings::Surroundings;
use super::{DropIn, Kept, Refusal, header, interrupt, name, udev};
use crate::entry::{Device, Key, Place};

pub(super) fn files(
    kept: &Kept,
    kind: Kind<'_>,
    around: &Surroundings,
) -> Result<Vec<DropIn>, Refusal> {
    match (&kept.key.place, kind) {
        (_, Kind::Interrupt(number)) => {
            let command = interrupt::command(number, &kept.value, around)?;
            match interrupt::device(number, around) {
                Some(device) => of_device(kept, &device, UP, &command, around),
                None => of_host(kept, &command, around),
            }
        }
        (Place::Interface { device, .. }, _) => {
            let command = udev::absolute(&named(kept, device), around)?;
            let ready = if kind.needs_carrier() { LINKED } else { UP };
            of_device(kept, device, ready, &command, around)
        }
        _ => of_host(kept, &crate::command(&kept.key, &kept.value), around),
    }
}

/// The command, with the name that the interface will have.
fn named(kept: &Kept, device: &Device) -> String {
    let netns = 0;
    let device = Device {
        name: NAME.to_owned(),
        ..device.clone()
    };
    let key = Key {
        knob: kept.key.knob.clone(),
        place: Place::Interface { netns, device },
    };
    crate::command(&key, &kept.value)
}

/// The template gets the device's path in sysfs as its instance.
fn of_device(
    kept: &Kept,
    device: &Device,
    ready: &str,
    command: &str,
    around: &Surroundings,
) -> Result<Vec<DropIn>, Refusal> {
    if around
        .systemd
        .is_some_and(|version| (1..SINCE).contains(&version))
    {
        let why = format!("systemd before version {SINCE} does not start a unit for a device");
        return Err(Refusal::new(why).by_hand(crate::command(&kept.key, &kept.value)));
    }
    let matches = udev::matches(device, around.interfaces.get(&device.name))?;
    let name = name::name(&kept.key);
    let unit = format!("linerate-{name}@.service");
    let script = format!(
        "cd %f && until {ready}; do sleep 1; done; name=${{PWD##*/}}; {}",
        specifiers(command)
    );
    let conditions = "BindsTo=%i.device\nAfter=%i.device\n";
    let service = service(kept, conditions, "TimeoutStartSec=5min\n", &script);
    let rule = format!(
        "ACTION!=\"remove\", SUBSYSTEM==\"net\", {matches}, ENV{{SYSTEMD_WANTS}}+=\"{unit}\"\n"
    );
    let paths = [
        format!("{}/{unit}", name::UNIT),
        format!("{}/90-linerate-{name}.rules", name::UDEV),
    ];
    let mut files = together(kept, paths, [&service, &rule], around);
    for file in files.iter_mut().take(1) {
        file.activates = vec![
            "systemctl daemon-reload".to_owned(),
            "udevadm control --reload".to_owned(),
            format!(
                "udevadm trigger --action=change /sys/class/net/{}",
                device.name
            ),
        ];
    }
    Ok(files)
}

fn of_host(kept: &Kept, command: &str, around: &Surroundings) -> Result<Vec<DropIn>, Refusal> {
    let name = name::name(&kept.key);
    let unit = format!("linerate-{name}.service");
    let service = service(kept, "", "", &specifiers(command));
    let wants = format!("[Unit]\nWants={unit}\n");
    let paths = [
        format!("{}/{unit}", name::UNIT),
        format!("{}/multi-user.target.d/90-linerate-{name}.conf", name::UNIT),
    ];
    let mut files = together(kept, paths, [&service, &wants], around);
    for file in files.iter_mut().take(1) {
        file.activates = vec![
            "systemctl daemon-reload".to_owned(),
            format!("systemctl start {unit}"),
        ];
    }
    Ok(files)
}

/// A shell runs the script; `%` in it is one of systemd's specifiers.
fn service(kept: &Kept, conditions: &str, limit: &str, script: &str) -> String {
    let script = script.replace('\\', r"\\").replace('"', "\\\"");
    format!(
        "[Unit]\nDescription={}\n{conditions}\n[Service]\nType=oneshot\nRemainAfterExit=yes\n{limit}ExecStart=/bin/sh -c \"{}\"\n",
        specifiers(&kept.key.to_string()),
        script.replace('$', "$$"),
    )
}

/// Files that are removed together.
fn together(
    kept: &Kept,
    paths: [String; 2],
    bodies: [&str; 2],
    around: &Surroundings,
) -> Vec<DropIn> {
    let quoted = paths.each_ref().map(|path| header::quoted(path)).join(" ");
    let removes = format!("rm {quoted}");
    let each = paths.into_iter().zip(bodies);
    let one = |(path, body): (String, &str)| {
        header::with_header(kept, path, body, removes.clone(), around)
    };
    each.map(one).collect()
}

fn specifiers(text: &str) -> String {
    text.replace('%', "%%")
}

/// `carrier` can be read while the interface is up.
const UP: &str = "cat carrier >/dev/null 2>&1";
const LINKED: &str = "grep -qs 1 carrier";
/// The shell's variable with the interface's name.
const NAME: &str = "$name";
/// The version that makes an instance of a template for a device.
const SINCE: u32 = 235;
