// SPDX-License-Identifier: GPL-2.0
/*
 * XFWA (Taleb, Kato and Nemoto) at an interface whose link it guards: what leaves by it is seen, and the window of what
 * comes back is lowered to equation 1, by the arithmetic of window.h. A timer takes the snapshot every mean round trip.
 */
#include "packet.h"
#include "window.h"

char _license[] SEC("license") = "GPL";

#define MAX_FLOWS 65536
/* Without a segment for so long a flow is forgotten. */
#define FORGOTTEN_NS 300000000000ll
/* From one snapshot to the next while no round-trip time is known, and at least. */
#define IDLE_NS 100000000ull
#define LEAST_NS 1000000ull
/*
 * An epoch is the time between two snapshots, a mean round trip. Flows are counted in that of their last data, so that a snapshot
 * adds up a few sums and looks at no flow. One more is kept than is added up: a packet may still go by the epoch before.
 */
#define EPOCHS 8
#define MOST_DELTA (EPOCHS - 2)

struct flow_key {
	u8 source[16];
	u8 destination[16];
	u16 source_port;
	u16 destination_port;
};

struct counters {
	u64 forward;
	u64 backward;
	u64 lowered;
	u64 written_bytes;	/* of the windows that were lowered */
};

/* Flows whose last data was in one epoch. */
struct sums {
	u64 sum_ns;	/* of the round-trip times that are known */
	u32 flows;
	u32 known;
};

struct gateway {
	struct bpf_timer timer;
	struct xfwa_config config;
	struct xfwa_snapshot snapshot;
	struct counters counters;
	struct sums sums[EPOCHS];
	u32 epoch;	/* from 1 on */
	u32 pad;
};

#define MAP(type_, key_, value_, entries_)                                                                             \
	struct {                                                                                                       \
		int(*type)[type_];                                                                                     \
		key_ *key;                                                                                             \
		value_ *value;                                                                                         \
		int(*max_entries)[entries_];                                                                           \
	}

MAP(BPF_MAP_TYPE_LRU_HASH, struct flow_key, struct xfwa_flow, MAX_FLOWS) flows SEC(".maps");
MAP(BPF_MAP_TYPE_ARRAY, u32, struct gateway, 1) gateways SEC(".maps");

static inline struct gateway *the_gateway(void)
{
	u32 zero = 0;

	return map_lookup(&gateways, &zero);
}

static inline void add(struct gateway *g, u32 epoch, u64 rtt_ns, int flows)
{
	struct sums *s = &g->sums[epoch % EPOCHS];

	__sync_fetch_and_add(&s->flows, flows);
	if (rtt_ns) {
		__sync_fetch_and_add(&s->known, flows);
		__sync_fetch_and_add(&s->sum_ns, flows > 0 ? rtt_ns : -rtt_ns);
	}
}

/* The flow counts no more. */
static inline void leave(struct gateway *g, struct xfwa_flow *f, u32 now)
{
	u32 last = f->epoch;

	if (!last || __sync_val_compare_and_swap(&f->epoch, last, 0) != last)
		return;
	if (now - last < EPOCHS - 1)
		add(g, last, f->counted_ns, -1);
}

/* The flow sends data: it counts in this epoch. */
static inline void enter(struct gateway *g, struct xfwa_flow *f)
{
	u32 now = g->epoch;

	if (f->epoch == now && f->counted_ns == f->rtt_ns)
		return;
	leave(g, f, now);
	f->counted_ns = f->rtt_ns;
	/* Whoever comes first counts it. */
	if (!__sync_val_compare_and_swap(&f->epoch, 0, now))
		add(g, now, f->counted_ns, 1);
}

/* Active is who sent data in the last epoch, or in as many as delta has. */
static inline void take_snapshot(struct gateway *g)
{
	u32 epoch = g->epoch, flows = 0, known = 0;
	u64 sum_ns = 0;

	for (u32 back = 0; back < MOST_DELTA; back++) {
		const struct sums *s = &g->sums[(epoch - back) % EPOCHS];

		if (back >= g->config.delta_factor || back >= epoch)
			break;
		flows += s->flows;
		known += s->known;
		sum_ns += s->sum_ns;
	}
	xfwa_take(&g->snapshot, &g->config, now_ns(), flows, known, sum_ns);
	__builtin_memset(&g->sums[(epoch + 1) % EPOCHS], 0, sizeof(struct sums));
	g->epoch = epoch + 1;
}

