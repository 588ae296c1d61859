//! A day, or a storm, of a satellite link: for a place, a dish, a satellite and a modem, how much rain takes, and what is left.

use bentpipe_path::{GeoHop, GeoModel, Stream, packet_error_rate};
use bentpipe_units::{Fault, conflict, fault};
use serde::{Deserialize, Serialize};

use crate::budget::{Downlink, dish_gain_db, free_space_db, to_db};
use crate::coding::ber_half_rate;
use crate::fading::Fading;
use crate::modcod::{Adaptive, DVB_S2, DVB_S2X, Modcod};
use crate::rain::{SlantPath, within};

/// Points of a series: as many rows as a trace of a link may have.
const MAX_POINTS: f64 = 200_000.0;

/// Bits of a packet of 1500 bytes.
const PACKET_BITS: u64 = 12_000;

/// Shares of an average year for the table, in percent.
const PERCENTS: [f64; 8] = [5.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001];

/// How bits are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Modem {
    /// QPSK with a convolutional code of rate 1/2 and a Viterbi decoder; what it cannot repair stays wrong.
    #[serde(rename = "qpsk-1/2")]
    QpskHalf,
    /// DVB-S2.
    #[serde(rename = "dvb-s2")]
    DvbS2,
    /// DVB-S2 with what DVB-S2X adds.
    #[serde(rename = "dvb-s2x")]
    DvbS2x,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Latitude of the station in degrees.
    pub latitude_deg: f64,
    /// Longitude of the station in degrees.
    pub longitude_deg: f64,
    /// Height of the station above the sea in km.
    pub altitude_km: f64,
    /// Height of the rain above the sea in km.
    pub rain_height_km: f64,
    /// Rain rate exceeded for 0.01 % of an average year in mm/h.
    pub rain_rate_mm_h: f64,
    /// Share of an average year in which it rains, in percent.
    pub rain_percent: f64,
    /// Longitude of the geostationary satellite in degrees.
    pub satellite_longitude_deg: f64,
    /// Frequency in GHz.
    pub frequency_ghz: f64,
    /// Tilt of the polarization from the horizontal in degrees.
    pub tilt_deg: f64,
    /// Diameter of the dish in m.
    pub dish_m: f64,
    /// Efficiency of the dish.
    pub dish_efficiency: f64,
    /// Noise temperature of the receiving system in clear sky, in K.
    pub noise_k: f64,
    /// EIRP of the satellite towards the station in dBW.
    pub eirp_dbw: f64,
    /// Attenuation by gases in clear sky, in dB.
    pub atmosphere_db: f64,
    /// Carrier to noise density of the uplink in dBHz; none: it adds no noise.
    pub uplink_dbhz: Option<f64>,
    /// Symbols a second.
    pub symbol_rate_bd: f64,
    /// How bits are sent.
    pub modem: Modem,
    /// What the modem loses against the theory, in dB.
    pub implementation_db: f64,
    /// The one MODCOD that is used always; none: the best that there is room for.
    pub modcod: Option<String>,
    /// Es/N₀ beyond what a MODCOD takes that is wanted before it is used, in dB.
    pub margin_db: f64,
    /// Es/N₀ beyond that before the link goes up to it, in dB.
    pub hysteresis_db: f64,
    /// Time from a change of Es/N₀ to the MODCOD that answers it, in s; rounded to steps.
    pub reaction_s: f64,
    /// Length of the series in s.
    pub duration_s: f64,
    /// Time from point to point in s.
    pub step_s: f64,
    /// Attenuation in the middle of the series, in dB; none: any moment of an average year.
    pub storm_db: Option<f64>,
    /// Of the series.
    pub seed: u64,
}

