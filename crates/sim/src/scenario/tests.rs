//! What a scenario must say, and what it is told when it does not.
