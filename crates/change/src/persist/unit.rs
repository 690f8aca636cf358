// SPDX-License-Identifier: MIT OR Apache-2.0
//! A systemd unit that runs a command: for settings that need the interface up, and those of the host. A drop-in of the
//! device's unit, or of `multi-user.target`, wants it: so nothing has to be enabled.

use super::kind::Kind;
use super::surroundings::Surroundings;
use super::{DropIn, Kept, Refusal, header, name, udev};
use crate::entry::Place;

pub(super) fn files(
    kept: &Kept,
    kind: Kind<'_>,
    around: &Surroundings,
) -> Result<Vec<DropIn>, Refusal> {
    let name = name::name(&kept.key);
    let unit = format!("linerate-{name}.service");
    let (wanted_by, conditions) = bound_to(&kept.key.place, around)?;
    let command = command(kept, kind, around)?;
    let paths = [
        format!("{}/{unit}", name::UNIT),
        format!("{}/{wanted_by}.d/90-linerate-{name}.conf", name::UNIT),
    ];
    let removes = format!(
        "rm {}",
        paths.each_ref().map(|path| header::quoted(path)).join(" ")
    );
    let service = format!(
        "[Unit]\nDescription={}\n{conditions}Wants=network-online.target\nAfter=network-online.target\n\n\
         [Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart={command}\n",
        specifiers(&kept.key.to_string()),
    );
    let wants = format!("[Unit]\nWants={unit}\n");
    let [service_path, wants_path] = paths;
    let one = |path, body: &str| header::with_header(kept, path, body, removes.clone(), around);
    let mut service = one(service_path, &service);
    service.activates = vec![
        "systemctl daemon-reload".to_owned(),
        format!("systemctl start {unit}"),
    ];
    Ok(vec![service, one(wants_path, &wants)])
}

/// The unit that wants it, and what binds it to the device.
fn bound_to(place: &Place, around: &Surroundings) -> Result<(String, String), Refusal> {
    let Some(device) = place.device() else {
        return Ok(("multi-user.target".to_owned(), String::new()));
    };
    let unit = format!(
        "sys-subsystem-net-devices-{}.device",
        name::escaped(&device.name)
    );
    let interface = around.interfaces.get(&device.name);
    let sysfs = interface.and_then(|interface| interface.sysfs.as_deref());
    let Some(sysfs) = sysfs else {
        return Err(Refusal::new(format!(
            "the place of {} is not known",
            device.name
        )));
    };
    // The numbers of virtio devices depend on the order in which they are found.
    let parts = sysfs
        .split('/')
        .map(|part| match part.strip_prefix("virtio") {
            Some(number) if number.parse::<u32>().is_ok() => "virtio*",
            _ => part,
        });
    let pattern = specifiers(&parts.collect::<Vec<_>>().join("/"));
    let conditions = format!("BindsTo={unit}\nAfter={unit}\nConditionPathExistsGlob={pattern}\n");
    Ok((unit, conditions))
}

fn command(kept: &Kept, kind: Kind<'_>, around: &Surroundings) -> Result<String, Refusal> {
    let value = &kept.value;
    let shell = match kind {
        Kind::Interrupt(number) => affinity(number, value, around)?,
        Kind::Governor => crate::command(&kept.key, value),
        _ => {
            let command = udev::absolute(&crate::command(&kept.key, value), around)?;
            return Ok(specifiers(&command).replace('$', "$$"));
        }
    };
    let quoted = specifiers(&shell).replace('\\', r"\\").replace('"', "\\\"");
    Ok(format!("/bin/sh -c \"{}\"", quoted.replace('$', "$$")))
}

/// Interrupts have other numbers after a boot: it is found by what `/proc/interrupts` calls it.
fn affinity(number: u32, value: &str, around: &Surroundings) -> Result<String, Refusal> {
    let named = around.interrupts.get(&number);
    let others = |name: &String| {
        around
            .interrupts
            .values()
            .filter(|other| *other == name)
            .count()
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:@".contains(&byte);
    match named {
        Some(name) if others(name) == 1 && name.bytes().all(is_plain) => Ok(format!(
            "while read -r n l; do case \" $l\" in *' {name}') echo {value} > /proc/irq/${{n%:}}/smp_affinity_list;; esac; done < /proc/interrupts"
        )),
        Some(name) => Err(Refusal::new(format!(
            "interrupt {number} has another number after a boot, and its name, {name}, is not unique"
        ))),
        None => Err(Refusal::new(format!(
            "interrupt {number} has no name by which it is found after a boot"
        ))),
    }
}

fn specifiers(text: &str) -> String {
    text.replace('%', "%%")
}
