//! Domains of congestion notification: the tests, in one program.

mod common;

mod dcbnl;
mod defense;
mod frames;
mod properties;
mod security;
