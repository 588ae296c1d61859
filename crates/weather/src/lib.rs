//! What rain does to a satellite link, as plain functions of numbers: no clock, no file, no random number but from a stream that was
//! given.
//!
//! [`rain`] is attenuation by rain on a slant path (ITU-R P.838-3, P.618-13), [`fading`] how it goes in time (P.1853), [`budget`] what is
//! left of the signal, [`coding`] the bit errors of QPSK with a convolutional code, [`modcod`] the MODCODs of DVB-S2 and DVB-S2X, and
//! [`fade`] all of it together for a place, a dish and a satellite.

pub mod budget;
pub mod coding;
pub mod fade;
pub mod fading;
pub mod modcod;
mod normal;
pub mod places;
pub mod rain;
