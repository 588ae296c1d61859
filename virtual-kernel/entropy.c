/* Preloaded into the virtual kernel, whose only entropy on the host is getrandom(3): a stream that SEED fixes (xorshift64). */
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	static uint64_t state;
	unsigned char *byte = buffer;

	(void)flags;
	if (!state) {
		const char *seed = getenv("SEED");
		state = (seed ? strtoull(seed, 0, 10) : 1) * 2654435761u + 88172645463325252ull;
		if (!state)
			state = 1;
	}
	for (size_t i = 0; i < length; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		byte[i] = state >> 24;
	}
	return length;
}
