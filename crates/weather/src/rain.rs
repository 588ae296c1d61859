//! Attenuation by rain: per kilometre (ITU-R P.838-3), and on the slant path to a satellite (ITU-R P.618-13 section 2.2.1.1).

use std::f64::consts::PI;

use bentpipe_units::{Fault, fault};

/// Radius of the Earth that refraction leaves, in km (P.618-13 section 2.2.1.1).
const EFFECTIVE_RADIUS_KM: f64 = 8500.0;

/// What a coefficient is the sum of, over the logarithm of the frequency: a, b and c of each bell curve, and m and c of the line.
struct Curve {
    bells: &'static [[f64; 3]],
    slope: f64,
    offset: f64,
}

/// P.838-3, tables 1 to 4.
const K_HORIZONTAL: Curve = Curve {
    bells: &[
        [-5.33980, -0.10008, 1.13098],
        [-0.35351, 1.26970, 0.45400],
        [-0.23789, 0.86036, 0.15354],
        [-0.94158, 0.64552, 0.16817],
    ],
    slope: -0.18961,
    offset: 0.71147,
};
const K_VERTICAL: Curve = Curve {
    bells: &[
        [-3.80595, 0.56934, 0.81061],
        [-3.44965, -0.22911, 0.51059],
        [-0.39902, 0.73042, 0.11899],
        [0.50167, 1.07319, 0.27195],
    ],
    slope: -0.16398,
    offset: 0.63297,
};
const ALPHA_HORIZONTAL: Curve = Curve {
    bells: &[
        [-0.14318, 1.82442, -0.55187],
        [0.29591, 0.77564, 0.19822],
        [0.32177, 0.63773, 0.13164],
        [-5.37610, -0.96230, 1.47828],
        [16.1721, -3.29980, 3.43990],
    ],
    slope: 0.67849,
    offset: -1.95537,
};
const ALPHA_VERTICAL: Curve = Curve {
    bells: &[
        [-0.07771, 2.33840, -0.76284],
        [0.56727, 0.95545, 0.54039],
        [-0.20238, 1.14520, 0.26809],
        [-48.2991, 0.791669, 0.116226],
        [48.5833, 0.791459, 0.116479],
    ],
    slope: -0.053739,
    offset: 0.83433,
};

impl Curve {
    fn at(&self, frequency_ghz: f64) -> f64 {
        let log = libm::log10(frequency_ghz);
        let bell = |[a, b, c]: &[f64; 3]| {
            let x = (log - b) / c;
            a * libm::exp(-x * x)
        };
        self.bells.iter().map(bell).sum::<f64>() + self.slope * log + self.offset
    }
}

fn degrees(angle_deg: f64) -> f64 {
    angle_deg * (PI / 180.0)
}

/// k and α of the specific attenuation γ = k R^α in dB/km, for a rain rate R in mm/h (P.838-3, equations 2 to 5).
///
/// The polarization is tilted by `tilt_deg` from the horizontal: 0 is horizontal, 90 vertical, 45 circular.
pub fn specific_coefficients(frequency_ghz: f64, elevation_deg: f64, tilt_deg: f64) -> (f64, f64) {
    let power = |curve: &Curve| libm::pow(10.0, curve.at(frequency_ghz));
    let (kh, kv) = (power(&K_HORIZONTAL), power(&K_VERTICAL));
    let (ah, av) = (ALPHA_HORIZONTAL.at(frequency_ghz), ALPHA_VERTICAL.at(frequency_ghz));
    let across = libm::cos(degrees(elevation_deg));
    let weight = across * across * libm::cos(2.0 * degrees(tilt_deg));
    let k = (kh + kv + (kh - kv) * weight) / 2.0;
    let alpha = (kh * ah + kv * av + (kh * ah - kv * av) * weight) / (2.0 * k);
    (k, alpha)
}

