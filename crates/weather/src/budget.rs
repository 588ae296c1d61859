//! What is left of a signal behind a satellite link: gains, losses and noise in dB.

use std::f64::consts::PI;

/// Boltzmann's constant in J/K (exact by the definition of the kelvin).
const BOLTZMANN_J_PER_K: f64 = 1.380_649e-23;

/// Temperature of the medium in K, where that at the ground is not known (ITU-R P.618-13 section 3).
const MEDIUM_K: f64 = 275.0;

/// Temperature of the sky behind the atmosphere in K (ITU-R P.618-13 section 3).
const COSMIC_K: f64 = 2.7;

/// Speed of light in m/s.
const LIGHT_M_PER_S: f64 = bentpipe_path::SPEED_OF_LIGHT_M_PER_S;

/// 10 log₁₀ of a ratio.
pub fn to_db(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}

/// The ratio of so many dB.
pub fn from_db(db: f64) -> f64 {
    libm::pow(10.0, db / 10.0)
}

/// Loss in free space in dB over `distance_km` at `frequency_ghz`: 20 log₁₀(4πdf/c) (ITU-R P.525-4 section 2.3).
pub fn free_space_db(distance_km: f64, frequency_ghz: f64) -> f64 {
    20.0 * libm::log10(4.0 * PI * distance_km * 1e3 * frequency_ghz * 1e9 / LIGHT_M_PER_S)
}

/// Gain of a dish in dBi: 10 log₁₀(η(πDf/c)²), with its diameter D in m and its efficiency η.
pub fn dish_gain_db(diameter_m: f64, efficiency: f64, frequency_ghz: f64) -> f64 {
    let waves = PI * diameter_m * frequency_ghz * 1e9 / LIGHT_M_PER_S;
    to_db(efficiency * waves * waves)
}

/// Noise temperature of a sky seen through `attenuation_db`, in K (ITU-R P.618-13 section 3).
pub fn sky_k(attenuation_db: f64) -> f64 {
    let through = from_db(-attenuation_db);
    MEDIUM_K * (1.0 - through) + COSMIC_K * through
}

/// A carrier on its way down to a dish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Downlink {
    /// Power of the satellite with the gain of its antenna towards the station, in dBW.
    pub eirp_dbw: f64,
    /// Gain of the dish in dBi.
    pub gain_db: f64,
    /// Noise temperature of the receiving system in clear sky, in K.
    pub noise_k: f64,
    /// Distance to the satellite in km.
    pub distance_km: f64,
    /// Frequency in GHz.
    pub frequency_ghz: f64,
    /// Attenuation by gases in clear sky, in dB.
    pub atmosphere_db: f64,
    /// Carrier to noise density of the uplink in dBHz; infinite where the uplink adds no noise.
    pub uplink_dbhz: f64,
}

impl Downlink {
    /// Gain over noise temperature in clear sky, in dB/K.
    pub fn gain_over_temperature_db(&self) -> f64 {
        self.gain_db - to_db(self.noise_k)
    }

    /// Carrier to noise density C/N₀ in dBHz while rain takes `rain_db`. Rain weakens the carrier and adds to the noise of the sky.
    pub fn carrier_to_density_dbhz(&self, rain_db: f64) -> f64 {
        let warmer_k = sky_k(self.atmosphere_db + rain_db) - sky_k(self.atmosphere_db);
        let down = self.eirp_dbw + self.gain_db
            - free_space_db(self.distance_km, self.frequency_ghz)
            - self.atmosphere_db
            - rain_db
            - to_db(BOLTZMANN_J_PER_K * (self.noise_k + warmer_k));
        -to_db(from_db(-down) + from_db(-self.uplink_dbhz))
    }
}

#[cfg(test)]
mod tests {
    use super::{Downlink, dish_gain_db, free_space_db, sky_k};

    const DOWNLINK: Downlink = Downlink {
        eirp_dbw: 50.0,
        gain_db: 40.0,
        noise_k: 100.0,
        distance_km: 38_000.0,
        frequency_ghz: 12.0,
        atmosphere_db: 0.0,
        uplink_dbhz: f64::INFINITY,
    };

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.005, "{found}, expected {expected}");
    }

    #[test]
    fn loss_and_gain_are_those_of_the_tables() {
        // 32.45 + 20 log f/MHz + 20 log d/km (P.525).
        near(free_space_db(1.0, 0.001), 32.448);
        near(free_space_db(38_000.0, 12.0), 32.448 + 81.584 + 91.596);
        // A metre at 12 GHz is 40 waves long.
        near(dish_gain_db(1.0, 1.0, 12.0), 41.991);
        near(dish_gain_db(2.0, 0.5, 12.0), 45.001);
    }

    #[test]
    fn a_budget_is_the_sum_of_its_parts() {
        // 50 + 20 - 205.628 + 228.599.
        near(DOWNLINK.gain_over_temperature_db(), 20.0);
        near(DOWNLINK.carrier_to_density_dbhz(0.0), 92.971);
        let uplink = Downlink { uplink_dbhz: 92.971, ..DOWNLINK };
        near(uplink.carrier_to_density_dbhz(0.0), 92.971 - 3.0103);
    }

    #[test]
    fn rain_weakens_the_carrier_and_warms_the_sky() {
        near(sky_k(0.0), 2.7);
        near(sky_k(300.0), 275.0);
        // Half of 275 K and half of 2.7 K, less 2.7 K: 136 K more noise beside 100 K.
        near(DOWNLINK.carrier_to_density_dbhz(3.0103), 92.971 - 3.0103 - 3.7337);
        // What the gases took before, rain does not warm again.
        let hazy = Downlink { atmosphere_db: 3.0103, ..DOWNLINK };
        near(hazy.carrier_to_density_dbhz(0.0), 92.971 - 3.0103);
    }
}
