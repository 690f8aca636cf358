use std::path::Path;
use serde_json::Value;
use super::super::nic::Nic;
use super::super::results::Results;
use super::mode::Mode;
pub(crate) struct Measured { pub(crate) nic: &'static Nic, pub(crate) mode: &'static Mode, pub(crate) results: Results }
impl Measured {
    pub(crate) fn of(nic: &'static Nic, mode: &'static Mode, directory: &Path) -> Self { Self { nic, mode, results: Results::of(nic, directory) } }
    pub(crate) fn is_there(&self) -> bool { self.results.document("forward").is_ok() }
    pub(crate) fn document(&self) -> Value { self.results.document("forward").unwrap_or_default() }
}
