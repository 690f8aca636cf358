// SPDX-License-Identifier: MIT OR Apache-2.0
//! Causes: the evidence for and against each, what it would explain, how to check it, and what to change.

use std::sync::LazyLock;

use super::raw::Word;
use super::sign::{RawSign, Sign, signs, sourced};
use super::symptom::phrases;
use crate::keys;
use crate::mistake::{Mistake, Mistakes};
use crate::packed;
use crate::toml_table;

/// A cause of trouble.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// Its stable name.
    pub id: String,
    /// One sentence.
    pub title: String,
    /// Whose fault it is: `host`, `partner`, `path`, `switch`, `vm-host`, `program`.
    pub place: String,
    /// How common it is among complaints, decibans.
    pub prior_db: f64,
    /// Situations without which it cannot be.
    pub requires: Vec<String>,
    /// Evidence for and against it.
    pub evidence: Vec<Sign>,
    /// How people and programs speak of it: phrases.
    pub words: Vec<String>,
    /// The abnormal observations that it would produce: `counter GLOB`, `symptom NAME`, `field NAME`.
    pub explains: Vec<String>,
    /// The mechanism.
    pub why: String,
    /// The command that decides.
    pub check: Check,
    /// The remedy.
    pub change: Remedy,
    /// Where it stands.
    pub sources: Vec<String>,
    /// A text from which it is named first.
    pub example: String,
}

/// A command whose output confirms or refutes a cause.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Check {
    /// What to run.
    pub command: String,
    /// What it then shows.
    pub confirms: String,
    /// What it shows otherwise.
    pub refutes: String,
}

/// What to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remedy {
    /// The commands; empty for advice.
    pub commands: Vec<String>,
    /// The way back.
    pub undo: Vec<String>,
    /// `live`, `blip`, `reboot`, `rebuild`, `hw`, `advice`.
    pub risk: String,
    /// What else happens, or the advice.
    pub side_effects: String,
}

/// A known fault of a chip, driver, firmware or kernel: an instance of a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Its stable name.
    pub id: String,
    /// Of which cause it is an instance.
    pub cause: String,
    /// One sentence.
    pub title: String,
    /// Any of these drivers.
    pub drivers: Vec<String>,
    /// PCI or USB ids.
    pub devices: Vec<String>,
    /// Chips, as tools print them.
    pub chips: Vec<String>,
    /// The first kernel that has it, and the first that does not.
    pub kernel: (Option<String>, Option<String>),
    /// Firmware below this has it.
    pub firmware_below: Option<String>,
    /// Situations without which it does not show.
    pub requires: Vec<String>,
    /// What it looks like.
    pub signs: Vec<Sign>,
    /// The mechanism.
    pub why: String,
    /// The command that decides.
    pub check: Check,
    /// The remedy.
    pub change: Remedy,
    /// Where it stands.
    pub sources: Vec<String>,
    /// Whether a fix, an erratum or a maintainer confirms it.
    pub is_confirmed: bool,
}

static CAUSES: LazyLock<Vec<Cause>> = LazyLock::new(|| {
    let files = packed::CAUSES.unpack();
    let parsed = files.iter().map(|(file, text)| parse_causes(file, text));
    parsed.filter_map(Result::ok).flatten().collect()
});

static FAULTS: LazyLock<Vec<Fault>> = LazyLock::new(|| {
    let files = packed::KNOWN.unpack();
    let parsed = files.iter().map(|(file, text)| parse_faults(file, text));
    parsed.filter_map(Result::ok).flatten().collect()
});

/// Every cause that the program knows.
#[must_use]
pub fn causes() -> &'static [Cause] {
    &CAUSES
}

/// Every known fault of chips, drivers and kernels.
#[must_use]
pub fn faults() -> &'static [Fault] {
    &FAULTS
}

/// Reads the causes `text` of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse_causes(file: &str, text: &str) -> Result<Vec<Cause>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawCauses, mistakes| {
        let causes = raw.cause.iter();
        causes.map(|one| cause(one, mistakes)).collect()
    })
}

/// Reads the known faults `text` of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse_faults(file: &str, text: &str) -> Result<Vec<Fault>, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawFaults, mistakes| {
        let faults = raw.fault.iter();
        faults.map(|one| fault(one, mistakes)).collect()
    })
}

fn cause(raw: &RawCause, mistakes: &mut Mistakes<'_>) -> Cause {
    let at = raw.id.span().start;
    place(&raw.place, mistakes);
    situations(&raw.requires, mistakes);
    Cause {
        id: raw.id.get_ref().clone(),
        title: raw.title.clone(),
        place: raw.place.get_ref().clone(),
        prior_db: raw.prior,
        requires: words(&raw.requires),
        evidence: signs(&raw.evidence, mistakes),
        words: phrases(&raw.words, mistakes),
        explains: raw.explains.clone(),
        why: raw.why.clone(),
        check: raw.check.understand(),
        change: raw.change.understand(mistakes),
        sources: sourced(&raw.source, at, mistakes),
        example: raw.example.clone(),
    }
}

