//! HighSpeed TCP (S. Floyd, RFC 3649, 2003): `highspeed`; with growth in whole segments, Linux's by a table
//! (`net/ipv4/tcp_highspeed.c`).

use bentpipe_units::bounded::{Above, Number};

use super::{Ack, Control, ControlFactory, Loss, Mark, Response, Timeout, Window, begin_again, options};
use crate::Growth;

options! {
    "highspeed", "HighSpeed TCP: a large window grows faster, and a loss takes less of it (RFC 3649)";
    /// Options of the control highspeed: where its response function ends. It begins as RFC 5681's at 38 segments, a loss rate of 1e-3.
    /// Linux has a table, which goes by the defaults.
    pub struct HighspeedOptions {
        /// Window in segments that a loss rate of `high_p` allows (`High_Window`), above 38, at most 10,000,000.
        #[serde(with = "Above::<38, 10_000_000>")]
        pub high_window: f64 = 83_000.0,
        /// Losses a segment at that window (`High_P`), above 0, at most 1.
        #[serde(with = "Above::<0, 1>")]
        pub high_p: f64 = 1e-7,
        /// Share that a loss takes at that window (`High_Decrease`), 0 to 1.
        #[serde(with = "Number::<0, 1>")]
        pub high_decrease: f64 = 0.1,
    }
}

impl ControlFactory for HighspeedOptions {
    fn make(&self) -> Box<dyn Control> {
        Box::new(Highspeed { options: *self, row: 0 })
    }

    fn in_linux(&self) -> bool {
        true
    }
}

/// `Low_Window` in segments, and `Low_P`.
const LOW_WINDOW: f64 = 38.0;
const LOW_P: f64 = 1e-3;
/// Windows in segments up to which cwnd grows by a segment a round trip, by two, and so on: the first rows of the RFC's table 3, which are those of
/// Linux (`hstcp_aimd_vals`).
#[rustfmt::skip]
const ROWS: [u32; 72] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076,
    2378, 2699, 3039, 3399, 3778, 4177, 4596, 5036, 5497, 5979, 6483, 7009,
    7558, 8130, 8726, 9346, 9991, 10_661, 11_358, 12_082, 12_834, 13_614, 14_424, 15_265,
    16_137, 17_042, 17_981, 18_955, 19_965, 21_013, 22_101, 23_230, 24_402, 25_618, 26_881, 28_193,
    29_557, 30_975, 32_450, 33_986, 35_586, 37_253, 38_992, 40_808, 42_707, 44_694, 46_776, 48_961,
    51_258, 53_677, 56_230, 58_932, 61_799, 64_851, 68_113, 71_617, 75_401, 79_517, 84_035, 89_053,
];

impl HighspeedOptions {
    /// How far a window of so many segments is from `Low_Window` to `High_Window`, by its logarithm.
    fn share(&self, window: f64) -> f64 {
        libm::log(window / LOW_WINDOW) / libm::log(self.high_window / LOW_WINDOW)
    }

    /// b(w), the share that a loss takes.
    ///
    /// Section 5: "b(w) = (High_Decrease - 0.5) (log(w)-log(W)) / (log(W_1)-log(W)) + 0.5".
    fn decrease(&self, window: f64) -> f64 {
        if window <= LOW_WINDOW {
            return 0.5;
        }
        ((self.high_decrease - 0.5) * self.share(window) + 0.5).clamp(0.0, 1.0)
    }

    /// a(w), the segments a round trip by which the window grows.
    ///
    /// Section 5: "a(w) = w^2 * p(w) * 2 * b(w)/(2-b(w))", with p(w) on the line from `Low_P` to `High_P` by logarithms.
    fn increase(&self, window: f64) -> f64 {
        if window <= LOW_WINDOW {
            return 1.0;
        }
        let b = self.decrease(window);
        let p = LOW_P * libm::pow(self.high_p / LOW_P, self.share(window));
        (window * window * p * 2.0 * b / (2.0 - b)).max(1.0)
    }
}

/// The control of HighSpeed TCP, for any recovery.
#[derive(Clone, Copy, Debug)]
struct Highspeed {
    options: HighspeedOptions,
    /// The row of the table by which cwnd grew last.
    row: usize,
}

impl Highspeed {
    /// Moves to the row of a window of so many segments.
    fn find_row(&mut self, window: u32) {
        while self.row + 1 < ROWS.len() && window > ROWS[self.row] {
            self.row += 1;
        }
        while self.row > 0 && window <= ROWS[self.row - 1] {
            self.row -= 1;
        }
    }

    /// Takes what a loss in a window of `flight` bytes takes; Linux goes by cwnd, and by 256ths.
    fn reduce(&self, w: &mut Window, flight: u32) {
        w.ssthresh = match w.growth {
            Growth::Delivered => {
                let taken = (256.0 * HighspeedOptions::default().decrease(f64::from(ROWS[self.row]))) as u64;
                let cwnd = u64::from(w.segments());
                (cwnd - ((cwnd * taken) >> 8)).max(2) as f64 * w.smss
            }
            Growth::PerAck | Growth::Bytes { .. } => {
                let flight = f64::from(flight);
                ((1.0 - self.options.decrease(flight / w.smss)) * flight).max(2.0 * w.smss)
            }
        };
    }
}

