/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arithmetic of the schemes, in whole numbers: nothing of the kernel, so that a test drives it beside the simulator's.
 *
 * Windows are in segments, as the kernel has them. Fractions are in units of 1/1024 (ONE), what a window has grown by
 * and not yet opened in units of 1/1048576 of a segment.
 */
#ifndef BENTPIPE_RULES_H
#define BENTPIPE_RULES_H

#define ONE 1024u
#define SEGMENT (ONE * ONE)

/* The largest whole number whose square is not above n, below 2^32: from above by Newton's steps, which the verifier takes
 * without a branch back. */
static inline u32 whole_root(u32 n)
{
	u64 root = 1ull << ((33 - __builtin_clz(n | 1)) / 2);

	for (int step = 0; step < 6; step++)
		root = (root + n / root) / 2;
	return (u32)(root - (root * root > n));
}

/* RFC 5681 equation 4: at least two segments. */
static inline u32 halved(u32 segments)
{
	return segments / 2 > 2 ? segments / 2 : 2;
}

/* Adds a part of a segment to a window; what does not fill one is left in *grown. */
static inline u32 opened(u32 cwnd, u64 part, u32 *grown)
{
	u64 sum = *grown + part;

	*grown = sum % SEGMENT;
	return cwnd + (u32)(sum / SEGMENT);
}

/* RFC 5681 section 3.1 with byte counting, as the kernel's Reno has it. */
static inline u32 reno_opens(u32 cwnd, u32 ssthresh, u32 acked, u32 *grown)
{
	if (cwnd < ssthresh) {
		u32 room = ssthresh - cwnd;

		if (acked <= room)
			return cwnd + acked;
		cwnd = ssthresh;
		acked -= room;
	}
	return opened(cwnd, (u64)acked * SEGMENT / (cwnd ? cwnd : 1), grown);
}

/* ---- TCP-ADaLR (Omueti and Trajkovic, WICON 2007), its window; the paper's section 4 ---- */

/* Below it the scheme is standard TCP: a sample of 250 ms. */
#define ADALR_BREAKPOINT (15 * ONE)
#define ADALR_LARGEST (60 * ONE)

struct adalr {
	u32 rho;	/* the scaling component, in 1/1024 */
	u32 root;	/* its square root, in 1/1024 */
	u32 grown;	/* of a segment */
	u32 lossy;	/* whether a loss has happened in the life of the connection */
	u32 recovering;	/* whether a loss began a fast recovery that has not ended */
	u32 linear;	/* segments to be acknowledged before congestion avoidance is fast again */
};

static inline void adalr_rtt(struct adalr *a, u32 rtt_us)
{
	u64 rho = 60ull * ONE * rtt_us / 1000000;

	a->rho = rho < ONE ? ONE : rho > ADALR_LARGEST ? ADALR_LARGEST : (u32)rho;
	a->root = whole_root(a->rho * ONE);
}

/* Whether one of the four sub-phases of slow start (algorithm 1) holds. Windows in segments, the others in bytes. */
static inline int adalr_sub_phase(u32 cwnd, u32 ssthresh, u32 flight, u32 rwnd)
{
	int quarter_to_half = flight >= rwnd / 4 && flight < rwnd / 2;
	int below_half = 2ull * cwnd <= ssthresh;
	int below_quarter = 4ull * cwnd <= ssthresh;

	return (below_half && flight < rwnd / 4) || (!below_quarter && quarter_to_half);
}

/* A fast recovery that a loss began has ended: cwnd "is linearly incremented immediately after" it (section 4.1), for a window. */
static inline void adalr_recovered(struct adalr *a, u32 cwnd)
{
	if (a->recovering)
		a->linear = cwnd;
	a->recovering = 0;
}

/* What the window is after `acked` segments were acknowledged. */
static inline u32 adalr_opens(struct adalr *a, u32 cwnd, u32 ssthresh, u32 acked, u32 flight, u32 rwnd)
{
	int adaptive = a->rho >= ADALR_BREAKPOINT;
	int linear = a->linear > 0;
	u64 factor = ONE;

	a->linear -= acked < a->linear ? acked : a->linear;
	if (cwnd < ssthresh) {
		if (adaptive && !a->lossy && adalr_sub_phase(cwnd, ssthresh, flight, rwnd))
			factor = a->root / 4;
		return opened(cwnd, factor * acked * ONE, &a->grown);
	}
	if (adaptive && !linear && flight < rwnd / 2)
		factor = a->root / 2;
	return opened(cwnd, factor * acked * ONE / (cwnd ? cwnd : 1), &a->grown);
}

/* ---- TCP-AFC (Kothari, Gambhava and Dasgupta): delayed fast recovery and rate adjustment ---- */

/* After AFC_ONE comes AFC_OVER, until the ACK that ended the recovery has been dealt with. */
enum afc_losses { AFC_NONE, AFC_FOUND, AFC_ONE, AFC_SEVERAL, AFC_OVER };

/* As many as the kernel keeps of an ACK's, in the order of their sequence numbers behind what is empty. */
#define SACK_BLOCKS 4

/* How many bytes behind the first loss the next hole begins, as `blocks` has it (starts and ends in turn); 0: none is known. */
static inline u32 afc_second(u32 first, u32 una, u32 mss, const u32 *blocks)
{
	u32 covered = 0;

	/* The first is through, or a hole of several segments: the next is the one behind it. */
	if (una != first)
		return una - first;
	for (int i = 0; i < SACK_BLOCKS; i++) {
		u32 start = blocks[2 * i] - first;
		u32 end = blocks[2 * i + 1] - first;

		/* Below the first, or empty. */
		if (start >= 1u << 31 || start == end)
			continue;
		if (covered == 0 && start > mss)
			return mss;
		if (covered != 0 && start > covered)
			return covered;
		if (end > covered)
			covered = end;
	}
	return 0;
}

/* R_adj of equation 1 in segments: Cd^4 / (2 cwnd^3) where Cd is above half the window, else 0. */
static inline u32 afc_adjustment(u32 distance, u32 window)
{
	u64 d = distance < window ? distance : window;
	u64 w = window;

	if (window == 0 || 2 * d <= w)
		return 0;
	/* Cd/cwnd in 1/1024, so that no product is above 2^64. */
	u64 share = d * ONE / w;
	return (u32)(share * share / ONE * share / ONE * d / (2 * ONE));
}

/* Equation 1: what a second loss so far behind the first leaves of a window, two segments at least. */
static inline u32 afc_reduced(u32 distance, u32 window)
{
	u32 sum = window / 2 + afc_adjustment(distance, window);

	return sum > 2 ? sum : 2;
}

#endif
