// SPDX-License-Identifier: MIT OR Apache-2.0
//! `machines --persist [--kept] [--binary PATH]`: settings made permanent on a Debian with systemd, then booted again. The files
//! that `linerate tune persist` writes must have set each of them when a boot is complete, also where the cards have other
//! names; an identical card must be as it was; and after `tune restore --kept` and a further boot all must be as they were.

mod boot;
mod disk;
mod list;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::image::Image;
use super::nic::Board;
use super::{Options, absent, missing, missing_for, network, place};
use crate::Outcome;
use crate::process::{self, Server};
use crate::tally::Tally;
use list::{SETTINGS, Setting};

/// Boots, and prints what came of each setting. Whether all were right.
pub(super) fn run(words: &[&str]) -> Outcome {
    let options = Options::parse(words)?;
    let lacks = || missing().or_else(|| missing_for(Board::Pc));
    let lacks = lacks().or_else(|| absent(&["mmdebstrap", "mke2fs"]));
    if let Some(why) = lacks {
        println!("skipped: machines: {why}");
        return Ok(true);
    }
    let directory = place().join("persist");
    let mut tally = Tally::default();
    if !options.kept {
        booted(&options.binary(Board::Pc)?, &directory)?;
    }
    let boots = Boots::read(&directory)?;
    for setting in &SETTINGS {
        tally.check(setting.name, boots.judged(setting));
    }
    tally.check("units and files", nothing_left(&directory));
    Ok(tally.close())
}

/// No unit of ours has failed, and no file of ours is there after the last boot but one.
fn nothing_left(directory: &Path) -> Result<String, String> {
    let texts = [text(directory, "again")?, text(directory, "renamed")?];
    let is_wrong = |line: &&str| line.starts_with("failed linerate") || line.starts_with("left ");
    match texts.iter().flat_map(|text| text.lines()).find(is_wrong) {
        Some(line) => Err(line.to_owned()),
        None => Ok("none failed, none left".to_owned()),
    }
}

/// What the script of a boot printed.
fn text(directory: &Path, boot: &str) -> Result<String, String> {
    let path = directory.join(format!("{boot}.output"));
    let bytes = fs::read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).replace('\r', ""))
}

fn booted(linerate: &Path, directory: &Path) -> Result<(), String> {
    let _old = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).map_err(|why| why.to_string())?;
    let image = disk::made(linerate, &place().join("cache"), &directory.join("disk"))?;
    let own = std::env::current_exe().map_err(|why| why.to_string())?;
    let paths = [directory, &image.kernel, &image.initramfs].map(|path| path.display().to_string());
    let mut words = ["machines", "--inside-persist"].map(str::to_owned).to_vec();
    words.extend(paths);
    let child = network::in_namespaces(&own, &words).spawn();
    let mut child = Server(child.map_err(|why| format!("setpriv: {why}"))?);
    let status = process::end_of(&mut child, super::FOREVER);
    match status.is_some_and(|status| status.success()) {
        true => Ok(()),
        false => Err(format!("see {}", directory.display())),
    }
}

