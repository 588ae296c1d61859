/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the congestion controls read and write of the kernel's structures. Only the names count: the loader finds each
 * field in the running kernel by them (CO-RE), so that one object fits several kernels.
 */
#ifndef BENTPIPE_KERNEL_H
#define BENTPIPE_KERNEL_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define RELOCATED __attribute__((preserve_access_index))

struct sock {
};

struct inet_sock {
	struct sock sk;
} RELOCATED;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u8 icsk_ca_state : 5;
	u64 icsk_ca_priv[13];
} RELOCATED;

struct tcp_sack_block {
	u32 start_seq;
	u32 end_seq;
} RELOCATED;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_una;
	u32 snd_nxt;
	u32 snd_wnd;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 packets_out;
	u32 max_packets_out;
	u32 sacked_out;
	u32 lost;
	u32 lost_out;
	u32 mss_cache;
	u32 undo_marker;
	struct tcp_sack_block recv_sack_cache[4];
	u8 is_cwnd_limited : 1;
} RELOCATED;

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
} RELOCATED;

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
};

enum tcp_ca_state {
	TCP_CA_Open,
	TCP_CA_Disorder,
	TCP_CA_CWR,
	TCP_CA_Recovery,
	TCP_CA_Loss,
};

/* So that a network namespace, and a program without CAP_NET_ADMIN, may choose the control. */
#define TCP_CONG_NON_RESTRICTED 1

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
};

/* The arguments of a hook, of which the kernel gives the addresses and values one after the other. */
#define ARGUMENT(type, context, place) ((type)(context)[place])

static inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static inline void *ca_state(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_ca_priv;
}

/* A field of a few bits: where it lies is only known when the program is loaded. */
#define BITS(from, field)                                                                                              \
	({                                                                                                             \
		const char *at = (const char *)(from) + __builtin_preserve_field_info((from)->field, 0);               \
		u64 bits;                                                                                              \
		switch (__builtin_preserve_field_info((from)->field, 1)) {                                             \
		case 1:                                                                                                \
			bits = *(const u8 *)at;                                                                        \
			break;                                                                                         \
		case 2:                                                                                                \
			bits = *(const unsigned short *)at;                                                            \
			break;                                                                                         \
		case 4:                                                                                                \
			bits = *(const u32 *)at;                                                                       \
			break;                                                                                         \
		default:                                                                                               \
			bits = *(const u64 *)at;                                                                       \
			break;                                                                                         \
		}                                                                                                      \
		bits <<= __builtin_preserve_field_info((from)->field, 4);                                              \
		bits >> __builtin_preserve_field_info((from)->field, 5);                                               \
	})

/* As the kernel's function of that name: a window that was not in use does not grow. */
static inline int tcp_is_cwnd_limited(const struct tcp_sock *tp)
{
	if (tp->snd_cwnd < tp->snd_ssthresh)
		return tp->snd_cwnd < 2 * tp->max_packets_out;
	return BITS(tp, is_cwnd_limited) != 0;
}

#endif
