// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-AFC (Kothari, Gambhava and Dasgupta) as a congestion control of Linux: the first loss of a window costs no
 * reduction, the second one less the farther it is from the first, by the arithmetic of rules.h.
 *
 * The kernel asks for ssthresh once for each recovery and tells nothing of further losses: these are seen by its count of
 * lost segments, at the next ACK. Where the second one is, it does not say either: it lies below the highest segment that
 * was selectively acknowledged, whose arrival told of it.
 */
#include "kernel.h"
#include "rules.h"

char _license[] SEC("license") = "GPL";

struct afc {
	u32 losses;	/* of the window under way: enum afc_losses */
	u32 window;	/* what the first loss met, in segments */
	u32 first;	/* where it is */
	u32 ssthresh;	/* as it was before it */
	u32 lost;	/* the kernel's count of lost segments then */
	u32 grown;	/* of a segment */
};

SEC("struct_ops")
void afc_init(u64 *context)
{
	struct afc *a = ca_state(tcp_sk(ARGUMENT(struct sock *, context, 0)));

	a->losses = AFC_NONE;
	a->grown = 0;
}

/* A loss, a mark or a timeout: which of them, the next state tells. */
SEC("struct_ops")
u32 afc_ssthresh(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	struct afc *a = ca_state(tp);

	a->window = tp->packets_out < tp->snd_cwnd ? tp->packets_out : tp->snd_cwnd;
	a->first = tp->snd_una;
	if (a->losses != AFC_OVER)
		a->ssthresh = tp->snd_ssthresh;
	a->lost = tp->lost;
	a->grown = 0;
	if (tp->lost_out > 1) {
		a->losses = AFC_SEVERAL;
		return halved(a->window);
	}
	a->losses = AFC_FOUND;
	return tp->snd_cwnd;
}

SEC("struct_ops")
void afc_set_state(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	u8 state = ARGUMENT(u8, context, 1);
	struct afc *a = ca_state(tp);

	switch (state) {
	case TCP_CA_Recovery:
		if (a->losses == AFC_FOUND)
			a->losses = AFC_ONE;
		return;
	case TCP_CA_CWR:
	case TCP_CA_Loss:
		/* A mark is none of the network's errors, and a timeout ends the delay. */
		if (a->losses == AFC_FOUND || a->losses == AFC_ONE)
			tp->snd_ssthresh = halved(a->window);
		break;
	default:
		/* The kernel sets cwnd to ssthresh behind this: what it was then comes back at the next look. */
		if (a->losses == AFC_ONE) {
			a->losses = AFC_OVER;
			return;
		}
	}
	a->losses = AFC_NONE;
}

/* How many segments the second loss is behind the first. */
static inline u32 distance(struct tcp_sock *tp, u32 first)
{
	struct sk_buff *above = tp->highest_sack;
	u32 highest = above ? *(u32 *)above->cb : tp->snd_nxt;
	u32 mss = tp->mss_cache;
	u32 segments = mss ? (highest - first) / mss : 0;

	return segments > 2 ? segments - 2 : 0;
}

SEC("struct_ops")
void afc_pkts_acked(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	struct afc *a = ca_state(tp);

	if (a->losses != AFC_ONE || tp->lost == a->lost)
		return;
	a->losses = AFC_SEVERAL;
	tp->snd_ssthresh = halved(a->window) + afc_adjustment(distance(tp, a->first), a->window);
}

SEC("struct_ops")
void afc_cong_avoid(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	u32 acked = ARGUMENT(u32, context, 2);
	struct afc *a = ca_state(tp);
	u32 cwnd;

	if (a->losses == AFC_OVER) {
		tp->snd_ssthresh = a->ssthresh;
		a->losses = AFC_NONE;
	}
	if (!tcp_is_cwnd_limited(tp))
		return;
	cwnd = reno_opens(tp->snd_cwnd, tp->snd_ssthresh, acked, &a->grown);
	tp->snd_cwnd = cwnd < tp->snd_cwnd_clamp ? cwnd : tp->snd_cwnd_clamp;
}

SEC("struct_ops")
u32 afc_undo_cwnd(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));

	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops afc = {
	.init = (void *)afc_init,
	.ssthresh = (void *)afc_ssthresh,
	.set_state = (void *)afc_set_state,
	.cong_avoid = (void *)afc_cong_avoid,
	.pkts_acked = (void *)afc_pkts_acked,
	.undo_cwnd = (void *)afc_undo_cwnd,
	.name = "afc",
	.flags = TCP_CONG_NON_RESTRICTED,
};
