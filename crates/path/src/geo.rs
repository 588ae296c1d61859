//! Where a geostationary satellite stands as seen from a station, and how long a signal takes to it.

use std::f64::consts::PI;

use bentpipe_units::{Fault, Span, fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The speed of light in vacuum in m/s (exact by the definition of the metre).
pub const SPEED_OF_LIGHT_M_PER_S: f64 = 299_792_458.0;

/// The speed of light that the `sack` document calculates with, in m/s (its equation 1).
pub const SACK_SPEED_OF_LIGHT_M_PER_S: f64 = 3e8;

/// The Earth, the orbit and the speed of light that a calculation rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeoModel {
    /// Radius of the Earth, taken as a sphere, in km.
    pub earth_radius_km: f64,
    /// Radius of the orbit, from the Earth's centre, in km.
    pub orbit_radius_km: f64,
    /// Speed of light in m/s.
    pub light_m_per_s: f64,
}

impl GeoModel {
    /// The Earth's equatorial radius (WGS 84) and the radius at which an orbit takes one sidereal day.
    pub const PHYSICAL: GeoModel = GeoModel {
        earth_radius_km: 6378.137,
        orbit_radius_km: 42_164.17,
        light_m_per_s: SPEED_OF_LIGHT_M_PER_S,
    };

    /// The values of the `sack` document, section 6.
    pub const SACK: GeoModel = GeoModel {
        earth_radius_km: 6370.0,
        orbit_radius_km: 42_242.0,
        light_m_per_s: SACK_SPEED_OF_LIGHT_M_PER_S,
    };

    /// Distance in km to a satellite at the central angle whose cosine is `cos_gamma` (`sack`, equation 2: the law of cosines
    /// in the triangle of station, satellite and the Earth's centre).
    pub fn slant_range_km(&self, cos_gamma: f64) -> f64 {
        let ratio = self.earth_radius_km / self.orbit_radius_km;
        self.orbit_radius_km * (1.0 + ratio * ratio - 2.0 * ratio * cos_gamma).sqrt()
    }

    /// Elevation in degrees above the horizon of a satellite at the central angle whose cosine is `cos_gamma`; negative
    /// when the Earth is in between.
    pub fn elevation_deg(&self, cos_gamma: f64) -> f64 {
        let sin_gamma = (1.0 - cos_gamma * cos_gamma).max(0.0).sqrt();
        let ratio = self.earth_radius_km / self.orbit_radius_km;
        libm::atan2(cos_gamma - ratio, sin_gamma) * (180.0 / PI)
    }

    /// Distance in km to a satellite `elevation_deg` degrees above the horizon.
    pub fn slant_range_at_elevation_km(&self, elevation_deg: f64) -> f64 {
        let elevation = elevation_deg * (PI / 180.0);
        let across = self.earth_radius_km * libm::cos(elevation);
        (self.orbit_radius_km * self.orbit_radius_km - across * across).sqrt()
            - self.earth_radius_km * libm::sin(elevation)
    }

    /// Time that a signal takes over `km`.
    pub fn delay(&self, km: f64) -> Span {
        Span::from_secs(km * 1e3 / self.light_m_per_s)
    }
}

/// The hop between a station on the ground and a geostationary satellite.
///
/// Longitudes count eastward; west is negative (or 180 to 360).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeoHop {
    /// Latitude of the station in degrees, -90 to 90; north is positive.
    #[schemars(range(min = -90, max = 90))]
    pub latitude_deg: f64,
    /// Longitude of the station in degrees, -180 to 360; east is positive.
    #[schemars(range(min = -180, max = 360))]
    pub longitude_deg: f64,
    /// Longitude of the point on the equator below the satellite in degrees, -180 to 360; east is positive.
    #[schemars(range(min = -180, max = 360))]
    pub satellite_longitude_deg: f64,
}

fn within(key: &'static str, value: f64, min: f64, max: f64) -> Result<f64, Fault> {
    if (min..=max).contains(&value) {
        return Ok(value * (PI / 180.0));
    }
    Err(fault!("degrees from {min} to {max}", "{value}").under(key))
}

impl GeoHop {
    /// The cosine of the central angle between station and satellite (`sack`, equation 3).
    ///
    /// An angle outside its range is an error.
    pub fn cos_central_angle(&self) -> Result<f64, Fault> {
        let latitude = within("latitude_deg", self.latitude_deg, -90.0, 90.0)?;
        let longitude = within("longitude_deg", self.longitude_deg, -180.0, 360.0)?;
        let satellite = within("satellite_longitude_deg", self.satellite_longitude_deg, -180.0, 360.0)?;
        Ok(libm::cos(latitude) * libm::cos(longitude - satellite))
    }

    /// Elevation of the satellite in degrees above the station's horizon; negative when it cannot be seen.
    ///
    /// An angle outside its range is an error.
    pub fn elevation_deg(&self, model: &GeoModel) -> Result<f64, Fault> {
        Ok(model.elevation_deg(self.cos_central_angle()?))
    }

    /// Distance from the station to the satellite in km.
    ///
    /// An angle outside its range, or a satellite below the horizon, is an error.
    pub fn slant_range_km(&self, model: &GeoModel) -> Result<f64, Fault> {
        let cos_gamma = self.cos_central_angle()?;
        let elevation = model.elevation_deg(cos_gamma);
        if elevation < 0.0 {
            let (at, below) = (self.satellite_longitude_deg, -elevation);
            let fault = fault!(
                "a satellite above the station's horizon",
                "one at {at} degrees seen {below:.1} degrees below it"
            );
            return Err(fault.under("satellite_longitude_deg"));
        }
        Ok(model.slant_range_km(cos_gamma))
    }

