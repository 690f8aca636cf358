// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header lines of `top`: of procps old and new, of busybox, point or comma.

use super::number::decimal;
use super::{Block, Content, CpuShare, Hint, Lines};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?.trim();
    let share = share(first)?;
    Some(Block {
        lines: 1,
        format: "top",
        content: vec![Content::Cpu(share)],
    })
}

/// `%Cpu(s):  1.0 us, …`, `%Cpu0  :  1.0 us`, `Cpu(s):  1.0%us`, `CPU:  1% usr 2% sys`.
fn share(line: &str) -> Option<CpuShare> {
    let (name, rest) = line.split_once(':').filter(|_| line.len() < 300)?;
    let name = name.trim().trim_start_matches('%');
    let number = name
        .strip_prefix("Cpu")
        .or_else(|| name.strip_prefix("CPU"))?;
    let cpu = match number {
        "" | "(s)" => None,
        number => Some(number.parse().ok()?),
    };
    let spaced = rest.replace(", ", " ").replace('%', " ");
    // `98.0us` has no blank; `1,0 us,` is followed by a comma.
    let words: Vec<&str> = spaced
        .split_whitespace()
        .map(|word| word.trim_end_matches(','))
        .take(32)
        .collect();
    let pair = |pair: &[&str]| Some((CpuShare::name(pair[1])?, decimal(pair[0])?));
    let shares: Vec<(&'static str, f64)> = words.chunks_exact(2).filter_map(pair).collect();
    (shares.len() > 3).then_some(CpuShare { cpu, shares })
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn every_form() {
        for line in [
            "%Cpu(s):  1.0 us,  2.0 sy,  0.0 ni, 47.0 id,  0.0 wa,  0.0 hi, 50.0 si,  0.0 st",
            "%Cpu(s):  1,0 us,  2,0 sy,  0,0 ni, 47,0 id,  0,0 wa,  0,0 hi, 50,0 si,  0,0 st",
            "Cpu(s):  1.0%us,  2.0%sy,  0.0%ni, 47.0%id,  0.0%wa,  0.0%hi, 50.0%si,  0.0%st",
            "CPU:   1% usr   2% sys   0% nic  47% idle   0% io   0% irq  50% sirq",
        ] {
            let shares = share(line).unwrap_or_default().shares;
            assert!(
                shares.contains(&("softirq", 50.0)) && shares.contains(&("idle", 47.0)),
                "{line}: {shares:?}"
            );
        }
        assert_eq!(share("CPU: 100 % us, and I do not know why"), None);
    }
}
