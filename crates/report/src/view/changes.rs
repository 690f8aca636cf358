// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of settings: which are not undone, and by what command each is.

use linerate_model::output::{ChangeState, Output, SettingChange};

use super::{Block, Line, Tone};

pub(super) fn blocks(output: &Output) -> Vec<Block> {
    let lines: Vec<Line> = output.changes.iter().flat_map(lines).collect();
    let none = || vec![Line::new(0, "no change of a setting is left to restore")];
    let lines = if lines.is_empty() { none() } else { lines };
    let next = output.next_commands.iter();
    let next = next.map(|command| Line::command(0, format!("next: {command}")));
    let blocks = [Block::lines("", lines), Block::lines("", next)];
    blocks.into_iter().flatten().collect()
}

pub(super) fn lines(change: &SettingChange) -> Vec<Line> {
    let tone = match change.state {
        state if state.is_closed() => Tone::Good,
        ChangeState::UnderWay | ChangeState::Kept => Tone::Plain,
        _ => Tone::Warn,
    };
    let head = format!("#{} {}: {}", change.id, what(change), change.state.words());
    let reason = change.reason.as_deref().unwrap_or_default();
    let by = format!(
        "{} (process {}), {}",
        change.because, change.pid, change.started
    );
    let lines = [
        Some(Line::new(0, head).tone(tone)),
        Line::labelled(2, "why", reason),
        Line::labelled(2, "by", &by),
    ];
    let left = change.undo.iter().filter(|_| !change.state.is_closed());
    let undo = left.map(|command| Line::command(2, format!("undo: {command}")));
    lines.into_iter().flatten().chain(undo).collect()
}

/// `ethtool -G rx of eth0: 256 -> 4096`, or the command that ran.
fn what(change: &SettingChange) -> String {
    let Some(before) = &change.before else {
        return format!("`{}`", change.after);
    };
    // A file's value is all of its text.
    if let Some(file) = &change.persisted_file {
        return format!("file {file}");
    }
    let of = change.interface.as_ref().map(|name| format!(" of {name}"));
    // Its values are a list.
    if let Some(main) = change.knob.strip_prefix("coupled ") {
        return format!("what changes with {main}{}", of.unwrap_or_default());
    }
    let now = change.effective.as_ref().unwrap_or(&change.after);
    format!("{}{} {before} → {now}", change.knob, of.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(changes: Vec<SettingChange>) -> String {
        let output = Output {
            changes,
            ..Output::new("tune", "0.0.0")
        };
        let blocks = blocks(&output).into_iter();
        let texts = blocks.map(|block| match block {
            Block::Lines { lines, .. } => {
                let texts = lines.into_iter().map(|line| line.text);
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        });
        texts.collect()
    }

    #[test]
    fn a_change_is_shown_with_what_undoes_it() {
        let change = SettingChange {
            id: 3,
            started: "2026-11-28T23:10:00Z".to_owned(),
            knob: "ethtool -G rx".to_owned(),
            interface: Some("eth0".to_owned()),
            before: Some("256".to_owned()),
            after: "4000".to_owned(),
            effective: Some("4096".to_owned()),
            because: "B05".to_owned(),
            pid: 77,
            undo: vec!["ethtool -G eth0 rx 256".to_owned()],
            ..SettingChange::default()
        };
        let text = shown(vec![change.clone()]);
        assert_eq!(
            text,
            "#3 ethtool -G rx of eth0 256 → 4096: not restored\n\
             by: B05 (process 77), 2026-11-28T23:10:00Z\n\
             undo: ethtool -G eth0 rx 256"
        );
        let restored = SettingChange {
            state: ChangeState::Restored,
            ..change
        };
        assert!(!shown(vec![restored.clone()]).contains("undo:"));
        let coupled = SettingChange {
            knob: "coupled ethtool -L combined".to_owned(),
            before: Some(r#"[["irq #0","1"]]"#.to_owned()),
            ..restored
        };
        let text = shown(vec![coupled]);
        assert!(
            text.starts_with("#3 what changes with ethtool -L combined of eth0: restored"),
            "{text}"
        );
    }

    #[test]
    fn nothing_is_said_where_nothing_is_left() {
        assert_eq!(
            shown(Vec::new()),
            "no change of a setting is left to restore"
        );
    }
}