/// The link while rain takes so much.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Share of an average year for which it is worse, in percent; none of the clear sky.
    pub percent: Option<f64>,
    /// Attenuation by rain in dB.
    pub rain_db: f64,
    /// C/N₀ in dBHz.
    pub carrier_to_density_dbhz: f64,
    /// C/N in the bandwidth of the symbol rate, which is Es/N₀, in dB, less what the modem loses.
    pub es_n0_db: f64,
    /// Eb/N₀ in dB; none without a MODCOD.
    pub eb_n0_db: Option<f64>,
    /// Share of bits that are wrong; none where MODCODs are free of errors or useless.
    pub ber: Option<f64>,
    /// The MODCOD; none where there is none for it.
    pub modcod: Option<&'static str>,
    /// Bits of data a second.
    pub rate_bps: f64,
    /// Share of packets that are lost, where bits have no errors of their own.
    pub loss: f64,
}

/// How the link goes in time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Series {
    /// Times in s.
    pub time_s: Vec<f64>,
    /// Attenuation by rain in dB.
    pub rain_db: Vec<f64>,
    /// Es/N₀ in dB, less what the modem loses.
    pub es_n0_db: Vec<f64>,
    /// Eb/N₀ in dB; none without a MODCOD.
    pub eb_n0_db: Vec<Option<f64>>,
    /// Share of bits that are wrong; none of MODCODs.
    pub ber: Vec<Option<f64>>,
    /// The MODCOD; none of `qpsk-1/2`, and where there is none for it.
    pub modcod: Vec<Option<&'static str>>,
    /// Bits of data a second.
    pub rate_bps: Vec<f64>,
    /// Share of packets that are lost, where bits have no errors of their own.
    pub loss: Vec<f64>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Elevation of the satellite in degrees.
    pub elevation_deg: f64,
    /// Distance to the satellite in km.
    pub distance_km: f64,
    /// Propagation delay between station and satellite in s.
    pub hop_s: f64,
    /// Loss in free space in dB.
    pub free_space_db: f64,
    /// G/T in clear sky in dB/K.
    pub gain_over_temperature_db: f64,
    /// In clear sky.
    pub clear: Level,
    /// The level that is not reached for these shares of an average year.
    pub exceeded: Vec<Level>,
    /// Share of the series in which data gets through whole: a rate above zero, no loss, a BER of at most 1e-5.
    pub available: f64,
    /// Mean of the rate times the share of packets of 1500 bytes that come out whole, in bit/s.
    pub mean_rate_bps: f64,
    /// How often the MODCOD changes in the series.
    pub changes: usize,
    /// In time.
    pub series: Series,
}

/// A link whose numbers were checked.
struct Link {
    downlink: Downlink,
    symbol_rate_bd: f64,
    implementation_db: f64,
    coding: Coding,
}

enum Coding {
    /// QPSK with a code of rate 1/2: a bit a symbol.
    QpskHalf,
    Constant(Modcod),
    Adaptive(Adaptive),
}

fn positive(key: &'static str, value: f64, most: f64, unit: &str) -> Result<(), Fault> {
    match value > 0.0 && value <= most {
        true => Ok(()),
        false => Err(fault!("more than 0, at most {most} {unit}", "{value}").under(key)),
    }
}

impl Request {
    fn coding(&self) -> Result<Coding, Fault> {
        let more: &[Modcod] = if self.modem == Modem::DvbS2x { &DVB_S2X } else { &[] };
        let mut modcods = DVB_S2.iter().chain(more).copied();
        match (self.modem, &self.modcod) {
            (Modem::QpskHalf, None) => Ok(Coding::QpskHalf),
            (Modem::QpskHalf, Some(_)) => {
                Err(conflict!("cannot be combined with the modem qpsk-1/2").under("modcod"))
            }
            (_, None) => Ok(Coding::Adaptive(Adaptive::among(modcods, self.margin_db, self.hysteresis_db))),
            (_, Some(name)) => {
                modcods.find(|modcod| modcod.name == name).map(Coding::Constant).ok_or_else(|| {
                    fault!("a MODCOD of the modem, such as \"8PSK 3/4\"", "{name:?}").under("modcod")
                })
            }
        }
    }