static int on_timer(void *map, u32 *key, struct gateway *g)
{
	u64 next;

	take_snapshot(g);
	next = g->snapshot.mean_ns ? g->snapshot.mean_ns : IDLE_NS;
	timer_start(&g->timer, next > LEAST_NS ? next : LEAST_NS, 0);
	return 0;
}

/* Called once, when the configuration is in its map. */
SEC("syscall")
int xfwa_start(void *context)
{
	struct gateway *g = the_gateway();

	if (!g || timer_init(&g->timer, &gateways, CLOCK_MONOTONIC))
		return 1;
	timer_callback(&g->timer, on_timer);
	return timer_start(&g->timer, LEAST_NS, 0) != 0;
}

/* For the test that drives it with its own times between packets. */
SEC("syscall")
int xfwa_snapshot(void *context)
{
	struct gateway *g = the_gateway();

	if (g)
		take_snapshot(g);
	return 0;
}

static inline u16 from_network(u16 value)
{
	return __builtin_bswap16(value);
}

#define IPV4 0x0800
#define IPV6 0x86dd
#define TCP 6
#define FRAGMENT 0x3fff

struct tcp_header {
	u16 source;
	u16 destination;
	u32 sequence;
	u32 acknowledgment;
	u8 offset;
	u8 flags;
	u16 window;
	u16 checksum;
	u16 urgent;
};

/* Reads the IP header; the place of the TCP header, or 0 for what is no whole TCP segment. */
static inline u32 read_ip(struct __sk_buff *skb, u32 at, struct flow_key *key, u8 *ttl, u32 *end)
{
	u8 ip[40];

	if (skb->protocol == __builtin_bswap16(IPV4)) {
		u32 length, total;

		if (load_bytes(skb, at, ip, 20))
			return 0;
		length = (ip[0] & 15) * 4;
		total = ip[2] << 8 | ip[3];
		if (ip[0] >> 4 != 4 || length < 20 || ((ip[6] << 8 | ip[7]) & FRAGMENT) || ip[9] != TCP)
			return 0;
		__builtin_memcpy(key->source, ip + 12, 4);
		__builtin_memcpy(key->destination, ip + 16, 4);
		*ttl = ip[8];
		*end = at + total;
		return at + length;
	}
	if (skb->protocol == __builtin_bswap16(IPV6)) {
		/* Behind extension headers nothing is looked for: such packets pass. */
		if (load_bytes(skb, at, ip, 40) || ip[0] >> 4 != 6 || ip[6] != TCP)
			return 0;
		__builtin_memcpy(key->source, ip + 8, 16);
		__builtin_memcpy(key->destination, ip + 24, 16);
		*ttl = ip[7];
		*end = at + 40 + (ip[4] << 8 | ip[5]);
		return at + 40;
	}
	return 0;
}

/* What the options of a SYN say; -1 for options that do not parse, 1 where segments are signed (TCP-MD5, TCP-AO). */
static inline int read_options(struct __sk_buff *skb, u32 at, u32 length, struct xfwa_segment *s)
{
	u32 place = 0;

	for (int option = 0; option < 40 && place < length; option++) {
		u8 head[4] = { 0, 0, 0, 0 };

		if (load_bytes(skb, at + place, head, 1))
			return -1;
		if (head[0] == 0)
			return 0;
		if (head[0] == 1) {
			place++;
			continue;
		}
		if (place + 2 > length || load_bytes(skb, at + place, head, 2) || head[1] < 2 || place + head[1] > length)
			return -1;
		if (head[0] == 19 || head[0] == 29)
			return 1;
		if (head[0] == 3 && head[1] == 3) {
			if (load_bytes(skb, at + place, head, 3))
				return -1;
			s->shift = head[2];
		}
		if (head[0] == 2 && head[1] == 4) {
			if (load_bytes(skb, at + place, head, 4))
				return -1;
			s->mss = head[2] << 8 | head[3];
		}
		place += head[1];
	}
	return 0;
}

