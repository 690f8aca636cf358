// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a record must not know of its lab.

/// The command line without the names of the lab's faults: what explains a record must find them out.
pub(super) fn without_faults(command: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = command.iter();
    while let Some(word) = words.next() {
        let is_fault = word
            .strip_prefix("--")
            .and_then(|word| word.strip_prefix(FAULT));
        match is_fault {
            Some("") => drop(words.next()),
            Some(value) if value.starts_with('=') => {}
            _ => kept.push(word.clone()),
        }
    }
    kept
}

pub(super) const FAULT: &str = "fault";

#[cfg(test)]
mod tests {
    use super::without_faults;

    #[test]
    fn a_record_does_not_know_the_faults_of_its_lab() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let line = "linerate udp --lab --fault rcvbuf=16K -b 1M --fault=loss --json";
        assert_eq!(
            without_faults(&words(line)),
            words("linerate udp --lab -b 1M --json")
        );
    }
}
