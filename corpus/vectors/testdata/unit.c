/* A unit to test: d = c + a0*b0 + a1*b1 + a2*b2 + a3*b3 in FP16 and FP32. The terms are
 * aligned at the largest exponent, cut to F fraction bits, added, and the sum is cut to FP32.
 * With F = 24 it is what devices/exec/testdata/verilator/tfdpa4.json says. */
#include <stdint.h>

#ifndef F
#define F 24
#endif

enum { TERMS = 5, ZERO = -1000 };

/* A term is sig * 2^(exp-24), or an infinity or NaN. */
struct term { int neg, inf, nan, exp; int64_t sig; };

static struct term product(uint16_t x, uint16_t y) {
    int ex = x >> 10 & 31, ey = y >> 10 & 31, fx = x & 1023, fy = y & 1023;
    int zx = (x & 0x7fff) == 0, zy = (y & 0x7fff) == 0;
    struct term t = {.neg = (x ^ y) >> 15};
    t.nan = (ex == 31 && (fx || zy)) || (ey == 31 && (fy || zx));
    t.inf = !t.nan && (ex == 31 || ey == 31);
    t.sig = (int64_t)(fx | (ex != 0) << 10) * (fy | (ey != 0) << 10) << 4;
    t.exp = t.sig ? (ex ? ex : 1) + (ey ? ey : 1) - 30 : ZERO;
    return t;
}

static struct term accumulator(uint32_t x) {
    int e = x >> 23 & 255;
    int32_t f = x & 0x7fffff;
    struct term t = {.neg = x >> 31, .inf = e == 255 && !f, .nan = e == 255 && f};
    t.sig = (int64_t)(f | (e != 0) << 23) << 1;
    t.exp = t.sig ? (e ? e : 1) - 127 : ZERO;
    return t;
}

/* pack cuts x * 2^unit to FP32. */
static uint32_t pack(uint64_t x, int unit, uint32_t sign) {
    int high = unit - 1, low, shift;
    uint64_t units;
    for (uint64_t y = x; y; y >>= 1)
        high++;
    low = (high > -126 ? high : -126) - 23;
    shift = unit - low;
    units = shift >= 0 ? x << shift : -shift < 64 ? x >> -shift : 0;
    if (!units)
        return 0;
    if (high > 127)
        return sign | 0x7f800000;
    return sign | (((uint32_t)(low + 149) << 23) + (uint32_t)units);
}

uint32_t unit(const uint16_t *a, const uint16_t *b, uint32_t c) {
    struct term t[TERMS];
    int top = ZERO, nan = 0, plus = 0, minus = 0;
    int64_t sum = 0;
    for (int i = 0; i < TERMS; i++) {
        t[i] = i < TERMS - 1 ? product(a[i], b[i]) : accumulator(c);
        top = t[i].exp > top ? t[i].exp : top;
        nan |= t[i].nan;
        plus |= t[i].inf && !t[i].neg;
        minus |= t[i].inf && t[i].neg;
    }
    if (nan || (plus && minus))
        return 0x7fffffff;
    if (plus || minus)
        return minus ? 0xff800000 : 0x7f800000;
    for (int i = 0; i < TERMS; i++) {
        int shift = top - t[i].exp;
        int64_t cut = shift < 63 ? t[i].sig >> shift : 0;
        cut = cut >> (24 - F) << (24 - F);
        sum += t[i].neg ? -cut : cut;
    }
    return pack(sum < 0 ? -sum : sum, top - 24, sum < 0 ? 0x80000000 : 0);
}
