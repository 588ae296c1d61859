/* SPDX-License-Identifier: GPL-2.0 */
/* What a program at an interface (TCX) has of the kernel's interface for programs (linux/bpf.h), by its numbers. */
#ifndef BENTPIPE_PACKET_H
#define BENTPIPE_PACKET_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef long long s64;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))

struct __sk_buff {
	u32 len;
	u32 pkt_type;
	u32 mark;
	u32 queue_mapping;
	u32 protocol;
	u32 vlan_present;
	u32 vlan_tci;
	u32 vlan_proto;
	u32 priority;
	u32 ingress_ifindex;
	u32 ifindex;
};

struct bpf_timer {
	u64 opaque[2];
} __attribute__((aligned(8)));

#define TCX_NEXT (-1)
#define PACKET_HOST 0
#define BPF_ANY 0
#define CLOCK_MONOTONIC 1

#define BPF_MAP_TYPE_ARRAY 2
#define BPF_MAP_TYPE_LRU_HASH 9

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static long (*const map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const map_delete)(void *map, const void *key) = (void *)3;
static u64 (*const now_ns)(void) = (void *)5;
static long (*const store_bytes)(struct __sk_buff *skb, u32 at, const void *from, u32 len, u64 flags) = (void *)9;
static long (*const change_checksum)(struct __sk_buff *skb, u32 at, u64 from, u64 to, u64 flags) = (void *)11;
static long (*const load_bytes)(const struct __sk_buff *skb, u32 at, void *to, u32 len) = (void *)26;
static long (*const timer_init)(struct bpf_timer *timer, void *map, u64 flags) = (void *)169;
static long (*const timer_callback)(struct bpf_timer *timer, void *callback) = (void *)170;
static long (*const timer_start)(struct bpf_timer *timer, u64 ns, u64 flags) = (void *)171;

#endif
