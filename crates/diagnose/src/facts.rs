// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is known, by name: numbers and words that rules ask for. Each family of facts is a file that
//! lists the names it knows ([`Known`]) and computes those that the record allows.
//!
//! A fact that cannot be computed is absent: absence is never 0.

use linerate_model::map::Map;
use linerate_model::output::{Fact, LedgerEntry, Role, Value};

use crate::evidence::Evidence;
use crate::viewpoint::Viewpoint;

mod attributed;
mod bus;
mod cpu;
mod device;
mod flow_control;
mod known;
mod link;
mod measurement;
mod packet_rate;
mod parallel;
mod socket;
mod tcp;
mod vantage;

pub(crate) use cpu::Shares;
pub use known::{Known, catalogue, known};
pub(crate) use link::signal_quality;
pub(crate) use socket::{control_limited_ratio, most_bytes as socket_limit};
pub(crate) use tcp::{
    CARRIED_MORE, CONTROL_LIMITED, HELD_BACK, MostCarried, paces_itself,
    use_ratio as pacing_use_ratio,
};
pub(crate) use vantage::set_up;

/// All facts of a record, to be asked by name from a point of view.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    all: Vec<Fact>,
    by_name: Map<String, Named>,
    /// Of which tests there are facts, in the order of their first ones.
    tests: Map<String, u32>,
}

/// Where the facts of one name stand. A long record has thousands of them, each of its test.
#[derive(Debug, Clone, Default)]
struct Named {
    of_all_tests: Vec<usize>,
    /// The test's number and the fact's place, in this order.
    of_test: Vec<(u32, u32)>,
}

impl Named {
    fn add(&mut self, test: Option<u32>, at: usize) {
        match test {
            None => self.of_all_tests.push(at),
            Some(test) => {
                let place = self.of_test.partition_point(|(other, _)| *other <= test);
                self.of_test
                    .insert(place, (test, u32::try_from(at).unwrap_or(u32::MAX)));
            }
        }
    }

    /// Those that are seen from a test.
    fn seen_from(&self, test: Option<u32>) -> impl Iterator<Item = usize> + '_ {
        let first = test.map(|test| self.of_test.partition_point(|(other, _)| *other < test));
        let own = self.of_test.iter().skip(first.unwrap_or(usize::MAX));
        let own = own.take_while(move |(other, _)| Some(*other) == test);
        let all = self.of_all_tests.iter().copied();
        all.chain(own.map(|(_, at)| *at as usize))
    }
}

impl Facts {
    /// Everything that a record and its ledger tell.
    #[must_use]
    pub fn of(evidence: &Evidence<'_>, ledger: &[LedgerEntry]) -> Self {
        let mut facts = Self::default();
        attributed::collect(evidence, ledger, &mut facts);
        for collect in FAMILIES {
            collect(evidence, &mut facts);
        }
        device::collect(evidence, ledger, &mut facts);
        facts
    }

    /// Adds a fact. A number that is not finite is not known.
    pub fn add(&mut self, fact: Fact) {
        let number = fact.value.number();
        if number.is_some_and(|number| !number.is_finite()) {
            return;
        }
        let test = fact.test_id.as_deref().map(|id| self.number_of(id));
        let named = self.by_name.entry(fact.name.clone()).or_default();
        named.add(test, self.all.len());
        self.all.push(fact);
    }

    fn number_of(&mut self, test_id: &str) -> u32 {
        if let Some(number) = self.tests.get(test_id) {
            return *number;
        }
        let number = u32::try_from(self.tests.len()).unwrap_or(u32::MAX);
        self.tests.insert(test_id.to_owned(), number);
        number
    }

    /// Adds a fact of the whole record, if its value is known.
    fn add_to_run(&mut self, name: &str, value: impl MaybeValue, source: &str) {
        if let Some(fact) = fact(name, value, source) {
            self.add(fact);
        }
    }

    /// Adds a fact of one test, if its value is known.
    fn add_to_test(&mut self, test_id: &str, name: &str, value: impl MaybeValue, source: &str) {
        if let Some(fact) = fact(name, value, source) {
            let test_id = Some(test_id.to_owned());
            self.add(Fact { test_id, ..fact });
        }
    }

