//! The MODCODs of DVB-S2 and DVB-S2X: what each takes and gives, and which one a link uses.

/// A modulation and a code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modcod {
    /// Its name in the standard.
    pub name: &'static str,
    /// Bits a symbol, of data.
    pub efficiency: f64,
    /// Es/N₀ in dB from which on a frame is lost less than once in 1e5 (DVB-S2X) or a packet of 188 bytes once in 1e7 (DVB-S2), in white
    /// noise without other losses.
    pub es_n0_db: f64,
}

const fn modcod(name: &'static str, efficiency: f64, es_n0_db: f64) -> Modcod {
    Modcod { name, efficiency, es_n0_db }
}

/// EN 302 307-1 V1.4.1 table 13: frames of 64,800 bits without pilots.
#[rustfmt::skip]
pub const DVB_S2: [Modcod; 28] = [
    modcod("QPSK 1/4", 0.490243, -2.35), modcod("QPSK 1/3", 0.656448, -1.24), modcod("QPSK 2/5", 0.789412, -0.30),
    modcod("QPSK 1/2", 0.988858, 1.00), modcod("QPSK 3/5", 1.188304, 2.23), modcod("QPSK 2/3", 1.322253, 3.10),
    modcod("QPSK 3/4", 1.487473, 4.03), modcod("QPSK 4/5", 1.587196, 4.68), modcod("QPSK 5/6", 1.654663, 5.18),
    modcod("QPSK 8/9", 1.766451, 6.20), modcod("QPSK 9/10", 1.788612, 6.42), modcod("8PSK 3/5", 1.779991, 5.50),
    modcod("8PSK 2/3", 1.980636, 6.62), modcod("8PSK 3/4", 2.228124, 7.91), modcod("8PSK 5/6", 2.478562, 9.35),
    modcod("8PSK 8/9", 2.646012, 10.69), modcod("8PSK 9/10", 2.679207, 10.98), modcod("16APSK 2/3", 2.637201, 8.97),
    modcod("16APSK 3/4", 2.966728, 10.21), modcod("16APSK 4/5", 3.165623, 11.03), modcod("16APSK 5/6", 3.300184, 11.61),
    modcod("16APSK 8/9", 3.523143, 12.89), modcod("16APSK 9/10", 3.567342, 13.13), modcod("32APSK 3/4", 3.703295, 12.73),
    modcod("32APSK 4/5", 3.951571, 13.64), modcod("32APSK 5/6", 4.119540, 14.28), modcod("32APSK 8/9", 4.397854, 15.69),
    modcod("32APSK 9/10", 4.453027, 16.05),
];

/// What EN 302 307-2 V1.1.1 table 20a adds, over a linear channel: frames of 64,800 bits without pilots. Its π/2 BPSK for very low
/// signals is not here.
#[rustfmt::skip]
pub const DVB_S2X: [Modcod; 39] = [
    modcod("QPSK 2/9", 0.434841, -2.85), modcod("QPSK 13/45", 0.567805, -2.03), modcod("QPSK 9/20", 0.889135, 0.22),
    modcod("QPSK 11/20", 1.088581, 1.45), modcod("8APSK 5/9-L", 1.647211, 4.73), modcod("8APSK 26/45-L", 1.713601, 5.13),
    modcod("8PSK 23/36", 1.896173, 6.12), modcod("8PSK 25/36", 2.062148, 7.02), modcod("8PSK 13/18", 2.145136, 7.49),
    modcod("16APSK 1/2-L", 1.972253, 5.97), modcod("16APSK 8/15-L", 2.104850, 6.55), modcod("16APSK 5/9-L", 2.193247, 6.84),
    modcod("16APSK 26/45", 2.281645, 7.51), modcod("16APSK 3/5", 2.370043, 7.80), modcod("16APSK 3/5-L", 2.370043, 7.41),
    modcod("16APSK 28/45", 2.458441, 8.10), modcod("16APSK 23/36", 2.524739, 8.38), modcod("16APSK 2/3-L", 2.635236, 8.43),
    modcod("16APSK 25/36", 2.745734, 9.27), modcod("16APSK 13/18", 2.856231, 9.71), modcod("16APSK 7/9", 3.077225, 10.65),
    modcod("16APSK 77/90", 3.386618, 11.99), modcod("32APSK 2/3-L", 3.291954, 11.10), modcod("32APSK 32/45", 3.510192, 11.75),
    modcod("32APSK 11/15", 3.620536, 12.17), modcod("32APSK 7/9", 3.841226, 13.05), modcod("64APSK 32/45-L", 4.206428, 13.98),
    modcod("64APSK 11/15", 4.338659, 14.81), modcod("64APSK 7/9", 4.603122, 15.47), modcod("64APSK 4/5", 4.735354, 15.87),
    modcod("64APSK 5/6", 4.936639, 16.55), modcod("128APSK 3/4", 5.163248, 17.73), modcod("128APSK 7/9", 5.355556, 18.53),
    modcod("256APSK 29/45-L", 5.065690, 16.98), modcod("256APSK 2/3-L", 5.241514, 17.24), modcod("256APSK 31/45-L", 5.417338, 18.10),
    modcod("256APSK 32/45", 5.593162, 18.59), modcod("256APSK 11/15-L", 5.768987, 18.84), modcod("256APSK 3/4", 5.900855, 19.57),
];

