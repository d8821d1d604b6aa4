/* A libnvidia-ml.so of three GPUs for tests. FAKE_NVML says what goes wrong:
   driver, init, count, or nothing; busy: the clocks are others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int ret;
enum { SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15, LIB_RM_VERSION_MISMATCH = 18 };

static int breaks(const char *what) {
	const char *how = getenv("FAKE_NVML");
	return how && !strcmp(how, what);
}

static int text(char *to, unsigned n, const char *from) {
	snprintf(to, n, "%s", from);
	return SUCCESS;
}

ret nvmlInit_v2(void) { return breaks("driver") ? DRIVER_NOT_LOADED : breaks("init") ? LIB_RM_VERSION_MISMATCH : SUCCESS; }
ret nvmlShutdown(void) { return SUCCESS; }

const char *nvmlErrorString(ret r) {
	switch (r) {
	case UNINITIALIZED: return "Uninitialized";
	case LIB_RM_VERSION_MISMATCH: return "Driver/library version mismatch";
	case GPU_IS_LOST: return "GPU is lost";
	}
	return "Some error";
}

ret nvmlSystemGetDriverVersion(char *v, unsigned n) { return text(v, n, "570.124.06"); }

ret nvmlDeviceGetCount_v2(unsigned *n) {
	*n = 3;
	return breaks("count") ? UNINITIALIZED : SUCCESS;
}

/* A handle is the index plus one; the second GPU is lost. */
ret nvmlDeviceGetHandleByIndex_v2(unsigned i, void **dev) {
	*dev = (void *)(size_t)(i + 1);
	return i == 1 ? GPU_IS_LOST : SUCCESS;
}

ret nvmlDeviceGetName(void *dev, char *name, unsigned n) {
	return text(name, n, dev == (void *)1 ? "NVIDIA H200" : "NVIDIA Something");
}

ret nvmlDeviceGetUUID(void *dev, char *id, unsigned n) {
	return text(id, n, dev == (void *)1 ? "GPU-11111111-1111-1111-1111-111111111111" : "GPU-3333");
}

ret nvmlDeviceGetCudaComputeCapability(void *dev, int *major, int *minor) {
	*major = dev == (void *)1 ? 9 : 99;
	*minor = 0;
	return SUCCESS;
}

ret nvmlDeviceGetEccMode(void *dev, int *now, int *later) {
	*now = *later = 1;
	return dev == (void *)1 ? SUCCESS : NOT_SUPPORTED;
}

ret nvmlDeviceGetClockInfo(void *dev, int kind, unsigned *mhz) {
	*mhz = kind == 1 ? (breaks("busy") ? 1830 : 345) : kind == 2 ? 3200 : 0;
	return dev == (void *)1 ? SUCCESS : NOT_SUPPORTED;
}

ret nvmlDeviceGetMaxClockInfo(void *dev, int kind, unsigned *mhz) {
	*mhz = kind == 1 ? 1980 : kind == 2 ? 3201 : 0;
	return dev == (void *)1 ? SUCCESS : NOT_SUPPORTED;
}

ret nvmlDeviceGetVbiosVersion(void *dev, char *v, unsigned n) {
	return dev == (void *)1 ? text(v, n, "96.00.74.00.01") : NOT_SUPPORTED;
}

ret nvmlDeviceGetTotalEccErrors(void *dev, int kind, int counter, unsigned long long *n) {
	*n = counter ? 99 : kind ? 2 : 7;
	return dev == (void *)1 ? SUCCESS : NOT_SUPPORTED;
}

/* Power cap, thermal slowdown, and a bit that has no name. */
ret nvmlDeviceGetCurrentClocksThrottleReasons(void *dev, unsigned long long *bits) {
	*bits = dev == (void *)1 ? 0x1044 : 0;
	return SUCCESS;
}
