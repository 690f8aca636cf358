// SPDX-License-Identifier: MIT OR Apache-2.0
//! `devlink dev info`: the firmware that runs, below `running:`, and the stored one, below `stored:`:
//! `        fw.mgmt 5.1.4`.

use linerate_model::order::Gather as _;
use std::collections::BTreeMap;

use super::devlink::pairs;

/// The firmware that runs, and the stored one where it is another.
pub(super) fn differing(lines: &[&str]) -> Vec<(String, String)> {
    let mut section = "";
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for line in lines {
        section = ["fixed:", "running:", "stored:"]
            .into_iter()
            .find(|name| name == line)
            .unwrap_or(section);
        let [(name, version)] = pairs(line)[..] else {
            continue;
        };
        match section {
            _ if name == "driver" => values.insert(name.to_owned(), version.to_owned()),
            "running:" => values.insert(format!("running {name}"), version.to_owned()),
            "stored:" => {
                let other = values
                    .get(&format!("running {name}"))
                    .is_some_and(|running| running != version);
                other
                    .then(|| {
                        values.insert("stored differs".to_owned(), format!("{name} {version}"))
                    })
                    .flatten()
            }
            _ => None,
        };
    }
    values.into_iter().gather()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_version_is_named() {
        let text = "driver ice\nversions:\nfixed:\nboard.id 7\nrunning:\nfw.mgmt 5.1.4\nfw 2\nstored:\nfw.mgmt 6.0.1\nfw 2";
        let of = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            let found = differing(&lines).into_iter();
            found
                .filter(|(name, _)| name == "stored differs")
                .map(|(_, value)| value)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(text), ["fw.mgmt 6.0.1"]);
        assert_eq!(of(&text.replace("6.0.1", "5.1.4")), [""; 0]);
    }
}
