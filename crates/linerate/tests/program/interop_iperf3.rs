// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interoperability with the stock iperf3 of `PATH`, both roles, by real processes on the loopback;
//! and what hostile clients get. Other versions speak through the recordings in the wire crate.
//!
//! The rules that were learned the hard way, and what would fail without each:
//!
//! | rule | test |
//! | --- | --- |
//! | S1 one port, distinguished by cookie | `many::s1_three_stock_clients_at_once_on_one_port` |
//! | S2 stock UDP tests of one address set up in turn | `many::s2_stock_udp_tests_of_one_address_set_up_in_turn` |
//! | S3 every state has a watchdog | `rules::s3_…`, `hostile::*`, wire `a_slow_loris_has_one_deadline_for_the_whole_document` |
//! | S4 streams in accept order | `rules::s4_streams_are_numbered_as_accepted` |
//! | S5 stamps on the wall clock | `rules::s5_datagrams_carry_wall_clock_stamps` |
//! | S6 data closed before EXCHANGE_RESULTS | `rules::s6_data_sockets_close_before_results` |
//! | S7 whole blocks | `rules::s7_a_reverse_test_is_whole_blocks` |
//! | C1 nothing is awaited behind the cookie | `client::tcp_agrees` (a stock server answers nothing) |
//! | C2 states byte by byte, two at once | wire `recorded_bytes_fed_one_by_one_give_the_same`, `start_and_running_are_one_write_…` |
//! | C3 time counts from TEST_RUNNING | `rules::c3_time_counts_from_test_running` |
//! | C4 after TEST_END data errors are none | `rules::c4_a_server_that_resets_after_the_end_is_fine` |
//! | C5 busy is recognised and retried | `rules::c5_a_busy_server_is_tried_again`, wire `a_busy_server_is_distinguished` |
//! | C6 early data is no reply | `rules::c6_data_before_a_reply_is_skipped` |
//! | C7 every state has its time-out | `rules::c7_a_silent_server_is_an_error`, wire `every_wait_of_the_client_has_a_deadline` |
//! | C8 back-to-back tests at a stock server | `client::c8_back_to_back` |

mod client;
mod hostile;
mod hostile_server;
mod many;
mod raw;
mod rules;
mod server;
