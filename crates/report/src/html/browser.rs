// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages in headless Chromium, where it is installed: no text is cut off, nothing is wider than the window, the heat
//! map can be read, at the width of a desktop and of a phone, light and dark; on paper a page is short.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use linerate_model::output::{ForwardResult, LedgerEntry, Output, Phase, Role, Stage, Trial};
use linerate_model::round_trips::RoundTrips;
use linerate_model::series::{Series, Span};
use linerate_model::setting::Setting;

use super::render;
use crate::subject::Subject;
use crate::term::tests::fixture;

/// An empty directory, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("linerate-{name}-{}", std::process::id());
        let place = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        Self(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether Chromium is there; that it is not is printed.
fn is_installed() -> bool {
    let mut version = Command::new("chromium");
    let version = version.arg("--version").stdout(Stdio::null());
    let found = version.stderr(Stdio::null()).status().is_ok();
    if !found {
        println!("skipped: no chromium here (Debian package chromium)");
    }
    found
}

fn chromium(place: &Path, words: &[&str], page: &Path) -> String {
    let profile = place.join("profile");
    let output = Command::new("timeout")
        .args(["240", "chromium", "--headless=new", "--no-sandbox"])
        .args(["--disable-gpu", "--disable-background-networking"])
        .args(["--no-first-run", "--no-proxy-server"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND"])
        .args(["--window-size=1400,1000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(words)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The fixtures, and runs with everything that a record may have.
fn subjects() -> Vec<(&'static str, Subject)> {
    let plain = |(name, output)| {
        let output: Output = output;
        let subject = Subject {
            output,
            ..Subject::default()
        };
        (name, subject)
    };
    let mut all: Vec<_> = fixture::all().into_iter().map(plain).collect();
    for (name, subject) in &mut all {
        if ["check", "sweep"].contains(name) {
            recorded(subject);
        }
    }
    let mut device = Subject {
        output: device(),
        ..Subject::default()
    };
    recorded(&mut device);
    all.push(("forward", device));
    all
}

/// Adds samples of 4 CPUs, round trips, settings and a ledger with long names.
fn recorded(subject: &mut Subject) {
    let series = |host, name: String, most: f64| {
        let span = |at: u32| Span {
            start_s: f64::from(at) * 0.5,
            end_s: f64::from(at) * 0.5 + 0.4,
            value: most * f64::from(at % 7) / 6.0,
        };
        let spans = (0..120).map(span).collect();
        Series { host, name, spans }
    };
    for host in [Role::Local, Role::Remote] {
        for cpu in 0..4_u32 {
            let processor = series(host, format!("cpu{cpu}"), 1.0);
            subject.processors.push(processor);
            for line in 0..14_u32 {
                let name =
                    format!("{line}:PCI-MSIX-0000:00:02.0 1-edge a-long-name-{line}/cpu{cpu}");
                let most = 10_f64.powi((line % 7) as i32);
                subject.interrupts.push(series(host, name, most));
            }
        }
    }
    let trips = |(at, phase): (u64, Phase)| RoundTrips {
        phase,
        buckets: (1..40).map(|n| (n * n * n * 40_000, n)).collect(),
        over_time: (0..900)
            .map(|n| {
                (
                    (at * 1000 + n) * 10_000_000,
                    60_000 + (n * n * 7919) % 20_000_000,
                )
            })
            .collect(),
    };
    let phases = [Phase::Idle, Phase::Up, Phase::Down, Phase::Both];
    subject.round_trips = (0..4).zip(phases).map(trips).collect();
    subject.settings = (0..150)
        .map(|n| Setting {
            source: "sysctl".to_owned(),
            values: [(format!("net.core.setting_{n}"), "4096".to_owned())].into(),
            ..Setting::default()
        })
        .collect();
    let stage = |stage: &str, kind: &str| Stage {
        stage: stage.to_owned(),
        lo: 1_298_210,
        hi: 12_398_310,
        kind: kind.to_owned(),
        ..Stage::default()
    };
    let stages = [
        ("rx-ring", "shared"),
        ("rx-ring", "balance"),
        ("rx-socket", "exact"),
    ];
    let lossy = subject
        .output
        .tests
        .iter()
        .filter(|test| test.lost_packets > Some(0));
    subject.output.ledger = lossy
        .map(|test| LedgerEntry {
            test_id: test.id.clone(),
            unit: "datagrams".to_owned(),
            lost_packets: 13_398_310,
            stages: stages.map(|(name, kind)| stage(name, kind)).to_vec(),
            unattributed_hi: 1_398_310,
            blind: vec!["rx-softnet".to_owned()],
            ..LedgerEntry::default()
        })
        .collect();
}

fn device() -> Output {
    let trial = |id: u32| Trial {
        id,
        frame_bytes: [64, 512, 1518][id as usize % 3],
        load_fps: f64::from(id * 7919 % 1_488_095),
        loss_ratio: f64::from(id * 31 % 97) / 100.0,
        valid: true,
        ..Trial::default()
    };
    let result = |(at, frame_bytes): (usize, u16)| ForwardResult {
        frame_bytes,
        goal: "ndr".to_owned(),
        direction: "a-b".to_owned(),
        throughput_fps: (at > 0).then_some(812_743.5),
        line_rate_ratio: (at > 0).then_some(0.5),
        irregular: (at == 0).then(|| ForwardResult::UNFINISHED.to_owned()),
        ..ForwardResult::default()
    };
    let known = fixture::all()
        .into_iter()
        .find(|(name, _)| *name == "check");
    Output {
        kind: "forward".to_owned(),
        forward: Some(Default::default()),
        results: [64, 512, 1518]
            .into_iter()
            .enumerate()
            .map(result)
            .collect(),
        trials: (1..200).map(trial).collect(),
        hosts: known.unwrap().1.hosts,
        explained: true,
        ..Output::new("forward", "0.1.0")
    }
}

/// The page with a script of the test, for which its policy is taken out.
fn examined(page: &str) -> String {
    let start = page.find("<meta http-equiv=\"Content-Security-Policy\"");
    let start = start.unwrap();
    let end = start + page[start..].find('>').unwrap() + 1;
    let open = [&page[..start], &page[end..]].concat();
    open.replace("</body>", &format!("<script>{EXAMINE}</script></body>"))
}

#[test]
fn no_text_is_cut_off_on_a_desktop_or_a_phone_light_or_dark() {
    if !is_installed() {
        return;
    }
    let Place(place) = &Place::new("layout");
    let subjects = subjects();
    let mut all = COLLECT.to_owned();
    for (name, subject) in &subjects {
        let page = examined(&render(std::slice::from_ref(subject)));
        fs::write(place.join(format!("{name}.html")), page).unwrap();
        for width in WIDTHS {
            all +=
                &format!("<iframe src=\"{name}.html\" width=\"{width}\" height=\"900\"></iframe>");
        }
    }
    let file = place.join("all.html");
    fs::write(&file, all).unwrap();
    for scheme in ["0", "1"] {
        let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
        let words = ["--virtual-time-budget=60000", "--dump-dom", &*scheme];
        let page = chromium(place, &words, &file);
        let Some(reported) = page.split("<pre id=\"reported\">").nth(1) else {
            println!("skipped: this chromium opens no page here");
            return;
        };
        let reported = reported.split("</pre>").next().unwrap();
        let texts = reported
            .lines()
            .filter(|line| line.contains(" texts"))
            .count();
        assert_eq!(texts, subjects.len() * WIDTHS.len(), "{reported}");
        let wrong: Vec<&str> = reported
            .lines()
            .filter(|line| line.contains("WRONG"))
            .collect();
        assert_eq!(wrong, Vec::<&str>::new(), "{scheme}");
    }
}

#[test]
fn a_page_is_at_most_six_sheets_of_paper() {
    if !is_installed() {
        return;
    }
    let Place(place) = &Place::new("paper");
    for (name, subject) in subjects() {
        if !["check", "forward", "ab", "sweep"].contains(&name) {
            continue;
        }
        let (page, paper) = (place.join("page.html"), place.join("page.pdf"));
        fs::write(&page, render(&[subject])).unwrap();
        let print = format!("--print-to-pdf={}", paper.display());
        chromium(place, &["--no-pdf-header-footer", &print], &page);
        let Ok(bytes) = fs::read(&paper) else {
            println!("skipped: this chromium prints no page here");
            return;
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let sheets = text.matches("/Type /Page\n").count();
        assert!((1..=6).contains(&sheets), "{name}: {sheets} sheets");
        fs::remove_file(&paper).unwrap();
    }
}

const WIDTHS: [u32; 2] = [1280, 375];
/// In each frame: texts of pictures within their pictures, the page within its window, figures of the heat map legible.
const EXAMINE: &str = r#"
addEventListener("load", () => {
  const texts = document.querySelectorAll("svg text"), lines = [texts.length + " texts"];
  for (const text of texts) {
    const one = text.getBoundingClientRect(), all = text.closest("svg").getBoundingClientRect();
    if (one.left < all.left - .5 || one.right > all.right + .5 || one.top < all.top - .5 || one.bottom > all.bottom + .5)
      lines.push("WRONG cut off: " + text.textContent);
    if (text.querySelector("title")) lines.push("WRONG shortened: " + text.textContent);
  }
  if (document.documentElement.scrollWidth > innerWidth)
    lines.push("WRONG width: " + document.documentElement.scrollWidth);
  const light = colour => {
    const parts = colour.match(/[\d.]+/g).map(Number).slice(0, 3).map(part => colour.startsWith("rgb") ? part / 255 : part);
    return parts.map(part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4)
      .reduce((sum, part, at) => sum + part * [.2126, .7152, .0722][at], .05);
  };
  for (const cell of document.querySelectorAll(".heat td")) {
    const style = getComputedStyle(cell), [ink, ground] = [light(style.color), light(style.backgroundColor)];
    const contrast = Math.max(ink, ground) / Math.min(ink, ground);
    if (!(contrast >= 4.5)) lines.push("WRONG contrast " + contrast + " of " + style.color + " on " + style.backgroundColor);
  }
  const page = location.pathname.split("/").pop() + " " + innerWidth + ": ";
  parent.postMessage(lines.map(line => page + line).join("\n"), "*");
});
"#;
/// Around them.
const COLLECT: &str = r#"<!DOCTYPE html><meta charset="utf-8"><pre id="reported"></pre><script>
addEventListener("message", event => document.getElementById("reported").append(event.data + "\n"));
</script>"#;