/// Height of rain in km above the sea by latitude alone, in degrees (ITU-R P.839-2, its 0 °C isotherm taken for it): for places of which
/// no map value is at hand. The maps of P.839-4 differ from it by 0.34 km on average over the places of [`crate::places`].
pub fn rain_height_km(latitude_deg: f64) -> f64 {
    match latitude_deg {
        north if north > 23.0 => (5.0 - 0.075 * (north - 23.0)).max(0.0),
        south if south < -21.0 => (5.0 + 0.1 * (south + 21.0)).max(0.0),
        _ => 5.0,
    }
}

/// The way from a station through the rain to a satellite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlantPath {
    /// Frequency in GHz, 1 to 55.
    pub frequency_ghz: f64,
    /// Elevation of the satellite in degrees, above 0 to 90.
    pub elevation_deg: f64,
    /// Tilt of the polarization from the horizontal in degrees, 0 to 90; 45 for a circular one.
    pub tilt_deg: f64,
    /// Latitude of the station in degrees, -90 to 90.
    pub latitude_deg: f64,
    /// Height of the station above the sea in km, -0.5 to 9.
    pub altitude_km: f64,
    /// Height of the rain above the sea in km, 0 to 10.
    pub rain_height_km: f64,
    /// Rain rate exceeded for 0.01 % of an average year, in mm/h, 0 to 250.
    pub rain_rate_mm_h: f64,
}

/// An error where `value` is not from `least` to `most`.
pub(crate) fn within(key: &'static str, value: f64, least: f64, most: f64, unit: &str) -> Result<(), Fault> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => {
            let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
            Err(fault!("{least} to {most}{unit}", "{value}").under(key))
        }
    }
}

impl SlantPath {
    /// Whether every number is one that the Recommendations are for.
    pub fn validate(&self) -> Result<(), Fault> {
        within("frequency_ghz", self.frequency_ghz, 1.0, 55.0, "GHz")?;
        within("elevation_deg", self.elevation_deg, 0.1, 90.0, "degrees")?;
        within("tilt_deg", self.tilt_deg, 0.0, 90.0, "degrees")?;
        within("latitude_deg", self.latitude_deg, -90.0, 90.0, "degrees")?;
        within("altitude_km", self.altitude_km, -0.5, 9.0, "km")?;
        within("rain_height_km", self.rain_height_km, 0.0, 10.0, "km")?;
        within("rain_rate_mm_h", self.rain_rate_mm_h, 0.0, 250.0, "mm/h")
    }

    /// Attenuation in dB exceeded for 0.01 % of an average year (P.618-13 section 2.2.1.1, steps 2 to 9).
    pub fn attenuation_001_db(&self) -> f64 {
        let depth = self.rain_height_km - self.altitude_km;
        let (k, alpha) = specific_coefficients(self.frequency_ghz, self.elevation_deg, self.tilt_deg);
        let gamma = k * libm::pow(self.rain_rate_mm_h, alpha);
        if depth <= 0.0 || self.rain_rate_mm_h == 0.0 {
            return 0.0;
        }
        let (sin, cos) = (libm::sin(degrees(self.elevation_deg)), libm::cos(degrees(self.elevation_deg)));
        let slant = match self.elevation_deg >= 5.0 {
            true => depth / sin,
            false => 2.0 * depth / ((sin * sin + 2.0 * depth / EFFECTIVE_RADIUS_KM).sqrt() + sin),
        };
        let ground = slant * cos;
        let horizontal = 1.0
            / (1.0 + 0.78 * (ground * gamma / self.frequency_ghz).sqrt()
                - 0.38 * (1.0 - libm::exp(-2.0 * ground)));
        let zeta = libm::atan2(depth, ground * horizontal);
        let reduced = match zeta > degrees(self.elevation_deg) {
            true => ground * horizontal / cos,
            false => depth / sin,
        };
        let chi = (36.0 - self.latitude_deg.abs()).max(0.0);
        let frequency_2 = self.frequency_ghz * self.frequency_ghz;
        let vertical = 1.0
            / (1.0
                + sin.sqrt()
                    * (31.0
                        * (1.0 - libm::exp(-self.elevation_deg / (1.0 + chi)))
                        * (reduced * gamma).sqrt()
                        / frequency_2
                        - 0.45));
        gamma * reduced * vertical
    }

