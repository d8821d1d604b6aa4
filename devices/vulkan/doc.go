// Package vulkan makes every vendor's matrix unit a target, by one interface: vulkan:0,
// vulkan:1 and so on are the devices of Vulkan's drivers, in their order. What is needed is
// the Vulkan loader, libvulkan.so.1, and a driver with VK_KHR_cooperative_matrix: NVIDIA's
// (RTX and newer), Mesa's for AMD (RDNA3 and newer) and Intel (Arc), Qualcomm's, Arm's, and
// Mesa's llvmpipe, which needs no GPU.
//
//	mmafuzz list instructions vulkan:0
//	mmafuzz run --a vulkan:0 --b sim:hopper --time 10m
//	mmafuzz infer --target vulkan:0 --inst coopmat.m8n8k8.f32.f16.f16.f32
//	mmafuzz doctor --checklist results --device cuda:0 --against vulkan:0
//
// It has run on llvmpipe: .ci/nightly vulkan. Nobody has reported a GPU yet: reports are
// welcome, good or bad. Each instruction tests itself before its results are trusted
// (gpu.SelfTest).
//
// # Instructions
//
// They come from the device. coopmat.m16n16k16.f32.f16.f16.f32 multiplies a 16x16 A of FP16
// by a 16x16 B of FP16 and adds an FP32 C to an FP32 D: shape, D, A, B, C, as in the names
// of mma.sync. The name may go on with .sat, saturating accumulation, and .wg128, a workgroup
// of 128 invocations that share the matrices (VK_NV_cooperative_matrix2, whose sizes are
// free: the smallest is taken). Without .wgN, the invocations of a subgroup share them. Types
// are f16, f32, f64, bf16 (VK_KHR_shader_bfloat16), e4m3 and e5m2 (VK_EXT_shader_float8).
// Integers (s8, u32 and so on) have no number format in this project: the device's
// instructions on them are only shown by list instructions --unverified.
//
// # Shaders
//
// A kernel is a module of SPIR-V that this package writes (shader.go): load A, B and C,
// OpCooperativeMatrixMulAddKHR, store D; no compiler is needed, and spirv-val accepts a
// module of every combination of types. A workgroup executes a tile. Each instruction has two
// kernels, whose matrices are stored by rows or by columns and with other strides: their
// results must be the same. Subgroups have the size that the driver names, on Intel the
// smallest; shaders ask for it if the driver lets them.
//
// # Isolation
//
// A GPU that hangs is reset, and a process that used it cannot go on. So vulkan:0 runs in
// child processes (mmafuzz serve vulkan:0,inprocess), which are replaced when they fail, and
// the input that made one fail becomes a finding (package exec). Options may follow the
// name, as in vulkan:0,deadline=2s: see gpu.Options.
//
// # What is known of a result
//
// Bundles and recordings have the device, its driver and versions, and the outcome of the
// self-test. If the driver has VK_KHR_pipeline_executable_properties, they also have the
// statistics of the compiled shader and the matrix instructions in its listings; if there
// are none, the matrix unit is probably not used.
//
// # Environment variables
//
//	MMAFUZZ_LIBVULKAN        the loader's file; if not set, libvulkan.so.1 or libvulkan.so
//	MMAFUZZ_VULKAN_SUBGROUP  the size of subgroups
//	VK_DRIVER_FILES          read by the loader: the drivers to use
//
// The API of this package is not promised: it may change in any version.
package vulkan
