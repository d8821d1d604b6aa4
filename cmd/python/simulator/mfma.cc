// A small simulator of one AMD wavefront, as an example of what an architecture simulator puts in
// the place of its own matrix instruction: the registers of 64 lanes, and v_mfma_f32_16x16x16_f16
// of CDNA3 on them, bit for bit by the library. Its own loop, a sum in FP32 as simulators have it,
// is there to compare.
//
//   go build -buildmode=c-shared -o libmmafuzz.so ./cmd/python
//   g++ -I. -o mfma cmd/python/simulator/mfma.cc ./libmmafuzz.so && ./mfma
//
// It prints how many of the 256 results the two have in common, the first that differs, and the
// command that draws how the instruction computes it.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "libmmafuzz.h"

namespace {

constexpr int lanes = 64, m = 16, n = 16, k = 16;

using Register = std::array<uint32_t, lanes>;

// Wave is the vector registers of a wavefront: two of FP16 pairs for a and b, four of FP32 for d.
struct Wave {
    Register a[2], b[2], d[4];
};

// half reads or writes element k of row (or column) x of an operand: lane x + 16 * (k / 4), and
// of its four halves number k % 4, as devices/hip/layout.go has it.
uint16_t half(const Register *r, int x, int at) {
    return r[at % 4 / 2][x + 16 * (at / 4)] >> 16 * (at % 2);
}
void set(Register *r, int x, int at, uint16_t code) {
    uint32_t &word = r[at % 4 / 2][x + 16 * (at / 4)];
    int shift = 16 * (at % 2);
    word = (word & ~(0xffffu << shift)) | uint32_t(code) << shift;
}

// result is element (row, column) of d: lane column + 16 * (row / 4), register row % 4.
uint32_t &result(Wave &w, int row, int column) { return w.d[row % 4][column + 16 * (row / 4)]; }

float number(uint16_t code) { // of FP16: normal numbers and zeros, which is what this program has
    uint32_t bits = code & 0x7c00 ? (code & 0x7fffu) + (112u << 10) : 0;
    bits = bits << 13 | uint32_t(code & 0x8000) << 16;
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
}

// simple is the instruction as one sum in FP32.
void simple(Wave &w) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum;
            std::memcpy(&sum, &result(w, i, j), sizeof sum);
            for (int l = 0; l < k; l++) sum = std::fma(number(half(w.a, i, l)), number(half(w.b, j, l)), sum);
            std::memcpy(&result(w, i, j), &sum, sizeof sum);
        }
}

// exact is the instruction bit for bit. A tile has a row of k codes for each row of a and each
// column of b, and d by rows.
bool exact(int64_t unit, Wave &w) {
    uint16_t a[m * k], b[n * k];
    uint32_t c[m * n], d[m * n];
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++) a[i * k + l] = half(w.a, i, l), b[i * k + l] = half(w.b, i, l);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) c[i * n + j] = result(w, i, j);
    mmafuzz_batch tile = {m, n, k, 1, a, b, c, nullptr, nullptr, d, sizeof a, sizeof b, sizeof c, 0, 0, sizeof d};
    char *failure = nullptr;
    if (mmafuzz_compute(unit, &tile, 1, &failure) != 0) {
        std::fprintf(stderr, "mfma: %s\n", failure);
        mmafuzz_free(failure);
        return false;
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) result(w, i, j) = d[i * n + j];
    return true;
}

} // namespace

int main() {
    char target[] = "sim:cdna3", instruction[] = "v_mfma_f32_16x16x16_f16", like[] = "";
    char *failure = nullptr;
    int64_t unit = mmafuzz_open(target, instruction, like, &failure);
    if (unit == 0) {
        std::fprintf(stderr, "mfma: %s\n", failure);
        return 2;
    }
    Wave first = {};
    uint32_t state = 1;
    for (int x = 0; x < 16; x++)
        for (int l = 0; l < k; l++)
            for (Register *r : {first.a, first.b}) {
                state = state * 1664525 + 1013904223;
                set(r, x, l, (state >> 16 & 0x83ff) | (12 + (state >> 8) % 8) << 10); // between 2^-3 and 2^5
            }
    Wave other = first;
    simple(first);
    if (!exact(unit, other)) return 2;
    mmafuzz_close(unit);

    int equal = 0, row = -1, column = -1;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            if (result(first, i, j) == result(other, i, j)) equal++;
            else if (row < 0) row = i, column = j;
    std::printf("%d of %d results are equal\n", equal, m * n);
    if (row < 0) return 0;
    std::printf("row %d, column %d: a sum in FP32 is %08x, the instruction %08x\n", row, column, result(first, row, column), result(other, row, column));
    std::printf("echo '");
    for (int l = 0; l < k; l++) std::printf("%s%04x", l ? "," : "", half(first.a, row, l));
    for (int l = 0; l < k; l++) std::printf("%s%04x", l ? "," : " ", half(first.b, column, l));
    std::printf(" 00000000' | mmafuzz eval --target %s --inst %s --explain\n", target, instruction);
    return 0;
}
