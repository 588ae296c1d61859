/*
 * The first program in a virtual kernel whose clock and network are the simulator's: it does with sockets what the simulator's
 * applications ask for, and is asked through frames on eth2, a device of its own. Data comes from eth0, in the first namespace, and
 * goes to eth1, in a second one. `settings` has a line "HOST NAME VALUE" for each sysctl under net.ipv4; HOST is 0 or 1.
 *
 * Nothing here takes time. A connection's end has a thread that opens it and reads, and one that writes: what waits in the kernel
 * costs nothing, while a return to a program does.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROL_PROTOCOL 0x88b5 /* for local experiments */
#define FIRST_PORT 1024
#define MOST (UINT64_C(1) << 62)

enum order { OPEN = 1, WRITE, CLOSE, INFO };
enum report { READY = 1, READ, ENDED, BROKE, TOLD };
enum { CONNECTS = 1, IS_READ = 2, NO_DELAY = 4, DISCARDS = 8 };

struct message {
	struct ethhdr header;
	uint8_t kind, side;
	uint16_t connection;
	uint32_t flags;
	uint64_t value;
	uint32_t mss, receive_window; /* 0: it grows */
	char control[16];
	uint16_t length; /* of what follows */
	uint8_t info[400];
} __attribute__((packed));
#define PLAIN offsetof(struct message, info)

struct end {
	uint8_t side;
	uint16_t connection;
	uint32_t flags, mss, receive_window;
	int listening, socket;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t *writes; /* of each that was asked for, the bytes that are left */
	int count, room, closes, is_open;
};

static struct end *ends[1 << 17];
static int control = -1, network[2];

/* The host reads this line on the console. */
static void fail(const char *what)
{
	printf("bentpipe: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void report(enum report kind, const struct end *end, uint64_t value, const void *more, uint16_t length)
{
	struct message told = { .kind = kind, .value = value, .length = length };

	told.header.h_proto = htons(CONTROL_PROTOCOL);
	if (end) {
		told.side = end->side;
		told.connection = end->connection;
	}
	memcpy(told.info, more, length);
	if (send(control, &told, PLAIN + length, 0) < 0)
		fail("eth2");
}

static void set_up_device(const char *name, uint8_t last, const char *address)
{
	struct ethtool_value off = { .cmd = ETHTOOL_SGRO };
	struct ifreq request = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&request.ifr_addr;
	int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strcpy(request.ifr_name, name);
	request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(request.ifr_hwaddr.sa_data, (uint8_t[]){ 2, 0, 0, 0, 0, last }, 6);
	if (any < 0 || ioctl(any, SIOCSIFHWADDR, &request))
		fail(name);
	request.ifr_data = (void *)&off;
	if (ioctl(any, SIOCETHTOOL, &request))
		fail("GRO");
	if (address) {
		memset(&request.ifr_ifru, 0, sizeof request.ifr_ifru);
		in->sin_family = AF_INET;
		inet_pton(AF_INET, address, &in->sin_addr);
		if (ioctl(any, SIOCSIFADDR, &request))
			fail(address);
	}
	request.ifr_flags = IFF_UP | IFF_RUNNING | IFF_NOARP;
	if (ioctl(any, SIOCSIFFLAGS, &request))
		fail(name);
	close(any);
}

/* Moves eth1 into the namespace. */
static void move_device(int namespace)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg link;
		struct rtattr attribute;
		uint32_t value;
	} request = { 0 };
	int any = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	request.header = (struct nlmsghdr){ .nlmsg_len = sizeof request, .nlmsg_type = RTM_NEWLINK, .nlmsg_flags = NLM_F_REQUEST };
	request.link.ifi_index = if_nametoindex("eth1");
	request.attribute = (struct rtattr){ .rta_len = RTA_LENGTH(4), .rta_type = IFLA_NET_NS_FD };
	request.value = namespace;
	if (any < 0 || send(any, &request, sizeof request, 0) < 0)
		fail("eth1");
	close(any);
}

static void write_to(const char *path, const char *value)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(value, file) < 0 || fclose(file))
		fail(path);
}