    /// Attenuation in dB exceeded for `percent` of an average year, 0.001 to 5 (P.618-13 section 2.2.1.1, step 10).
    pub fn attenuation_db(&self, percent: f64) -> f64 {
        let at_001 = self.attenuation_001_db();
        if at_001 <= 0.0 {
            return 0.0;
        }
        let sin = libm::sin(degrees(self.elevation_deg));
        let latitude = self.latitude_deg.abs();
        let beta = if percent >= 1.0 || latitude >= 36.0 {
            0.0
        } else if self.elevation_deg >= 25.0 {
            -0.005 * (latitude - 36.0)
        } else {
            -0.005 * (latitude - 36.0) + 1.8 - 4.25 * sin
        };
        let exponent =
            0.655 + 0.033 * libm::log(percent) - 0.045 * libm::log(at_001) - beta * (1.0 - percent) * sin;
        at_001 * libm::pow(percent / 0.01, -exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::{SlantPath, rain_height_km};
    use crate::places::PLACES;

    const AHMEDABAD: SlantPath = SlantPath {
        frequency_ghz: 11.012,
        elevation_deg: 55.0,
        tilt_deg: 90.0,
        latitude_deg: 23.03,
        altitude_km: 0.051,
        rain_height_km: 5.281,
        rain_rate_mm_h: 68.6,
    };

    #[test]
    fn more_rain_attenuates_more_and_none_not_at_all() {
        let at = |rate| SlantPath { rain_rate_mm_h: rate, ..AHMEDABAD }.attenuation_db(0.01);
        assert_eq!(at(0.0), 0.0);
        assert!(at(5.0) > 0.0 && at(50.0) > at(20.0) && at(20.0) > at(5.0));
        let above = SlantPath { altitude_km: 5.5, ..AHMEDABAD };
        assert_eq!(above.attenuation_db(0.1), 0.0);
        let [often, rare] = [1.0, 0.01].map(|percent| AHMEDABAD.attenuation_db(percent));
        assert!(rare > 3.0 * often, "{rare} {often}");
        assert_eq!(AHMEDABAD.attenuation_db(0.01), AHMEDABAD.attenuation_001_db());
    }

    #[test]
    fn the_height_of_rain_by_latitude_is_near_the_maps() {
        assert_eq!([0.0, 23.0, -21.0].map(rain_height_km), [5.0; 3]);
        assert!((rain_height_km(43.0) - 3.5).abs() < 1e-12 && (rain_height_km(-41.0) - 3.0).abs() < 1e-12);
        assert_eq!([90.0, -90.0].map(rain_height_km), [0.0; 2]);
        let off =
            |place: &crate::places::Place| (rain_height_km(place.latitude_deg) - place.rain_height_km).abs();
        let mean = PLACES.iter().map(off).sum::<f64>() / PLACES.len() as f64;
        assert!((mean - 0.34).abs() < 0.01, "{mean}");
    }

    #[test]
    fn what_the_recommendation_is_not_for_is_named() {
        let wrong = SlantPath { frequency_ghz: 70.0, ..AHMEDABAD }.validate();
        assert_eq!(
            wrong.map_err(|error| error.to_string()),
            Err("frequency_ghz: expected 1 to 55 GHz, found 70".to_owned())
        );
        let wrong = SlantPath { elevation_deg: f64::NAN, ..AHMEDABAD }.validate();
        assert_eq!(wrong.map_err(|fault| fault.path), Err(vec!["elevation_deg".to_owned()]));
    }
}
