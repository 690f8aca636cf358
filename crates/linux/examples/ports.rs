// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast ports are, for `cargo xtask bench frames`: prints one JSON object.
//!
//! `ports send INTERFACE` sends 64-byte test frames as fast as it can, each with its own sequence number and time.
//! `ports loop INTERFACE PEER` also receives them at the other end of the cable and looks at every byte, in the same thread.
//! `ports pace INTERFACE PEER` sends at `--rate` frames a second and tells how evenly.
//! `ports ring INTERFACE PEER` sends in bursts to a small ring that is emptied irregularly, and tells whether the ring stayed in order.
//! Options: `--backend NAME`, `--receive NAME` of the peer, `--seconds N`, `--size BYTES`, `--rate N`, `--frames N` on their way, `--memory BYTES` of the ring.
#![expect(clippy::print_stdout, reason = "its result")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use linerate_linux::clock::monotonic_ns;
use linerate_linux::cpu;
use linerate_linux::port::{Backend, Chosen, Receiver, Sender, Wanted, open};
use linerate_wire::frame::{Arrived, Family, Flow, Side, Signature, Template, read};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options = Options::of(&words);
    let [command, interface, rest @ ..] = &options.words[..] else {
        return Err("ports send|loop|pace|ring INTERFACE [PEER]".into());
    };
    let peer = rest
        .first()
        .ok_or("the interface at the other end is missing");
    let text = match command.as_str() {
        "send" => send(interface, &options)?,
        "loop" => both(interface, peer?, &options)?,
        "ring" => ring(interface, peer?, &options)?,
        "pace" => pace(interface, peer?, &options)?,
        other => return Err(format!("no command {other}").into()),
    };
    println!("{text}");
    Ok(())
}

struct Options {
    words: Vec<String>,
    named: HashMap<String, String>,
}

impl Options {
    fn of(words: &[String]) -> Self {
        let (mut plain, mut named) = (Vec::new(), HashMap::new());
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some(name) => {
                    named.insert(name.to_owned(), words.next().cloned().unwrap_or_default())
                }
                None => {
                    plain.push(word.clone());
                    None
                }
            };
        }
        Self {
            words: plain,
            named,
        }
    }

    fn number(&self, name: &str, otherwise: u64) -> u64 {
        self.named
            .get(name)
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    }

    /// With the backend that this option names.
    fn open(&self, option: &str, interface: &str) -> Result<(Sender, Receiver, Chosen)> {
        let name = self.named.get(option).or_else(|| self.named.get("backend"));
        let backend = name.map(|name| Backend::named(name).ok_or(format!("no backend {name}")));
        let wanted = Wanted {
            backend: backend.transpose()?,
            send_frames: self.number("frames", Wanted::default().send_frames as u64) as usize,
            receive_bytes: self.named.get("memory").and_then(|text| text.parse().ok()),
            ..Wanted::default()
        };
        Ok(open(interface, &wanted)?)
    }

    fn frames(&self) -> Result<Frames> {
        let flow = Flow::first(
            Side::A,
            Family::Ipv4,
            [2, 0, 0, 0, 0, 8],
            [2, 0, 0, 0, 0, 9],
        );
        let template = Template::new(&flow, self.number("size", 64) as u16)?;
        Ok(Frames {
            template,
            sequence: 0,
        })
    }

    fn length_ns(&self) -> u64 {
        self.number("seconds", 3) * 1_000_000_000
    }
}

/// Numbered frames.
struct Frames {
    template: Template,
    sequence: u64,
}

impl Frames {
    fn send(&mut self, sender: &mut Sender, count: usize) -> Result<usize> {
        let (template, first) = (&self.template, self.sequence);
        let sent = sender.send(count, template.bytes().len(), |number, frame| {
            frame.copy_from_slice(template.bytes());
            let sequence = first + number as u64;
            template.stamp(
                frame,
                &Signature {
                    run: 1,
                    stream: 0,
                    sequence,
                    sent_ns: monotonic_ns(),
                },
            );
        })?;
        self.sequence += sent as u64;
        Ok(sent)
    }
}

/// What was received of them.
#[derive(Default)]
struct Seen {
    frames: u64,
    damaged: u64,
    foreign: u64,
    out_of_order: u64,
    next: u64,
    delay_ns: u64,
}

impl Seen {
    fn look(&mut self, bytes: &[u8], at_ns: u64) {
        match read(bytes) {
            Arrived::Ours(ours) if ours.is_intact() && ours.ttl == 10 => {
                self.frames += 1;
                self.out_of_order += u64::from(ours.signature.sequence < self.next);
                self.next = ours.signature.sequence + 1;
                self.delay_ns += ours.signature.delay_ns(at_ns);
            }
            Arrived::Ours(_) | Arrived::Corrupted => self.damaged += 1,
            _ => self.foreign += 1,
        }
    }

