// SPDX-License-Identifier: MIT OR Apache-2.0
//! `sar -n DEV,EDEV,IP,TCP,UDP,SOCK …`: rates of each interface or of the host, as settings: of several samples the
//! average, or where it is missing the largest. `02:12:02 PM  eth0  12.00  0.00  0.00  711.00  0.00 …` under its heading;
//! of `-h` the interface stands last and rates of bytes have units: `02:12:02 PM  12.00  0.00  1.2M  208.0B … 97.7% eth0`.
//! Also the line with which all programs of sysstat begin.

use std::collections::BTreeMap;

use super::number::{decimal, with_unit};
use super::{Block, Content, Hint, Lines, Settings};

pub(super) fn read(lines: Lines<'_>, _: Hint<'_>) -> Option<Block> {
    let first = lines.get(0)?;
    if let Some(content) = banner(first) {
        return Some(block(1, content));
    }
    let mut table = Table::of(first)?;
    let mut rates = Rates::new();
    let found = lines.run(1, |line| {
        if let Some(next) = Table::of(line) {
            table = next;
            return true;
        }
        table.take(line, &mut rates).is_some()
    });
    if rates.is_empty() {
        return Block::says_nothing(&found, "sar");
    }
    let last = found.last()?.0;
    let settings = |((source, interface), row): (Place<'_>, Row<'_>)| {
        let value = |(name, value): (&&str, &String)| ((*name).to_owned(), value.clone());
        let values = row.values.iter().map(value).collect();
        Settings::new(source, interface, values)
    };
    Some(block(last + 1, rates.into_iter().map(settings).collect()))
}

fn block(lines: usize, content: Vec<Content>) -> Block {
    Block {
        lines,
        format: "sar",
        content,
    }
}

/// `Linux 5.15.0-91-generic (host)  03/01/2024  _x86_64_  (8 CPU)`.
fn banner(line: &str) -> Option<Vec<Content>> {
    let rest = line.trim().strip_prefix("Linux ")?;
    let cpus = rest.strip_suffix(" CPU)")?.rsplit('(').next()?;
    let (_, rest) = rest.split_once(" (")?;
    (line.len() < 200 && rest.contains(')')).then_some(())?;
    let cpus = cpus.parse::<u32>().ok()?.to_string();
    let values = vec![("cpus".to_owned(), cpus)];
    Some(vec![Settings::new("machine", None, values)])
}

/// Source and interface.
type Place<'a> = (&'static str, Option<&'a str>);
type Rates<'a> = BTreeMap<Place<'a>, Row<'a>>;

/// The rates of one place, by column.
#[derive(Default)]
struct Row<'a> {
    values: BTreeMap<&'a str, String>,
    is_average: bool,
}

/// A table, by its heading.
struct Table<'a> {
    source: &'static str,
    columns: Vec<&'a str>,
}

impl<'a> Table<'a> {
    /// `02:12:01 PM  IFACE  rxerr/s  txerr/s …`; the time may be missing.
    fn of(line: &'a str) -> Option<Self> {
        (line.len() < 400 && (line.contains("/s ") || line.contains("totsck "))).then_some(())?;
        let words: Vec<&str> = line.split_whitespace().take(40).collect();
        let (source, _) = TABLES.iter().find(|(_, mark)| words.contains(mark))?;
        let is_name = |word: &&str| word.contains(['/', '%']) || NAMES.contains(word);
        let from = words.iter().rposition(|word| !is_name(word));
        let columns = words.get(from.map_or(0, |at| at + 1)..)?.to_vec();
        (columns.len() > 2).then_some(Self { source, columns })
    }

    /// A row ends with a value for each column; before it stands the time, or the word for `Average:` in any language.
    fn take(&self, line: &'a str, rates: &mut Rates<'a>) -> Option<()> {
        (line.len() < 400).then_some(())?;
        let words: Vec<&str> = line.split_whitespace().take(40).collect();
        let from = words.len().checked_sub(self.columns.len())?;
        let (label, cells) = words.split_at_checked(from)?;
        let of = |name| self.columns.iter().position(|column| *column == name);
        let word = |name| cells.get(of(name)?).copied();
        let is_number =
            |(column, cell): (&&str, &&str)| is_place(column) || plain(column, cell).is_some();
        let mut pairs = self.columns.iter().zip(cells);
        (label.len() < 4 && pairs.all(is_number)).then_some(())?;
        if word("CPU").is_some_and(|cpu| cpu != "all") {
            return Some(());
        }
        let row = rates.entry((self.source, word("IFACE"))).or_default();
        let is_average = label
            .first()
            .is_some_and(|word| !word.starts_with(|first: char| first.is_ascii_digit()));
        row.is_average |= is_average;
        for (column, cell) in self.columns.iter().zip(cells) {
            if !is_place(column) && (is_average || !row.is_average) {
                row.set(column, cell, is_average);
            }
        }
        Some(())
    }
}

