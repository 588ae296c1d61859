/* SPDX-License-Identifier: GPL-2.0 */
/* The rules as functions of this machine, for the tests that drive them beside the simulator's controls. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#include "rules.h"
#include "window.h"

u32 host_whole_root(u32 n)
{
	return whole_root(n);
}

u32 host_reno_opens(u32 cwnd, u32 ssthresh, u32 acked, u32 *grown)
{
	return reno_opens(cwnd, ssthresh, acked, grown);
}

void host_adalr_rtt(struct adalr *a, u32 rtt_us)
{
	adalr_rtt(a, rtt_us);
}

u32 host_adalr_opens(struct adalr *a, u32 cwnd, u32 ssthresh, u32 acked, u32 flight, u32 rwnd)
{
	return adalr_opens(a, cwnd, ssthresh, acked, flight, rwnd);
}

void host_adalr_recovered(struct adalr *a, u32 cwnd)
{
	adalr_recovered(a, cwnd);
}

u32 host_halved(u32 segments)
{
	return halved(segments);
}

u32 host_afc_reduced(u32 distance, u32 window)
{
	return afc_reduced(distance, window);
}

u32 host_afc_second(u32 first, u32 una, u32 mss, const u32 *blocks)
{
	return afc_second(first, una, mss, blocks);
}

void host_xfwa_learn(struct xfwa_flow *f, const struct xfwa_config *c, u64 now, u32 way, const struct xfwa_segment *s)
{
	xfwa_learn(f, c, now, way, s);
}

void host_xfwa_take(struct xfwa_snapshot *s, const struct xfwa_config *c, u64 now, u32 flows, u32 known, u64 sum_ns)
{
	xfwa_take(s, c, now, flows, known, sum_ns);
}

int host_xfwa_field(const struct xfwa_flow *f, const struct xfwa_snapshot *s, const struct xfwa_config *c,
		    const struct xfwa_segment *seg)
{
	return xfwa_field(f, s, c, seg);
}
