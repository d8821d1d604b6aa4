// The processor's own multiplications, fused multiply-adds and conversions, with the flags that they
// raise, in each of its rounding modes: a child in binary mode (go doc ./devices/exec).
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#define RULE "x86"
#elif defined(__aarch64__)
#define RULE "arm"
#elif defined(__riscv)
#define RULE "riscv"
#else
#error "which rule of flags this processor has is not known"
#endif

static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static const char *modeNames[] = {"rne", "rz", "rd", "ru"};

static void mul32(const void *a, const void *b, const void *c, void *d) {
    volatile float x = *(float *)a, y = *(float *)b;
    *(float *)d = x * y;
}
static void mul64(const void *a, const void *b, const void *c, void *d) {
    volatile double x = *(double *)a, y = *(double *)b;
    *(double *)d = x * y;
}
static void fma32(const void *a, const void *b, const void *c, void *d) {
    volatile float x = *(float *)a, y = *(float *)b, z = *(float *)c;
    *(float *)d = fmaf(x, y, z);
}
static void fma64(const void *a, const void *b, const void *c, void *d) {
    volatile double x = *(double *)a, y = *(double *)b, z = *(double *)c;
    *(double *)d = fma(x, y, z);
}
static void cvt(const void *a, const void *b, const void *c, void *d) {
    volatile double x = *(double *)a;
    *(float *)d = (float)x;
}

static const struct {
    const char *name, *formats;
    size_t a, b, c, d; // bytes of an element
    void (*run)(const void *a, const void *b, const void *c, void *d);
} ops[] = {
    {"mul32", "a=fp32 b=fp32 c=none d=fp32", 4, 4, 0, 4, mul32},
    {"mul64", "a=fp64 b=fp64 c=none d=fp64", 8, 8, 0, 8, mul64},
    {"fma32", "a=fp32 b=fp32 c=fp32 d=fp32", 4, 4, 4, 4, fma32},
    {"fma64", "a=fp64 b=fp64 c=fp64 d=fp64", 8, 8, 8, 8, fma64},
    {"cvt", "a=fp64 b=one c=none d=fp32", 8, 1, 0, 4, cvt},
};
enum { OPS = sizeof ops / sizeof ops[0] };

static unsigned char raised(void) {
    int e = fetestexcept(FE_ALL_EXCEPT);
    return !!(e & FE_INEXACT) | !!(e & FE_UNDERFLOW) << 1 | !!(e & FE_OVERFLOW) << 2 | !!(e & FE_DIVBYZERO) << 3 | !!(e & FE_INVALID) << 4;
}

int main(void) {
    printf("mmafuzz-exec 1 binary\n");
    for (int m = 0; m < 4; m++)
        for (int o = 0; o < OPS; o++)
            printf("instruction %s.%s %s k=1 m=1 n=1 round=%s flags=" RULE "\n", ops[o].name, modeNames[m], ops[o].formats, modeNames[m]);
    printf("ready\n");
    fflush(stdout);
    uint32_t q[9]; // magic, id, instruction, M, N, K, tiles, bytes of the payload, checksum
    while (fread(q, sizeof q, 1, stdin) == 1) {
        int o = q[2] % OPS;
        size_t n = q[6], size = n * (ops[o].d + 1);
        unsigned char *in = malloc(q[7]), *out = malloc(size), *a = in, *b = a + n * ops[o].a, *c = b + n * ops[o].b;
        if (fread(in, 1, q[7], stdin) != q[7])
            return 1;
        fesetround(modes[q[2] / OPS]);
        for (size_t i = 0; i < n; i++) {
            feclearexcept(FE_ALL_EXCEPT);
            ops[o].run(a + i * ops[o].a, b + i * ops[o].b, c + i * ops[o].c, out + i * ops[o].d);
            out[n * ops[o].d + i] = raised();
        }
        fesetround(FE_TONEAREST);
        uint32_t head[5] = {0, q[1], 0, size, 0};
        memcpy(head, "mmaD", 4);
        fwrite(head, sizeof head, 1, stdout);
        fwrite(out, 1, size, stdout);
        fflush(stdout);
        free(in);
        free(out);
    }
}
