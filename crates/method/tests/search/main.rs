// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search judged by published vectors, by properties, and by simulated devices.

mod classification;
mod devices;
mod log;
mod properties;
mod scenario;
mod vectors;
