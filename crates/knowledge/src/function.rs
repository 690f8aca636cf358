// SPDX-License-Identifier: MIT OR Apache-2.0
//! What functions of the kernel do for a packet, and in which context what they call runs.

use std::sync::LazyLock;

use super::raw::Word;
use crate::keys;
use crate::mistake::{Mistake, Mistakes};
use crate::packed;
use crate::sign::{glob, sourced};
use crate::toml_table;

/// Functions that do the same kind of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// Its name in documents.
    pub id: String,
    /// What they do.
    pub title: String,
    /// Their names, with `*` for any text.
    pub functions: Vec<String>,
    /// The kernel's files that have them.
    pub sources: Vec<String>,
}

/// The table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Functions {
    /// Each kind of work.
    pub families: Vec<Family>,
    /// What calls everything that runs in a context other than a program's.
    pub contexts: Vec<Family>,
}

impl Functions {
    /// The family of this function.
    #[must_use]
    pub fn family(&self, function: &str) -> Option<&Family> {
        most_precise(&self.families, function)
    }

    /// The context of what this function calls.
    #[must_use]
    pub fn context(&self, function: &str) -> Option<&Family> {
        most_precise(&self.contexts, function)
    }
}

/// A whole name before a pattern, a longer pattern before a shorter one.
fn most_precise<'f>(all: &'f [Family], function: &str) -> Option<&'f Family> {
    let name = plain(function);
    let precision = |pattern: &String| match pattern == name {
        true => usize::MAX,
        false => pattern.len(),
    };
    let own = |family: &'f Family| {
        let fitting = family.functions.iter().filter(|one| glob(one, name));
        Some((fitting.map(precision).max()?, family))
    };
    let known = all.iter().filter_map(own);
    Some(known.max_by_key(|(precision, _)| *precision)?.1)
}

/// Without what the compiler appends to the copy or part of a function: `.isra.0`, `.part.0`, `.constprop.0`, `.cold`.
fn plain(function: &str) -> &str {
    match function.split_once('.') {
        Some((name, _)) if !name.is_empty() => name,
        _ => function,
    }
}

static FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| {
    let files = packed::FUNCTIONS.unpack();
    let mut parsed = files
        .iter()
        .filter_map(|(file, text)| parse_functions(file, text).ok());
    parsed.next().unwrap_or_default()
});

/// The table of this program.
#[must_use]
pub fn functions() -> &'static Functions {
    &FUNCTIONS
}

/// Reads the functions `text` of the file `file`.
///
/// # Errors
/// Every mistake found. TOML's own stop at the first.
pub fn parse_functions(file: &str, text: &str) -> Result<Functions, Vec<Mistake>> {
    keys::read(file, text, |raw: &RawFile, mistakes| Functions {
        families: checked(&raw.family, mistakes),
        contexts: checked(&raw.context, mistakes),
    })
}

/// Of each family what it says, where no other has one of its names.
fn checked(raw: &[RawFamily], mistakes: &mut Mistakes<'_>) -> Vec<Family> {
    let mut all: Vec<Family> = Vec::new();
    for one in raw {
        for word in &one.functions {
            let name = word.get_ref();
            let mut others = all.iter();
            if let Some(other) = others.find(|family| family.functions.contains(name)) {
                let wrong = format!("`{name}` is also of `{}`", other.id);
                mistakes.at(word.span().start, wrong, "one family");
            }
        }
        let at = one.id.span().start;
        if one.functions.is_empty() {
            mistakes.at(at, "`functions` is empty".to_owned(), "their names");
        }
        let names = one.functions.iter();
        all.push(Family {
            id: one.id.get_ref().clone(),
            title: one.title.clone(),
            functions: names.map(|word| word.get_ref().clone()).collect(),
            sources: sourced(&one.source, at, mistakes),
        });
    }
    all
}

toml_table! {
    RawFile {
        family: Vec<RawFamily> = or_default,
        context: Vec<RawFamily> = or_default,
    }
}

toml_table! {
    RawFamily {
        id: Word = need,
        title: String = need,
        functions: Vec<Word> = need,
        source: Vec<Word> = need,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(function: &str) -> Option<&'static str> {
        functions().family(function).map(|found| found.id.as_str())
    }

    #[test]
    fn a_whole_name_goes_before_a_pattern_and_a_longer_pattern_before_a_shorter() {
        for (function, wanted) in [
            ("rep_movs_alternative", Some("copy")),
            ("skb_copy_datagram_iter", Some("copy")),
            ("csum_partial", Some("checksum")),
            ("udp_set_csum", Some("checksum")),
            ("udp_sendmsg", Some("protocol")),
            ("ip_route_output_key_hash_rcu", Some("lookup")),
            ("ip_route_input_rcu.part.0", Some("lookup")),
            ("ip_finish_output2", Some("protocol")),
            ("veth_xmit", Some("driver")),
            ("napi_consume_skb", Some("memory")),
            ("napi_complete_done", Some("softirq")),
            ("nf_hook_slow", Some("netfilter")),
            ("nf_ip_checksum", Some("checksum")),
            ("_raw_spin_unlock_irqrestore", Some("locking")),
            ("__schedule", Some("scheduling")),
            ("schedule_timeout", Some("scheduling")),
            ("ktime_get", Some("timer")),
            ("entry_SYSCALL_64_after_hwframe", Some("syscall")),
            ("ext4_file_read_iter", None),
            ("memory_failure", None),
        ] {
            assert_eq!(family(function), wanted, "{function}");
        }
    }

    #[test]
    fn the_context_is_that_of_the_caller() {
        let context = |name| functions().context(name).map(|found| found.id.as_str());
        assert_eq!(context("handle_softirqs"), Some("softirq"));
        assert_eq!(context("sysvec_reschedule_ipi"), Some("hardirq"));
        assert_eq!(context("udp_sendmsg"), None);
    }

    #[test]
    fn a_family_needs_functions_of_its_own_and_a_source() {
        let good =
            "[[family]]\nid = \"a\"\ntitle = \"x\"\nfunctions = [\"f\"]\nsource = [\"a.c\"]\n";
        assert_eq!(
            parse_functions("f.toml", good).map(|all| all.families.len()),
            Ok(1)
        );
        for bad in [
            good.replace("\"f\"", ""),
            good.replace("\"a.c\"", ""),
            good.repeat(2),
        ] {
            assert!(parse_functions("f.toml", &bad).is_err(), "{bad}");
        }
    }
}