/// All boots, in namespaces of their own.
pub(super) fn inside(words: &[&str]) -> Outcome {
    let [directory, kernel, initramfs] = words else {
        return Err("machines --inside-persist is not for people".into());
    };
    let image = Image {
        board: Board::Pc,
        kernel: kernel.into(),
        initramfs: initramfs.into(),
        device_tree: None,
    };
    network::open_with(2)?;
    for (name, steps, kernel_words) in BOOTS {
        let start = std::time::Instant::now();
        let steps = steps
            .replace("SETTINGS", &all_set())
            .replace("STATE", &state());
        let script = format!(
            "{}\n{steps}\necho {}\nexit\n",
            include_str!("persist/head.sh"),
            boot::END
        );
        boot::boot(&image, name, &script, kernel_words, Path::new(directory))?;
        println!("  {name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    Ok(true)
}

fn all_set() -> String {
    let each = SETTINGS.iter().map(|setting| {
        let line = setting.line;
        format!(
            "linerate tune set --keep \"{line}\" >/dev/null || [ $? = 1 ] || echo refused {}\n",
            setting.name
        )
    });
    each.collect()
}

/// A row for each setting of each card that could have it.
fn state() -> String {
    let row = |setting: &Setting, card: &str| {
        let Setting { name, shows, .. } = setting;
        let interface = if card == HOST {
            "lo"
        } else {
            &format!("${card}")
        };
        format!("set -- {interface}; {{ {shows}; }} | row {card} {name}\n")
    };
    let own = SETTINGS.iter().map(|setting| row(setting, setting.card));
    let of_twin = SETTINGS.iter().filter(|setting| setting.card == TWINS[0]);
    own.chain(of_twin.map(|setting| row(setting, TWINS[1])))
        .collect()
}

/// A setting of no card.
const HOST: &str = "host";
/// The card whose settings are made permanent, and the one that is identical.
const TWINS: [&str; 2] = ["A", "B"];

/// Their names, what is done when each is complete, and its kernel's words. In `renamed`, the other card has the name.
const BOOTS: [(&str, &str, &str); 4] = [
    (
        "first",
        "STATE\necho changed\nSETTINGS\nSTATE\necho files\nlinerate tune persist",
        "",
    ),
    (
        "again",
        "STATE\nsystemctl --failed --no-legend --plain | sed 's/^/failed /'; journalctl -b -p warning --no-pager\n\
         printf '[Match]\\nPath=pci-0000:00:05.0\\n[Link]\\nName=wan0\\n' >/etc/systemd/network/10-a.link\n\
         printf \"[Match]\\nPath=pci-0000:00:06.0\\n[Link]\\nName=$A\\n\" >/etc/systemd/network/10-b.link",
        "",
    ),
    (
        "renamed",
        "STATE\nsystemctl --failed --no-legend --plain | sed 's/^/failed /'; journalctl -b -p warning --no-pager\n\
         rm /etc/systemd/network/10-a.link /etc/systemd/network/10-b.link\n\
         linerate tune restore --kept; find /etc -name '*linerate*' | sed 's/^/left /'",
        "net.ifnames=0",
    ),
    ("restored", "STATE", ""),
];

/// What the tools showed, by card and setting.
type Rows = BTreeMap<(String, String), String>;

/// Each boot's rows.
#[derive(Debug)]
struct Boots {
    before: Rows,
    changed: Rows,
    again: Rows,
    renamed: Rows,
    restored: Rows,
}

impl Boots {
    fn read(directory: &Path) -> Result<Self, String> {
        let text = |boot: &str| text(directory, boot);
        let first = text("first")?;
        let (before, changed) = first
            .split_once("\nchanged\n")
            .ok_or("the first boot changed nothing")?;
        Ok(Self {
            before: rows(before),
            changed: rows(changed),
            again: rows(&text("again")?),
            renamed: rows(&text("renamed")?),
            restored: rows(&text("restored")?),
        })
    }

    /// What it was, and what it is since.
    fn judged(&self, setting: &Setting) -> Result<String, String> {
        let of = |rows: &Rows, card: &str| {
            let row = rows.get(&(card.to_owned(), setting.name.to_owned()));
            row.filter(|row| !row.is_empty())
                .cloned()
                .ok_or("it was not read")
        };
        let [before, changed] = [&self.before, &self.changed].map(|rows| of(rows, setting.card));
        let (before, changed) = (before?, changed?);
        if before == changed {
            return Err(format!("`{before}` was not changed"));
        }
        let boots = [
            ("after a boot", &self.again, &changed),
            ("with other names", &self.renamed, &changed),
            ("after it was restored", &self.restored, &before),
        ];
        for (when, rows, wanted) in boots {
            let found = of(rows, setting.card)?;
            if found != *wanted {
                return Err(format!("{when} `{found}` instead of `{wanted}`"));
            }
            let other = (setting.card == TWINS[0])
                .then(|| of(rows, TWINS[1]))
                .transpose()?;
            if other.is_some_and(|other| other != before) {
                return Err(format!("{when} the other card is changed"));
            }
        }
        Ok(format!("{before} → {changed}"))
    }
}

fn rows(text: &str) -> Rows {
    let rows = text.lines().filter_map(|line| {
        let (key, value) = line.strip_prefix("row ")?.split_once(": ")?;
        let (card, name) = key.split_once(' ')?;
        Some(((card.to_owned(), name.to_owned()), value.trim().to_owned()))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RINGS: Setting = Setting {
        name: "rings",
        card: "A",
        line: "",
        shows: "",
    };

    fn of(a: &str, b: &str) -> Rows {
        rows(&format!("row A rings: {a}\nrow B rings: {b} \n"))
    }

    fn boots() -> Boots {
        Boots {
            before: of("256", "256"),
            changed: of("512", "256"),
            again: of("512", "256"),
            renamed: of("512", "256"),
            restored: of("256", "256"),
        }
    }

    #[test]
    fn each_boot_is_judged() {
        assert_eq!(boots().judged(&RINGS), Ok("256 → 512".to_owned()));
        let with = |change: fn(&mut Boots)| {
            let mut boots = boots();
            change(&mut boots);
            boots.judged(&RINGS).unwrap_err()
        };
        for (change, why) in [
            (
                (|boots| boots.changed = of("256", "256")) as fn(&mut Boots),
                "was not changed",
            ),
            (
                |boots| boots.again = of("256", "256"),
                "after a boot `256` instead of `512`",
            ),
            (
                |boots| boots.renamed = of("256", "512"),
                "with other names `256`",
            ),
            (
                |boots| boots.renamed = of("512", "512"),
                "the other card is changed",
            ),
            (
                |boots| boots.restored = of("512", "256"),
                "after it was restored `512`",
            ),
            (|boots| boots.again = Rows::new(), "it was not read"),
        ] {
            assert!(with(change).contains(why), "{why}");
        }
    }

    #[test]
    fn names_of_settings_are_unique() {
        for one in &SETTINGS {
            let same = SETTINGS.iter().filter(|other| other.name == one.name);
            assert_eq!(same.count(), 1, "{}", one.name);
        }
    }
}
