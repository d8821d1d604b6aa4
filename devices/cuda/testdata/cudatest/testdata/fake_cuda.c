/* A libcuda.so.1 for tests: memory of the device is memory of the host, and kernels
   are executed by a function that the test registers. Every call checks what a
   driver checks: the context on this thread, handles, the bounds of copies.

   FAKE_CUDA is a list of WHAT=HOW, separated by blanks, that says what goes wrong:

     CALL=CODE      the call returns this error; from 700 on, but for 701, the context
                    is lost, and every later call returns the error too
     CALL=CODE@N    only the Nth time
     CALL=hang      the call never returns
     CALL=crash     the process dies
     CALL=null      the call succeeds and gives no result
     count=N        number of devices
     cc=MAJOR.MINOR compute capability, 9.0 without
     version=N      12040 for CUDA 12.4; 13000 without */
#define _GNU_SOURCE
#include <ctype.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CHECK_AGAINST_HEADER /* -DCHECK_AGAINST_HEADER -include cuda.h compares the types */
typedef int CUresult, CUdevice, CUdevice_attribute, CUjit_option, CUjitInputType;
typedef struct { char bytes[16]; } CUuuid;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUlinkState_st *CUlinkState;
#endif

enum { OK, INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED, NO_DEVICE = 100, INVALID_DEVICE, INVALID_CONTEXT = 201,
       INVALID_PTX = 218, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialized, lost;

/* setting returns the value of a word of FAKE_CUDA, or 0. */
static const char *setting(const char *what) {
	static __thread char value[64];
	const char *s = getenv("FAKE_CUDA");
	size_t n = strlen(what);
	while (s && *s) {
		while (*s == ' ') s++;
		if (!strncmp(s, what, n) && s[n] == '=') {
			size_t m = strcspn(s + n + 1, " ");
			snprintf(value, sizeof value, "%.*s", (int)m, s + n + 1);
			return value;
		}
		s += strcspn(s, " ");
	}
	return 0;
}

/* ENTER begins every call: faults, loss, and for most the context. */
struct calls { const char *name; int n; };
#define ENTER(NAME, CONTEXT) \
	static struct calls calls = {#NAME, 0}; \
	CUresult fault = enter(&calls, CONTEXT); \
	if (fault > 0) return fault; \
	int null = fault < 0; \
	(void)null

static __thread CUcontext current;
static struct CUctx_st { int users; } primary;

static int enter(struct calls *c, int context) {
	pthread_mutex_lock(&lock);
	int n = ++c->n, gone = lost;
	pthread_mutex_unlock(&lock);
	const char *how = setting(c->name);
	const char *at = how ? strchr(how, '@') : 0;
	if (gone) return gone;
	if (how && (!at || atoi(at + 1) == n)) {
		if (!strncmp(how, "hang", 4)) for (;;) pause();
		if (!strncmp(how, "crash", 5)) abort();
		if (!strncmp(how, "null", 4)) return -1;
		int code = atoi(how);
		if (code >= 700 && code != 701) lost = code;
		return code;
	}
	if (context > 0 && !initialized) return NOT_INITIALIZED;
	if (context > 1 && current != (CUcontext)&primary) return INVALID_CONTEXT;
	return OK;
}

/* Blocks of memory, of the device and pinned. */
static struct block { char *p; size_t n; int host; struct block *next; } *blocks;

static void *allocate(size_t n, int host) {
	struct block *b = malloc(sizeof *b);
	*b = (struct block){calloc(1, n), n, host, 0};
	pthread_mutex_lock(&lock);
	b->next = blocks;
	blocks = b;
	pthread_mutex_unlock(&lock);
	return b->p;
}

static int inside(const void *p, size_t n, int host) {
	int found = 0;
	pthread_mutex_lock(&lock);
	for (struct block *b = blocks; b; b = b->next)
		found |= b->host == host && (char *)p >= b->p && (char *)p + n <= b->p + b->n;
	pthread_mutex_unlock(&lock);
	return found;
}

static int release(const void *p, int host) {
	int found = 0;
	pthread_mutex_lock(&lock);
	for (struct block **b = &blocks; *b; b = &(*b)->next)
		if ((*b)->p == p && (*b)->host == host) {
			struct block *old = *b;
			*b = old->next;
			free(old->p);
			free(old);
			found = 1;
			break;
		}
	pthread_mutex_unlock(&lock);
	return found ? OK : INVALID_VALUE;
}

/* What the test registers: a kernel's entry runs on packed inputs; machine code is
   made of PTX. */
#define HANGS -1
typedef int (*launch_fn)(const char *entry, const void *in, void *out, unsigned tiles);
typedef int (*link_fn)(const char *ptx, const void **code, size_t *size);
static launch_fn launcher;
static link_fn linker;

void fake_cuda_register(launch_fn run, link_fn link) {
	launcher = run;
	linker = link;
}

struct CUmod_st { char *text; };
struct CUfunc_st { char name[256]; };
struct CUstream_st { int queries, hangs; };
struct CUevent_st { int recorded; };
struct CUlinkState_st { char *ptx; void **values; };

CUresult cuInit(unsigned flags) {
	ENTER(cuInit, 0);
	if (flags) return INVALID_VALUE;
	initialized = 1;
	return setting("count") && !atoi(setting("count")) ? NO_DEVICE : OK;
}

CUresult cuDriverGetVersion(int *v) {
	ENTER(cuDriverGetVersion, 0);
	*v = setting("version") ? atoi(setting("version")) : 13000;
	return OK;
}

static const struct { int code; const char *name, *text; } errors[] = {
	{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"}, {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"}, {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
	{201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}, {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
	{218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}, {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
	{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
	{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"}, {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	{999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

CUresult cuGetErrorName(CUresult code, const char **s) {
	const char *how = setting("cuGetErrorName");
	if (how) return atoi(how);
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == (int)code) return *s = errors[i].name, OK;
	return INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, const char **s) {
	const char *how = setting("cuGetErrorString");
	if (how) return atoi(how);
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == (int)code) return *s = errors[i].text, OK;
	return INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *n) {
	ENTER(cuDeviceGetCount, 1);
	*n = setting("count") ? atoi(setting("count")) : 2;
	return OK;
}

CUresult cuDeviceGet(CUdevice *dev, int ordinal) {
	ENTER(cuDeviceGet, 1);
	*dev = ordinal;
	return OK;
}

CUresult cuDeviceGetName(char *name, int n, CUdevice dev) {
	ENTER(cuDeviceGetName, 1);
	if (!null) snprintf(name, n, "Fake GPU %d", dev);
	return OK;
}

CUresult cuDeviceGetUuid(CUuuid *id, CUdevice dev) {
	ENTER(cuDeviceGetUuid, 1);
	memset(id, 0x11 * (dev + 1), sizeof *id);
	return OK;
}

CUresult cuDeviceTotalMem_v2(size_t *n, CUdevice dev) {
	ENTER(cuDeviceTotalMem_v2, 1);
	*n = (size_t)80 << 30;
	return OK;
}

CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice dev) {
	ENTER(cuDeviceGetAttribute, 1);
	int major = 9, minor = 0;
	if (setting("cc")) sscanf(setting("cc"), "%d.%d", &major, &minor);
	switch ((int)a) {
	case 75: *v = major; break;
	case 76: *v = minor; break;
	case 16: *v = 132; break;
	case 13: *v = 1980000; break;
	case 36: *v = 3201000; break;
	case 32: *v = 1; break;
	case 33: *v = 0x1b + dev; break;
	case 34: case 50: *v = 0; break;
	default: return INVALID_VALUE;
	}
	return OK;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev) {
	ENTER(cuDevicePrimaryCtxRetain, 1);
	if (!null) *ctx = (CUcontext)&primary;
	primary.users++;
	return OK;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
	ENTER(cuDevicePrimaryCtxRelease_v2, 1);
	return primary.users-- > 0 ? OK : INVALID_CONTEXT;
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
	ENTER(cuCtxSetCurrent, 1);
	if (ctx != (CUcontext)&primary) return INVALID_CONTEXT;
	if (!null) current = ctx;
	return OK;
}

/* say writes to the compiler's error log. */
static void say(unsigned n, CUjit_option *options, void **values, const char *text) {
	char *log = 0;
	size_t size = 0;
	for (unsigned i = 0; i < n; i++) {
		if ((int)options[i] == 5) log = values[i];
		if ((int)options[i] == 6) size = (size_t)values[i];
	}
	if (log) snprintf(log, size, "%s", text);
}

CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, CUjit_option *options, void **values) {
	ENTER(cuModuleLoadDataEx, 2);
	if (!memcmp(image, "\177ELF", 4)) {
		/* machine code of ours: the text stands behind it */
		size_t size = 0;
		memcpy(&size, (const char *)image + 8, sizeof(uint32_t));
		*m = malloc(sizeof **m);
		(*m)->text = strdup((const char *)image + size);
		return OK;
	}
	const char *text = image;
	if (!strstr(text, ".visible .entry")) {
		say(n, options, values, "ptxas application ptx input, line 1; fatal   : Missing .version directive\nptxas fatal   : Ptx assembly aborted\n");
		return INVALID_PTX;
	}
	*m = malloc(sizeof **m);
	(*m)->text = strdup(text);
	return OK;
}

CUresult cuModuleUnload(CUmodule m) {
	ENTER(cuModuleUnload, 2);
	free(m->text);
	free(m);
	return OK;
}

CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
	ENTER(cuModuleGetFunction, 2);
	if (!strstr(m->text, name)) return NOT_FOUND;
	*f = malloc(sizeof **f);
	snprintf((*f)->name, sizeof (*f)->name, "%s", name);
	return OK;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
	ENTER(cuMemAlloc_v2, 2);
	*p = (CUdeviceptr)(uintptr_t)allocate(n, 0);
	return OK;
}

CUresult cuMemFree_v2(CUdeviceptr p) {
	ENTER(cuMemFree_v2, 2);
	return release((void *)(uintptr_t)p, 0);
}

CUresult cuMemAllocHost_v2(void **p, size_t n) {
	ENTER(cuMemAllocHost_v2, 2);
	if (!null) *p = allocate(n, 1);
	return OK;
}

CUresult cuMemFreeHost(void *p) {
	ENTER(cuMemFreeHost, 2);
	return release(p, 1);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t n, CUstream s) {
	ENTER(cuMemcpyHtoDAsync_v2, 2);
	if (!s || !inside((void *)(uintptr_t)dst, n, 0) || !inside(src, n, 1)) return INVALID_VALUE;
	memcpy((void *)(uintptr_t)dst, src, n);
	return OK;
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t n, CUstream s) {
	ENTER(cuMemcpyDtoHAsync_v2, 2);
	if (!s || !inside((void *)(uintptr_t)src, n, 0) || !inside(dst, n, 1)) return INVALID_VALUE;
	memcpy(dst, (void *)(uintptr_t)src, n);
	return OK;
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char v, size_t n, CUstream s) {
	ENTER(cuMemsetD8Async, 2);
	if (!s || !inside((void *)(uintptr_t)dst, n, 0)) return INVALID_VALUE;
	memset((void *)(uintptr_t)dst, v, n);
	return OK;
}

CUresult cuStreamCreate(CUstream *s, unsigned flags) {
	ENTER(cuStreamCreate, 2);
	*s = calloc(1, sizeof **s);
	return OK;
}

/* A stream's work is ready when it has been asked for the third time. */
CUresult cuStreamQuery(CUstream s) {
	ENTER(cuStreamQuery, 2);
	if (!s) return INVALID_HANDLE;
	return s->hangs || ++s->queries % 3 ? NOT_READY : OK;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream s, void **args, void **extra) {
	ENTER(cuLaunchKernel, 2);
	if (!f || !s || !gx || gy != 1 || gz != 1 || !bx || bx % 32 || by != 1 || bz != 1 || extra) return INVALID_VALUE;
	CUdeviceptr in, out;
	unsigned tiles;
	memcpy(&in, args[0], sizeof in);
	memcpy(&out, args[1], sizeof out);
	memcpy(&tiles, args[2], sizeof tiles);
	if (!inside((void *)(uintptr_t)in, 1, 0) || !inside((void *)(uintptr_t)out, 1, 0)) return INVALID_VALUE;
	if (null || !launcher) return OK; /* a kernel that does nothing */
	int code = launcher(f->name, (void *)(uintptr_t)in, (void *)(uintptr_t)out, tiles);
	if (code == HANGS) s->hangs = 1;
	if (code < 700) return code > 0 ? code : OK;
	lost = code; /* the next call says so */
	return OK;
}

CUresult cuEventCreate(CUevent *e, unsigned flags) {
	ENTER(cuEventCreate, 2);
	*e = calloc(1, sizeof **e);
	return OK;
}

CUresult cuEventRecord(CUevent e, CUstream s) {
	ENTER(cuEventRecord, 2);
	e->recorded = 1;
	return OK;
}

CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) {
	ENTER(cuEventElapsedTime, 2);
	*ms = 0.125f;
	return a->recorded && b->recorded ? OK : INVALID_HANDLE;
}

CUresult cuLinkCreate_v2(unsigned n, CUjit_option *options, void **values, CUlinkState *state) {
	ENTER(cuLinkCreate_v2, 2);
	*state = calloc(1, sizeof **state);
	return OK;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                          unsigned n, CUjit_option *options, void **values) {
	ENTER(cuLinkAddData_v2, 2);
	if ((int)type != 1 || !size || ((char *)data)[size - 1]) return INVALID_VALUE;
	state->ptx = strdup(data);
	return OK;
}

CUresult cuLinkComplete(CUlinkState state, void **code, size_t *size) {
	ENTER(cuLinkComplete, 2);
	if (null || !linker) return OK;
	const void *made = 0;
	CUresult r = linker(state->ptx, &made, size);
	*code = (void *)made;
	return r;
}

CUresult cuLinkDestroy(CUlinkState state) {
	ENTER(cuLinkDestroy, 2);
	free(state->ptx);
	free(state);
	return OK;
}
