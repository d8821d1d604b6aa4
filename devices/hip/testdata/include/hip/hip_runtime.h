// Stands in for HIP's header when the tests compile standalone programs: what they
// use of it. For the device (-x hip) that is declarations; for the host it is a GPU
// whose one instruction is v_mfma_f32_16x16x4_f32.
#pragma once
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef int hipError_t;
enum { hipSuccess = 0 };
enum hipMemcpyKind { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2 };
struct dim3 {
    unsigned x, y, z;
    __attribute__((device)) __attribute__((host)) dim3(unsigned x, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

static inline const char *hipGetErrorString(hipError_t) { return "an error"; }
static inline hipError_t hipMalloc(void **p, size_t n) { return *p = malloc(n), hipSuccess; }
static inline hipError_t hipMemcpy(void *to, const void *from, size_t n, hipMemcpyKind) { return memcpy(to, from, n), hipSuccess; }
static inline hipError_t hipGetLastError() { return hipSuccess; }
static inline hipError_t hipDeviceSynchronize() { return hipSuccess; }

#ifdef __HIP__
extern "C" hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
extern "C" hipError_t __hipPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
extern "C" hipError_t __hipPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#else
#define amdgpu_flat_work_group_size(...) unused
static unsigned fake_lane;
static float fake_in[64][6], fake_out[64][4];
static inline unsigned __builtin_amdgcn_workitem_id_x() { return fake_lane; }
static inline unsigned __builtin_amdgcn_workgroup_id_x() { return 0; }

template <class A, class C> static C __builtin_amdgcn_mfma_f32_16x16x4f32(const A &a, const A &b, const C &c, int, int, int) {
    static_assert(sizeof a == 4 && sizeof c == 16, "other registers");
    memcpy(&fake_in[fake_lane][0], &a, 4);
    memcpy(&fake_in[fake_lane][1], &b, 4);
    memcpy(&fake_in[fake_lane][2], &c, 16);
    C d;
    memcpy(&d, fake_out[fake_lane], 16);
    return d;
}

// All lanes run to collect the operands, then again with the results.
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
    do { \
        for (fake_lane = 0; fake_lane < 64; fake_lane++) \
            kernel(__VA_ARGS__); \
        fake_wave(); \
        for (fake_lane = 0; fake_lane < 64; fake_lane++) \
            kernel(__VA_ARGS__); \
    } while (0)

static inline void fake_wave() {
    for (int lane = 0; lane < 64; lane++)
        for (int r = 0; r < 4; r++) {
            float d = fake_in[lane][2 + r];
            for (int k = 0; k < 4; k++)
                d = fmaf(fake_in[16 * k + lane / 16 * 4 + r][0], fake_in[16 * k + lane % 16][1], d);
            fake_out[lane][r] = d;
        }
}
#endif