impl<'a> Row<'a> {
    fn set(&mut self, column: &'a str, cell: &str, is_average: bool) {
        let known = self.values.get(column).and_then(|value| decimal(value));
        let Some(value) = plain(column, cell) else {
            return;
        };
        if is_average || known.is_none_or(|known| decimal(&value).is_some_and(|now| now > known)) {
            self.values.insert(column, value);
        }
    }
}

/// A value without its unit, in the unit of its column: with `--human` `1.2M` in `rxkB/s` is 1228.80, `97.7%` is 97.7.
fn plain(column: &str, cell: &str) -> Option<String> {
    let bare = cell.strip_suffix('%').filter(|_| column.starts_with('%'));
    let cell = bare.unwrap_or(cell);
    if decimal(cell).is_some() {
        return Some(cell.replace(',', "."));
    }
    let (number, unit) = with_unit(cell)?;
    let exponent = UNITS.iter().position(|known| *known == unit)?;
    let of_column = usize::from(column.contains("kB"));
    let steps = i32::try_from(exponent).ok()? - i32::try_from(of_column).ok()?;
    Some(format!("{:.2}", number * 1024_f64.powi(steps)))
}

fn is_place(column: &str) -> bool {
    column == "IFACE" || column == "CPU"
}

/// A column that only this table has (sysstat pr_stats.c).
const TABLES: &[(&str, &str)] = &[
    ("sar -n DEV", "rxpck/s"),
    ("sar -n EDEV", "rxerr/s"),
    ("sar -n NFS", "call/s"),
    ("sar -n NFSD", "scall/s"),
    ("sar -n SOCK", "totsck"),
    ("sar -n IP", "irec/s"),
    ("sar -n EIP", "ihdrerr/s"),
    ("sar -n ICMP", "imsg/s"),
    ("sar -n EICMP", "ierr/s"),
    ("sar -n TCP", "active/s"),
    ("sar -n ETCP", "atmptf/s"),
    ("sar -n UDP", "idgm/s"),
    ("sar -n SOFT", "squeezd/s"),
    ("sar -n IP6", "irec6/s"),
    ("sar -n EIP6", "ihdrer6/s"),
    ("sar -n UDP6", "idgm6/s"),
];
/// Units of `--human`, each 1024 times the one before (sysstat common.c cprintf_unit).
const UNITS: &[&str] = &["B", "k", "M", "G", "T", "P"];
/// Columns that are not rates.
const NAMES: &[&str] = &[
    "IFACE", "CPU", "totsck", "tcpsck", "udpsck", "rawsck", "ip-frag", "tcp-tw", "blg_len",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::block_of;

    fn known(text: &str) -> Option<(usize, Vec<Settings>)> {
        let block = block_of(text, read)?;
        let settings = block.content.into_iter().map(|content| match content {
            Content::Settings(settings) => settings,
            other => panic!("{other:?}"),
        });
        Some((block.lines, settings.collect()))
    }

    fn value(text: &str, source: &str, interface: Option<&str>, name: &str) -> Option<String> {
        let all = known(text)?.1.into_iter();
        let mut of =
            all.filter(|one| one.source == source && one.interface.as_deref() == interface);
        let values = of.next()?.values;
        Some(values.into_iter().find(|(key, _)| key == name)?.1)
    }

    const ERRORS: &str = "02:12:01 PM     IFACE   rxerr/s   txerr/s    coll/s  rxdrop/s  txdrop/s  txcarr/s  rxfram/s  rxfifo/s  txfifo/s\n";

    #[test]
    fn the_average_in_any_language_or_the_largest() {
        let samples = "02:12:02 PM      eth0      2.00      0.00      0.00     11.00      0.00      0.00     12.00    711.00      0.00\n\
            02:12:03 PM      eth0     12.00      0.00      0.00    711.00      0.00      0.00     12.00    711.00      0.00\n";
        let drops = |text: &str| value(text, "sar -n EDEV", Some("eth0"), "rxdrop/s");
        let text = format!("{ERRORS}{samples}");
        assert_eq!(drops(&text).as_deref(), Some("711.00"));
        for word in ["Average:", "Mittel:", "Moyenne :"] {
            let text = format!(
                "{text}\n{}{word} eth0 7,00 0,00 0,00 361,00 0,00 0,00 12,00 711,00 0,00\n",
                ERRORS.replace("02:12:01 PM", word)
            );
            assert_eq!(drops(&text).as_deref(), Some("361.00"), "{word}");
            assert_eq!(known(&text).map(|(lines, _)| lines), Some(6));
        }
    }

    #[test]
    fn tables_in_turn_and_without_times() {
        let text = "IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n\
            eth0  81321.00  40211.00 119233.12   2611.44      0.00      0.00      0.00     97.68\n\n\
            14:11:01       idgm/s    odgm/s  noport/s idgmerr/s\n14:11:02      9000.00      0.00      3.00    120.50\n\n\
            14:11:01       totsck    tcpsck    udpsck    rawsck   ip-frag    tcp-tw\n14:11:02          410        12         3         0         0        77\n\
            14:11:01       CPU   total/s   dropd/s squeezd/s  rx_rps/s flw_lim/s\n14:11:02       all  90000.00      4.00     17.00      0.00      0.00\n14:11:02         0  90000.00      5.00     17.00      0.00      0.00\n";
        for (source, interface, name, expected) in [
            ("sar -n DEV", Some("eth0"), "%ifutil", "97.68"),
            ("sar -n UDP", None, "idgmerr/s", "120.50"),
            ("sar -n SOCK", None, "tcp-tw", "77"),
            ("sar -n SOFT", None, "dropd/s", "4.00"),
        ] {
            let read = value(text, source, interface, name);
            assert_eq!(read.as_deref(), Some(expected), "{source}");
        }
    }

    // sysstat 12.6.1.
    const HUMAN: &str = "03:20:42      rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil IFACE\n";

    #[test]
    fn human_readable_with_the_interface_last() {
        let rows = "03:20:43      2103.00     71.00      3.4M    512.0B      0.00      0.00      0.00     28.5% enp0s31f6\n\
            03:20:43         4.00      4.00      1.2k     12,5k      0.00      0.00      0.00      0.0% lo\n";
        let average = "Average:      8103.00     99.00     11.2M      1.5k      0.00      0.00      0.00     97.7% enp0s31f6\n";
        let text = format!(
            "{HUMAN}{rows}\n{}{average}",
            HUMAN.replace("03:20:42", "Average:")
        );
        for (interface, name, expected) in [
            ("enp0s31f6", "rxkB/s", "11468.80"),
            ("enp0s31f6", "txkB/s", "1.50"),
            ("enp0s31f6", "rxpck/s", "8103.00"),
            ("enp0s31f6", "%ifutil", "97.7"),
            ("lo", "rxkB/s", "1.20"),
            ("lo", "txkB/s", "12.50"),
        ] {
            let read = value(&text, "sar -n DEV", Some(interface), name);
            assert_eq!(read.as_deref(), Some(expected), "{interface} {name}");
        }
        assert_eq!(known(&text).map(|(lines, _)| lines), Some(6));
        let small = format!("{HUMAN}{}", rows.replace("3.4M", "3.4T"));
        let read = value(&small, "sar -n DEV", Some("enp0s31f6"), "txkB/s");
        assert_eq!(read.as_deref(), Some("0.50"));
    }

    #[test]
    fn the_largest_of_several_units() {
        let row = |rate| format!("03:20:43 2.00 1.00 {rate} 0.0B 0.00 0.00 0.00 0.1% eth0\n");
        let text = format!("{HUMAN}{}{}{}", row("900.0k"), row("1.1M"), row("990.0B"));
        let read = value(&text, "sar -n DEV", Some("eth0"), "rxkB/s");
        assert_eq!(read.as_deref(), Some("1126.40"));
        let errors = "03:20:44 rxerr/s txerr/s coll/s rxdrop/s txdrop/s txcarr/s rxfram/s rxfifo/s txfifo/s IFACE\n03:20:45 0.00 0.00 0.00 711.00 0.00 0.00 0.00 711.00 0.00 eth0\n";
        let read = value(errors, "sar -n EDEV", Some("eth0"), "rxdrop/s");
        assert_eq!(read.as_deref(), Some("711.00"));
    }

    #[test]
    fn what_sysstat_begins_with() {
        let text = "Linux 5.15.0-91-generic (host) \t03/01/2024 \t_x86_64_\t(8 CPU)\n";
        let cpus = value(text, "machine", None, "cpus");
        assert_eq!(cpus.as_deref(), Some("8"));
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "the rxdrop/s and rxerr/s columns of sar\nare high here\n",
            "IFACE rxerr/s txerr/s coll/s\nno rows follow\n",
            "Linux 5.15 is (as far as I know) fine on 8 CPU)",
            "12:00:01 CPU %usr %nice %idle\n12:00:02 all 1.0 2.0 97.0\n",
        ] {
            assert_eq!(known(text), None, "{text}");
        }
    }
}