static inline int pass(struct __sk_buff *skb, u32 way)
{
	struct gateway *g = the_gateway();
	struct flow_key key = {}, flow_key;
	struct xfwa_segment s = {};
	struct tcp_header tcp;
	struct xfwa_flow *f;
	u32 at, end, length;
	int signature = 0;
	u64 now;
	int field;

	if (!g)
		return TCX_NEXT;
	at = read_ip(skb, g->config.link_header, &key, &s.ttl, &end);
	if (!at || load_bytes(skb, at, &tcp, sizeof(tcp)))
		return TCX_NEXT;
	length = (tcp.offset >> 4) * 4;
	if (length < 20 || at + length > end || end > skb->len)
		return TCX_NEXT;
	s.payload = end - at - length;
	s.window = from_network(tcp.window);
	s.fin = tcp.flags & 1;
	s.syn = tcp.flags >> 1 & 1;
	s.rst = tcp.flags >> 2 & 1;
	s.ack = tcp.flags >> 4 & 1;
	s.shift = NO_OPTION;
	if (s.syn) {
		signature = read_options(skb, at + 20, length - 20, &s);
		if (signature < 0)
			return TCX_NEXT;
	}
	/* A router has taken one off on the way to the link; a bridge, which carries what is for another machine, has not. */
	if (way == FORWARD && skb->ingress_ifindex && skb->pkt_type == PACKET_HOST && s.ttl < 255)
		s.ttl++;
	key.source_port = tcp.source;
	key.destination_port = tcp.destination;
	__sync_fetch_and_add(way == FORWARD ? &g->counters.forward : &g->counters.backward, 1);
	flow_key = key;
	if (way == BACKWARD) {
		__builtin_memcpy(flow_key.source, key.destination, 16);
		__builtin_memcpy(flow_key.destination, key.source, 16);
		flow_key.source_port = key.destination_port;
		flow_key.destination_port = key.source_port;
	}
	/* A reset may be forged. A connection that has ended sends no data, and so does not count. */
	if (s.rst)
		return TCX_NEXT;
	now = now_ns();
	f = map_lookup(&flows, &flow_key);
	if (f && (signature || (s64)(now - f->seen_at) > FORGOTTEN_NS)) {
		leave(g, f, g->epoch);
		map_delete(&flows, &flow_key);
		f = 0;
	}
	/* The signature covers the window: such a flow is left alone, as one whose SYNs were not seen. */
	if (signature)
		return TCX_NEXT;
	if (!f) {
		struct xfwa_flow none = {};

		if (!s.syn && !(way == FORWARD && s.payload))
			return TCX_NEXT;
		none.seen_at = now;
		if (map_update(&flows, &flow_key, &none, BPF_ANY))
			return TCX_NEXT;
		f = map_lookup(&flows, &flow_key);
		if (!f)
			return TCX_NEXT;
	}
	f->seen_at = now;
	xfwa_learn(f, &g->config, now, way, &s);
	if (way == FORWARD && s.payload) {
		f->data_at = now;
		enter(g, f);
	}
	field = way == BACKWARD ? xfwa_field(f, &g->snapshot, &g->config, &s) : -1;
	if (field >= 0) {
		u16 window = from_network(field);
		int shift = s.syn ? 0 : xfwa_shift(f);

		change_checksum(skb, at + 16, tcp.window, window, 2);
		store_bytes(skb, at + 14, &window, 2, 0);
		__sync_fetch_and_add(&g->counters.lowered, 1);
		__sync_fetch_and_add(&g->counters.written_bytes, (u64)field << (shift & 15));
	}
	if (f->fin[0] && f->fin[1]) {
		leave(g, f, g->epoch);
		map_delete(&flows, &flow_key);
	}
	return TCX_NEXT;
}

SEC("tc")
int xfwa_forward(struct __sk_buff *skb)
{
	return pass(skb, FORWARD);
}

SEC("tc")
int xfwa_backward(struct __sk_buff *skb)
{
	return pass(skb, BACKWARD);
}