/// A choice among MODCODs by Es/N₀ (adaptive coding and modulation).
#[derive(Clone, Debug, PartialEq)]
pub struct Adaptive {
    /// Those that no other beats, each better than the one before.
    pub modcods: Vec<Modcod>,
    /// Es/N₀ beyond what a MODCOD takes that is wanted before it is used, in dB.
    pub margin_db: f64,
    /// Es/N₀ beyond that before a link goes up to it, in dB.
    pub hysteresis_db: f64,
}

impl Adaptive {
    /// Chooses among `modcods`; those of which another gives as much for less are left out.
    pub fn among(modcods: impl IntoIterator<Item = Modcod>, margin_db: f64, hysteresis_db: f64) -> Adaptive {
        let mut all: Vec<Modcod> = modcods.into_iter().collect();
        all.sort_by(|one, other| one.es_n0_db.total_cmp(&other.es_n0_db));
        let mut best: Vec<Modcod> = Vec::new();
        for modcod in all {
            if best.last().is_none_or(|before| modcod.efficiency > before.efficiency) {
                best.push(modcod);
            }
        }
        Adaptive { modcods: best, margin_db, hysteresis_db }
    }

    /// The best MODCOD that takes `margin_db` less than `es_n0_db`, as its place in `modcods`; none where there is none.
    pub fn best(&self, es_n0_db: f64) -> Option<usize> {
        self.modcods.partition_point(|modcod| modcod.es_n0_db + self.margin_db <= es_n0_db).checked_sub(1)
    }

    /// What a link that used `now` uses at `es_n0_db`: it goes down at once, and up when there is the hysteresis to spare.
    pub fn next(&self, now: Option<usize>, es_n0_db: f64) -> Option<usize> {
        let (holds, climbs) = (self.best(es_n0_db), self.best(es_n0_db - self.hysteresis_db));
        now.min(holds).max(climbs)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Adaptive, DVB_S2, DVB_S2X};

    /// EN 302 307-1: table 5a, the bits of a BCH frame; a frame of 64,800 bits has 90 symbols of header and 80 bits of its own.
    #[test]
    fn efficiencies_are_those_of_the_frames() {
        let bits = [
            ("1/4", 16_008.0),
            ("1/3", 21_408.0),
            ("2/5", 25_728.0),
            ("1/2", 32_208.0),
            ("3/5", 38_688.0),
            ("2/3", 43_040.0),
            ("3/4", 48_408.0),
            ("4/5", 51_648.0),
            ("5/6", 53_840.0),
            ("8/9", 57_472.0),
            ("9/10", 58_192.0),
        ];
        for modcod in DVB_S2 {
            let (modulation, code) = modcod.name.split_once(' ').unwrap_or_default();
            let a_symbol = match modulation {
                "QPSK" => 2.0,
                "8PSK" => 3.0,
                "16APSK" => 4.0,
                _ => 5.0,
            };
            let data = bits.iter().find(|(name, _)| *name == code).map_or(0.0, |(_, bits)| bits - 80.0);
            let found = data / (64_800.0 / a_symbol + 90.0);
            assert!((found - modcod.efficiency).abs() < 1e-6, "{} {found}", modcod.name);
        }
    }

