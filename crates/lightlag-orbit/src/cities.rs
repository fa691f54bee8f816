//! Coordinates of large cities, accurate to a few kilometres.
//!
//! The list contains the hundred or so largest urban areas, and the cities of published experiments. Latitude and
//! longitude are in degrees: commonly published values, rounded to 0.01°.

/// A city: its name, and its latitude and longitude in degrees, positive to the north and east.
type City = (&'static str, f64, f64);

const CITIES: &[City] = &[
    ("Abidjan", 5.35, -4.02),
    ("Ahmedabad", 23.03, 72.59),
    ("Alexandria", 31.20, 29.92),
    ("Anchorage", 61.22, -149.90),
    ("Ankara", 39.93, 32.86),
    ("Athens", 37.98, 23.73),
    ("Atlanta", 33.75, -84.39),
    ("Auckland", -36.85, 174.76),
    ("Baghdad", 33.31, 44.37),
    ("Bangalore", 12.97, 77.59),
    ("Bangkok", 13.75, 100.50),
    ("Barcelona", 41.39, 2.17),
    ("Beijing", 39.90, 116.41),
    ("Belo Horizonte", -19.92, -43.94),
    ("Berlin", 52.52, 13.40),
    ("Bogota", 4.71, -74.07),
    ("Boston", 42.36, -71.06),
    ("Brasilia", -15.79, -47.88),
    ("Brussels", 50.85, 4.35),
    ("Buenos Aires", -34.60, -58.38),
    ("Cairo", 30.04, 31.24),
    ("Cape Town", -33.92, 18.42),
    ("Caracas", 10.48, -66.90),
    ("Casablanca", 33.57, -7.59),
    ("Chengdu", 30.57, 104.07),
    ("Chennai", 13.08, 80.27),
    ("Chicago", 41.85, -87.65),
    ("Chongqing", 29.56, 106.55),
    ("Dakar", 14.72, -17.47),
    ("Dalian", 38.91, 121.60),
    ("Dallas", 32.78, -96.80),
    ("Dar es Salaam", -6.79, 39.21),
    ("Delhi", 28.61, 77.21),
    ("Denver", 39.74, -104.99),
    ("Dhaka", 23.81, 90.41),
    ("Dubai", 25.20, 55.27),
    ("Dublin", 53.35, -6.26),
    ("Frankfurt", 50.11, 8.68),
    ("Guadalajara", 20.66, -103.35),
    ("Guangzhou", 23.13, 113.26),
    ("Hangzhou", 30.27, 120.16),
    ("Hanoi", 21.03, 105.85),
    ("Harbin", 45.80, 126.53),
    ("Helsinki", 60.17, 24.94),
    ("Ho Chi Minh City", 10.82, 106.63),
    ("Hong Kong", 22.32, 114.17),
    ("Honolulu", 21.31, -157.86),
    ("Houston", 29.76, -95.37),
    ("Hyderabad", 17.39, 78.49),
    ("Istanbul", 41.01, 28.95),
    ("Jakarta", -6.21, 106.85),
    ("Jeddah", 21.49, 39.19),
    ("Johannesburg", -26.20, 28.05),
    ("Kabul", 34.56, 69.21),
    ("Karachi", 24.86, 67.01),
    ("Khartoum", 15.50, 32.56),
    ("Kinshasa", -4.44, 15.27),
    ("Kolkata", 22.57, 88.36),
    ("Kuala Lumpur", 3.15, 101.69),
    ("Kyiv", 50.45, 30.52),
    ("Lagos", 6.52, 3.38),
    ("Lahore", 31.52, 74.36),
    ("Lima", -12.05, -77.04),
    ("Lisbon", 38.72, -9.14),
    ("London", 51.51, -0.13),
    ("Los Angeles", 34.05, -118.24),
    ("Luanda", -8.84, 13.23),
    ("Madrid", 40.42, -3.70),
    ("Manila", 14.60, 120.98),
    ("Melbourne", -37.81, 144.96),
    ("Mexico City", 19.43, -99.13),
    ("Miami", 25.76, -80.19),
    ("Milan", 45.46, 9.19),
    ("Monterrey", 25.69, -100.32),
    ("Montreal", 45.50, -73.57),
    ("Moscow", 55.75, 37.62),
    ("Mumbai", 19.08, 72.88),
    ("Munich", 48.14, 11.58),
    ("Nairobi", -1.28, 36.82),
    ("Nanjing", 32.06, 118.80),
    ("New York", 40.71, -74.01),
    ("Osaka", 34.69, 135.50),
    ("Oslo", 59.91, 10.75),
    ("Paris", 48.85, 2.35),
    ("Perth", -31.95, 115.86),
    ("Philadelphia", 39.95, -75.17),
    ("Phoenix", 33.45, -112.07),
    ("Porto Alegre", -30.03, -51.23),
    ("Prague", 50.08, 14.44),
    ("Pune", 18.52, 73.86),
    ("Qingdao", 36.07, 120.38),
    ("Quito", -0.18, -78.47),
    ("Recife", -8.05, -34.88),
    ("Reykjavik", 64.15, -21.94),
    ("Rio de Janeiro", -22.90, -43.21),
    ("Riyadh", 24.71, 46.68),
    ("Rome", 41.90, 12.50),
    ("Salvador", -12.97, -38.50),
    ("San Francisco", 37.77, -122.42),
    ("Santiago", -33.45, -70.67),
    ("Sao Paulo", -23.55, -46.63),
    ("Seattle", 47.61, -122.33),
    ("Seoul", 37.57, 126.98),
    ("Shanghai", 31.23, 121.47),
    ("Shenyang", 41.81, 123.43),
    ("Shenzhen", 22.54, 114.06),
    ("Singapore", 1.35, 103.82),
    ("St Petersburg", 59.93, 30.33),
    ("Stockholm", 59.33, 18.07),
    ("Surabaya", -7.26, 112.75),
    ("Sydney", -33.87, 151.21),
    ("Taipei", 25.03, 121.57),
    ("Tehran", 35.69, 51.39),
    ("Tel Aviv", 32.09, 34.78),
    ("Tianjin", 39.34, 117.36),
    ("Tokyo", 35.68, 139.69),
    ("Toronto", 43.65, -79.38),
    ("Vancouver", 49.28, -123.12),
    ("Vienna", 48.21, 16.37),
    ("Warsaw", 52.23, 21.01),
    ("Washington", 38.91, -77.04),
    ("Wellington", -41.29, 174.78),
    ("Wuhan", 30.59, 114.31),
    ("Xi'an", 34.34, 108.94),
    ("Yangon", 16.87, 96.20),
    ("Zhengzhou", 34.76, 113.65),
    ("Zurich", 47.37, 8.54),
];

/// Returns the latitude and longitude of a city; the name is not case-sensitive.
pub fn find(name: &str) -> Option<(f64, f64)> {
    CITIES.iter().find(|(city, ..)| city.eq_ignore_ascii_case(name)).map(|(_, north, east)| (*north, *east))
}

/// Returns the names of all cities, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    CITIES.iter().map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cities_are_listed_once_in_order_and_on_earth() {
        let names: Vec<&str> = names().collect();
        assert!(names.len() >= 100 && names.is_sorted());
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(CITIES.iter().all(|(_, north, east)| north.abs() < 70.0 && east.abs() <= 180.0));
        assert_eq!(find("paris"), Some((48.85, 2.35)));
        assert_eq!(find("Atlantis"), None);
    }
}
