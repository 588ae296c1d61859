//! A telephone call: frames of speech in talk spurts, what the receiver could play of them, and how good that is by the E-model
//! (ITU-T G.107).

use crate::prelude::*;
use crate::users::CallResult;

/// From one frame of speech to the next.
const FRAME: Span = Span::from_millis(20);

/// Bytes of the header of RTP (RFC 3550).
const RTP_HEADER: u64 = 12;

options! {
    "voip", "one direction of a telephone call over UDP, and how good it is (E-model)", also ["rtp", "phone", "call"];
    /// One direction of a telephone call: a frame of speech every 20 ms as an RTP packet, in talk spurts. The receiver plays each
    /// packet at a fixed delay, and has lost what comes later.
    pub struct VoipSpec {
        /// How speech is coded: "g711" (the default), 64 kbit/s, or "opus", at `bit_rate`.
        pub codec: Codec = Codec::G711,
        /// Bit rate of Opus, from 6 to 510 kbit/s; default "24 kbit/s".
        pub bit_rate: Option<Rate> = None,
        /// Whether the receiver of G.711 conceals lost packets; default true. A decoder of Opus always does.
        pub concealment: bool = true,
        /// Equipment impairment factor Ie of the codec (ITU-T G.113); default 0, which for Opus is inferred.
        #[serde(with = "Number::<0, 95>")]
        pub equipment_impairment: f64 = 0.0,
        /// Packet-loss robustness factor Bpl of the codec; default 25.1 for G.711 with concealment and 4.3 without (ITU-T G.113
        /// appendix I), and 19 for Opus, which is inferred: the value of G.729A.
        #[serde(with = "Number::<1, 1000>")]
        pub loss_robustness: Option<f64> = None,
        /// Send nothing in pauses; default true. Otherwise a packet leaves every 20 ms.
        pub silence_suppression: bool = true,
        /// Mean length of a talk spurt; default "1.004 s" (ITU-T P.59).
        #[serde(with = "AboveZero")]
        pub spurt: Span = Span::from_millis(1004),
        /// Mean length of a pause; default "1.587 s" (ITU-T P.59).
        #[serde(with = "AboveZero")]
        pub pause: Span = Span::from_millis(1587),
        /// How long the receiver holds the packet that comes first, and with it how much longer than this one a packet may take;
        /// default "60 ms".
        pub jitter_buffer: Span = Span::from_millis(60),
        /// Stop so long after the start.
        #[serde(with = "AboveZero")]
        pub duration: Option<Span> = None,
    }
}

/// How speech is coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// Each sample by itself.
    #[default]
    G711,
    /// RFC 6716.
    Opus,
}

impl VoipSpec {
    /// What speech is coded to.
    fn coded(&self) -> Rate {
        match self.codec {
            Codec::G711 => Rate::from_bps(64_000),
            Codec::Opus => self.bit_rate.unwrap_or(Rate::from_bps(24_000)),
        }
    }

    /// How long the coder waits for speech behind the frame that it codes: 5 ms to shape noise and 1.5 ms to resample (RFC 6716,
    /// section 2).
    fn look_ahead(&self) -> Span {
        match self.codec {
            Codec::G711 => Span::ZERO,
            Codec::Opus => Span::from_nanos(6_500_000),
        }
    }

    /// The packet-loss robustness factor Bpl.
    fn robustness(&self) -> f64 {
        self.loss_robustness.unwrap_or(match (self.codec, self.concealment) {
            (Codec::G711, true) => 25.1,
            (Codec::G711, false) => 4.3,
            (Codec::Opus, _) => 19.0,
        })
    }
}

impl App for VoipSpec {
    fn facts(&self) -> Facts {
        Facts {
            duration: self.duration,
            ends: self.duration.is_some(),
            draws: self.silence_suppression,
            ..Facts::default()
        }
    }

