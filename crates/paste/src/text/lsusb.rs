// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lsusb -t`: the USB speed of each driver's device.

use super::{Block, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let mine = |line: &str| {
        line.contains("Class=")
            && line.contains("Driver=")
            && line.contains("Port ")
            && line.len() < 300
    };
    lines.get(0).filter(|line| mine(line))?;
    let found = lines.run(0, mine);
    let values = found.iter().filter_map(|(_, line)| device(line)).collect();
    Some(Block {
        lines: found.last()?.0 + 1,
        format: "lsusb -t",
        content: vec![Settings::new("lsusb -t", None, values)],
    })
}

/// `|__ Port 4: Dev 3, If 0, Class=Vendor Specific Class, Driver=lan78xx, 480M`: driver and speed.
fn device(line: &str) -> Option<(String, String)> {
    let (_, rest) = line.split_once("Driver=")?;
    let (driver, speed) = rest.split_once(',')?;
    let driver = driver.split('/').next()?.trim();
    (!driver.is_empty()).then(|| (driver.to_owned(), speed.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn driver_and_speed() {
        let line = "    |__ Port 1: Dev 3, If 0, Class=Vendor Specific Class, Driver=lan78xx, 480M";
        assert_eq!(
            super::device(line),
            Some(("lan78xx".to_owned(), "480M".to_owned()))
        );
    }
}