static void set(int host)
{
	char name[128], value[128], path[256];
	FILE *settings = fopen("/settings", "r");
	int whose;

	if (!settings)
		fail("settings");
	write_to("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
	write_to("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	while (fscanf(settings, "%d %127s %127[^\n]", &whose, name, value) == 3) {
		if (whose != host)
			continue;
		snprintf(path, sizeof path, "/proc/sys/net/ipv4/%s", name);
		write_to(path, value);
	}
	fclose(settings);
}

static void set_up(void)
{
	struct sockaddr_ll device = { .sll_family = AF_PACKET, .sll_protocol = htons(CONTROL_PROTOCOL) };
	struct rlimit files = { 1 << 18, 1 << 18 };
	int room = 1 << 24;

	mkdir("/proc", 0755);
	if (mount("proc", "/proc", "proc", 0, 0))
		fail("/proc");
	setrlimit(RLIMIT_NOFILE, &files);
	set(0);
	set_up_device("eth2", 3, 0);
	control = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(CONTROL_PROTOCOL));
	device.sll_ifindex = if_nametoindex("eth2");
	if (control < 0 || setsockopt(control, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) ||
	    bind(control, (void *)&device, sizeof device))
		fail("eth2");
	network[0] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (unshare(CLONE_NEWNET))
		fail("a namespace");
	network[1] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (network[0] < 0 || network[1] < 0 || setns(network[0], CLONE_NEWNET))
		fail("a namespace");
	move_device(network[1]);
	set_up_device("eth0", 1, "10.0.0.1");
	if (setns(network[1], CLONE_NEWNET))
		fail("a namespace");
	set(1);
	set_up_device("eth1", 2, "10.0.0.2");
}

static struct sockaddr_in address_of(const struct end *end, int side)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(FIRST_PORT + end->connection) };

	address.sin_addr.s_addr = htonl(0x0a000001 + side);
	return address;
}

static int set_buffer(const struct end *end, uint64_t bytes)
{
	int buffer = bytes < 1 ? 1 : bytes > 1 << 30 ? 1 << 30 : bytes;

	return setsockopt(end->socket, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
}

/* A fixed window is held by its clamp, in a buffer that does not limit. */
static void hold_window(const struct end *end)
{
	int window = end->receive_window;

	if (window && (set_buffer(end, 4 * (uint64_t)window) ||
		       setsockopt(end->socket, IPPROTO_TCP, TCP_WINDOW_CLAMP, &window, sizeof window)))
		fail("a receive window");
}

/*
 * At the first full segment the kernel takes what the buffer allows: by the share of it that is payload, in 256ths, of segments that
 * take 2176 bytes each (receive_small of virtio_net). That segment is not read yet when it is acknowledged.
 */
static void hold_first_window(const struct end *end)
{
	uint64_t payload = end->mss - 12 < 1448 ? end->mss - 12 : 1448;

	if (end->receive_window && set_buffer(end, (end->receive_window * UINT64_C(256) / (payload * 256 / 2176) + 2176) / 2))
		fail("a receive window");
}

static void *reads(void *argument)
{
	struct end *end = argument;
	/* Read and thrown away in the kernel; without IS_READ it comes back at the end of the data only. */
	int flags = MSG_TRUNC | (end->flags & IS_READ || end->receive_window ? 0 : MSG_WAITALL);
	struct sockaddr_in other = address_of(end, !end->side);
	ssize_t count;

	if (end->flags & CONNECTS) {
		if (connect(end->socket, (void *)&other, sizeof other))
			goto broke;
	} else {
		int accepted = accept4(end->socket, 0, 0, SOCK_CLOEXEC);

		if (accepted < 0)
			goto broke;
		end->listening = end->socket;
		end->socket = accepted;
		close(end->listening);
	}
	hold_first_window(end);
	pthread_mutex_lock(&end->lock);
	end->is_open = 1;
	pthread_cond_signal(&end->changed);
	pthread_mutex_unlock(&end->lock);
	while ((count = recv(end->socket, 0, 1 << 30, flags)) > 0) {
		if (end->flags & IS_READ)
			report(READ, end, count, "", 0);
		else if (!(flags & MSG_WAITALL)) {
			hold_window(end);
			flags |= MSG_WAITALL;
		}
	}
	if (count == 0) {
		report(ENDED, end, 0, "", 0);
		return 0;
	}
broke:
	report(BROKE, end, errno, "", 0);
	return 0;
}

static void *writes(void *argument)
{
	static const size_t most = 1 << 30;
	static void *zeros;
	struct end *end = argument;
	uint64_t count;

	for (;;) {
		pthread_mutex_lock(&end->lock);
		while (!end->is_open || (!end->count && !end->closes))
			pthread_cond_wait(&end->changed, &end->lock);
		count = !end->count ? 0 : end->writes[0] < most ? end->writes[0] : most;
		if (count && end->writes[0] < MOST && !(end->writes[0] -= count))
			memmove(end->writes, end->writes + 1, --end->count * sizeof *end->writes);
		pthread_mutex_unlock(&end->lock);
		if (!count) {
			shutdown(end->socket, SHUT_WR);
			return 0;
		}
		if (!zeros)
			zeros = mmap(0, most, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		/* The one that reads tells of errors. */
		for (ssize_t sent; count; count -= sent)
			if ((sent = send(end->socket, zeros, count, MSG_NOSIGNAL)) <= 0)
				return 0;
	}
}

static void write_more(struct end *end, uint64_t bytes)
{
	if (end->count == end->room) {
		end->room = 2 * end->room + 4;
		end->writes = realloc(end->writes, end->room * sizeof *end->writes);
		if (!end->writes)
			fail("memory");
	}
	end->writes[end->count++] = bytes;
}

/* A thread goes before the one that takes orders: what is asked for is done in its order. */
static void begin(void *(*what)(void *), struct end *end)
{
	struct sched_param first = { .sched_priority = 1 };
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 1 << 16);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &first);
	if (pthread_create(&thread, &attributes, what, end))
		fail("a thread");
	pthread_attr_destroy(&attributes);
}