    /// The number of a fact of a test as a whole.
    fn of_test(&self, test_id: &str, name: &str) -> Option<f64> {
        let of_test = Viewpoint {
            test_id: Some(test_id.to_owned()),
            ..Viewpoint::default()
        };
        self.get(name, &of_test)?.value.number()
    }

    /// Every fact, in the order of its family.
    #[must_use]
    pub fn list(&self) -> &[Fact] {
        &self.all
    }

    /// The same, for good.
    #[must_use]
    pub fn into_list(self) -> Vec<Fact> {
        self.all
    }

    /// The fact of this name as seen from `viewpoint`: of its test, host and interface, or, where
    /// nothing so special is known, of all of them. `peer.NAME` looks from the other end of the test.
    #[must_use]
    pub fn get(&self, name: &str, viewpoint: &Viewpoint) -> Option<&Fact> {
        let (name, host, interface) = match name.strip_prefix(PEER) {
            None => (name, viewpoint.host, viewpoint.interface.as_deref()),
            Some(name) => {
                let (host, interface) = viewpoint.peer.as_ref()?;
                (name, Some(*host), interface.as_deref())
            }
        };
        let test = viewpoint.test_id.as_deref();
        let test = test.and_then(|id| self.tests.get(id)).copied();
        let of_name = self.by_name.get(name)?.seen_from(test);
        let of_name = of_name.filter_map(|index| self.all.get(index));
        let seen =
            of_name.filter_map(|fact| Some((special(fact, viewpoint, host, interface)?, fact)));
        seen.max_by_key(|(special, _)| *special)
            .map(|(_, fact)| fact)
    }
}

/// A family's way from the record to its facts.
type Collect = fn(&Evidence<'_>, &mut Facts);

const FAMILIES: &[Collect] = &[
    measurement::collect,
    link::collect,
    flow_control::collect,
    cpu::collect,
    parallel::collect,
    socket::collect,
    tcp::collect,
    packet_rate::collect,
    bus::collect,
];

/// The prefix of a fact at the other end.
pub const PEER: &str = "peer.";

/// How much of the point of view a fact is bound to; `None` if it is bound to another one.
fn special(
    fact: &Fact,
    viewpoint: &Viewpoint,
    host: Option<Role>,
    interface: Option<&str>,
) -> Option<u8> {
    let test = bound(fact.test_id.as_deref(), viewpoint.test_id.as_deref())?;
    let host = bound(fact.host, host)?;
    let interface = bound(fact.interface.as_deref(), interface)?;
    Some(test * 4 + interface * 2 + host)
}

/// 0 for a fact that holds everywhere, 1 for one of just this place.
fn bound<T: PartialEq>(fact: Option<T>, viewpoint: Option<T>) -> Option<u8> {
    match (fact, viewpoint) {
        (None, _) => Some(0),
        (Some(fact), Some(viewpoint)) => (fact == viewpoint).then_some(1),
        (Some(_), None) => None,
    }
}

/// A fact's value; `None` where it is not known.
trait MaybeValue {
    fn known(self) -> Option<Value>;
}

impl<T: Into<Value>> MaybeValue for Option<T> {
    fn known(self) -> Option<Value> {
        self.map(Into::into)
    }
}

macro_rules! values {
    ($($kind:ty)+) => {
        $(impl MaybeValue for $kind {
            fn known(self) -> Option<Value> {
                Some(self.into())
            }
        })+
    };
}

values! { f64 bool &str String }

/// A fact of the whole record, in the unit that the catalogue gives its name; `None` where its value is not known.
fn fact(name: &str, value: impl MaybeValue, source: &str) -> Option<Fact> {
    Some(Fact {
        name: name.to_owned(),
        value: value.known()?,
        unit: known(name).map_or("", |known| known.unit).to_owned(),
        source: source.to_owned(),
        ..Fact::default()
    })
}

#[cfg(test)]
mod tests;
