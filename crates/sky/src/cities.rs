//! Cities that stations may be named after.

/// Name, latitude and longitude of the centre in degrees, rounded to 0.01 degrees, about a kilometre; by name.
pub const CITIES: [(&str, f64, f64); 129] = [
    ("Abidjan", 5.36, -4.01),
    ("Abu Dhabi", 24.45, 54.38),
    ("Accra", 5.56, -0.20),
    ("Addis Ababa", 9.03, 38.74),
    ("Adelaide", -34.93, 138.60),
    ("Algiers", 36.75, 3.06),
    ("Almaty", 43.24, 76.89),
    ("Amsterdam", 52.37, 4.90),
    ("Anchorage", 61.22, -149.90),
    ("Ankara", 39.93, 32.86),
    ("Antananarivo", -18.88, 47.51),
    ("Athens", 37.98, 23.73),
    ("Atlanta", 33.75, -84.39),
    ("Auckland", -36.85, 174.76),
    ("Baghdad", 33.31, 44.36),
    ("Bangkok", 13.76, 100.50),
    ("Beijing", 39.90, 116.41),
    ("Belo Horizonte", -19.92, -43.94),
    ("Bengaluru", 12.97, 77.59),
    ("Berlin", 52.52, 13.41),
    ("Bogota", 4.71, -74.07),
    ("Brasilia", -15.79, -47.88),
    ("Brisbane", -27.47, 153.03),
    ("Brussels", 50.85, 4.35),
    ("Bucharest", 44.43, 26.10),
    ("Budapest", 47.50, 19.04),
    ("Buenos Aires", -34.60, -58.38),
    ("Cairo", 30.04, 31.24),
    ("Cape Town", -33.92, 18.42),
    ("Caracas", 10.48, -66.90),
    ("Casablanca", 33.57, -7.59),
    ("Chengdu", 30.57, 104.07),
    ("Chennai", 13.08, 80.27),
    ("Chicago", 41.88, -87.63),
    ("Copenhagen", 55.68, 12.57),
    ("Dakar", 14.72, -17.47),
    ("Dalian", 38.91, 121.61),
    ("Dallas", 32.78, -96.80),
    ("Dar es Salaam", -6.79, 39.21),
    ("Delhi", 28.61, 77.21),
    ("Denver", 39.74, -104.99),
    ("Dhaka", 23.81, 90.41),
    ("Dubai", 25.20, 55.27),
    ("Dublin", 53.35, -6.26),
    ("Frankfurt", 50.11, 8.68),
    ("Guangzhou", 23.13, 113.26),
    ("Hanoi", 21.03, 105.85),
    ("Havana", 23.11, -82.37),
    ("Helsinki", 60.17, 24.94),
    ("Ho Chi Minh City", 10.82, 106.63),
    ("Hong Kong", 22.32, 114.17),
    ("Honolulu", 21.31, -157.86),
    ("Houston", 29.76, -95.37),
    ("Hyderabad", 17.39, 78.49),
    ("Istanbul", 41.01, 28.98),
    ("Jakarta", -6.21, 106.85),
    ("Johannesburg", -26.20, 28.05),
    ("Karachi", 24.86, 67.00),
    ("Khartoum", 15.50, 32.56),
    ("Kinshasa", -4.44, 15.27),
    ("Kolkata", 22.57, 88.36),
    ("Kuala Lumpur", 3.15, 101.69),
    ("Kyiv", 50.45, 30.52),
    ("Lagos", 6.52, 3.38),
    ("Lahore", 31.55, 74.34),
    ("Lima", -12.05, -77.04),
    ("Lisbon", 38.72, -9.14),
    ("London", 51.51, -0.13),
    ("Los Angeles", 34.05, -118.24),
    ("Luanda", -8.84, 13.23),
    ("Madrid", 40.42, -3.70),
    ("Manila", 14.60, 120.98),
    ("Medellin", 6.24, -75.58),
    ("Melbourne", -37.81, 144.96),
    ("Mexico City", 19.43, -99.13),
    ("Miami", 25.76, -80.19),
    ("Milan", 45.46, 9.19),
    ("Minneapolis", 44.98, -93.27),
    ("Montreal", 45.50, -73.57),
    ("Moscow", 55.76, 37.62),
    ("Mumbai", 19.08, 72.88),
    ("Munich", 48.14, 11.58),
    ("Nairobi", -1.29, 36.82),
    ("New York", 40.71, -74.01),
    ("Nuuk", 64.18, -51.72),
    ("Osaka", 34.69, 135.50),
    ("Oslo", 59.91, 10.75),
    ("Panama City", 8.98, -79.52),
    ("Paris", 48.86, 2.35),
    ("Perth", -31.95, 115.86),
    ("Phoenix", 33.45, -112.07),
    ("Prague", 50.08, 14.44),
    ("Pretoria", -25.75, 28.19),
    ("Punta Arenas", -53.16, -70.91),
    ("Quito", -0.18, -78.47),
    ("Reykjavik", 64.15, -21.94),
    ("Rio de Janeiro", -22.91, -43.17),
    ("Riyadh", 24.71, 46.68),
    ("Rome", 41.90, 12.50),
    ("Saint Petersburg", 59.93, 30.34),
    ("Salvador", -12.97, -38.50),
    ("San Francisco", 37.77, -122.42),
    ("Santiago", -33.45, -70.67),
    ("Santo Domingo", 18.49, -69.93),
    ("Sao Paulo", -23.55, -46.63),
    ("Seattle", 47.61, -122.33),
    ("Seoul", 37.57, 126.98),
    ("Shanghai", 31.23, 121.47),
    ("Shenzhen", 22.54, 114.06),
    ("Singapore", 1.35, 103.82),
    ("Stockholm", 59.33, 18.07),
    ("Suva", -18.14, 178.44),
    ("Sydney", -33.87, 151.21),
    ("Taipei", 25.03, 121.57),
    ("Tashkent", 41.30, 69.24),
    ("Tehran", 35.69, 51.39),
    ("Tel Aviv", 32.09, 34.78),
    ("Tokyo", 35.68, 139.69),
    ("Toronto", 43.65, -79.38),
    ("Tromso", 69.65, 18.96),
    ("Tunis", 36.81, 10.18),
    ("Vancouver", 49.28, -123.12),
    ("Vienna", 48.21, 16.37),
    ("Warsaw", 52.23, 21.01),
    ("Washington", 38.91, -77.04),
    ("Wellington", -41.29, 174.78),
    ("Wuhan", 30.59, 114.31),
    ("Yangon", 16.87, 96.20),
    ("Zurich", 47.37, 8.54),
];

/// The latitude and longitude in degrees of a city, whose name may be written in small letters and with hyphens for spaces.
pub fn city(name: &str) -> Option<(f64, f64)> {
    let plain = |name: &str| name.trim().to_ascii_lowercase().replace('-', " ");
    let wanted = plain(name);
    CITIES
        .iter()
        .find(|(city, ..)| plain(city) == wanted)
        .map(|(_, latitude, longitude)| (*latitude, *longitude))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_city_is_found_by_its_name_however_it_is_written() {
        for name in ["New York", "new-york", "NEW YORK"] {
            assert_eq!(city(name), Some((40.71, -74.01)));
        }
        assert_eq!(city("newyork"), None);
    }

    #[test]
    fn cities_are_on_the_globe_each_once_by_name() {
        for (name, latitude, longitude) in CITIES {
            assert!(latitude.abs() < 70.0 && longitude.abs() <= 180.0, "{name}");
        }
        assert!(CITIES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