    fn check(&self) -> Result<(), Fault> {
        positive("dish_m", self.dish_m, 100.0, "m")?;
        positive("dish_efficiency", self.dish_efficiency, 1.0, "of the dish")?;
        positive("noise_k", self.noise_k, 1e5, "K")?;
        within("eirp_dbw", self.eirp_dbw, -50.0, 100.0, "dBW")?;
        within("atmosphere_db", self.atmosphere_db, 0.0, 100.0, "dB")?;
        within("uplink_dbhz", self.uplink_dbhz.unwrap_or(0.0), -100.0, 300.0, "dBHz")?;
        within("symbol_rate_bd", self.symbol_rate_bd, 1e3, 1e10, "symbols a second")?;
        within("implementation_db", self.implementation_db, 0.0, 20.0, "dB")?;
        within("margin_db", self.margin_db, 0.0, 20.0, "dB")?;
        within("hysteresis_db", self.hysteresis_db, 0.0, 20.0, "dB")?;
        within("reaction_s", self.reaction_s, 0.0, 3600.0, "s")?;
        positive("step_s", self.step_s, 3600.0, "s")?;
        positive("duration_s", self.duration_s, 9e6, "s")?;
        if self.duration_s / self.step_s > MAX_POINTS {
            let steps = self.duration_s / self.step_s;
            return Err(fault!("at most {MAX_POINTS} steps in the duration", "{steps}").under("step_s"));
        }
        match self.storm_db {
            Some(peak) => positive("storm_db", peak, 200.0, "dB"),
            None => Ok(()),
        }
    }

    /// The link, in clear sky, in rain for shares of an average year, and in time.
    pub fn answer(&self) -> Result<Answer, Fault> {
        self.check()?;
        let (latitude_deg, longitude_deg) = (self.latitude_deg, self.longitude_deg);
        let hop =
            GeoHop { latitude_deg, longitude_deg, satellite_longitude_deg: self.satellite_longitude_deg };
        let model = GeoModel::PHYSICAL;
        let distance_km = hop.slant_range_km(&model)?;
        let path = SlantPath {
            frequency_ghz: self.frequency_ghz,
            elevation_deg: hop.elevation_deg(&model)?,
            tilt_deg: self.tilt_deg,
            latitude_deg,
            altitude_km: self.altitude_km,
            rain_height_km: self.rain_height_km,
            rain_rate_mm_h: self.rain_rate_mm_h,
        };
        let fading = Fading::fit(&path, self.rain_percent)?;
        let link = Link {
            downlink: Downlink {
                eirp_dbw: self.eirp_dbw,
                gain_db: dish_gain_db(self.dish_m, self.dish_efficiency, self.frequency_ghz),
                noise_k: self.noise_k,
                distance_km,
                frequency_ghz: self.frequency_ghz,
                atmosphere_db: self.atmosphere_db,
                uplink_dbhz: self.uplink_dbhz.unwrap_or(f64::INFINITY),
            },
            symbol_rate_bd: self.symbol_rate_bd,
            implementation_db: self.implementation_db,
            coding: self.coding()?,
        };
        let count = libm::ceil(self.duration_s / self.step_s).max(1.0) as usize;
        let mut stream = Stream::derive(self.seed, "rain");
        let rain = match self.storm_db {
            Some(peak) => fading.storm(peak, self.step_s, count, &mut stream),
            None => fading.series(self.step_s, count, &mut stream),
        };
        let series = link.series(&rain, self.step_s, self.reaction_s);
        let points = count as f64;
        let whole = |place: &usize| {
            series.rate_bps[*place] > 0.0
                && series.loss[*place] == 0.0
                && series.ber[*place].is_none_or(|ber| ber <= 1e-5)
        };
        let available = (0..count).filter(whole).count() as f64 / points;
        let whole = |place: usize| {
            let ber = series.ber[place].unwrap_or(0.0);
            (1.0 - series.loss[place]) * (1.0 - packet_error_rate(ber, PACKET_BITS, 0))
        };
        let sent = (0..count).map(|place| series.rate_bps[place] * whole(place));
        Ok(Answer {
            elevation_deg: path.elevation_deg,
            distance_km,
            hop_s: hop.one_way_delay(&model)?.as_secs(),
            free_space_db: free_space_db(distance_km, self.frequency_ghz),
            gain_over_temperature_db: link.downlink.gain_over_temperature_db(),
            clear: link.level(None, 0.0),
            exceeded: PERCENTS
                .iter()
                .map(|percent| link.level(Some(*percent), path.attenuation_db(*percent)))
                .collect(),
            available,
            mean_rate_bps: sent.sum::<f64>() / points,
            changes: series.modcod.windows(2).filter(|pair| pair[0] != pair[1]).count(),
            series,
        })
    }
}

