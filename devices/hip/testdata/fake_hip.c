/* A HIP runtime, and with -DRTC also hiprtc, whose one GPU executes two kernels
 * on the host: v_mfma_f32_16x16x4_f32 and v_mfma_f32_32x32x1_2b_f32. FAKE_HIP="CALL=CODE"
 * makes a function return an error, FAKE_HIP="CALL=hang" makes it never return.
 * FAKE_LANE=5 breaks a lane; FAKE_POISON=7f800000 makes launches fail that have
 * this word in A. FAKE_CHIP is the chip in its properties. */
#include <math.h>
#include <stdint.h>

#define FAKE "FAKE_HIP"
#define LAST_WORDS "Memory access fault by GPU node-1"
#include "../../internal/testdata/fake.h"

#ifdef RUNTIME
static __thread int current = -1; /* as in the real one, which device is current belongs to the thread */

CALL(hipInit, unsigned flags) (void)flags; END
CALL(hipRuntimeGetVersion, int *v) *v = 60443484; END
CALL(hipGetDeviceCount, int *n) *n = 1; END
CALL(hipDeviceGetName, char *s, int size, int d) (void)d; snprintf(s, size, "AMD Instinct Fake"); END
CALL(hipDeviceGetPCIBusId, char *s, int size, int d) (void)d; snprintf(s, size, "0000:C1:00.0"); END
CALL(hipGetDevicePropertiesR0600, char *p, int d) (void)d; memset(p, 0, 1472); if (getenv("FAKE_CHIP")) strcpy(p + 1160, getenv("FAKE_CHIP")); END
CALL(hipSetDevice, int d) if (d != 0) return 101; current = d; END
CALL(hipMalloc, void **p, size_t size) if (current < 0) return 3; *p = malloc(size); END
CALL(hipFree, void *p) free(p); END
CALL(hipMemcpyHtoD, void *dst, const void *src, size_t size) if (current < 0) return 3; memcpy(dst, src, size); END
CALL(hipMemcpyDtoH, void *dst, const void *src, size_t size) if (current < 0) return 3; memcpy(dst, src, size); END
CALL(hipModuleLoadData, void **m, const void *image) if (current < 0) return 3; if (memcmp(image, "object for gfx942", 17) != 0) return 209; *m = (void *)1; END
CALL(hipModuleUnload, void *m) if (m != (void *)1) return 400; END
CALL(hipModuleGetFunction, void **f, void *m, const char *name) (void)m;
    if (strcmp(name, "mmafuzz_v_mfma_f32_16x16x4_f32") == 0) *f = (void *)2;
    else if (strcmp(name, "mmafuzz_v_mfma_f32_32x32x1_2b_f32") == 0) *f = (void *)4;
    else return 500;
END
CALL(hipDeviceSynchronize, void) END
const char *hipGetErrorString(int code) { return code == 719 ? "unspecified launch failure" : "fake error"; }

static int poisoned(const float *a, int n) {
    const char *poison = getenv("FAKE_POISON");
    for (int i = 0; poison && *poison && i < n; i++)
        if (((const uint32_t *)a)[i] == strtoul(poison, 0, 16))
            return 1;
    return 0;
}

static float broken(int lane, float d) {
    const char *which = getenv("FAKE_LANE");
    return which && *which && lane == atoi(which) ? d + 1 : d;
}

/* A and B a register each, C and D four. */
static void tile_16x16x4(const float *in, float *out) {
    for (int lane = 0; lane < 64; lane++)
        for (int r = 0; r < 4; r++) {
            int row = lane / 16 * 4 + r, col = lane % 16;
            float d = in[(2 + r) * 64 + lane];
            for (int k = 0; k < 4; k++)
                d = fmaf(in[16 * k + row], in[64 + 16 * k + col], d);
            out[r * 64 + lane] = broken(lane, d);
        }
}

/* One of two tiles: A and B a register of half the lanes, C and D sixteen of all. */
static void tile_32x32x1(const float *in, float *out) {
    for (int lane = 0; lane < 64; lane++)
        for (int r = 0; r < 16; r++) {
            int row = r / 4 * 8 + lane / 32 * 4 + r % 4, col = lane % 32;
            out[r * 64 + lane] = broken(lane, fmaf(in[row], in[32 + col], in[64 + r * 64 + lane]));
        }
}

CALL(hipModuleLaunchKernel, void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **args, void **extra)
    if (current < 0) return 3;
    if (gy != 1 || gz != 1 || bx != 64 || by != 1 || bz != 1 || shared || stream || extra) return 1;
    const float *in = *(const float **)args[0];
    float *out = *(float **)args[1];
    uint32_t tiles = *(uint32_t *)args[2];
    int two = f == (void *)4;
    if (gx != (two ? (tiles + 1) / 2 : tiles)) return 1;
    for (uint32_t t = 0; t < tiles; t++, in += two ? 1088 : 384, out += two ? 1024 : 256) {
        if (poisoned(in, two ? 32 : 64)) return 719;
        (two ? tile_32x32x1 : tile_16x16x4)(in, out);
    }
END
#endif

#ifdef RTC
static char object[64];

CALL(hiprtcCreateProgram, void **p, const char *source, const char *name, int n, const char **texts, const char **names)
    (void)name, (void)texts, (void)names;
    if (n != 0 || !(strstr(source, "mfma_f32_16x16x4f32(a, b, c, 0, 0, 0)") || strstr(source, "mfma_f32_32x32x1f32(a, b, c, 0, 0, 0)"))) return 3;
    *p = (void *)3; END
CALL(hiprtcCompileProgram, void *p, int n, const char **options)
    if (p != (void *)3 || n != 2 || strncmp(options[0], "--offload-arch=", 15) != 0) return 5;
    snprintf(object, sizeof object, "object for %s", options[0] + 15); END
static const char text[] = "mmafuzz.hip:1:1: error: fake mistake\n";
CALL(hiprtcGetProgramLogSize, void *p, size_t *size) (void)p; *size = sizeof text; END
CALL(hiprtcGetProgramLog, void *p, char *log) (void)p; memcpy(log, text, sizeof text); END
CALL(hiprtcGetCodeSize, void *p, size_t *size) (void)p; *size = getenv("FAKE_EMPTY") ? 0 : sizeof object; END
CALL(hiprtcGetCode, void *p, char *code) (void)p; memcpy(code, object, sizeof object); END
CALL(hiprtcDestroyProgram, void **p) *p = 0; END
CALL(hiprtcVersion, int *major, int *minor) *major = 6, *minor = 4; END
const char *hiprtcGetErrorString(int code) { return code == 6 ? "HIPRTC_ERROR_COMPILATION" : "fake error"; }
#endif