    fn check(&self, written: &Written<'_>) -> Result<(), Fault> {
        let steady = !self.silence_suppression;
        let rules = &[
            ("bit_rate", self.codec != Codec::Opus, "needs codec = \"opus\""),
            ("concealment", self.codec != Codec::G711, "needs codec = \"g711\""),
            ("spurt", steady, "needs silence_suppression = true"),
            ("pause", steady, "needs silence_suppression = true"),
        ];
        fitting(written, rules)?;
        let rate = self.coded();
        let fits = (6_000..=510_000).contains(&rate.as_bps());
        ensure!(fits, fault!("6 to 510 kbit/s", "{rate}").under("bit_rate"));
        Ok(())
    }

    fn sends(&self, beginning: &Beginning<'_>) -> Option<Datagrams> {
        let voip = Voip::new(self, beginning.start, beginning.stream("speech"));
        let packet = voip.packet as u32;
        Some(Datagrams::new(voip, packet, beginning.stop))
    }
}

struct Voip {
    spec: VoipSpec,
    start: Time,
    stream: Stream,
    /// Payload bytes of a packet, RTP's header included.
    packet: u64,
    /// Number of the next frame, of those sent and those that are silence.
    frame: u64,
    /// The talk spurt that was drawn last.
    spurt: [Time; 2],
    /// Each packet, by its number.
    packets: Vec<Sent>,
    /// How long the packet that came first was on the way.
    first_delay: Option<Span>,
}

#[derive(Clone, Copy)]
struct Sent {
    at: Time,
    /// `Time::NEVER` until it has.
    arrived: Time,
}

/// What became of a call's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Call {
    sent: u64,
    lost: u64,
    late: u64,
    /// Times that one or more packets in a row were not played.
    bursts: u64,
    /// From the mouth to the ear; none when nothing has arrived.
    delay: Option<Span>,
}

impl Voip {
    /// A call whose spurts and pauses `stream` decides. It begins with a spurt.
    fn new(spec: &VoipSpec, start: Time, stream: Stream) -> Voip {
        let mut voip = Voip {
            spec: *spec,
            start,
            stream,
            packet: bytes_in(spec.coded(), FRAME) + RTP_HEADER,
            frame: 0,
            spurt: [start, Time::NEVER],
            packets: Vec::new(),
            first_delay: None,
        };
        if spec.silence_suppression {
            voip.spurt[1] = start + voip.draw(spec.spurt);
        }
        voip
    }

    fn draw(&mut self, mean: Span) -> Span {
        Span::from_secs(mean.as_secs() * self.stream.exponential())
    }

    /// What became of the packets that were sent from `from` on, when of all so many were sent and so many were lost.
    fn call(&self, sent: u64, lost: u64, from: Time) -> Call {
        let packets = &self.packets[..sent as usize];
        let missing = packets.iter().filter(|packet| packet.arrived == Time::NEVER).count() as u64;
        // The last ones of those that have not arrived are under way.
        let mut lost = lost.min(missing);
        let longest = self.first_delay.unwrap_or_default() + self.spec.jitter_buffer;
        let mut call = Call {
            delay: self.first_delay.map(|_| FRAME + self.spec.look_ahead() + longest),
            ..Call::default()
        };
        let mut played = true;
        for packet in packets {
            let gone = packet.arrived == Time::NEVER;
            if gone && lost == 0 {
                continue;
            }
            lost -= u64::from(gone);
            if packet.at < from {
                continue;
            }
            let late = !gone && packet.arrived.since(packet.at) > longest;
            call.sent += 1;
            call.lost += u64::from(gone);
            call.late += u64::from(late);
            call.bursts += u64::from(played && (gone || late));
            played = !gone && !late;
        }
        call
    }

    /// The transmission rating R of a call.
    fn rating(&self, call: &Call) -> Option<f64> {
        let impairment = self.spec.equipment_impairment;
        let robustness = self.spec.robustness();
        let quality = effective_impairment(impairment, robustness, call.loss()?, call.burst_ratio());
        Some(HIGHEST - delay_impairment(call.delay?) - quality)
    }
}

impl Source for Voip {
    /// A frame is sent if a part of it is speech.
    fn next_frame(&mut self) -> Option<Frame> {
        let mut at = self.start + FRAME * self.frame;
        while self.spurt[1] <= at {
            let begin = self.spurt[1] + self.draw(self.spec.pause);
            self.spurt = [begin, begin + self.draw(self.spec.spurt)];
            let frame = begin.since(self.start).as_nanos() / FRAME.as_nanos();
            self.frame = self.frame.max(frame);
            at = self.start + FRAME * self.frame;
        }
        self.frame += 1;
        self.packets.push(Sent { at, arrived: Time::NEVER });
        Some(Frame { at, bytes: self.packet })
    }

