//! Places in axes that turn with the Earth (WGS 84), and stations on its ellipsoid.

use std::f64::consts::PI;

/// The Earth's equatorial radius and flattening (WGS 84).
pub(crate) const EARTH_KM: f64 = 6378.137;
const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// Its gravitational parameter (WGS 84).
pub(crate) const MU_KM3_PER_S2: f64 = 398_600.441_8;
/// Its rotation (WGS 84).
pub(crate) const ROTATION_RAD_PER_S: f64 = 7.292_115e-5;

pub(crate) fn radians(degrees: f64) -> f64 {
    degrees * PI / 180.0
}

/// A place, in km in axes that turn with the Earth.
pub(crate) type Place = [f64; 3];

pub(crate) fn less([a, b, c]: Place, [x, y, z]: Place) -> Place {
    [a - x, b - y, c - z]
}

pub(crate) fn dot([a, b, c]: Place, [x, y, z]: Place) -> f64 {
    a * x + b * y + c * z
}

/// A station on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    pub(crate) place: Place,
    pub(crate) up: Place,
}

impl Station {
    /// At a geodetic latitude and longitude, so many km above the ellipsoid.
    pub fn new(latitude_deg: f64, longitude_deg: f64, altitude_km: f64) -> Station {
        let (latitude, longitude) = (radians(latitude_deg), radians(longitude_deg));
        let (sin, cos) = (libm::sin(latitude), libm::cos(latitude));
        let up = [cos * libm::cos(longitude), cos * libm::sin(longitude), sin];
        let eccentricity2 = FLATTENING * (2.0 - FLATTENING);
        let normal = EARTH_KM / (1.0 - eccentricity2 * sin * sin).sqrt();
        let across = normal + altitude_km;
        let place = [across * up[0], across * up[1], (normal * (1.0 - eccentricity2) + altitude_km) * sin];
        Station { place, up }
    }
}

/// Latitude and longitude in degrees and height in km over the ellipsoid, by Bowring's formula (Survey Review 28, 1985), which is
/// good to a millimetre at these heights.
pub(crate) fn geodetic([x, y, z]: Place) -> (f64, f64, f64) {
    let polar = EARTH_KM * (1.0 - FLATTENING);
    let e2 = FLATTENING * (2.0 - FLATTENING);
    let across = (x * x + y * y).sqrt();
    let radius = (across * across + z * z).sqrt();
    let reduced = libm::atan2(polar * z * (1.0 + e2 / (1.0 - e2) * polar / radius), EARTH_KM * across);
    let (sin, cos) = (libm::sin(reduced), libm::cos(reduced));
    let latitude =
        libm::atan2(z + e2 / (1.0 - e2) * polar * sin * sin * sin, across - e2 * EARTH_KM * cos * cos * cos);
    let (sin, cos) = (libm::sin(latitude), libm::cos(latitude));
    let normal = EARTH_KM / (1.0 - e2 * sin * sin).sqrt();
    let height = across * cos + z * sin - normal * (1.0 - e2 * sin * sin);
    (latitude * 180.0 / PI, libm::atan2(y, x) * 180.0 / PI, height)
}
