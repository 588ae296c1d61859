// SPDX-License-Identifier: GPL-2.0
/*
 * TCP-ADaLR (Omueti and Trajkovic, WICON 2007) as a congestion control of Linux: its window, by the arithmetic of rules.h.
 * The kernel's recovery stands in for the paper's, and the receive window is as the receiver advertises it.
 */
#include "kernel.h"
#include "rules.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops")
void adalr_init(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	struct adalr *a = ca_state(tp);

	a->rho = ONE;
	a->root = ONE;
	a->grown = 0;
	a->lossy = 0;
	a->recovering = 0;
	a->linear = 0;
}

/* RFC 5681 equation 4, of what was outstanding. */
SEC("struct_ops")
u32 adalr_ssthresh(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	struct adalr *a = ca_state(tp);
	u32 outstanding = tp->packets_out < tp->snd_cwnd ? tp->packets_out : tp->snd_cwnd;

	a->lossy = 1;
	a->grown = 0;
	return halved(outstanding);
}

SEC("struct_ops")
void adalr_set_state(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	u8 state = ARGUMENT(u8, context, 1);
	struct adalr *a = ca_state(tp);

	if (state == TCP_CA_Recovery) {
		a->recovering = 1;
	} else if (state == TCP_CA_Loss) {
		a->recovering = 0;
		a->linear = 0;
	} else {
		/* The kernel sets cwnd to ssthresh behind this. */
		adalr_recovered(a, tp->snd_ssthresh);
	}
}

SEC("struct_ops")
void adalr_cong_avoid(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	u32 acked = ARGUMENT(u32, context, 2);
	struct adalr *a = ca_state(tp);
	u32 flight = tp->snd_nxt - tp->snd_una;
	u32 cwnd;

	if (!tcp_is_cwnd_limited(tp))
		return;
	cwnd = adalr_opens(a, tp->snd_cwnd, tp->snd_ssthresh, acked, flight, tp->snd_wnd);
	tp->snd_cwnd = cwnd < tp->snd_cwnd_clamp ? cwnd : tp->snd_cwnd_clamp;
}

SEC("struct_ops")
void adalr_pkts_acked(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));
	const struct ack_sample *sample = ARGUMENT(const struct ack_sample *, context, 1);

	if (sample->rtt_us > 0)
		adalr_rtt(ca_state(tp), (u32)sample->rtt_us);
}

SEC("struct_ops")
u32 adalr_undo_cwnd(u64 *context)
{
	struct tcp_sock *tp = tcp_sk(ARGUMENT(struct sock *, context, 0));

	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops adalr = {
	.init = (void *)adalr_init,
	.ssthresh = (void *)adalr_ssthresh,
	.set_state = (void *)adalr_set_state,
	.cong_avoid = (void *)adalr_cong_avoid,
	.pkts_acked = (void *)adalr_pkts_acked,
	.undo_cwnd = (void *)adalr_undo_cwnd,
	.name = "adalr",
	.flags = TCP_CONG_NON_RESTRICTED,
};