    fn take(&mut self, receiver: &mut Receiver, timeout: Duration) -> Result<usize> {
        Ok(receiver.receive(timeout, |bytes, at_ns| self.look(bytes, at_ns))?)
    }
}

fn send(interface: &str, options: &Options) -> Result<String> {
    let (mut sender, receiver, chosen) = options.open("backend", interface)?;
    drop(receiver);
    let mut frames = options.frames()?;
    let (start, cpu) = (monotonic_ns(), cpu::thread_ns());
    let mut end = start;
    while end - start < options.length_ns() {
        for _ in 0..64 {
            frames.send(&mut sender, 64)?;
        }
        end = monotonic_ns();
    }
    let left = sender.flush(Duration::from_secs(1))?;
    Ok(format!(
        r#"{{"backend": "{}", "frames": {}, "seconds": {}, "cpu_seconds": {}, "left": {left}}}"#,
        chosen.send,
        frames.sequence,
        seconds(end - start),
        seconds(cpu::thread_ns() - cpu)
    ))
}

fn both(interface: &str, peer: &str, options: &Options) -> Result<String> {
    let (mut sender, _own, chosen) = options.open("backend", interface)?;
    let (_other, mut receiver, there) = options.open("receive", peer)?;
    let (mut frames, mut seen) = (options.frames()?, Seen::default());
    let (start, cpu) = (monotonic_ns(), cpu::thread_ns());
    let mut end = start;
    while end - start < options.length_ns() {
        for _ in 0..16 {
            frames.send(&mut sender, 64)?;
            seen.take(&mut receiver, Duration::ZERO)?;
        }
        end = monotonic_ns();
    }
    let cpu = cpu::thread_ns() - cpu;
    sender.flush(Duration::from_secs(1))?;
    let patience = monotonic_ns() + 500_000_000;
    while seen.frames < frames.sequence && monotonic_ns() < patience {
        seen.take(&mut receiver, Duration::from_millis(10))?;
    }
    Ok(format!(
        r#"{{"send": "{}", "receive": "{}", "frames": {}, "received": {}, "damaged": {}, "foreign": {}, "out_of_order": {}, "kernel_drops": {}, "astray": {}, "seconds": {}, "cpu_seconds": {}, "mean_delay_us": {}}}"#,
        chosen.send,
        there.receive,
        frames.sequence,
        seen.frames,
        seen.damaged,
        seen.foreign,
        seen.out_of_order,
        receiver.kernel_drops(),
        receiver.astray(),
        seconds(end - start),
        seconds(cpu),
        seen.delay_ns as f64 / 1e3 / seen.frames.max(1) as f64,
    ))
}

/// Bursts and pauses of many lengths on both sides, so that blocks are retired full and by age, and the ring fills up now and then.
fn ring(interface: &str, peer: &str, options: &Options) -> Result<String> {
    let (mut sender, _own, _) = options.open("backend", interface)?;
    let (_other, mut receiver, _) = options.open("receive", peer)?;
    let (mut frames, mut seen) = (options.frames()?, Seen::default());
    let end = monotonic_ns() + options.length_ns();
    let over = AtomicBool::new(false);
    let taken = std::thread::scope(|scope| {
        let (seen, receiver, over) = (&mut seen, &mut receiver, &over);
        let thread = scope.spawn(move || {
            let mut dice = Dice(2);
            let mut empty = 0;
            while !over.load(Ordering::Relaxed) || empty < 50 {
                let took = seen.take(receiver, Duration::from_millis(2));
                empty = match took.map_err(|error| error.to_string())? {
                    0 => empty + 1,
                    _ => 0,
                };
                dice.pause(20, 30_000_000);
            }
            std::result::Result::<_, String>::Ok(())
        });
        let mut dice = Dice(1);
        while monotonic_ns() < end {
            frames.send(&mut sender, dice.below(4000) as usize)?;
            dice.pause(3, 40_000_000);
        }
        over.store(true, Ordering::Relaxed);
        thread.join().map_err(|_| "the receiver panicked")??;
        Result::Ok(())
    });
    taken?;
    Ok(format!(
        r#"{{"frames": {}, "received": {}, "kernel_drops": {}, "out_of_order": {}, "astray": {}}}"#,
        frames.sequence,
        seen.frames,
        receiver.kernel_drops(),
        seen.out_of_order,
        receiver.astray()
    ))
}

/// Numbers that look random and are not.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Once in `times` a pause of up to `longest_ns`.
    fn pause(&mut self, times: u64, longest_ns: u64) {
        if self.below(times) == 0 {
            std::thread::sleep(Duration::from_nanos(self.below(longest_ns)));
        }
    }
}

