// One dot product on hopper/mma.m16n8k8.f32.f16.f16.f32. Written by mmafuzz.
//
//	cc -x c -o /tmp/repro repro_a.cu -ldl && /tmp/repro
//	nvcc -o /tmp/repro repro_a.cu && /tmp/repro
//
// It is C and CUDA C++ and needs NVIDIA's driver, and no toolkit. An argument is the
// number of the device. The kernel is for sm_90.
//
// sim:hopper: 4441768e (773.8524169921875)
// exec:./sim "100%\n" */ x: 4441768f (773.8524780273438)
//
// p0 = 26a9 (0.0260162353515625) * 9ebc (-0.0065765380859375)
// p1 = b24d (-0.1968994140625) * ad0e (-0.0789794921875)
// p2 = a92d (-0.040435791015625) * 00bc (1.1205673217773438e-05)
// p3 = c51c (-5.109375) * 102a (0.0005083084106445312)
// p4 = c482 (-4.5078125) * 8e17 (-0.00037169456481933594)
// p5 = 86ef (-0.00010579824447631836) * 06e4 (0.00010514259338378906)
// p6 = ded3 (-436.75) * c0c5 (-2.384765625)
// p7 = 9f75 (-0.007282257080078125) * 91e1 (-0.0007176399230957031)
// p8 = 9965 (-0.0026340484619140625) * 2928 (0.040283203125)
// p9 = 0f17 (0.00043272972106933594) * 02d7 (4.3332576751708984e-05)
// p10 = 95be (-0.0014019012451171875) * b529 (-0.322509765625)
// p11 = 5f10 (452) * 915b (-0.0006537437438964844)
// p12 = bbe8 (-0.98828125) * 8c21 (-0.00025200843811035156)
// p13 = 01fa (3.0159950256347656e-05) * 1454 (0.001056671142578125)
// p14 = 179a (0.0018558502197265625) * acbe (-0.0740966796875)
// p15 = e0ce (-615) * 36f5 (0.434814453125)
// c = bb1e3d40 (-0.0024145394563674927)
// All other products are zeros. Exit status: 0 if the GPU gives the first result, 1 if not.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    steps = 2, in_words = 224, out_words = 128,
    d_bit = 0, c_bit = 3072, bits_of_d = 32, threads = 128
};
static const unsigned long long first_result = 0x4441768eull, other_result = 0x4441768full;

// The words of the packed inputs that are not zero: step, place, word.
static const unsigned words[][3] = {
    {0, 0, 0xb24d26a9}, {0, 1, 0xc51ca92d}, {0, 2, 0x86efc482}, {0, 3, 0x9f75ded3},
    {0, 64, 0xad0e9ebc}, {0, 65, 0x102a00bc}, {0, 66, 0x06e48e17}, {0, 67, 0x91e1c0c5},
    {0, 96, 0xbb1e3d40}, {1, 0, 0x0f179965}, {1, 1, 0x5f1095be}, {1, 2, 0x01fabbe8},
    {1, 3, 0xe0ce179a}, {1, 64, 0x02d72928}, {1, 65, 0x915bb529}, {1, 66, 0x14548c21},
    {1, 67, 0x36f5acbe}
};

static const char ptx[] =
    ".version 7.8\n"
    ".target sm_90\n"
    ".address_size 64\n"
    "\n"
    ".visible .entry mma_m16n8k8_f32_f16_f16_f32(\n"
    "\t.param .u64 in,\n"
    "\t.param .u64 out,\n"
    "\t.param .u32 tiles\n"
    ")\n"
    ".reqntid 128\n"
    "{\n"
    "\t.reg .pred %end;\n"
    "\t.reg .b32 %tile, %tiles, %lane, %warp;\n"
    "\t.reg .b64 %in, %out;\n"
    "\t.reg .b32 %a<2>;\n"
    "\t.reg .b32 %b<1>;\n"
    "\t.reg .b32 %c<4>;\n"
    "\t.reg .b32 %d<4>;\n"
    "\n"
    "\t// tile = block*4 + warp\n"
    "\tld.param.u32 %tiles, [tiles];\n"
    "\tmov.u32 %tile, %ctaid.x;\n"
    "\tmov.u32 %lane, %tid.x;\n"
    "\tshr.u32 %warp, %lane, 5;\n"
    "\tand.b32 %lane, %lane, 31;\n"
    "\tmad.lo.u32 %tile, %tile, 4, %warp;\n"
    "\tsetp.ge.u32 %end, %tile, %tiles;\n"
    "\t@%end ret;\n"
    "\n"
    "\t// the lane's first words\n"
    "\tld.param.u64 %in, [in];\n"
    "\tld.param.u64 %out, [out];\n"
    "\tcvta.to.global.u64 %in, %in;\n"
    "\tcvta.to.global.u64 %out, %out;\n"
    "\tmad.wide.u32 %in, %tile, 896, %in;\n"
    "\tmad.wide.u32 %out, %tile, 512, %out;\n"
    "\tmad.wide.u32 %in, %lane, 4, %in;\n"
    "\tmad.wide.u32 %out, %lane, 4, %out;\n"
    "\tld.global.b32 %a0, [%in+0];\n"
    "\tld.global.b32 %a1, [%in+128];\n"
    "\tld.global.b32 %b0, [%in+256];\n"
    "\tld.global.b32 %c0, [%in+384];\n"
    "\tld.global.b32 %c1, [%in+512];\n"
    "\tld.global.b32 %c2, [%in+640];\n"
    "\tld.global.b32 %c3, [%in+768];\n"
    "\n"
    "\t// mma.m16n8k8.f32.f16.f16.f32\n"
    "\tmma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};\n"
    "\n"
    "\tst.global.b32 [%out+0], %d0;\n"
    "\tst.global.b32 [%out+128], %d1;\n"
    "\tst.global.b32 [%out+256], %d2;\n"
    "\tst.global.b32 [%out+384], %d3;\n"
    "\tret;\n"
    "}";

