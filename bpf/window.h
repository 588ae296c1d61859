/* SPDX-License-Identifier: GPL-2.0 */
/*
 * XFWA's arithmetic (Taleb, Kato and Nemoto, equation 1) and what it learns of a flow, in whole numbers: nothing of the
 * kernel, so that a test drives it beside the simulator's gateway.
 */
#ifndef BENTPIPE_WINDOW_H
#define BENTPIPE_WINDOW_H

enum xfwa_way { FORWARD, BACKWARD };
enum xfwa_source { BY_TTL, BY_HANDSHAKE, TOLD };
enum xfwa_handshake { UNSEEN, SYN_SEEN, SYN_ACK_SEEN, AMBIGUOUS, TOOK };

/* Of a side's SYN: nothing seen, no option, or the shift and SHIFTED. */
enum xfwa_scale { SCALE_UNSEEN, SCALE_WITHOUT, SHIFTED };
#define MAX_SHIFT 14 /* RFC 7323 section 2.3 */
#define NO_OPTION 255

#define LONGEST_NS (8ull << 30)	  /* no estimate is longer, so that no product overflows */
#define MOST_BYTES (1ull << 31)
#define PART 256		  /* capacities are in parts of a byte */

struct xfwa_config {
	u64 rate;	/* bytes a second */
	u64 buffer;	/* bytes */
	u64 hop_ns;	/* of BY_TTL: one way between two satellites */
	u64 told_ns;	/* of TOLD */
	u32 source;
	u32 least;	/* bytes below which no window is lowered */
	u32 link_header;	/* bytes before the IP header */
	u32 delta_factor;	/* mean round trips until a flow without data is idle */
};

struct xfwa_flow {
	u64 data_at;	/* its last data */
	u64 seen_at;
	u64 rtt_ns;	/* 0: not known */
	u64 shook_at;	/* the SYN, then how long the handshake took */
	u8 hops[2];	/* 0: not seen, else one more */
	u8 scale[2];
	u8 fin[2];
	u8 handshake;
	u8 opener;
	u64 offered_at;	/* a SYN that nobody has answered yet, on a connection that is known: when, and its scale */
	u64 counted_ns;	/* the round-trip time that counts in the sums of `epoch` */
	u32 epoch;	/* of its last data; 0: none */
	u16 mss;	/* of the segments that it may send; 0: not named */
	u8 offered;
	u8 offerer;
};

/* What is read of a segment. */
struct xfwa_segment {
	u32 payload;
	u16 window;
	u8 ttl;
	u8 syn;
	u8 ack;
	u8 fin;
	u8 rst;
	u8 shift;	/* of a SYN: NO_OPTION, or the option's */
	u8 pad;
	u16 mss;	/* of a SYN: that of its option, or 0 */
};

/* Of the active flows; everything of equation 1 but RTT_i. */
struct xfwa_snapshot {
	u64 level;	/* bytes of window a nanosecond, in 1/2^32 */
	u64 mean_ns;
	u64 taken;
	u32 flows;
	u32 pad;
};

/* Hosts start from 64, 128 or 255. */
static inline u8 hops_of(u8 ttl)
{
	return ttl <= 64 ? 64 - ttl : ttl <= 128 ? 128 - ttl : 255 - ttl;
}

