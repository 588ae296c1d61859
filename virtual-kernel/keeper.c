/*
 * The process between a run and its virtual kernel, so that nothing of the kernel outlives the run: `keeper BASES MEGABYTES PROCESSOR COMMAND...`.
 * It makes the folder of the run in the first of the folders BASES (with colons between them) that has so much room, and says where. When it is told to by a
 * byte, it starts the command there, its output in the file `console`, and says when that has ended. When its standard input closes, whoever started it has what
 * it wants or is gone, by SIGKILL too: it ends what is left of the kernel and removes the folder.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "bentpipe-kernel-"

static void become(pid_t keeper, const char *folder, int processor, char **command)
{
	int moved = chdir(folder), nothing = open("/dev/null", O_RDONLY), console = open("console", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	cpu_set_t processors;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (moved || getppid() != keeper)
		_exit(1);
	/* Where a container forbids it, addresses differ from run to run, which nothing that is measured looks at. */
	personality(ADDR_NO_RANDOMIZE);
	/* The kernel, its programs and the simulator take turns: on two processors they only wait for each other. */
	CPU_ZERO(&processors);
	CPU_SET(processor, &processors);
	sched_setaffinity(0, sizeof processors, &processors);
	dup2(nothing, 0);
	dup2(console, 1);
	dup2(console, 2);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	execv(command[0], command);
	perror(command[0]);
	_exit(1);
}

/* Kills the processes that work in the folder: the kernel's, and those of its programs. Returns how many. */
static int kill_those_in(const char *folder)
{
	char link[64], where[PATH_MAX];
	struct dirent *entry;
	DIR *all = opendir("/proc");
	int count = 0;

	while (all && (entry = readdir(all))) {
		pid_t process = atoi(entry->d_name);
		ssize_t length;

		if (process <= 0 || process == getpid())
			continue;
		snprintf(link, sizeof link, "/proc/%d/cwd", process);
		length = readlink(link, where, sizeof where - 1);
		if (length <= 0)
			continue;
		where[length] = 0;
		if (strcmp(where, folder) == 0) {
			kill(process, SIGKILL);
			count++;
		}
	}
	if (all)
		closedir(all);
	return count;
}

static int removes(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	remove(path);
	return 0;
}

/* Whether the folder is ours, and no other keeper's: that holds its lock as long as it lives. */
static int take(const char *path)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (folder < 0)
		return 0;
	/* One without a link was removed meanwhile. */
	if (!flock(folder, LOCK_EX | LOCK_NB) && !fstat(folder, &status) && status.st_uid == geteuid() && status.st_nlink)
		return 1;
	close(folder);
	return 0;
}

/* Removes the folders of runs that were killed together with their keepers. */
static void sweep(const char *base)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *all = opendir(base);

	while (all && (entry = readdir(all))) {
		snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
		if (strncmp(entry->d_name, NAME, strlen(NAME)) == 0 && take(path))
			nftw(path, removes, 16, FTW_DEPTH | FTW_PHYS);
	}
	if (all)
		closedir(all);
}

/* Makes the folder of the run, which is named by who asks for it. */
static int make(char *bases, unsigned long long room, char *folder)
{
	char path[PATH_MAX];
	struct statvfs told;

	for (char *base = strtok(bases, ":"); base; base = strtok(0, ":")) {
		sweep(base);
		if (statvfs(base, &told) || told.f_flag & ST_NOEXEC || told.f_bavail * (unsigned long long)told.f_frsize < room)
			continue;
		setenv("TMPDIR", base, 1);
		/* Another keeper that sweeps may be faster with the lock. */
		for (int turn = 0; turn < 10; turn++) {
			snprintf(path, sizeof path, "%s/" NAME "%d-XXXXXX", base, getppid());
			if (!mkdtemp(path))
				break;
			if (take(path) && realpath(path, folder))
				return 1;
			rmdir(path);
		}
	}
	return 0;
}

int main(int count, char **arguments)
{
	struct pollfd watched[2] = { { .fd = 0, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	char folder[PATH_MAX], told;
	pid_t keeper = getpid(), kernel;

	if (count < 5)
		return 2;
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!make(arguments[1], strtoull(arguments[2], 0, 10) << 20, folder)) {
		dprintf(1, "\n");
		return 1;
	}
	dprintf(1, "%s\n", folder);
	if (read(0, &told, 1) == 1) {
		kernel = fork();
		if (kernel == 0)
			become(keeper, folder, atoi(arguments[3]), arguments + 4);
		watched[1].fd = syscall(SYS_pidfd_open, kernel, 0);
		/* Nothing more is ever written to it. */
		while (poll(watched, 2, -1) < 0 || !watched[0].revents) {
			if (!watched[1].revents)
				continue;
			if (write(1, "ended\n", 6) < 0)
				break;
			watched[1].fd = -1;
		}
		if (kernel > 0)
			kill(kernel, SIGKILL);
	}
	for (int turn = 0; turn < 1000 && kill_those_in(folder); turn++) {
		while (waitpid(-1, 0, WNOHANG) > 0)
			;
		usleep(turn < 10 ? 1000 : 10000);
	}
	nftw(folder, removes, 16, FTW_DEPTH | FTW_PHYS);
	return 0;
}
