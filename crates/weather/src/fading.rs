//! How attenuation by rain goes in time (ITU-R P.1853-2 section 2, after Maseng and Bakken 1981): a lognormal process, driven by noise
//! behind a low-pass filter of the first order.

use bentpipe_path::Stream;
use bentpipe_units::{Fault, fault};

use crate::normal::inverse_tail;
use crate::rain::{SlantPath, within};

/// Parameter of the low-pass filter, in 1/s (P.1853-2 section 2.2, step B).
pub const BETA_PER_S: f64 = 2e-4;

/// Shares of time that the fit goes by, in percent (P.1853-2 section 2.2, step A2).
const PERCENTS: [f64; 13] = [0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0];

/// The lognormal process of a path: A = exp(m + σX) less an offset, and none where that is below zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    /// m: mean of ln A, with A in dB.
    pub mean: f64,
    /// σ: standard deviation of ln A.
    pub deviation: f64,
    /// What is taken off, in dB: so that it rains for the share of time that it does.
    pub offset_db: f64,
}

impl Fading {
    /// The process whose attenuation is exceeded for the times that P.618 says, by least squares, on a path where it rains for
    /// `rain_percent` of an average year.
    pub fn fit(path: &SlantPath, rain_percent: f64) -> Result<Fading, Fault> {
        path.validate()?;
        // Two points make a line.
        within("rain_percent", rain_percent, 0.05, 100.0, "percent")?;
        if path.attenuation_001_db() <= 0.0 {
            let fault = fault!("rain on the path", "none: a rain rate of 0, or rain below the station");
            return Err(fault.under("rain_rate_mm_h"));
        }
        let percents = PERCENTS.iter().filter(|percent| **percent < rain_percent);
        let points: Vec<(f64, f64)> = percents
            .map(|percent| (inverse_tail(percent / 100.0), libm::log(path.attenuation_db(*percent))))
            .collect();
        let count = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let both: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let deviation = both / points.iter().map(|(x, _)| (x - mean_x) * (x - mean_x)).sum::<f64>();
        let mean = mean_y - deviation * mean_x;
        let rain = if rain_percent < 100.0 { inverse_tail(rain_percent / 100.0) } else { f64::NEG_INFINITY };
        Ok(Fading { mean, deviation, offset_db: libm::exp(mean + deviation * rain) })
    }

    fn attenuation_db(&self, x: f64) -> f64 {
        (libm::exp(self.mean + self.deviation * x) - self.offset_db).max(0.0)
    }

    /// Attenuation in dB every `step_s`, `count` times, from any moment of an average year on.
    pub fn series(&self, step_s: f64, count: usize, stream: &mut Stream) -> Vec<f64> {
        let first = stream.normal();
        self.from(first, step_s, stream).take(count).collect()
    }

    /// As [`Fading::series`], where in the middle the attenuation is `peak_db`: what the process does before and after such a moment.
    /// It is not always the most of the series.
    pub fn storm(&self, peak_db: f64, step_s: f64, count: usize, stream: &mut Stream) -> Vec<f64> {
        let peak = (libm::log(peak_db + self.offset_db) - self.mean) / self.deviation;
        let before = count / 2;
        // The process is the same in both directions of time.
        let mut series: Vec<f64> = self.from(peak, step_s, stream).skip(1).take(before).collect();
        series.reverse();
        series.extend(self.from(peak, step_s, stream).take(count - before));
        series
    }

    /// Attenuation from X = `x` on, that of `x` first.
    fn from<'a>(&'a self, mut x: f64, step_s: f64, stream: &'a mut Stream) -> impl Iterator<Item = f64> + 'a {
        let rho = libm::exp(-BETA_PER_S * step_s);
        let noise = (1.0 - rho * rho).sqrt();
        std::iter::from_fn(move || {
            let found = self.attenuation_db(x);
            x = rho * x + noise * stream.normal();
            Some(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use bentpipe_path::Stream;

    use super::Fading;
    use crate::rain::SlantPath;

    const PATH: SlantPath = SlantPath {
        frequency_ghz: 12.0,
        elevation_deg: 40.0,
        tilt_deg: 45.0,
        latitude_deg: 45.0,
        altitude_km: 0.1,
        rain_height_km: 3.0,
        rain_rate_mm_h: 40.0,
    };

    fn fading() -> Fading {
        Fading::fit(&PATH, 5.0).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn it_is_exceeded_for_the_times_that_the_path_says() {
        let series = fading().series(50.0, 4_000_000, &mut Stream::derive(1, "rain"));
        let exceeded =
            |db: f64| series.iter().filter(|found| **found > db).count() as f64 / series.len() as f64 * 100.0;
        let rain = exceeded(0.0);
        assert!((rain / 5.0 - 1.0).abs() < 0.05, "{rain} %");
        // The offset and the fit of a line leave this much between them.
        for percent in [0.01, 0.1, 0.3] {
            let found = exceeded(PATH.attenuation_db(percent));
            assert!((found / percent - 1.0).abs() < 0.25, "{percent} %: {found} %");
        }
    }

    #[test]
    fn it_forgets_with_the_time_of_the_filter() {
        let (fading, step_s) = (Fading { mean: 0.0, deviation: 1.0, offset_db: 0.0 }, 500.0);
        let x: Vec<f64> = fading
            .series(step_s, 400_000, &mut Stream::derive(2, "rain"))
            .into_iter()
            .map(libm::log)
            .collect();
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / x.len() as f64;
        let [first, second] = [mean(&mut x.iter().copied()), mean(&mut x.iter().map(|x| x * x))];
        assert!(first.abs() < 0.02 && (second - 1.0).abs() < 0.02, "{first} {second}");
        // After 5000 s, the correlation is 1/e.
        let later = mean(&mut x.iter().zip(&x[10..]).map(|(x, later)| x * later));
        assert!((later - libm::exp(-1.0)).abs() < 0.02, "{later}");
    }

    #[test]
    fn a_storm_has_its_peak_in_the_middle() {
        let series = fading().storm(12.0, 10.0, 721, &mut Stream::derive(3, "rain"));
        assert_eq!(series.len(), 721);
        assert!((series[360] - 12.0).abs() < 1e-9, "{}", series[360]);
        assert!(series[359] != series[361], "the two sides have the same noise");
        assert_eq!(series, fading().storm(12.0, 10.0, 721, &mut Stream::derive(3, "rain")));
        assert_eq!(fading().storm(12.0, 10.0, 1, &mut Stream::derive(3, "rain")).len(), 1);
    }

    #[test]
    fn without_rain_there_is_no_process() {
        let dry = SlantPath { rain_rate_mm_h: 0.0, ..PATH };
        assert_eq!(
            Fading::fit(&dry, 5.0).map_err(|fault| fault.path),
            Err(vec!["rain_rate_mm_h".to_owned()])
        );
        assert_eq!(
            Fading::fit(&PATH, 0.02).map_err(|fault| fault.path),
            Err(vec!["rain_percent".to_owned()])
        );
        assert!(Fading::fit(&PATH, 100.0).is_ok_and(|fading| fading.offset_db == 0.0));
    }
}
