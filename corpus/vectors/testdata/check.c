/* Runs the tests of a header that mmafuzz vectors made on a function of yours, unit:
 *
 *     cc -DVECTORS='"tfdpa4.h"' check.c unit.c -o check && ./check
 *
 * Exit status: 0 all tests passed, 1 some failed. */
#include <inttypes.h>
#include <stdio.h>
#include VECTORS

uint32_t unit(const uint16_t *a, const uint16_t *b, uint32_t c);

/* right reports whether got is right for a test: see the header's first lines. */
static int right(const struct mma_test *t, uint32_t got) {
    switch (t->compare) {
    case 1:
        return (got & 0x7fffffff) > 0x7f800000;
    case 2:
        return (got & 0x7fffffff) == 0;
    }
    return got == t->d;
}

int main(void) {
    int failed = 0;
    for (int i = 0; i < MMA_TESTS; i++) {
        const struct mma_test *t = &mma_tests[i];
        uint32_t got = unit(t->a, t->b, t->c);
        if (right(t, got))
            continue;
        printf("%s: %08" PRIx32 ", not %08" PRIx32 "\n", t->id, got, t->d);
        failed++;
    }
    fprintf(stderr, "%d tests of %s, %d failed\n", MMA_TESTS, MMA_INSTRUCTION, failed);
    return failed != 0;
}
