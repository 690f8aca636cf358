// SPDX-License-Identifier: MIT OR Apache-2.0
//! A matrix: cells, each measured once a round. Two matrices of the same axes are compared cell by cell ([`verdict`]).

pub mod verdict;
