//! A peer that lies: about what it has, what it saw, and what it wants.

use bentpipe_tcp::{Flags, Options, SackBlock, Segment, State, Timestamps};
use bentpipe_units::Time;

use super::*;