impl Control for Highspeed {
    fn congestion_avoidance(&mut self, w: &mut Window, ack: &Ack<'_>) {
        if w.growth != Growth::Delivered {
            w.cwnd += self.options.increase(w.cwnd / w.smss) * w.avoidance_growth(ack.counted());
            return;
        }
        let cwnd = w.segments();
        self.find_row(cwnd);
        // An ACK counts once, whatever it acknowledges.
        w.counted += self.row as u32 + 1;
        if w.counted >= cwnd {
            w.counted -= cwnd;
            w.cwnd += w.smss;
        }
    }

    fn on_loss(&mut self, w: &mut Window, loss: &Loss) -> Response {
        self.reduce(w, loss.flight);
        w.cwnd = w.ssthresh;
        Response::Reduced
    }

    fn on_congestion_mark(&mut self, w: &mut Window, mark: &Mark) {
        self.reduce(w, mark.flight);
        w.cwnd = w.cwnd.min(w.ssthresh);
    }

    /// The RFC changes nothing of a timeout; Linux takes as much as for a loss.
    fn on_timeout(&mut self, w: &mut Window, timeout: &Timeout) {
        if w.growth != Growth::Delivered {
            return begin_again(w, timeout);
        }
        if !timeout.repeated {
            self.reduce(w, timeout.flight);
        }
        w.cwnd = w.smss;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Record;

    const SMSS: f64 = 1000.0;

    fn made(options: HighspeedOptions) -> Highspeed {
        Highspeed { options, row: 0 }
    }

    fn window(segments: f64, growth: Growth) -> Window {
        Window::new(segments * SMSS, 2.0 * SMSS, SMSS, growth)
    }

    /// Table 3 of the RFC: a(w) and b(w) at windows of Standard TCP, of the table's middle and of its end.
    #[test]
    fn the_response_function_is_that_of_the_rfc() {
        let options = HighspeedOptions::default();
        for (w, a, b) in
            [(38.0, 1, 0.50), (118.0, 2, 0.44), (1058.0, 8, 0.33), (10_661.0, 30, 0.21), (84_035.0, 71, 0.10)]
        {
            let near =
                |found: f64, expected: f64, by: f64| assert!((found - expected).abs() <= by, "{w}: {found}");
            near(options.increase(w), f64::from(a), 0.05 * f64::from(a));
            near(options.decrease(w), b, 0.006);
        }
        assert_eq!((options.increase(10.0), options.decrease(10.0)), (1.0, 0.5));
    }

    #[test]
    fn an_ack_opens_the_window_by_a_of_w_and_a_loss_takes_b_of_w() {
        let (mut control, record) = (made(HighspeedOptions::default()), Record::default());
        let mut w = window(1058.0, Growth::Bytes { limit: 1 });
        let growth = control.options.increase(1058.0) / 1058.0 * SMSS;
        control.congestion_avoidance(&mut w, &Ack { acked: 1000, ..Ack::new(&record) });
        assert!((w.cwnd - 1058.0 * SMSS - growth).abs() < 1e-6);
        let loss = Loss { now: bentpipe_units::Time::ZERO, distance: 0, flight: 1_058_000 };
        control.on_loss(&mut w, &loss);
        assert!((w.ssthresh / 1_058_000.0 - 0.674).abs() < 0.001, "{}", w.ssthresh);
        let timeout = Timeout { now: loss.now, flight: 1_058_000, repeated: false };
        control.on_timeout(&mut w, &timeout);
        assert_eq!((w.cwnd, w.ssthresh), (SMSS, 529_000.0));
    }

    /// Rows of `hstcp_aimd_vals`: the window, and what a loss takes in 256ths.
    #[test]
    fn in_whole_segments_the_table_is_that_of_linux() {
        let mut control = made(HighspeedOptions::default());
        for (row, cwnd, taken) in
            [(0, 38, 128), (1, 118, 112), (7, 1058, 83), (29, 10_661, 52), (71, 89_053, 24)]
        {
            control.find_row(cwnd);
            assert_eq!((control.row, ROWS[row]), (row, cwnd));
            let mut w = window(256_000.0, Growth::Delivered);
            control.reduce(&mut w, 0);
            assert_eq!(w.ssthresh / SMSS, 256_000.0 - 1000.0 * f64::from(taken));
        }
        control.find_row(1_000_000);
        assert_eq!(control.row, 71);
        control.find_row(119);
        assert_eq!(control.row, 2);
    }

    #[test]
    fn in_whole_segments_an_ack_counts_for_as_many_as_its_row_says() {
        let (mut control, record) = (made(HighspeedOptions::default()), Record::default());
        let mut w = window(118.0, Growth::Delivered);
        let ack = Ack { acked: 3000, ..Ack::new(&record) };
        (0..58).for_each(|_| control.congestion_avoidance(&mut w, &ack));
        assert_eq!((w.cwnd, w.counted), (118.0 * SMSS, 116));
        control.congestion_avoidance(&mut w, &ack);
        assert_eq!((w.cwnd, w.counted), (119.0 * SMSS, 0));
    }
}