    /// Propagation delay between station and satellite, one way.
    ///
    /// An angle outside its range, or a satellite below the horizon, is an error.
    pub fn one_way_delay(&self, model: &GeoModel) -> Result<Span, Fault> {
        Ok(model.delay(self.slant_range_km(model)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(latitude_deg: f64, longitude_deg: f64, satellite_longitude_deg: f64) -> GeoHop {
        GeoHop { latitude_deg, longitude_deg, satellite_longitude_deg }
    }

    fn assert_near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found}, expected {expected}");
    }

    #[test]
    fn straight_below_the_satellite_the_range_is_the_height() {
        let below = hop(0.0, 19.2, 19.2);
        assert_near(below.slant_range_km(&GeoModel::SACK).unwrap(), 35_872.0, 1e-6);
        assert_near(below.elevation_deg(&GeoModel::SACK).unwrap(), 90.0, 1e-9);
        assert_near(below.slant_range_km(&GeoModel::PHYSICAL).unwrap(), 35_786.03, 0.01);
    }

    #[test]
    fn on_the_horizon_the_range_is_the_tangent() {
        let model = GeoModel::SACK;
        let cos_gamma = model.earth_radius_km / model.orbit_radius_km;
        assert_near(model.elevation_deg(cos_gamma), 0.0, 1e-12);
        assert_near(model.slant_range_km(cos_gamma), 41_759.0, 0.1);
        assert_near(model.slant_range_at_elevation_km(0.0), model.slant_range_km(cos_gamma), 1e-6);
    }

    /// The `sack` document calls 41,127 km the maximum. With its own radii that is the range at 5.74 degrees; it is the range
    /// at the customary lowest elevation of 5 degrees with the usual radii, 6378 km and 42,164 km.
    #[test]
    fn the_maximum_of_the_sack_document_is_not_at_the_horizon() {
        assert_near(GeoModel::SACK.slant_range_at_elevation_km(5.737), 41_127.0, 0.1);
        assert_near(GeoModel::PHYSICAL.slant_range_at_elevation_km(5.0), 41_127.0, 0.6);
        let round_trip = GeoModel::SACK.delay(2.0 * 41_127.0);
        assert_eq!(round_trip, Span::from_nanos(274_180_000));
    }

    // sack, equation 3: central angle from latitude and longitudes
    #[test]
    fn range_and_elevation_agree_for_every_place_that_sees_the_satellite() {
        for model in [GeoModel::SACK, GeoModel::PHYSICAL] {
            for latitude in (-80..=80).step_by(5) {
                for east in (-80..=80).step_by(5) {
                    let hop = hop(f64::from(latitude), 100.0 + f64::from(east), 100.0);
                    let elevation = hop.elevation_deg(&model).unwrap();
                    match hop.slant_range_km(&model) {
                        Ok(range) => assert_near(range, model.slant_range_at_elevation_km(elevation), 1e-6),
                        Err(_) => assert!(elevation < 0.0),
                    }
                }
            }
        }
    }

    #[test]
    fn the_distance_is_the_one_between_two_points_in_space() {
        let model = GeoModel::PHYSICAL;
        let (latitude, longitude, satellite) =
            (48.2_f64.to_radians(), 16.4_f64.to_radians(), 9.0_f64.to_radians());
        let (re, rs) = (model.earth_radius_km, model.orbit_radius_km);
        let (cos, sin) = (libm::cos, libm::sin);
        let x = re * cos(latitude) * cos(longitude) - rs * cos(satellite);
        let y = re * cos(latitude) * sin(longitude) - rs * sin(satellite);
        let z = re * sin(latitude);
        let expected = (x * x + y * y + z * z).sqrt();
        assert_near(hop(48.2, 16.4, 9.0).slant_range_km(&model).unwrap(), expected, 1e-6);
    }

    #[test]
    fn west_may_be_written_either_way() {
        let west = hop(40.0, -75.0, -100.0).one_way_delay(&GeoModel::PHYSICAL).unwrap();
        assert_eq!(hop(40.0, 285.0, 260.0).one_way_delay(&GeoModel::PHYSICAL), Ok(west));
        assert!(west > Span::from_millis(119) && west < Span::from_millis(140), "{west}");
    }

    #[test]
    fn impossible_places_name_their_key() {
        for (hop, message) in [
            (hop(95.0, 0.0, 0.0), "latitude_deg: expected degrees from -90 to 90, found 95"),
            (hop(f64::NAN, 0.0, 0.0), "latitude_deg: expected degrees from -90 to 90, found NaN"),
            (hop(0.0, -181.0, 0.0), "longitude_deg: expected degrees from -180 to 360, found -181"),
            (hop(0.0, 0.0, 400.0), "satellite_longitude_deg: expected degrees from -180 to 360, found 400"),
            (
                hop(0.0, 0.0, 180.0),
                "satellite_longitude_deg: expected a satellite above the station's horizon, \
                 found one at 180 degrees seen 90.0 degrees below it",
            ),
        ] {
            assert_eq!(hop.one_way_delay(&GeoModel::PHYSICAL).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn scenarios_write_a_hop_as_a_table() {
        let json = r#"{"latitude_deg":48,"longitude_deg":16.5,"satellite_longitude_deg":9}"#;
        assert_eq!(serde_json::from_str::<GeoHop>(json).unwrap(), hop(48.0, 16.5, 9.0));
        let error = serde_json::from_str::<GeoHop>(r#"{"latitude":48}"#).unwrap_err().to_string();
        assert!(error.contains("unknown field `latitude`, expected one of `latitude_deg`"), "{error}");
    }
}
