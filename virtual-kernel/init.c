/*
 * The first program in the virtual kernel. Its root is the run's folder on the host. It makes a machine around the host's files,
 * which are read-only, and becomes the program that the file `command` names, an argument a line.
 *
 * The run's folder is /run/bentpipe there; output goes to its files `stdout` and `stderr`.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MOST_ARGUMENTS 16

/* The host reads this line on the console. */
static void fail(const char *what)
{
	printf("bentpipe: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void mounted(const char *what, const char *where, const char *type, unsigned long flags, const char *options)
{
	mkdir(where, 0755);
	if (mount(what, where, type, flags, options))
		fail(where);
}

static void redirect(int descriptor, const char *name, int flags)
{
	int opened = open(name, flags, 0600);

	if (opened < 0 || dup2(opened, descriptor) < 0)
		fail(name);
	close(opened);
}

static void bring_loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int any = socket(AF_INET, SOCK_DGRAM, 0);

	if (any < 0 || ioctl(any, SIOCSIFFLAGS, &request))
		fail("lo");
	close(any);
}

int main(void)
{
	static char text[65536];
	static char *environment[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/run", "TMPDIR=/run", "LANG=C.UTF-8", 0,
	};
	char *arguments[MOST_ARGUMENTS + 1] = { 0 };
	ssize_t length;
	int command, count = 0;

	/* A constant name: what is mounted from where tells the guest nothing of the host's folder. */
	mounted("none", "/host", "hostfs", MS_RDONLY, "/");
	mounted("proc", "/host/proc", "proc", 0, 0);
	mounted("sys", "/host/sys", "sysfs", 0, 0);
	mounted("dev", "/host/dev", "tmpfs", 0, "mode=755");
	mkdir("/host/dev/net", 0755);
	mkdir("/host/dev/shm", 01777);
	if (mknod("/host/dev/null", S_IFCHR | 0666, makedev(1, 3)) || mknod("/host/dev/zero", S_IFCHR | 0666, makedev(1, 5)) ||
	    mknod("/host/dev/random", S_IFCHR | 0666, makedev(1, 8)) || mknod("/host/dev/urandom", S_IFCHR | 0666, makedev(1, 9)) ||
	    mknod("/host/dev/net/tun", S_IFCHR | 0666, makedev(10, 200)) || symlink("/proc/self/fd", "/host/dev/fd"))
		fail("/dev");
	mounted("run", "/host/run", "tmpfs", 0, "mode=755");
	mkdir("/host/run/netns", 0755);
	mounted("/", "/host/run/bentpipe", 0, MS_BIND, 0);
	if (chroot("/host") || chdir("/run"))
		fail("/host");
	bring_loopback_up();

	command = open("/run/bentpipe/command", O_RDONLY);
	length = command < 0 ? -1 : read(command, text, sizeof text - 1);
	if (length <= 0)
		fail("command");
	close(command);
	for (char *line = strtok(text, "\n"); line && count < MOST_ARGUMENTS; line = strtok(0, "\n"))
		arguments[count++] = line;
	redirect(0, "/dev/null", O_RDONLY);
	redirect(1, "/run/bentpipe/stdout", O_WRONLY | O_CREAT | O_TRUNC);
	/* The last one that may fail with the console still there. */
	fflush(stdout);
	redirect(2, "/run/bentpipe/stderr", O_WRONLY | O_CREAT | O_TRUNC);
	execve(arguments[0], arguments, environment);
	fprintf(stderr, "%s: %s\n", arguments[0], strerror(errno));
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
