use crate::Outcome;
pub(crate) fn run(_: &[&str]) -> Outcome {
    Ok(true)
}
