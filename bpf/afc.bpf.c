// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-AFC (Kothari, Gambhava and Dasgupta) as a congestion control of Linux: the first loss of a window costs no
 * reduction, the second one less the farther it is from the first, by the arithmetic of rules.h.
 *
 * The kernel asks for ssthresh once for each recovery and tells nothing of further losses: these are seen by its count of
 * lost segments, at the next ACK. Where the second one is, the SACK blocks say of the ACK that told of it, whether an ACK
 * reports one segment or, behind a receiver's GRO, many.
 */
#include "kernel.h"
#include "rules.h"

char _license[] SEC("license") = "GPL";

struct afc {
	u32 losses;	/* of the window under way: enum afc_losses */
	u32 window;	/* what the first loss met, in segments */
	u32 first;	/* where it is */
	u32 sent;	/* how many segments had been sent from there on */
	u32 ssthresh;	/* as it was before it */
	u32 lost;	/* the kernel's count of lost segments then */
	u32 second;	/* where the next one is, as the last ACK has it, in segments behind the first; 0: none is known */
	u32 grown;	/* of a segment */
};

SEC("struct_ops")
void afc_init(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	struct afc *a = ca_state(tp);

	a->losses = AFC_NONE;
	a->grown = 0;
}

/* How many segments a second loss is behind the first, or 0. */
static inline u32 distance(struct tcp_sock *tp, u32 first)
{
	u32 blocks[2 * SACK_BLOCKS];
	u32 mss = tp->mss_cache;

	for (int i = 0; i < SACK_BLOCKS; i++) {
		blocks[2 * i] = tp->recv_sack_cache[i].start_seq;
		blocks[2 * i + 1] = tp->recv_sack_cache[i].end_seq;
	}
	return mss ? (afc_second(first, tp->snd_una, mss, blocks) + mss - 1) / mss : 0;
}

/* A loss, a mark or a timeout: which of them, the next state tells. */
SEC("struct_ops")
u32 afc_ssthresh(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	struct afc *a = ca_state(tp);

	/* What the kernel's own controls halve, not the flight size. */
	a->window = tp->snd_cwnd;
	a->first = tp->snd_una;
	a->sent = tp->packets_out;
	if (a->losses != AFC_OVER)
		a->ssthresh = tp->snd_ssthresh;
	a->lost = tp->lost;
	a->grown = 0;
	a->second = distance(tp, a->first);
	if (tp->lost_out > 1) {
		a->losses = AFC_SEVERAL;
		return afc_reduced(a->second, a->window);
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

	if (a->losses != AFC_ONE)
		return;
	if (tp->lost != a->lost) {
		a->lost = tp->lost;
		/* Neither the retransmission of the first, nor data that was sent since: that is the next window's. */
		if (tp->lost_out > (tp->snd_una == a->first) && a->second && a->second < a->sent) {
			a->losses = AFC_SEVERAL;
			tp->snd_ssthresh = afc_reduced(a->second, a->window);
			return;
		}
	}
	a->second = distance(tp, a->first);
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