/// One frame a call, each when its time has come; where the machine does not let it run for a while, the rest comes later by as much. Gaps are known by the times that the frames carry, and by the kernel's stamps of
/// their arrival.
fn pace(interface: &str, peer: &str, options: &Options) -> Result<String> {
    let (mut sender, _own, chosen) = options.open("backend", interface)?;
    let (_other, mut receiver, _) = options.open("receive", peer)?;
    let mut frames = options.frames()?;
    let rate = options.number("rate", 100_000);
    let count = rate * options.number("seconds", 3);
    let due = |start, number| start + number * 1_000_000_000 / rate;
    let mut times = Vec::with_capacity(count as usize);
    let start = monotonic_ns() + 10_000_000;
    let end = due(start, count) + 3 * options.length_ns() + 1_000_000_000;
    let (mut stalled, mut stalled_at_first) = (0, 0);
    cpu::set_short_timeslice();
    let sent = std::thread::scope(|scope| {
        scope.spawn(|| {
            arrivals(&mut receiver, &mut times, count, end).map_err(|error| error.to_string())
        });
        for number in 0..count {
            let late = loop {
                match monotonic_ns().checked_sub(due(start, number) + stalled) {
                    Some(late) => break late,
                    None => std::hint::spin_loop(),
                }
            };
            if late > STALL_NS {
                stalled += late;
            }
            if number == 0 {
                stalled_at_first = stalled;
            }
            while frames.send(&mut sender, 1)? == 0 {}
        }
        Result::Ok(frames.sequence)
    })?;
    let gap_ns = 1_000_000_000 / rate;
    let [sent_ppm, arrival_ppm] =
        [|time: &(u64, u64)| time.0, |time: &(u64, u64)| time.1].map(|of| {
            match (
                times.len() as u64 == sent,
                drift_ppm(&times, of, rate, stalled - stalled_at_first),
            ) {
                (true, Some(ppm)) => format!("{ppm:.3}"),
                _ => "null".to_owned(),
            }
        });
    let last = times.last().map_or(0, |time| time.0);
    let drift_ns = last as i64 - (due(start, count - 1) + stalled) as i64;
    let [sent_gaps, arrival_gaps] = [|time: &(u64, u64)| time.0, |time: &(u64, u64)| time.1]
        .map(|of| errors(&times, of, gap_ns));
    Ok(format!(
        r#"{{"backend": "{}", "frames": {sent}, "received": {}, "kernel_drops": {}, "gap_error_percent": {sent_gaps}, "arrival_gap_error_percent": {arrival_gaps}, "rate_error_ppm": {sent_ppm}, "arrival_rate_error_ppm": {arrival_ppm}, "stalled_ms": {}, "last_late_ns": {drift_ns}}}"#,
        chosen.send,
        times.len(),
        receiver.kernel_drops(),
        stalled / 1_000_000,
    ))
}

/// When each frame was sent and arrived.
fn arrivals(
    receiver: &mut Receiver,
    times: &mut Vec<(u64, u64)>,
    count: u64,
    end_ns: u64,
) -> std::io::Result<()> {
    while (times.len() as u64) < count && monotonic_ns() < end_ns {
        receiver.receive(Duration::from_millis(10), |bytes, at_ns| {
            if let Arrived::Ours(ours) = read(bytes) {
                times.push((ours.signature.sent_ns, at_ns));
            }
        })?;
    }
    Ok(())
}

/// How much the gaps differ from what was meant, in percent of it.
fn errors(times: &[(u64, u64)], of: impl Fn(&(u64, u64)) -> u64, gap_ns: u64) -> String {
    let gaps = times
        .windows(2)
        .map(|pair| of(&pair[1]).saturating_sub(of(&pair[0])));
    let mut errors: Vec<u64> = gaps.map(|gap| gap.abs_diff(gap_ns)).collect();
    errors.sort_unstable();
    let at = |part: f64| {
        let error = errors.get((errors.len().saturating_sub(1) as f64 * part) as usize);
        error.map_or(f64::NAN, |error| *error as f64 * 100.0 / gap_ns as f64)
    };
    format!(
        r#"{{"p50": {:.2}, "p90": {:.2}, "p99": {:.2}}}"#,
        at(0.5),
        at(0.9),
        at(0.99)
    )
}

/// By how much the rate from the first frame to the last differs from what was meant, in millionths of it; the time in which
/// the thread could not run is not counted. `None` of fewer than two frames.
fn drift_ppm(
    times: &[(u64, u64)],
    of: impl Fn(&(u64, u64)) -> u64,
    rate: u64,
    stalled_ns: u64,
) -> Option<f64> {
    let (first, last) = times.first().zip(times.last())?;
    let meant_ns = (times.len() - 1) as f64 * 1e9 / rate as f64;
    let lasted_ns = of(last)
        .saturating_sub(of(first))
        .saturating_sub(stalled_ns) as f64;
    (lasted_ns > 0.0).then(|| (meant_ns / lasted_ns - 1.0) * 1e6)
}

/// Longer than this a thread that wants to run was kept from it.
const STALL_NS: u64 = 300_000;

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