static inline void xfwa_learn(struct xfwa_flow *f, const struct xfwa_config *c, u64 now, u32 way,
			      const struct xfwa_segment *s)
{
	u64 rtt = 0;
	u8 scale = s->shift == NO_OPTION ? SCALE_WITHOUT : SHIFTED + (s->shift < MAX_SHIFT ? s->shift : MAX_SHIFT);

	way &= 1;
	if (s->syn && f->scale[0] && f->scale[1] && f->handshake != SYN_ACK_SEEN) {
		/* Anybody could have written this SYN: the connection is a new one when the other side has answered it. */
		if (!s->ack) {
			f->offered_at = f->offered ? 0 : now;
			f->offered = scale;
			f->offerer = way;
			return;
		}
		if (!f->offered || f->offerer == way)
			return;
		f->hops[0] = f->hops[1] = f->fin[0] = f->fin[1] = 0;
		f->scale[f->offerer & 1] = f->offered;
		f->handshake = f->offered_at ? SYN_SEEN : AMBIGUOUS;
		f->shook_at = f->offered_at;
		f->opener = f->offerer;
		f->offered = 0;
	} else if (s->syn && !s->ack) {
		u8 again = f->handshake == SYN_SEEN || f->handshake == AMBIGUOUS;

		/* Ports are used again. */
		f->hops[0] = f->hops[1] = f->scale[0] = f->scale[1] = f->fin[0] = f->fin[1] = 0;
		f->handshake = again ? AMBIGUOUS : SYN_SEEN;
		f->shook_at = now;
		f->opener = way;
	}
	f->hops[way] = hops_of(s->ttl) + 1;
	f->fin[way] |= s->fin;
	if (s->syn)
		f->scale[way] = scale;
	if (s->syn && way == BACKWARD)
		f->mss = s->mss;
	if (f->handshake == SYN_SEEN && s->syn && s->ack && way != f->opener) {
		f->handshake = SYN_ACK_SEEN;
	} else if (f->handshake == SYN_ACK_SEEN && s->syn && way != f->opener) {
		f->handshake = AMBIGUOUS;
	} else if (f->handshake == SYN_ACK_SEEN && !s->syn && s->ack && way == f->opener) {
		f->handshake = TOOK;
		f->shook_at = now - f->shook_at;
	} else if (f->handshake == AMBIGUOUS && !s->syn) {
		f->handshake = UNSEEN;
	}
	switch (c->source) {
	case BY_TTL: {
		/* Section III: RTT = 2 (H_b + H_f + 2) ISL_delay; a way that was not seen counts no hops. */
		u64 hops = (f->hops[0] ? f->hops[0] - 1 : 0) + (f->hops[1] ? f->hops[1] - 1 : 0);

		rtt = 2 * (hops + 2) * c->hop_ns;
		break;
	}
	case BY_HANDSHAKE:
		rtt = f->handshake == TOOK ? (f->shook_at ? f->shook_at : 1) : 0;
		break;
	default:
		rtt = c->told_ns;
	}
	f->rtt_ns = rtt < LONGEST_NS ? rtt : LONGEST_NS;
}

/* By how many bits the windows that come back are shifted; -1 if too little was seen. */
static inline int xfwa_shift(const struct xfwa_flow *f)
{
	if (f->scale[FORWARD] == SCALE_WITHOUT || f->scale[BACKWARD] == SCALE_WITHOUT)
		return 0;
	if (f->scale[FORWARD] == SCALE_UNSEEN || f->scale[BACKWARD] == SCALE_UNSEEN)
		return -1;
	return f->scale[BACKWARD] - SHIFTED;
}

/* Equation 1 of `flows` active flows, of which `known` have a round-trip time, `sum_ns` together. */
static inline void xfwa_take(struct xfwa_snapshot *s, const struct xfwa_config *c, u64 now, u32 flows, u32 known,
			     u64 sum_ns)
{
	u64 mean = known ? sum_ns / known : s->mean_ns;
	u64 pipe, capacity, sum;

	s->taken = now;
	s->flows = flows;
	if (!flows || !known)
		return;
	/* In two steps, so that neither product is above 2^64 while the rate is below 2^31. */
	pipe = c->rate * (mean / 1000) * PART / 1000000 + c->rate * (mean % 1000) * PART / 1000000000;
	capacity = pipe + (c->buffer < MOST_BYTES ? c->buffer : MOST_BYTES) * PART;
	if (capacity > MOST_BYTES * PART)
		capacity = MOST_BYTES * PART;
	sum = flows == known ? sum_ns : mean * flows;
	s->mean_ns = mean;
	s->level = (capacity << 24) / (sum ? sum : 1);
}

/* The window field for a flow, or -1 where it stays as it is. */
static inline int xfwa_field(const struct xfwa_flow *f, const struct xfwa_snapshot *s, const struct xfwa_config *c,
			     const struct xfwa_segment *seg)
{
	u64 rtt = f->rtt_ns ? f->rtt_ns : s->mean_ns;
	u64 share, least;
	int shift;

	if (!s->level || (!seg->ack && !seg->syn))
		return -1;
	/* RFC 7323 section 2.2: the window of a SYN itself is not scaled. */
	shift = seg->syn ? 0 : xfwa_shift(f);
	if (shift < 0)
		return -1;
	/* Who is far longer under way than those that the level was taken of has more than a product of 64 bits. */
	if (rtt > ((1ull << 63) / s->level))
		return -1;
	/* A sixteenth of a byte: shares that are whole numbers must not fall below them by rounding. */
	share = ((rtt * s->level + (1ull << 28)) >> 32) >> (shift & 15);
	/* Below a segment of its own a sender would stall. */
	least = c->least > f->mss ? c->least : f->mss;
	least = (least + (1u << (shift & 15)) - 1) >> (shift & 15);
	if (share < least)
		share = least;
	return share < seg->window ? (int)share : -1;
}

#endif