impl Link {
    fn es_n0_db(&self, rain_db: f64) -> f64 {
        self.downlink.carrier_to_density_dbhz(rain_db) - to_db(self.symbol_rate_bd) - self.implementation_db
    }

    fn level(&self, percent: Option<f64>, rain_db: f64) -> Level {
        let es_n0_db = self.es_n0_db(rain_db);
        let now = match &self.coding {
            Coding::Adaptive(adaptive) => adaptive.best(es_n0_db),
            _ => None,
        };
        let used = self.used(now, es_n0_db);
        Level {
            percent,
            rain_db,
            carrier_to_density_dbhz: self.downlink.carrier_to_density_dbhz(rain_db),
            es_n0_db,
            eb_n0_db: used.eb_n0_db,
            ber: used.ber,
            modcod: used.modcod,
            rate_bps: used.rate_bps,
            loss: used.loss,
        }
    }

    /// What the link does with a choice of MODCOD at an Es/N₀.
    fn used(&self, now: Option<usize>, es_n0_db: f64) -> Used {
        let modcod = match &self.coding {
            Coding::QpskHalf => {
                let ber = Some(ber_half_rate(es_n0_db));
                return Used {
                    eb_n0_db: Some(es_n0_db),
                    ber,
                    modcod: None,
                    rate_bps: self.symbol_rate_bd,
                    loss: 0.0,
                };
            }
            Coding::Constant(modcod) => Some(modcod),
            Coding::Adaptive(adaptive) => now.map(|place| &adaptive.modcods[place]),
        };
        let Some(modcod) = modcod else {
            return Used { eb_n0_db: None, ber: None, modcod: None, rate_bps: 0.0, loss: 0.0 };
        };
        Used {
            eb_n0_db: Some(es_n0_db - to_db(modcod.efficiency)),
            ber: None,
            modcod: Some(modcod.name),
            rate_bps: modcod.efficiency * self.symbol_rate_bd,
            // Below its threshold hardly a frame is right: from all to nothing takes some tenths of a dB.
            loss: if es_n0_db < modcod.es_n0_db { 1.0 } else { 0.0 },
        }
    }

    fn series(&self, rain: &[f64], step_s: f64, reaction_s: f64) -> Series {
        let mut series = Series::default();
        let late = (reaction_s / step_s).round() as usize;
        let levels: Vec<f64> = rain.iter().map(|rain_db| self.es_n0_db(*rain_db)).collect();
        // The link has been so before: it need not climb to where it begins.
        let mut now = match &self.coding {
            Coding::Adaptive(adaptive) => levels.first().and_then(|first| adaptive.best(*first)),
            _ => None,
        };
        for (place, (rain_db, es_n0_db)) in rain.iter().zip(&levels).enumerate() {
            if let Coding::Adaptive(adaptive) = &self.coding {
                now = adaptive.next(now, levels[place.saturating_sub(late)]);
            }
            let used = self.used(now, *es_n0_db);
            series.time_s.push(place as f64 * step_s);
            series.rain_db.push(*rain_db);
            series.es_n0_db.push(*es_n0_db);
            series.eb_n0_db.push(used.eb_n0_db);
            series.ber.push(used.ber);
            series.modcod.push(used.modcod);
            series.rate_bps.push(used.rate_bps);
            series.loss.push(used.loss);
        }
        series
    }
}

struct Used {
    eb_n0_db: Option<f64>,
    ber: Option<f64>,
    modcod: Option<&'static str>,
    rate_bps: f64,
    loss: f64,
}

#[cfg(test)]
mod tests;
