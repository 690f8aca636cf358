// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bench [--rounds N] [--seconds N] [--binary PATH] [--peer PATH] [--only CONTENDER] [ROW...]`.

use std::path::PathBuf;

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Options {
    /// Repetitions, in alternating order.
    pub(crate) rounds: u32,
    /// Length of each test; `None` = what the row asks for.
    pub(crate) seconds: Option<u32>,
    /// The linerate to measure; `None` = built here.
    pub(crate) binary: Option<PathBuf>,
    /// Further peers.
    pub(crate) peers: Vec<PathBuf>,
    /// Only contenders whose label starts so; none = all.
    pub(crate) only: Vec<String>,
    /// Rows, by the start of their names; none = all.
    pub(crate) rows: Vec<String>,
}

impl Options {
    /// Reads the words of the command line.
    ///
    /// # Errors
    /// A word that is not understood.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            rounds: 3,
            seconds: None,
            binary: None,
            peers: Vec::new(),
            only: Vec::new(),
            rows: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .copied()
                    .ok_or(format!("bench: {word} wants a value"))
            };
            let number = |text: &str| match text.parse() {
                Ok(number) if (1..=600).contains(&number) => Ok(number),
                _ => Err(format!("bench: {word} {text}: expected 1 to 600")),
            };
            match word {
                "--rounds" => options.rounds = number(value()?)?,
                "--seconds" => options.seconds = Some(number(value()?)?),
                "--binary" => options.binary = Some(value()?.into()),
                "--peer" => options.peers.push(value()?.into()),
                "--only" => options.only.push(value()?.to_owned()),
                row if row.starts_with('-') => return Err(format!("bench: no option {row}")),
                row => options.rows.push(row.to_owned()),
            }
        }
        Ok(options)
    }

    /// Whether a row of this name was asked for.
    pub(crate) fn wants(&self, row: &str) -> bool {
        starts_with_one(row, &self.rows)
    }

    /// Whether a contender of this label takes part.
    pub(crate) fn admits(&self, label: &str) -> bool {
        starts_with_one(label, &self.only)
    }
}

/// Whether it starts with one of these, if there are any.
fn starts_with_one(name: &str, starts: &[String]) -> bool {
    starts.is_empty() || starts.iter().any(|start| name.starts_with(start.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_asked_for_by_the_start_of_their_names() {
        let options = Options::parse(&["--rounds", "5", "udp", "knee-64"]).unwrap();
        assert_eq!(options.rounds, 5);
        assert!(options.wants("udp-1448-gso") && options.wants("knee-64"));
        assert!(!options.wants("knee-1448") && !options.wants("tcp-1"));
    }

    #[test]
    fn contenders_are_chosen_by_the_start_of_their_labels() {
        let options = Options::parse(&["--only", "iperf3-3", "--only", "linerate"]).unwrap();
        assert!(options.admits("iperf3-3.21 -w 4M") && options.admits("linerate"));
        assert!(!options.admits("iperf3 -w 4M"));
        assert!(Options::parse(&[]).unwrap().admits("nuttcp"));
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(
            Options::parse(&["--rounds", "0"]).unwrap_err(),
            "bench: --rounds 0: expected 1 to 600"
        );
        assert!(Options::parse(&["--rounds"]).is_err() && Options::parse(&["-x"]).is_err());
    }
}
