//! Compares lightlag-quic with other implementations, packet for packet, in virtual time.
//!
//! - [`pattern`]: paths with losses, marks, delays and duplicates at given datagrams, and what is transferred.
//! - [`network`]: two ends and the path between them; every sent datagram is logged with its frames.
//! - [`quinn`], [`lightlag`]: ends of quinn-proto, whose cryptography is [`null`], and of lightlag-quic.
//! - [`aioquic`], [`fixture`]: logs of aioquic, and their stored form.
//! - [`compare`]: the first difference of two logs.

pub mod aioquic;
pub mod compare;
pub mod examples;
pub mod fixture;
pub mod judge;
pub mod lightlag;
pub mod network;
pub mod null;
pub mod pattern;
pub mod quinn;
pub mod speed;
