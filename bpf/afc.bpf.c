// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-AFC (Kothari, Gambhava and Dasgupta) as a congestion control of Linux: the first loss of a window costs no
 * reduction, the second one less the farther it is from the first, by the arithmetic of rules.h.
 *
 * The kernel asks for ssthresh once for each recovery and tells nothing of further losses: these are seen by its count of
 * lost segments, at the next ACK. Where the second one is, it does not say either: not before the end of what the ACK before
 * the one that told of it had reported. Where each ACK reports one segment it lies just there; where one reports many, it is
 * taken to be as near as it can be, so that the window is never cut by less than equation 1 has it.
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
	u32 highest;	/* the end of what was selectively acknowledged, by the last ACK */
	u32 before;	/* the same by the one before */
	u32 grown;	/* of a segment */
};

SEC("struct_ops")
void afc_init(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	struct afc *a = ca_state(tp);

	a->losses = AFC_NONE;
	a->grown = 0;
	a->highest = tp->snd_una;
	a->before = tp->snd_una;
}

/* How many segments the second loss is behind the first. */
static inline u32 distance(struct tcp_sock *tp, struct afc *a)
{
	u32 mss = tp->mss_cache;
	s32 bytes = (s32)(a->before - a->first);
	u32 segments = mss && bytes > 0 ? (u32)bytes / mss : 0;

	return segments > 1 ? segments : 1;
}

/* A loss, a mark or a timeout: which of them, the next state tells. */
SEC("struct_ops")
u32 afc_ssthresh(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	struct afc *a = ca_state(tp);
	u32 behind;

	a->window = tp->packets_out < tp->snd_cwnd ? tp->packets_out : tp->snd_cwnd;
	a->first = tp->snd_una;
	if (a->losses != AFC_OVER)
		a->ssthresh = tp->snd_ssthresh;
	a->lost = tp->lost;
	a->grown = 0;
	if (tp->lost_out > 1) {
		a->losses = AFC_SEVERAL;
		/* Found only now that three segments are held above the first, it may be two segments nearer. */
		behind = distance(tp, a);
		return afc_reduced(behind > 2 ? behind - 2 : 1, a->window);
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

SEC("struct_ops")
void afc_pkts_acked(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	struct afc *a = ca_state(tp);
	struct sk_buff *above = tp->highest_sack;
	u32 highest = tp->snd_una;
	u32 behind;

	if (tp->sacked_out)
		highest = above ? *(u32 *)above->cb : tp->snd_nxt;

	if (a->losses == AFC_ONE && tp->lost != a->lost) {
		a->lost = tp->lost;
		behind = distance(tp, a);
		/* Neither the retransmission of the first, nor data that was sent since: that is the next window's. */
		if (tp->lost_out > (tp->snd_una == a->first) && behind < a->window) {
			a->losses = AFC_SEVERAL;
			tp->snd_ssthresh = afc_reduced(behind, a->window);
		}
	}
	a->before = a->highest;
	a->highest = highest;
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
