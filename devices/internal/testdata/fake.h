/* What libraries that stand in for drivers share. Before it is included, FAKE is the variable
 * of the environment by which calls fail, and LAST_WORDS what the driver says when it gives
 * up: FAKE="CALL=CODE" makes a function return an error, "CALL=hang" makes it never return,
 * "CALL=abort" ends the process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fault(const char *call) {
    const char *want = getenv(FAKE);
    size_t n = strlen(call);
    if (!want || strncmp(want, call, n) != 0 || want[n] != '=')
        return 0;
    if (strcmp(want + n + 1, "hang") == 0)
        for (;;)
            sleep(1000);
    if (strcmp(want + n + 1, "abort") == 0) {
        fprintf(stderr, LAST_WORDS "\n");
        abort();
    }
    return atoi(want + n + 1);
}

#define CALL(name, ...) int name(__VA_ARGS__) { int failed = fault(#name); if (failed) return failed;
#define END return 0; }
