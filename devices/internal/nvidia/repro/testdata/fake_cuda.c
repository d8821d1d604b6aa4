// A libcuda.so.1 for tests. A launch appends its inputs to the file FAKE_IN and takes
// its outputs from the file FAKE_OUT, one launch after another. FAKE_FAIL names a
// function that fails with error 218.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *input, *output;
static size_t input_size, output_size, launched;

static int result(const char *name) {
    const char *fail = getenv("FAKE_FAIL");
    return fail && strcmp(fail, name) == 0 ? 218 : 0;
}

int cuInit(unsigned flags) { return flags ? 1 : result("cuInit"); }

int cuDeviceGet(int *device, int n) { *device = n; return n == 0 || n == 3 ? result("cuDeviceGet") : 101; }

int cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "Fake %d", device); return 0; }

int cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; *context = &launched; return result("cuDevicePrimaryCtxRetain"); }

int cuCtxSetCurrent(void *context) { return context == &launched ? result("cuCtxSetCurrent") : 201; }

int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {
    if (n != 2 || options[0] != 5 || options[1] != 6 || (size_t)values[1] != 4096 || strncmp((const char *)image, ".version ", 9))
        return 1;
    strcpy((char *)values[0], "ptxas says why\n");
    *module = (void *)image;
    return result("cuModuleLoadDataEx");
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
    char entry[300];
    snprintf(entry, sizeof entry, ".visible .entry %s(", name);
    if (!strstr((const char *)module, entry))
        return 500;
    *function = module;
    return result("cuModuleGetFunction");
}

int cuMemAlloc_v2(unsigned long long *at, size_t size) {
    char **buffer = input ? &output : &input;
    *(input ? &output_size : &input_size) = size;
    *buffer = (char *)malloc(size);
    *at = (unsigned long long)(size_t)*buffer;
    return result("cuMemAlloc");
}

int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t size) {
    if (to != (size_t)input || size != input_size)
        return 1;
    memcpy(input, from, size);
    return result("cuMemcpyHtoD");
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t size) {
    if (from != (size_t)output || size != output_size)
        return 1;
    memcpy(to, output, size);
    return result("cuMemcpyDtoH");
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **arguments, void **extra) {
    FILE *f;
    (void)function;
    if (gx * gy * gz != 1 || by * bz != 1 || bx != 128 || shared || stream || extra || *(char **)arguments[0] != input ||
        *(char **)arguments[1] != output || *(unsigned *)arguments[2] != 1)
        return 1;
    f = fopen(getenv("FAKE_IN"), "ab");
    fwrite(input, 1, input_size, f);
    fclose(f);
    f = fopen(getenv("FAKE_OUT"), "rb");
    fseek(f, (long)(output_size * launched++), SEEK_SET);
    if (fread(output, 1, output_size, f) != output_size)
        return 1;
    fclose(f);
    return result("cuLaunchKernel");
}

int cuCtxSynchronize(void) { return result("cuCtxSynchronize"); }

int cuGetErrorString(int error, const char **text) { *text = error == 218 ? "a PTX JIT compilation failed" : "another error"; return 0; }
