// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/loadavg`. Source: proc_loadavg(5).

/// The file's one line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadAverage {
    /// Runnable and blocked tasks, averaged over one minute.
    pub one_minute: f64,
    /// Over five minutes.
    pub five_minutes: f64,
    /// Over fifteen minutes.
    pub fifteen_minutes: f64,
    /// Runnable tasks at this moment, the reader among them; 0 where it is not reported.
    pub runnable: u32,
}

/// Reads the file; `None` if it is another.
#[must_use]
pub fn parse(text: &str) -> Option<LoadAverage> {
    let mut words = text.split_whitespace().map(|word| word.parse().ok());
    let mut next = || words.next().flatten().filter(|load: &f64| load.is_finite());
    Some(LoadAverage {
        one_minute: next()?,
        five_minutes: next()?,
        fifteen_minutes: next()?,
        runnable: runnable(text).unwrap_or(0),
    })
}

/// The number before the slash of the fourth word.
fn runnable(text: &str) -> Option<u32> {
    let (runnable, _) = text.split_whitespace().nth(3)?.split_once('/')?;
    runnable.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_three_averages() {
        let load = parse("0.39 0.51 12.00 5/109 4137\n").unwrap();
        assert_eq!(
            (load.one_minute, load.five_minutes, load.fifteen_minutes),
            (0.39, 0.51, 12.0)
        );
        assert_eq!(load.runnable, 5);
        assert_eq!(parse("0.39 0.51 12.00").unwrap().runnable, 0);
        assert_eq!(parse("NaN 1 2"), None);
        assert_eq!(parse("up 3 days"), None);
    }
}