    /// Both tables as others have copied them: bits a symbol and Es/N₀ as a ratio, in the order of a list of 46 that simulators of
    /// constellations share, and Es/N₀ in dB of those that are not in it.
    #[rustfmt::skip]
    const COPIED: [(f64, f64); 46] = [
        (0.434841, 0.5188000389), (0.490243, 0.5821032178), (0.567805, 0.6266138647), (0.656448, 0.751622894), (0.789412, 0.9332543008),
        (0.889135, 1.051961874), (0.988858, 1.258925412), (1.088581, 1.396368361), (1.188304, 1.671090614), (1.322253, 2.041737945),
        (1.487473, 2.529297996), (1.587196, 2.937649652), (1.647211, 2.971666032), (1.713601, 3.25836701), (1.779991, 3.548133892),
        (1.972253, 3.953666201), (2.10485, 4.518559444), (2.193247, 4.83058802), (2.370043, 5.508076964), (2.458441, 6.45654229),
        (2.524739, 6.886522963), (2.635236, 6.966265141), (2.637201, 7.888601176), (2.745734, 8.452788452), (2.856231, 9.354056741),
        (2.966728, 10.49542429), (3.077225, 11.61448614), (3.165623, 12.67651866), (3.289502, 12.88249552), (3.300184, 14.48771854),
        (3.510192, 14.96235656), (3.620536, 16.48162392), (3.703295, 18.74994508), (3.841226, 20.18366364), (3.951571, 23.1206479),
        (4.206428, 25.00345362), (4.338659, 30.26913428), (4.603122, 35.2370871), (4.735354, 38.63669771), (4.933701, 45.18559444),
        (5.06569, 49.88844875), (5.241514, 52.96634439), (5.417338, 64.5654229), (5.593162, 72.27698036), (5.768987, 76.55966069),
        (5.900855, 90.57326009),
    ];
    #[rustfmt::skip]
    const NOT_AMONG_THEM: [(&str, f64); 21] = [
        ("QPSK 5/6", 5.18), ("QPSK 8/9", 6.20), ("QPSK 9/10", 6.42), ("8PSK 2/3", 6.62), ("8PSK 3/4", 7.91), ("8PSK 5/6", 9.35),
        ("8PSK 8/9", 10.69), ("8PSK 9/10", 10.98), ("16APSK 8/9", 12.89), ("16APSK 9/10", 13.13), ("32APSK 5/6", 14.28),
        ("32APSK 8/9", 15.69), ("32APSK 9/10", 16.05), ("8PSK 23/36", 6.12), ("8PSK 25/36", 7.02), ("8PSK 13/18", 7.49),
        ("16APSK 26/45", 7.51), ("16APSK 3/5", 7.80), ("16APSK 77/90", 11.99), ("128APSK 3/4", 17.73), ("128APSK 7/9", 18.53),
    ];

    #[test]
    fn the_tables_are_those_that_others_have_copied() {
        for modcod in DVB_S2.iter().chain(&DVB_S2X) {
            let listed = NOT_AMONG_THEM.iter().find(|(name, _)| *name == modcod.name);
            let same = |(efficiency, ratio): &&(f64, f64)| {
                (modcod.efficiency - efficiency).abs() < 0.0035
                    && (modcod.es_n0_db - 10.0 * libm::log10(*ratio)).abs() < 0.006
            };
            match listed {
                Some((_, es_n0_db)) => assert_eq!(modcod.es_n0_db, *es_n0_db, "{}", modcod.name),
                None => assert_eq!(COPIED.iter().filter(same).count(), 1, "{}", modcod.name),
            }
        }
    }