fn fault(raw: &RawFault, mistakes: &mut Mistakes<'_>) -> Fault {
    let at = raw.id.span().start;
    let kernel = raw.kernel.as_ref();
    let lists = [&raw.driver, &raw.device, &raw.chip];
    if kernel.is_none() && lists.iter().all(|list| list.is_empty()) {
        mistakes.at(
            at,
            "it holds for any chip and kernel".to_owned(),
            RECOGNISED,
        );
    }
    situations(&raw.requires, mistakes);
    let sure = mistakes.word(
        "confidence",
        &raw.confidence,
        sure,
        &["confirmed", "reported"],
    );
    Fault {
        id: raw.id.get_ref().clone(),
        cause: raw.cause.clone(),
        title: raw.title.clone(),
        drivers: raw.driver.clone(),
        devices: raw.device.clone(),
        chips: raw.chip.clone(),
        kernel: kernel.map_or((None, None), |range| {
            (range.from.clone(), range.fixed.clone())
        }),
        firmware_below: raw.firmware.as_ref().map(|range| range.below.clone()),
        requires: words(&raw.requires),
        signs: signs(&raw.signs, mistakes),
        why: raw.why.clone(),
        check: raw.check.understand(),
        change: raw.change.understand(mistakes),
        sources: sourced(&raw.source, at, mistakes),
        is_confirmed: sure.unwrap_or_default(),
    }
}

fn sure(word: &str) -> Option<bool> {
    match word {
        "confirmed" => Some(true),
        "reported" => Some(false),
        _ => None,
    }
}

fn place(word: &Word, mistakes: &mut Mistakes<'_>) {
    let known = |word: &str| PLACES.contains(&word).then_some(());
    let _known = mistakes.word("where", word, known, PLACES);
}

fn situations(all: &[Word], mistakes: &mut Mistakes<'_>) {
    let known = |word: &str| SITUATIONS.contains(&word).then_some(());
    for word in all {
        let _known = mistakes.word("requires", word, known, SITUATIONS);
    }
}

fn words(all: &[Word]) -> Vec<String> {
    all.iter().map(|word| word.get_ref().clone()).collect()
}

impl RawCheck {
    fn understand(&self) -> Check {
        Check {
            command: self.command.clone(),
            confirms: self.confirms.clone(),
            refutes: self.refutes.clone(),
        }
    }
}

impl RawRemedy {
    fn understand(&self, mistakes: &mut Mistakes<'_>) -> Remedy {
        let known = |word: &str| RISKS.contains(&word).then_some(());
        let _known = mistakes.word("risk", &self.risk, known, RISKS);
        Remedy {
            commands: self.commands.clone(),
            undo: self.undo.clone(),
            risk: self.risk.get_ref().clone(),
            side_effects: self.side_effects.clone(),
        }
    }
}

toml_table! {
    RawCauses {
        cause: Vec<RawCause> = or_default,
    }
}

toml_table! {
    RawFaults {
        fault: Vec<RawFault> = or_default,
    }
}

/// `where` is a word of Rust's, so this table is read by hand.
pub(super) struct RawCause {
    id: Word,
    title: String,
    place: Word,
    prior: f64,
    requires: Vec<Word>,
    evidence: Vec<RawSign>,
    words: Vec<Word>,
    explains: Vec<String>,
    why: String,
    check: RawCheck,
    change: RawRemedy,
    source: Vec<Word>,
    example: String,
}

impl keys::FromToml for RawCause {
    fn from_toml(given: keys::Given<'_>) -> Result<Self, keys::Wrong> {
        let mut keys = keys::Keys::of(given, CAUSE_KEYS)?;
        Ok(Self {
            id: keys.need("id")?,
            title: keys.need("title")?,
            place: keys.need("where")?,
            prior: keys.need("prior")?,
            requires: keys.or_default("requires")?,
            evidence: keys.need("evidence")?,
            words: keys.or_default("words")?,
            explains: keys.or_default("explains")?,
            why: keys.need("why")?,
            check: keys.need("check")?,
            change: keys.need("change")?,
            source: keys.need("source")?,
            example: keys.need("example")?,
        })
    }
}

toml_table! {
    RawFault {
        id: Word = need,
        cause: String = need,
        title: String = need,
        driver: Vec<String> = or_default,
        device: Vec<String> = or_default,
        chip: Vec<String> = or_default,
        kernel: Option<RawKernel> = or_default,
        firmware: Option<RawFirmware> = or_default,
        requires: Vec<Word> = or_default,
        signs: Vec<RawSign> = or_default,
        why: String = need,
        check: RawCheck = need,
        change: RawRemedy = need,
        source: Vec<Word> = need,
        confidence: Word = need,
    }
}

toml_table! {
    RawKernel {
        from: Option<String> = or_default,
        fixed: Option<String> = or_default,
    }
}

toml_table! {
    RawFirmware {
        below: String = need,
    }
}

toml_table! {
    RawCheck {
        command: String = need,
        confirms: String = or_default,
        refutes: String = or_default,
    }
}

toml_table! {
    RawRemedy {
        commands: Vec<String> = need,
        undo: Vec<String> = or_default,
        risk: Word = need,
        side_effects: String = or_default,
    }
}

const CAUSE_KEYS: &[&str] = &[
    "id", "title", "where", "prior", "requires", "evidence", "words", "explains", "why", "check",
    "change", "source", "example",
];
const PLACES: &[&str] = &["host", "partner", "path", "switch", "vm-host", "program"];
const RISKS: &[&str] = &[
    "live", "blip", "reboot", "rebuild", "firmware", "repair", "hw", "advice",
];
/// Situations that a cause or a fault can require.
const SITUATIONS: &[&str] = &[
    "forwarding",
    "bridge",
    "vlan",
    "bond",
    "vm",
    "container",
    "tunnel",
    "jumbo",
    "xdp",
    "usb3",
    "pcie-aspm",
    "lro",
    "gro",
    "tso",
    "suspend",
    "wol",
    "eee",
    "ptp",
    "half-duplex",
    "10g",
    "2.5g",
    "100m",
];
const RECOGNISED: &str = "at least one of driver, device, chip, kernel";
