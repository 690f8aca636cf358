// SPDX-License-Identifier: MIT OR Apache-2.0
//! Axes on the command line.

use super::request::{PlannedAxis, PlannedValue};

/// `protocol=tcp,udp mtu=100,1500`.
///
/// # Errors
/// What is missing.
pub(super) fn axes(text: &str) -> Result<Vec<PlannedAxis>, String> {
    text.split_whitespace().map(axis).collect()
}

fn axis(word: &str) -> Result<PlannedAxis, String> {
    let (name, values) = parted(word, '=', "AXIS=VALUE,VALUE")?;
    let value = |value: &str| PlannedValue {
        name: value.to_owned(),
        command: None,
    };
    Ok(PlannedAxis {
        name,
        values: values.split(',').map(value).collect(),
        restore: None,
    })
}

/// `driver: qfe=COMMAND; hme=COMMAND; restore=COMMAND`. A command with a semicolon is one for a plan in a file.
///
/// # Errors
/// What is missing.
pub(super) fn setting(text: &str) -> Result<PlannedAxis, String> {
    let (name, rest) = parted(text, ':', "NAME: VALUE=COMMAND; VALUE=COMMAND")?;
    let mut axis = PlannedAxis {
        name,
        ..PlannedAxis::default()
    };
    for part in rest.split(';').filter(|part| !part.trim().is_empty()) {
        let (value, command) = parted(part, '=', "VALUE=COMMAND")?;
        match value.as_str() {
            "restore" => axis.restore = Some(command),
            _ => axis.values.push(PlannedValue {
                name: value,
                command: Some(command),
            }),
        }
    }
    Ok(axis)
}

fn parted(text: &str, at: char, form: &str) -> Result<(String, String), String> {
    let parts = text.split_once(at);
    let parts = parts.map(|(name, rest)| (name.trim().to_owned(), rest.trim().to_owned()));
    let whole = parts.filter(|(name, rest)| !name.is_empty() && !rest.is_empty());
    whole.ok_or_else(|| format!("'{}' is not {form}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_names_with_values() {
        let all = axes("protocol=tcp,udp  mtu=100").unwrap();
        assert_eq!((all.len(), all[0].name.as_str()), (2, "protocol"));
        assert_eq!(all[0].values[1].name, "udp");
        assert!(axes("protocol").is_err() && axes("=tcp").is_err() && axes("mtu=").is_err());
    }

    #[test]
    fn a_setting_has_a_command_for_each_value() {
        let one =
            setting("driver: qfe=modprobe qfe a=1 ; hme = ./use hme; restore=./use qfe").unwrap();
        assert_eq!((one.name.as_str(), one.values.len()), ("driver", 2));
        assert_eq!(one.values[0].command.as_deref(), Some("modprobe qfe a=1"));
        assert_eq!(one.values[1].name, "hme");
        assert_eq!(one.restore.as_deref(), Some("./use qfe"));
        assert!(setting("driver").is_err() && setting("driver: qfe").is_err());
    }
}
