// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the time goes: the shares of samples by what the kernel's functions do.

use linerate_model::output::{CostProfile, CostShare, Direction, Estimate, Role, SamplingMissing};
use linerate_model::sampled::USUAL_HZ;

use super::super::{Align, Block, Column, Line, Table, way};
use super::{direction, protocol};

/// A table of families, with a column per test; the contexts and the functions of no family; or why there are none.
pub(super) fn blocks(profiles: &[CostProfile]) -> Vec<Block> {
    let sampled: Vec<&CostProfile> = profiles.iter().filter(|one| one.samples > 0).collect();
    let mut blocks: Vec<Block> = table(&sampled).into_iter().collect();
    let mut lines: Vec<Line> = sampled.iter().flat_map(|one| details(one)).collect();
    lines.extend(profiles.iter().filter_map(missing));
    lines.extend(sampled.first().map(|one| Line::new(2, limits(one))));
    let heading = match sampled.is_empty() {
        true => "where the time goes",
        false => "",
    };
    blocks.extend(Block::lines(heading, lines));
    blocks
}

fn table(profiles: &[&CostProfile]) -> Option<Block> {
    let mut names: Vec<&str> = Vec::new();
    for share in profiles.iter().flat_map(|one| &one.families) {
        if !names.contains(&share.name.as_str()) {
            names.push(&share.name);
        }
    }
    let mut columns = vec![Column::words(
        "family",
        names.iter().map(|name| (*name).to_owned()),
    )];
    columns.extend(profiles.iter().map(|one| column(one, &names)));
    let heading = "where the time goes: shares of the samples of the processors that carried the packets, with 95 % intervals";
    (!names.is_empty()).then(|| {
        Block::Table(Table {
            heading: heading.to_owned(),
            keys: 1,
            columns,
            tones: Vec::new(),
        })
    })
}

fn column(profile: &CostProfile, names: &[&str]) -> Column {
    let cell = |name: &&str| {
        let mut families = profile.families.iter();
        let own = families.find(|share| share.name == **name);
        own.map_or_else(|| "0".to_owned(), |share| percent(share.ratio))
    };
    Column {
        unit: "%".to_owned(),
        align: Align::Right,
        ..Column::words(&title(profile), names.iter().map(cell))
    }
}

fn title(profile: &CostProfile) -> String {
    format!("{} {}", protocol(profile.protocol), way(flow(profile)))
}

fn flow(profile: &CostProfile) -> Direction {
    direction(profile.host, profile.direction)
}

fn percent(ratio: Estimate) -> String {
    let [least, most] = ratio.ci95.map(|share| share * 100.0);
    format!("{:.1} ({least:.1}…{most:.1})", ratio.value * 100.0)
}

/// Of which samples, in which contexts, and what is of no family.
fn details(profile: &CostProfile) -> Vec<Line> {
    let CostProfile {
        samples, hz, af, ..
    } = profile;
    let place = match (profile.shared_host, profile.host) {
        (true, _) => "both ends",
        (false, Role::Local) => "here",
        (false, _) => "there",
    };
    let processors: Vec<String> = profile.processors.iter().map(u32::to_string).collect();
    let processors = processors.join(", ");
    let contexts: Vec<String> = profile.contexts.iter().map(context).collect();
    let lost = match profile.lost_samples {
        0 => "none lost".to_owned(),
        lost => format!("{lost} lost"),
    };
    let title = title(profile);
    let text = format!(
        "{title}, IPv{af}, {} bytes: {samples} samples of {place} on processors {processors} at {hz} Hz{}, {lost}; {}",
        profile.payload_bytes,
        rarely(*hz),
        contexts.join(", ")
    );
    let mut lines = vec![Line::new(2, text)];
    lines.extend(others(profile));
    lines
}

/// Why samples are rarer than usual.
fn rarely(hz: u64) -> String {
    match hz < USUAL_HZ {
        true => format!(
            " (not {USUAL_HZ}: sysctl kernel.perf_event_max_sample_rate allows no more, or it has many processors)"
        ),
        false => String::new(),
    }
}

fn context(share: &CostShare) -> String {
    let name = match share.name.as_str() {
        "user" => "user mode",
        "process" => "kernel for a program",
        "hardirq" => "hard interrupt",
        name => name,
    };
    format!("{name} {:.1} %", share.ratio.value * 100.0)
}