    /// EN 302 307-2: a BCH code of 192 bits of parity, of 160 in the two rates that it has of EN 302 307-1's code with those; 80 bits of
    /// header; slots of 90 symbols, one more of header.
    #[test]
    fn efficiencies_of_s2x_are_those_of_the_frames() {
        for modcod in DVB_S2X {
            let (modulation, code) = modcod.name.split_once(' ').unwrap_or_default();
            let (above, below) = code.trim_end_matches("-L").split_once('/').unwrap_or_default();
            let rate = above.parse::<f64>().unwrap() / below.parse::<f64>().unwrap();
            let points = modulation.trim_end_matches("APSK").trim_end_matches("PSK").parse().unwrap_or(4.0);
            let slots = (64_800.0 / libm::log2(points) / 90.0).ceil();
            let best = [192.0, 160.0].map(|parity| {
                ((64_800.0 * rate - parity - 80.0) / (90.0 * slots + 90.0) - modcod.efficiency).abs()
            });
            let parity = usize::from(["32APSK 2/3-L", "64APSK 5/6"].contains(&modcod.name));
            assert!(best[parity] < 1e-6, "{} {best:?}", modcod.name);
        }
    }

    /// None carries more than Shannon allows, and none needs more than 3.7 dB beyond that.
    #[test]
    fn every_modcod_is_near_the_bound_and_below_it() {
        for modcod in DVB_S2.iter().chain(&DVB_S2X) {
            let bound_db = 10.0 * libm::log10(libm::pow(2.0, modcod.efficiency) - 1.0);
            let beyond = modcod.es_n0_db - bound_db;
            assert!((0.3..3.7).contains(&beyond), "{} {beyond}", modcod.name);
        }
    }

    fn s2() -> Adaptive {
        Adaptive::among(DVB_S2, 0.5, 1.0)
    }

    fn name(adaptive: &Adaptive, place: Option<usize>) -> &'static str {
        place.map_or("none", |place| adaptive.modcods[place].name)
    }

    #[test]
    fn what_another_beats_is_left_out() {
        let names: Vec<&str> = s2().modcods.iter().map(|modcod| modcod.name).collect();
        assert_eq!(names[..3], ["QPSK 1/4", "QPSK 1/3", "QPSK 2/5"]);
        assert!(!names.contains(&"QPSK 8/9") && !names.contains(&"8PSK 8/9") && names.contains(&"8PSK 3/5"));
        assert!(!names.contains(&"16APSK 8/9") && names.contains(&"32APSK 3/4"));
    }

    #[test]
    fn a_link_goes_down_at_once_and_up_with_the_hysteresis() {
        let adaptive = s2();
        let next = |now, db| adaptive.next(now, db);
        // QPSK 1/2 takes 1.00 dB, 3/5 takes 2.23 dB.
        let half = next(None, 2.5);
        assert_eq!(name(&adaptive, half), "QPSK 1/2");
        assert_eq!(next(half, 3.7), half);
        let more = next(half, 3.73);
        assert_eq!(name(&adaptive, more), "QPSK 3/5");
        assert_eq!(next(more, 2.73), more);
        assert_eq!(next(more, 2.72), half);
        assert_eq!(next(half, -1.86), None);
        assert_eq!(name(&adaptive, next(None, 40.0)), "32APSK 9/10");
        assert_eq!(next(None, f64::NEG_INFINITY), None);
    }

    proptest! {
        /// What is used can be used, and what the hysteresis leaves unused is less than one with that much to spare.
        #[test]
        fn a_choice_is_between_its_two_bounds(levels in prop::collection::vec(-10.0..30.0, 1..60)) {
            let adaptive = Adaptive::among(DVB_S2.into_iter().chain(DVB_S2X), 0.5, 1.0);
            let mut now = None;
            for db in levels {
                let next = adaptive.next(now, db);
                prop_assert!(next.is_none_or(|place| adaptive.modcods[place].es_n0_db + 0.5 <= db));
                let above = adaptive.modcods.get(next.map_or(0, |place| place + 1));
                prop_assert!(above.is_none_or(|above| above.es_n0_db + 1.5 > db));
                prop_assert!(next >= now || adaptive.best(db) == next);
                now = next;
            }
        }
    }
}