static void open_end(const struct message *order)
{
	struct end *end = calloc(1, sizeof *end);
	struct sockaddr_in own;
	int one = 1, mss = order->mss;

	end->side = order->side;
	end->connection = order->connection;
	end->flags = order->flags;
	end->mss = order->mss;
	end->receive_window = order->receive_window;
	pthread_mutex_init(&end->lock, 0);
	pthread_cond_init(&end->changed, 0);
	ends[2 * end->connection + end->side] = end;
	own = address_of(end, end->side);
	if (setns(network[end->side], CLONE_NEWNET))
		fail("a namespace");
	end->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (end->socket < 0 || setsockopt(end->socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
	    setsockopt(end->socket, IPPROTO_TCP, TCP_CONGESTION, order->control, strnlen(order->control, 16)))
		fail(order->control);
	if ((mss && setsockopt(end->socket, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof mss)) ||
	    (end->flags & NO_DELAY && setsockopt(end->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)))
		fail("a socket's settings");
	hold_window(end);
	if (bind(end->socket, (void *)&own, sizeof own) || (!(end->flags & CONNECTS) && listen(end->socket, 1)))
		fail("a port");
	begin(reads, end);
	begin(writes, end);
}

static void tell(struct end *end)
{
	uint8_t info[400];
	socklen_t length = sizeof info;

	if (getsockopt(end->socket, IPPROTO_TCP, TCP_INFO, info, &length))
		length = 0;
	report(TOLD, end, 0, info, length);
}

int main(void)
{
	struct message order;

	set_up();
	report(READY, 0, 0, "", 0);
	while (recv(control, &order, sizeof order, 0) >= (ssize_t)PLAIN) {
		struct end *end = ends[2 * order.connection + order.side];

		if (order.kind == OPEN) {
			open_end(&order);
			continue;
		}
		if (!end)
			fail("an order to nobody");
		if (order.kind == INFO) {
			tell(end);
			continue;
		}
		pthread_mutex_lock(&end->lock);
		if (order.kind == CLOSE && order.flags & DISCARDS && end->is_open)
			shutdown(end->socket, SHUT_WR);
		else if (order.kind == CLOSE) {
			end->closes = 1;
			if (order.flags & DISCARDS)
				end->count = 0;
		} else if (order.value)
			write_more(end, order.value < MOST ? order.value : MOST);
		pthread_cond_signal(&end->changed);
		pthread_mutex_unlock(&end->lock);
	}
	fail("eth2");
}