// The driver's functions.
typedef unsigned long long address;
static int (*cuInit)(unsigned);
static int (*cuDeviceGet)(int *, int);
static int (*cuDeviceGetName)(char *, int, int);
static int (*cuDevicePrimaryCtxRetain)(void **, int);
static int (*cuCtxSetCurrent)(void *);
static int (*cuModuleLoadDataEx)(void **, const void *, unsigned, int *, void **);
static int (*cuModuleGetFunction)(void **, void *, const char *);
static int (*cuMemAlloc)(address *, size_t);
static int (*cuMemcpyHtoD)(address, const void *, size_t);
static int (*cuMemcpyDtoH)(void *, address, size_t);
static int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static int (*cuCtxSynchronize)(void);
static int (*cuGetErrorString)(int, const char **);

static void load(void) {
    static const struct { const char *name; void *function; } all[] = {
        {"cuInit", &cuInit}, {"cuDeviceGet", &cuDeviceGet}, {"cuDeviceGetName", &cuDeviceGetName},
        {"cuDevicePrimaryCtxRetain", &cuDevicePrimaryCtxRetain}, {"cuCtxSetCurrent", &cuCtxSetCurrent},
        {"cuModuleLoadDataEx", &cuModuleLoadDataEx}, {"cuModuleGetFunction", &cuModuleGetFunction},
        {"cuMemAlloc_v2", &cuMemAlloc}, {"cuMemcpyHtoD_v2", &cuMemcpyHtoD}, {"cuMemcpyDtoH_v2", &cuMemcpyDtoH},
        {"cuLaunchKernel", &cuLaunchKernel}, {"cuCtxSynchronize", &cuCtxSynchronize}, {"cuGetErrorString", &cuGetErrorString},
    };
    size_t n;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "NVIDIA's driver is not on this machine: %s\n", dlerror());
        exit(2);
    }
    for (n = 0; n < sizeof all / sizeof all[0]; n++) {
        void *function = dlsym(library, all[n].name);
        if (!function) {
            fprintf(stderr, "the driver has no %s: it is too old\n", all[n].name);
            exit(2);
        }
        *(void **)all[n].function = function;
    }
}

static char log_text[4096]; // what the driver's compiler says

static void check(int error, const char *call) {
    const char *text = "?";
    if (error == 0)
        return;
    if (cuGetErrorString)
        cuGetErrorString(error, &text);
    fprintf(stderr, "%s: error %d: %s\n%s", call, error, text, log_text);
    exit(2);
}

static unsigned long long get(const unsigned *p, int bit) {
    unsigned long long v = 0;
    int n;
    for (n = 0; n < bits_of_d; n++, bit++)
        v |= (unsigned long long)(p[bit / 32] >> bit % 32 & 1) << n;
    return v;
}

static void put(unsigned *p, int bit, unsigned long long v) {
    int n;
    for (n = 0; n < bits_of_d; n++, bit++)
        p[bit / 32] = (p[bit / 32] & ~(1u << bit % 32)) | (unsigned)(v >> n & 1) << bit % 32;
}

int main(int argc, char **argv) {
    static unsigned in[steps][in_words], out[out_words];
    int device, step, options[2] = {5, 6}; // CU_JIT_ERROR_LOG_BUFFER, its size
    void *values[2] = {log_text, (void *)sizeof log_text};
    void *context, *module, *kernel;
    address device_in, device_out;
    unsigned tiles = 1;
    unsigned long long d = 0;
    char name[256] = "";
    size_t n;
    void *arguments[3];

    for (n = 0; n < sizeof words / sizeof words[0]; n++)
        in[words[n][0]][words[n][1]] = words[n][2];
    load();
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, argc > 1 ? atoi(argv[1]) : 0), "cuDeviceGet");
    check(cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuModuleLoadDataEx(&module, ptx, 2, options, values), "cuModuleLoadDataEx");
    check(cuModuleGetFunction(&kernel, module, "mma_m16n8k8_f32_f16_f16_f32"), "cuModuleGetFunction");
    check(cuMemAlloc(&device_in, sizeof in[0]), "cuMemAlloc");
    check(cuMemAlloc(&device_out, sizeof out), "cuMemAlloc");
    arguments[0] = &device_in, arguments[1] = &device_out, arguments[2] = &tiles;
    for (step = 0; step < steps; step++) {
        if (step > 0)
            put(in[step], c_bit, d);
        check(cuMemcpyHtoD(device_in, in[step], sizeof in[step]), "cuMemcpyHtoD");
        check(cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL), "cuLaunchKernel");
        check(cuCtxSynchronize(), "cuCtxSynchronize");
        check(cuMemcpyDtoH(out, device_out, sizeof out), "cuMemcpyDtoH");
        d = get(out, d_bit);
    }
    printf("%s: %s gives %08llx\n", name, "mma.m16n8k8.f32.f16.f16.f32", d);
    printf("%08llx: %s\n%08llx: %s\n", first_result, "sim:hopper", other_result, "exec:./sim \"100%\\n\" */ x");
    return d != first_result;
}
