// SPDX-License-Identifier: MIT OR Apache-2.0
//! Losses at several loads of one size: what does not depend on the load is no limit of a rate.

use linerate_model::map::Map;
use linerate_model::output::Trial;

use crate::dut::way;
use crate::facts::Facts;
use linerate_model::record::Record;

pub(super) fn collect(record: &Record, facts: &mut Facts) {
    let mut sizes: Map<(u16, String), Vec<&Trial>> = Map::new();
    let searched = record
        .trials
        .iter()
        .filter(|one| one.purpose == "search" && one.valid);
    for trial in searched {
        sizes
            .entry((trial.frame_bytes, way(trial)))
            .or_default()
            .push(trial);
    }
    // Of the size with most to say; none where no size lost anything at several loads.
    let judged = sizes.values().filter_map(|trials| Losses::of(trials));
    let Some(losses) = judged.max_by_key(|losses| losses.loads) else {
        return;
    };
    let loads = losses.loads as f64;
    facts.add_to_run("forward_lossy_loads", loads, SOURCE);
    facts.add_to_run("forward_constant_frames", losses.constant_frames(), SOURCE);
    facts.add_to_run("forward_constant_ratio", losses.constant_ratio(), SOURCE);
    let (frames, ratio) = (median(&losses.frames), median(&losses.ratios));
    facts.add_to_run("forward_usual_loss_frames", frames, SOURCE);
    facts.add_to_run("forward_usual_loss_ratio", ratio, SOURCE);
}

struct Losses {
    /// Different ones that lost something.
    loads: usize,
    /// The highest of the lowest.
    range: f64,
    /// Of each trial at such a load that lost something.
    frames: Vec<f64>,
    ratios: Vec<f64>,
    /// The longest trial of the shortest.
    lengths: f64,
    /// Trials at the loads that lost nothing.
    clean: usize,
}

impl Losses {
    /// Of at least three loads.
    fn of(trials: &[&Trial]) -> Option<Self> {
        let lossy: Vec<&&Trial> = trials.iter().filter(|one| one.loss_ratio > 0.0).collect();
        let mut loads: Vec<f64> = lossy.iter().map(|one| one.load_fps).collect();
        loads.sort_unstable_by(f64::total_cmp);
        loads.dedup();
        let (first, last) = (loads.first()?, loads.last()?);
        let lost = |one: &&&Trial| {
            let frames: u64 = one.directions.iter().map(|way| way.lost_frames).sum();
            frames as f64
        };
        let within = |one: &&&Trial| one.loss_ratio == 0.0 && one.load_fps >= *first;
        let lengths = lossy.iter().map(|one| one.duration_s);
        Some(Self {
            loads: loads.len(),
            range: last / first,
            frames: lossy.iter().map(lost).collect(),
            ratios: lossy.iter().map(|one| one.loss_ratio).collect(),
            lengths: lengths.clone().fold(0.0, f64::max) / lengths.fold(f64::MAX, f64::min),
            clean: trials.iter().filter(within).count(),
        })
        .filter(|losses| losses.loads >= LOADS)
    }

    /// The same few, whatever the load and however long the trial.
    fn constant_frames(&self) -> bool {
        let (least, most) = ends(&self.frames);
        self.everywhere() && most <= FEW_FRAMES && most <= 3.0 * least.max(1.0)
    }

    /// The same share, and enough frames that this is no chance.
    fn constant_ratio(&self) -> bool {
        let (least, most) = ends(&self.ratios);
        self.everywhere()
            && most <= 2.0 * least
            && ends(&self.frames).0 >= ENOUGH_FRAMES
            && !(self.constant_frames() && self.lengths < 2.0)
    }

    /// Over a wide range, and most trials in it lost something.
    fn everywhere(&self) -> bool {
        self.range >= RANGE && self.clean * 2 <= self.frames.len()
    }
}

fn ends(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::MAX, f64::min);
    (least, values.iter().copied().fold(0.0, f64::max))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

const SOURCE: &str = "losses by load";
const LOADS: usize = 3;
const RANGE: f64 = 4.0;
/// More frames than one look-up or one link that came back loses.
const FEW_FRAMES: f64 = 32.0;
const ENOUGH_FRAMES: f64 = 10.0;