fn others(profile: &CostProfile) -> Option<Line> {
    let part = |samples: u64| 100.0 * samples as f64 / profile.samples as f64;
    let name = |one: &linerate_model::output::CostFunction| {
        let module = one.module.as_ref().map(|name| format!(" [{name}]"));
        let module = module.unwrap_or_default();
        format!("{}{module} {:.1} %", one.function, part(one.samples))
    };
    let named: Vec<String> = profile.others.iter().take(OTHERS_SHOWN).map(name).collect();
    let text = format!("{}, other: {}", title(profile), named.join(", "));
    (!named.is_empty()).then(|| Line::new(2, text))
}

fn missing(profile: &CostProfile) -> Option<Line> {
    let why = match profile.missing? {
        SamplingMissing::NotAllowed => {
            "not allowed here; as root, or with sysctl -w kernel.perf_event_paranoid=0"
        }
        SamplingMissing::NoPerf => "this kernel has no perf_event_open(2)",
        SamplingMissing::NoSymbols => {
            "the kernel shows no addresses of its functions; as root, or with sysctl -w kernel.kptr_restrict=0"
        }
        SamplingMissing::Unknown => {
            "perf_event_open(2) failed; perf record -e cpu-clock -a may show why"
        }
    };
    Some(Line::new(2, format!("not sampled: {why}")))
}

/// What the shares do not say.
fn limits(profile: &CostProfile) -> &'static str {
    match profile.shared_host {
        true => SHARED,
        false => ALONE,
    }
}

const OTHERS_SHOWN: usize = 4;
const SHARED: &str = "the samples are of both ends, which share this machine, without other programs; the sampled test is not in the costs above";
const ALONE: &str = "the samples are without other programs; the sampled test is not in the costs above. For the other host: run cost there";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Detail;
    use crate::term::{Style, render};
    use linerate_model::output::{Cost, CostFunction, Output, Protocol};

    fn share(name: &str, samples: u64, all: u64) -> CostShare {
        let value = samples as f64 / all as f64;
        CostShare {
            name: name.to_owned(),
            samples,
            ratio: Estimate {
                value,
                ci95: [value - 0.01, value + 0.01],
            },
        }
    }

    fn profile() -> CostProfile {
        CostProfile {
            protocol: Protocol::Udp,
            af: 4,
            payload_bytes: 1472,
            shared_host: true,
            hz: 997,
            processors: vec![0, 1],
            samples: 1000,
            families: vec![share("copy", 600, 1000), share("other", 400, 1000)],
            contexts: vec![share("process", 700, 1000), share("softirq", 300, 1000)],
            others: vec![CostFunction {
                function: "mystery".to_owned(),
                module: Some("nic".to_owned()),
                samples: 400,
            }],
            ..CostProfile::default()
        }
    }

    fn shown(profiles: Vec<CostProfile>) -> String {
        let output = Output {
            costs: vec![Cost::default()],
            cost_profiles: profiles,
            ..Output::new("cost", "0.0.0")
        };
        let style = Style {
            width: 80,
            ascii: false,
            detail: Detail::Answer,
            ..Style::default()
        };
        render(&output, &style).into_string()
    }

    #[test]
    fn families_contexts_and_the_largest_others_are_shown() {
        let text = shown(vec![profile()]);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for wanted in [
            "copy 60.0 (59.0…61.0)",
            "UDP up, IPv4, 1472 bytes: 1000 samples of both ends on processors 0, 1 at 997 Hz, none lost",
            "kernel for a program 70.0 %, softirq 30.0 %",
            "other: mystery [nic] 40.0 %",
        ] {
            assert!(words.contains(wanted), "no {wanted} in {text}");
        }
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?}: {text}");
    }

    #[test]
    fn rarer_samples_have_a_reason() {
        let words = |hz| {
            let text = shown(vec![CostProfile { hz, ..profile() }]);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let why = "at 499 Hz (not 997: sysctl kernel.perf_event_max_sample_rate allows no more";
        assert!(words(499).contains(why), "{}", words(499));
        assert!(words(997).contains("at 997 Hz, none lost"));
    }

    #[test]
    fn without_samples_the_reason_is_shown() {
        let text = shown(vec![CostProfile {
            missing: Some(SamplingMissing::NoSymbols),
            ..CostProfile::default()
        }]);
        assert!(text.contains("not sampled"), "{text}");
        assert!(text.contains("kptr_restrict"), "{text}");
        assert!(!text.contains("family"), "{text}");
    }
}
