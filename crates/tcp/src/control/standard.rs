use super::Control;

/// RFC 5681 and nothing else: every hook at its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

impl Control for Standard {
    fn adjusts_receive_window(&self) -> bool {
        false
    }
}
