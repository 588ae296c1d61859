//! Places with the climate of their rain.

/// A place on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Its name, in small letters.
    pub name: &'static str,
    /// Latitude in degrees; north is positive.
    pub latitude_deg: f64,
    /// Longitude in degrees; east is positive.
    pub longitude_deg: f64,
    /// Height above the sea in km (ITU-R P.1511-2).
    pub altitude_km: f64,
    /// Mean height of rain above the sea in km (ITU-R P.839-4).
    pub rain_height_km: f64,
    /// Rain rate exceeded for 0.01 % of an average year in mm/h (ITU-R P.837-7).
    pub rain_rate_mm_h: f64,
    /// Share of an average year in which it rains, in percent (ITU-R P.837-7).
    pub rain_percent: f64,
}

const fn place(name: &'static str, at: [f64; 2], heights_km: [f64; 2], rain: [f64; 2]) -> Place {
    Place {
        name,
        latitude_deg: at[0],
        longitude_deg: at[1],
        altitude_km: heights_km[0],
        rain_height_km: heights_km[1],
        rain_rate_mm_h: rain[0],
        rain_percent: rain[1],
    }
}

/// Forty places by name: where they are, heights of ground and rain in km, rain rate in mm/h and share of rain in percent. The values
/// are those of the Recommendations' digital maps, interpolated as these say, read with ITU-Rpy 0.4.
#[rustfmt::skip]
pub const PLACES: [Place; 40] = [
    place("ahmedabad", [23.03, 72.58], [0.051, 5.281], [68.6, 1.103]),
    place("athens", [37.98, 23.73], [0.126, 2.449], [25.45, 2.608]),
    place("auckland", [-36.85, 174.76], [0.037, 2.754], [41.77, 6.486]),
    place("bangkok", [13.76, 100.5], [0.007, 5.101], [89.09, 2.218]),
    place("beijing", [39.9, 116.41], [0.047, 4.108], [46.21, 1.819]),
    place("berlin", [52.52, 13.4], [0.043, 2.755], [26.31, 4.858]),
    place("buenos-aires", [-34.6, -58.38], [0.012, 4.184], [47.62, 4.659]),
    place("cairo", [30.04, 31.24], [0.043, 3.389], [5.57, 0.109]),
    place("dallas", [32.78, -96.8], [0.147, 4.224], [50.38, 3.957]),
    place("denver", [39.74, -104.99], [1.613, 4.332], [21.59, 2.377]),
    place("jakarta", [-6.21, 106.85], [0.013, 4.883], [97.05, 4.673]),
    place("johannesburg", [-26.2, 28.05], [1.72, 4.532], [42.11, 2.503]),
    place("kinshasa", [-4.33, 15.31], [0.296, 4.838], [71.05, 3.231]),
    place("kuala-lumpur", [3.15, 101.71], [0.053, 4.958], [99.07, 4.557]),
    place("lagos", [6.52, 3.38], [0.009, 4.871], [83.32, 3.224]),
    place("lima", [-12.05, -77.04], [0.139, 5.317], [6.98, 0.121]),
    place("london", [51.51, -0.13], [0.033, 2.452], [26.44, 5.337]),
    place("madrid", [40.42, -3.7], [0.646, 3.008], [25.27, 3.726]),
    place("manaus", [-3.12, -60.02], [0.03, 4.827], [98.27, 4.431]),
    place("mexico-city", [19.43, -99.13], [2.233, 4.843], [37.65, 3.286]),
    place("miami", [25.76, -80.19], [0.006, 4.57], [78.18, 2.885]),
    place("moscow", [55.76, 37.62], [0.149, 2.738], [26.96, 4.883]),
    place("mumbai", [19.08, 72.88], [0.019, 5.225], [102.67, 4.387]),
    place("nairobi", [-1.29, 36.82], [1.692, 4.945], [45.96, 3.084]),
    place("new-delhi", [28.61, 77.21], [0.226, 5.278], [61.78, 0.981]),
    place("new-york", [40.71, -74.01], [0.009, 3.712], [41.31, 8.788]),
    place("oslo", [59.91, 10.75], [0.085, 2.451], [26.08, 8.158]),
    place("paris", [48.86, 2.35], [0.054, 2.588], [27.36, 5.136]),
    place("reykjavik", [64.15, -21.94], [0.0, 1.234], [21.42, 12.562]),
    place("rome", [41.9, 12.5], [0.045, 3.046], [33.94, 5.272]),
    place("san-francisco", [37.77, -122.42], [0.041, 2.757], [26.31, 4.368]),
    place("sao-paulo", [-23.55, -46.63], [0.751, 4.539], [63.27, 4.143]),
    place("seoul", [37.57, 126.98], [0.076, 3.925], [60.53, 6.023]),
    place("singapore", [1.35, 103.82], [0.032, 4.972], [99.99, 4.307]),
    place("sydney", [-33.87, 151.21], [0.028, 3.424], [46.89, 4.707]),
    place("tokyo", [35.68, 139.69], [0.037, 4.225], [55.93, 7.264]),
    place("toronto", [43.65, -79.38], [0.094, 3.8], [31.08, 6.715]),
    place("toulouse", [43.6, 1.44], [0.151, 3.319], [29.62, 4.827]),
    place("vancouver", [49.28, -123.12], [0.004, 2.706], [31.18, 20.49]),
    place("vienna", [48.21, 16.37], [0.188, 3.184], [28.94, 4.426]),
];

/// The place of this name.
pub fn find(name: &str) -> Option<&'static Place> {
    PLACES.iter().find(|place| place.name == name)
}
