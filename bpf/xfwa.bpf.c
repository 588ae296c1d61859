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
/* From one look to the next while nobody is there, and at least. */
#define IDLE_NS 100000000ull
#define LEAST_NS 1000000ull

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

struct gateway {
	struct bpf_timer timer;
	struct xfwa_config config;
	struct xfwa_snapshot snapshot;
	struct counters counters;
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

struct sums {
	u64 now;
	u64 delta;
	u64 sum_ns;
	u32 flows;
	u32 known;
};

static long add_flow(void *map, struct flow_key *key, struct xfwa_flow *f, struct sums *s)
{
	/* Another processor may have seen it since the clock was read. */
	if ((s64)(s->now - f->seen_at) > FORGOTTEN_NS) {
		map_delete(map, key);
		return 0;
	}
	if (f->data_at && (s64)(s->now - f->data_at) < (s64)s->delta) {
		s->flows++;
		if (f->rtt_ns) {
			s->known++;
			s->sum_ns += f->rtt_ns;
		}
	}
	return 0;
}

static inline void take_snapshot(struct gateway *g)
{
	struct sums s = { .now = now_ns() };

	/* Active is who sent data a mean round trip ago or later; nobody's is known before the first snapshot. */
	s.delta = g->snapshot.mean_ns ? g->snapshot.mean_ns : LONGEST_NS;
	for_each(&flows, add_flow, &s, 0);
	xfwa_take(&g->snapshot, &g->config, s.now, s.flows, s.known, s.sum_ns);
}

static int on_timer(void *map, u32 *key, struct gateway *g)
{
	u64 next;

	take_snapshot(g);
	next = g->snapshot.flows ? g->snapshot.mean_ns : IDLE_NS;
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

/* The shift of the window scale option: NO_OPTION without it, -1 for options that do not parse. */
static inline int read_scale(struct __sk_buff *skb, u32 at, u32 length)
{
	u32 place = 0;
	int found = NO_OPTION;

	for (int option = 0; option < 40 && place < length; option++) {
		u8 head[3] = { 0, 0, 0 };

		if (load_bytes(skb, at + place, head, 1))
			return -1;
		if (head[0] == 0)
			return found;
		if (head[0] == 1) {
			place++;
			continue;
		}
		if (place + 2 > length || load_bytes(skb, at + place, head, 2) || head[1] < 2 || place + head[1] > length)
			return -1;
		if (head[0] == 3 && head[1] == 3) {
			if (load_bytes(skb, at + place, head, 3))
				return -1;
			found = head[2];
		}
		place += head[1];
	}
	return found;
}

static inline int pass(struct __sk_buff *skb, u32 way)
{
	struct gateway *g = the_gateway();
	struct flow_key key = {}, flow_key;
	struct xfwa_segment s = {};
	struct tcp_header tcp;
	struct xfwa_flow *f;
	u32 at, end, length, makes;
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
		int shift = read_scale(skb, at + 20, length - 20);

		if (shift < 0)
			return TCX_NEXT;
		s.shift = shift;
	}
	/* A router has taken one off on the way to the link. */
	if (way == FORWARD && skb->ingress_ifindex && s.ttl < 255)
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
	if (s.rst) {
		map_delete(&flows, &flow_key);
		return TCX_NEXT;
	}
	f = map_lookup(&flows, &flow_key);
	makes = s.syn || (way == FORWARD && s.payload);
	if (!f) {
		struct xfwa_flow none = {};

		if (!makes || map_update(&flows, &flow_key, &none, BPF_ANY))
			return TCX_NEXT;
		f = map_lookup(&flows, &flow_key);
		if (!f)
			return TCX_NEXT;
	}
	now = now_ns();
	f->seen_at = now;
	if (way == FORWARD && makes)
		f->data_at = now;
	xfwa_learn(f, &g->config, now, way, &s);
	field = way == BACKWARD ? xfwa_field(f, &g->snapshot, &g->config, &s) : -1;
	if (field >= 0) {
		u16 window = from_network(field);
		int shift = s.syn ? 0 : xfwa_shift(f);

		change_checksum(skb, at + 16, tcp.window, window, 2);
		store_bytes(skb, at + 14, &window, 2, 0);
		__sync_fetch_and_add(&g->counters.lowered, 1);
		__sync_fetch_and_add(&g->counters.written_bytes, (u64)field << (shift & 15));
	}
	if (f->fin[0] && f->fin[1])
		map_delete(&flows, &flow_key);
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