    fn on_delivery(&mut self, now: Time, offset: u64) {
        let packet = &mut self.packets[(offset / self.packet) as usize];
        packet.arrived = packet.arrived.min(now);
        self.first_delay.get_or_insert(now.since(packet.at));
    }

    fn tell(&self, users: &mut Users, flow: &str, sent: u64, lost: u64, from: Time) {
        let call = self.call(sent, lost, from);
        let rating = self.rating(&call);
        users.calls.push(CallResult {
            name: flow.to_owned(),
            packets_sent: call.sent,
            packets_lost: call.lost,
            packets_late: call.late,
            loss: call.loss(),
            burst_ratio: call.burst_ratio(),
            mouth_to_ear_s: call.delay.map(Span::as_secs),
            rating,
            mos: rating.map(opinion),
        });
    }
}

impl Call {
    /// The share of the packets that were not played; none when none was sent.
    fn loss(&self) -> Option<f64> {
        (self.sent > 0).then(|| (self.lost + self.late) as f64 / self.sent as f64)
    }

    /// The mean length of a burst of losses over what it is where each packet is lost by itself, 1 / (1 − loss); none without a
    /// loss.
    fn burst_ratio(&self) -> Option<f64> {
        let length = (self.lost + self.late) as f64 / self.bursts as f64;
        (self.bursts > 0).then(|| length * (1.0 - self.loss().unwrap_or_default()))
    }
}

/// R of a call without delay and loss, by all default values of G.107.
const HIGHEST: f64 = 93.2;

/// Burst ratios that the E-model is for (G.107, table 2).
const BURST_RATIOS: [f64; 2] = [1.0, 8.0];

