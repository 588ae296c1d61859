//! A transfer as text, one line a segment.

use std::fmt::Write;

use bentpipe_tcp::Flags;

use super::{CLIENT, Net, SERVER, Sent};

impl Net {
    /// Every segment sent: milliseconds, direction, bytes or ACK, cwnd of who sent data, what became of it.
    pub(crate) fn trace(&self) -> String {
        let mut text = String::new();
        for sent in &self.sent {
            self.line(&mut text, sent);
        }
        text
    }

    fn line(&self, text: &mut String, sent: &Sent) {
        let segment = &sent.passing.segment;
        let (from, to) = (sent.passing.from, 1 - sent.passing.from);
        let arrow = if from == CLIENT { "->" } else { "<-" };
        let mut line = format!("{:>10.3} ms {arrow}", sent.ms());
        for (flag, name) in [(Flags::SYN, " SYN"), (Flags::FIN, " FIN"), (Flags::RST, " RST")] {
            if segment.flags.has(flag) {
                line.push_str(name);
            }
        }
        let start = self.relative(from, segment.seq);
        if segment.len > 0 {
            write!(line, " {start}..{}", start + i64::from(segment.len)).unwrap_or_default();
        }
        if segment.flags.has(Flags::ACK) && (from == SERVER || segment.len == 0) {
            write!(line, " ack {} win {}", self.relative(to, segment.ack), segment.window)
                .unwrap_or_default();
        }
        for block in segment.options.sack.as_slice() {
            let (start, end) = (self.relative(to, block.start), self.relative(to, block.end));
            write!(line, " sack {start}..{end}").unwrap_or_default();
        }
        if segment.len > 0 {
            write!(line, "  cwnd {:.0}", sent.cwnd).unwrap_or_default();
        }
        let again = if sent.passing.again { "  again" } else { "" };
        let lost = if sent.copies == 0 { "  lost" } else { "" };
        writeln!(text, "{line}{again}{lost}").unwrap_or_default();
    }
}
