// A child of mmafuzz around the Verilog model of tfdpa4.sv:
//
//     verilator -O3 --cc --exe --build tfdpa4.sv main.cpp
//     mmafuzz run --a exec:obj_dir/Vtfdpa4 --b model:tfdpa4.json
//
// Without an argument it speaks the text mode, with the argument "binary" the binary mode.
#include "Vtfdpa4.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

static Vtfdpa4 *dut;

static void clock_cycle() {
    dut->clk = 0;
    dut->eval();
    dut->clk = 1;
    dut->eval();
}

// One line of text for each dot product, and one for its result.
static int text() {
    unsigned a[4], b[4], c;
    while (scanf("%x,%x,%x,%x %x,%x,%x,%x %x", a, a + 1, a + 2, a + 3, b, b + 1, b + 2, b + 3, &c) == 9) {
        dut->a = dut->b = 0;
        for (int i = 0; i < 4; i++) {
            dut->a |= uint64_t(a[i]) << 16 * i;
            dut->b |= uint64_t(b[i]) << 16 * i;
        }
        dut->c = c;
        dut->valid_in = 1;
        int cycles = 0;
        do {
            clock_cycle();
            dut->valid_in = 0;
        } while (!dut->valid_out && ++cycles < 100);
        if (dut->valid_out)
            printf("%08x\n", dut->d);
        else
            printf("error the pipeline lost a result\n");
        fflush(stdout);
    }
    return 0;
}

// A request of many dot products, which go through the pipeline one each clock. The
// header announces tiles of one dot product, so that A, B and C are arrays of them.
static int binary() {
    uint32_t q[9]; // a little-endian machine
    while (fread(q, sizeof q, 1, stdin) == 1) {
        size_t n = q[6]; // tiles
        std::vector<uint8_t> in(n * 20);
        if (memcmp(q, "mmaQ", 4) || q[7] != in.size() || fread(in.data(), 1, in.size(), stdin) != in.size())
            return 1;
        const uint8_t *a = &in[0], *b = &in[n * 8], *c = &in[n * 16];
        std::vector<uint32_t> d;
        for (size_t i = 0, idle = 0; d.size() < n && idle < 100; i++, idle++) {
            dut->valid_in = i < n;
            if (i < n) {
                memcpy(&dut->a, a + i * 8, 8);
                memcpy(&dut->b, b + i * 8, 8);
                memcpy(&dut->c, c + i * 4, 4);
            }
            clock_cycle();
            if (dut->valid_out) {
                d.push_back(dut->d);
                idle = 0;
            }
        }
        const char *lost = "the pipeline lost a result";
        uint32_t bad = d.size() != n, len = bad ? strlen(lost) : n * 4;
        uint32_t head[5] = {0, q[1], bad, len, 0}; // no checksum
        memcpy(head, "mmaD", 4);
        fwrite(head, sizeof head, 1, stdout);
        fwrite(bad ? (const void *)lost : d.data(), 1, len, stdout);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv) {
    Verilated::commandArgs(argc, argv);
    dut = new Vtfdpa4;
    const char *mode = argc > 1 && !strcmp(argv[1], "binary") ? "binary" : "text";
    printf("mmafuzz-exec 1 %s\n"
           "instruction tfdpa4 k=4 a=fp16 b=fp16 c=fp32 d=fp32 m=1 n=1\n"
           "about simulator %s %s\n"
           "ready\n",
           mode, Verilated::productName(), Verilated::productVersion());
    fflush(stdout);
    int status = *mode == 'b' ? binary() : text();
    dut->final();
    delete dut;
    return status;
}