/// Idd of G.107 for an absolute delay, at the default sensitivity to it.
fn delay_impairment(delay: Span) -> f64 {
    let hundreds = delay.as_secs() / 0.1;
    if hundreds <= 1.0 {
        return 0.0;
    }
    let x = libm::log2(hundreds);
    let root = |x: f64| libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// Ie,eff of G.107: that of a codec under a loss from 0 to 1.
fn effective_impairment(impairment: f64, robustness: f64, loss: f64, burst_ratio: Option<f64>) -> f64 {
    let percent = 100.0 * loss;
    let [least, most] = BURST_RATIOS;
    let bursts = burst_ratio.unwrap_or(least).clamp(least, most);
    impairment + (95.0 - impairment) * percent / (percent / bursts + robustness)
}

/// The mean opinion score that listeners would give to a call of this rating (G.107, annex B).
fn opinion(rating: f64) -> f64 {
    match rating {
        ..=0.0 => 1.0,
        100.0.. => 4.5,
        r => 1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() <= within, "{found}, expected {expected}");
    }

    fn call(spec: VoipSpec, seconds: f64, seed: u64) -> Voip {
        let mut voip = Voip::new(&spec, Time::ZERO, Stream::derive(seed, "call"));
        while voip.next_frame().is_some_and(|frame| frame.at < Time::ZERO + Span::from_secs(seconds)) {}
        voip.packets.pop();
        voip
    }

    /// The packets that are lost of a call whose others take 10 ms, one of them `late`.
    fn with_losses(sent: u64, lost: &[u64], late: Option<(u64, Span)>) -> Call {
        let steady = VoipSpec { silence_suppression: false, ..VoipSpec::default() };
        let mut voip = call(steady, 1000.0, 1);
        for number in (0..sent).filter(|number| !lost.contains(number)) {
            let delay = late.filter(|(late, _)| *late == number).map_or(Span::from_millis(10), |late| late.1);
            voip.on_delivery(voip.packets[number as usize].at + delay, number * 172);
        }
        voip.call(sent, lost.len() as u64, Time::ZERO)
    }

    #[test]
    fn the_score_is_that_of_annex_b() {
        // Table B.1 of G.107: the least rating of each category, and its score.
        for (rating, score) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            assert_near(opinion(rating), score, 0.007);
        }
        assert_near(opinion(HIGHEST), 4.41, 0.005);
        assert_eq!([-5.0, 0.0, 100.0, 120.0].map(opinion), [1.0, 1.0, 4.5, 4.5]);
    }

    #[test]
    fn delay_impairs_from_100_ms_on() {
        assert_eq!([0, 100].map(|ms| delay_impairment(Span::from_millis(ms))), [0.0; 2]);
        // One doubling: 25 (2^(1/6) − 3 (1 + 3^−6)^(1/6) + 2).
        assert_near(delay_impairment(Span::from_millis(200)), 3.0442, 0.0005);
        // Two: 25 (65^(1/6) − 3 (1 + (2/3)^6)^(1/6) + 2).
        assert_near(delay_impairment(Span::from_millis(400)), 24.070, 0.001);
    }

    #[test]
    fn loss_impairs_by_the_codec_and_in_bursts() {
        assert_eq!(effective_impairment(11.0, 19.0, 0.0, None), 11.0);
        // 95 · 10 / (10 + 4.3) and / (10 + 25.1).
        assert_near(effective_impairment(0.0, 4.3, 0.1, None), 66.434, 0.001);
        assert_near(effective_impairment(0.0, 25.1, 0.1, None), 27.066, 0.001);
        // 95 · 10 / (10 / 2 + 25.1). Fewer bursts than by chance are no merit.
        assert_near(effective_impairment(0.0, 25.1, 0.1, Some(2.0)), 31.561, 0.001);
        assert_near(effective_impairment(0.0, 25.1, 0.1, Some(0.9)), 27.066, 0.001);
    }

    #[test]
    fn a_burst_is_losses_in_a_row() {
        assert_eq!(with_losses(10, &[], None).burst_ratio(), None);
        let single = with_losses(10, &[2, 5], None);
        assert_eq!((single.lost, single.bursts, single.loss()), (2, 2, Some(0.2)));
        let row = with_losses(10, &[2, 3, 4, 8], None);
        assert_eq!((row.lost, row.bursts, row.burst_ratio()), (4, 2, Some(2.0 * 0.6)));
    }

    #[test]
    fn what_the_jitter_buffer_does_not_wait_for_is_late() {
        let in_time = with_losses(10, &[2], Some((3, Span::from_millis(70))));
        assert_eq!((in_time.lost, in_time.late, in_time.bursts), (1, 0, 1));
        let late = with_losses(10, &[2], Some((3, Span::from_nanos(70_000_001))));
        assert_eq!((late.lost, late.late, late.bursts), (1, 1, 1));
        // A frame, the way of the first one, and the buffer.
        assert_eq!(late.delay, Some(Span::from_millis(90)));
    }

    #[test]
    fn the_last_ones_may_be_under_way() {
        let steady = VoipSpec { silence_suppression: false, ..VoipSpec::default() };
        let mut voip = call(steady, 10.0, 1);
        for number in [0, 1, 3, 4] {
            voip.on_delivery(voip.packets[number].at + Span::from_millis(10), number as u64 * 172);
        }
        let call = voip.call(7, 1, Time::ZERO);
        assert_eq!((call.sent, call.lost), (5, 1));
        // Of what was sent before the measurement began, nothing counts.
        let measured = voip.call(7, 1, Time::ZERO + Span::from_millis(60));
        assert_eq!((measured.sent, measured.lost), (2, 0));
    }

    /// 1.004 s of 2.591 s are speech, and of a spurt a frame more is sent than it is long, on the mean.
    #[test]
    fn spurts_and_pauses_have_the_means_of_p59() {
        let voip = call(VoipSpec::default(), 20_000.0, 7);
        let gaps = voip.packets.windows(2).filter(|pair| pair[1].at.since(pair[0].at) > FRAME).count();
        assert_near(voip.packets.len() as f64 * 0.02 / 20_000.0, (1.004 + 0.02) / 2.591, 0.01);
        // A pause within two frames in a row is not seen.
        assert_near(gaps as f64, 20_000.0 / 2.591 * libm::exp(-0.02 / 1.587), 250.0);
    }
}
