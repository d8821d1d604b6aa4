/* The same unit as a target of mmafuzz: exec:./child. */
#include <stdint.h>
#include <stdio.h>

uint32_t unit(const uint16_t *a, const uint16_t *b, uint32_t c);

int main(void) {
    puts("mmafuzz-exec 1 text\ninstruction tfdpa4 k=4 a=fp16 b=fp16 c=fp32 d=fp32\nready");
    fflush(stdout);
    unsigned x[9];
    while (scanf("%x,%x,%x,%x %x,%x,%x,%x %x", x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8) == 9) {
        uint16_t a[4], b[4];
        for (int i = 0; i < 4; i++)
            a[i] = x[i], b[i] = x[4 + i];
        printf("%08x\n", (unsigned)unit(a, b, x[8]));
        fflush(stdout);
    }
    return 0;
}
