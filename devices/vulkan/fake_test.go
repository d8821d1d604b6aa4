//go:build linux && (amd64 || arm64) && !nogpu

package vulkan

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/internal/testdata/devicetest"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestMain(m *testing.M) { devicetest.DriverMain(m, useDevice) }

// The instructions of the device that is made for the tests.
const (
	small    = "coopmat.m4n4k4.f32.f32.f32.f32"
	oblong   = "coopmat.m4n8k16.f32.f16.f16.f32"
	shared   = "coopmat.m8n8k8.f32.f16.f16.f32.wg64"
	bfloat   = "coopmat.m16n16k16.f32.bf16.bf16.f32"
	integers = "coopmat.m16n16k32.s32.s8.s8.s32.sat"
	unknown  = "coopmat.m8n8k8.f32.type77.type77.f32"
)

// useDevice makes every call of Vulkan: it opens a device and its instructions, which are
// tested, runs them, compares the results with the model's, and gives the device back.
func useDevice(argument string) (err error) {
	t, err := devices.Open("vulkan:" + argument)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	for _, name := range []string{small, oblong, shared} {
		i, err := devices.Find(t, name)
		if err != nil {
			return err
		}
		u, err := t.Open(i)
		if err != nil {
			return err
		}
		if err := useUnit(u); err != nil {
			return err
		}
	}
	if why := refused(t.Instructions()); why != refusals {
		return fmt.Errorf("it refuses\n%swant\n%s", why, refusals)
	}
	return nil
}

const refusals = bfloat + "\n" + integers + "\n" + unknown + "\n"

// refused lists the instructions that a device does not run.
func refused(rows []mma.Instruction) string {
	var names []string
	for _, i := range rows {
		if i.Refuse != "" {
			names = append(names, i.Name+"\n")
		}
	}
	slices.Sort(names) // the order is another one in a child
	return strings.Join(names, "")
}

// useUnit runs batches of several sizes. The device is a chain of FMAs that begins with c.
func useUnit(u devices.Unit) error {
	i := *u.Instruction()
	i.Params = mma.FMA(fp.FP32)
	model, err := sim.ForInstruction(&i)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, tiles := range []int{1, 5, 300} {
		b := mma.NewBatch(i.Formats, mma.Shape{M: i.M.Min, N: i.N.Min, K: i.K, Tiles: tiles})
		for _, o := range [][]byte{b.A, b.B, b.C} {
			for n := range o {
				o[n] = byte(rng.Uint32()) & 0xbf // no infinities, and few numbers that swamp others
			}
		}
		got, want := make([]byte, b.Dots()*4), make([]byte, b.Dots()*4)
		if err := u.Run(context.Background(), b, got); err != nil {
			return err
		}
		model.Run(b, want)
		for n := range b.Dots() {
			if x, y := mma.Load(got, 4, n), mma.Load(want, 4, n); x != y {
				return fmt.Errorf("%s: output %d of %d tiles is %08x, want %08x", i.Name, n, tiles, x, y)
			}
		}
	}
	return nil
}

// buildFake builds a Vulkan loader, without some functions.
func buildFake(t *testing.T, without ...string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("VULKAN IS NOT TESTED: there is no gcc to build a library of its interface with")
	}
	lib := filepath.Join(t.TempDir(), "libvulkan.so")
	arguments := []string{"-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", lib, filepath.Join("testdata", "fake_vulkan.c"), "-lm"}
	for _, name := range without {
		arguments = append(arguments, "-D"+name+"=other_"+name)
	}
	if out, err := exec.Command(gcc, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return lib
}

// use runs useDevice in a process of its own and returns what it says.
func use(t *testing.T, lib, device string, env ...string) string {
	t.Helper()
	return devicetest.UseDevice(t, device, append([]string{libraryVar + "=" + lib}, env...)...)
}

// calls are all functions that can fail.
var calls = []string{
	"vkEnumerateInstanceVersion", "vkCreateInstance", "vkEnumeratePhysicalDevices", "vkEnumerateDeviceExtensionProperties",
	"vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV", "vkCreateDevice",
	"vkCreateBuffer", "vkAllocateMemory", "vkBindBufferMemory", "vkMapMemory", "vkCreateDescriptorSetLayout", "vkCreateDescriptorPool",
	"vkAllocateDescriptorSets", "vkCreatePipelineLayout", "vkCreateShaderModule", "vkCreateComputePipelines", "vkGetPipelineExecutablePropertiesKHR",
	"vkGetPipelineExecutableStatisticsKHR", "vkGetPipelineExecutableInternalRepresentationsKHR", "vkCreateCommandPool", "vkAllocateCommandBuffers",
	"vkBeginCommandBuffer", "vkEndCommandBuffer", "vkQueueSubmit", "vkCreateFence", "vkWaitForFences", "vkResetFences",
}

// TestFake uses a device of a library that is made for the test.
func TestFake(t *testing.T) {
	lib := buildFake(t)
	for _, tc := range []struct{ device, env string }{
		{"0", ""}, {"0,force,deadline=20s", ""}, {"0,inprocess", ""},
		{"0,inprocess", subgroupVar + "=16\x00FAKE_SUBGROUP=16"},
		{"0,inprocess", "FAKE_WITHOUT=subgroupSizeControl"},
		{"0,inprocess", "FAKE_WITHOUT=pipelineExecutableInfo"},
		{"0,inprocess", "FAKE_WITHOUT=vkGetPipelineExecutableStatisticsKHR"},
	} {
		if said := use(t, lib, tc.device, strings.Split(tc.env, "\x00")...); said != "fine" {
			t.Errorf("device %q, %q: %s", tc.device, tc.env, said)
		}
	}
}

// selfTest is how the errors of a launch begin.
const selfTest = "vulkan/" + small + ": self-test: "

// TestFakeFaults makes each call fail, and some in ways of their own.
func TestFakeFaults(t *testing.T) {
	lib := buildFake(t)
	for _, call := range calls {
		want := call + ": error -13 (VK_ERROR_UNKNOWN)"
		if said := use(t, lib, "0,inprocess", "FAKE_VULKAN="+call+"=-13"); !strings.HasSuffix(said, want) || strings.HasPrefix(said, "fault") {
			t.Errorf("%s: %s", call, said)
		}
	}
	for _, tc := range []struct{ fault, want string }{
		{"vkQueueSubmit=-4", "fault: " + selfTest + "vulkan:0,inprocess: vkQueueSubmit: error -4 (VK_ERROR_DEVICE_LOST): " + results[deviceLost].remedy},
		{"vkWaitForFences=-4", "fault: " + selfTest + "vulkan:0,inprocess: vkWaitForFences: error -4 (VK_ERROR_DEVICE_LOST): " + results[deviceLost].remedy},
		{"vkAllocateMemory=-2", selfTest + "vkAllocateMemory: error -2 (VK_ERROR_OUT_OF_DEVICE_MEMORY): another program has the GPU's memory"},
		{"vkCreateInstance=-9", `target "vulkan:0,inprocess": vkCreateInstance: error -9 (VK_ERROR_INCOMPATIBLE_DRIVER): ` + results[-9].remedy},
		{"vkCreateComputePipelines=-1000012000", "vulkan/" + small + ": vkCreateComputePipelines: error -1000012000 (VK_ERROR_INVALID_SHADER_NV): the driver refuses the shader"},
		{"vkCreateFence=-99", `target "vulkan:0,inprocess": Fake RTX: vkCreateFence: error -99 (a VkResult that is not known)`},
	} {
		if said := use(t, lib, "0,inprocess", "FAKE_VULKAN="+tc.fault); said != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.fault, said, tc.want)
		}
	}
}

// TestFakeHangs has calls that never return, in this process and in a child, and a driver
// that kills the process.
func TestFakeHangs(t *testing.T) {
	lib := buildFake(t)
	const late = "a launch has not returned within 200ms: the driver hangs; look at the kernel's log (dmesg)"
	for _, tc := range []struct{ device, fault, want string }{
		{"0,inprocess,deadline=200ms", "vkWaitForFences=hang", "fault: " + selfTest + "vulkan:0,inprocess,deadline=200ms: " + late},
		{"0,deadline=200ms", "vkWaitForFences=hang", "vulkan:0,deadline=200ms: the child gave no answer: it ended with exit status 2; its stderr ends: " +
			selfTest + "vulkan:0,deadline=200ms,inprocess: " + late},
		{"0", "vkQueueSubmit=abort", "vulkan:0: the child gave no answer: it ended with exit status 2; its stderr ends: "},
	} {
		if said := use(t, lib, tc.device, "FAKE_VULKAN="+tc.fault); !strings.Contains(said, tc.want) || !strings.HasPrefix(said, "fault: ") {
			t.Errorf("%s %s:\n got %s\nwant %s", tc.device, tc.fault, said, tc.want)
		}
	}
}

// TestFakeMissing has libraries, functions, devices, extensions and features that are not
// there, and devices that do not compute right.
func TestFakeMissing(t *testing.T) {
	lib := buildFake(t)
	absent := filepath.Join(t.TempDir(), "absent.so")
	poor := buildFake(t, "vkMapMemory", "vkCreateBuffer")
	const driver = "Fake RTX: its driver, FAKE 580.00, has no "
	for _, tc := range []struct{ name, lib, device, env, want string }{
		{"no loader", absent, "0", "", "the Vulkan loader cannot be loaded: " + absent + ": cannot open shared object file: No such file or directory: install it " +
			"(in Debian libvulkan1) with a driver (mesa-vulkan-drivers, or the GPU's own), or name the file in MMAFUZZ_LIBVULKAN"},
		{"loader without functions", poor, "0", "", poor + " has no function vkCreateBuffer, vkMapMemory: is it older than Vulkan 1.3, or another library?"},
		{"old loader", lib, "0", "FAKE_VERSION=1", lib + " is a Vulkan 1.1.0, and 1.3 is needed"},
		{"old driver", lib, "0", "FAKE_DEVICE_VERSION=2", "Fake RTX: its driver has Vulkan 1.2.0, and 1.3 is needed: update it"},
		{"no driver", lib, "0", "FAKE_DEVICES=0", "there is no device 0: Vulkan's drivers show 0 (VK_DRIVER_FILES and VK_LOADER_DRIVERS_SELECT, if set, hide some)"},
		{"no such device", lib, "1", "", "there is no device 1: Vulkan's drivers show 1 (VK_DRIVER_FILES and VK_LOADER_DRIVERS_SELECT, if set, hide some)"},
		{"no extension", lib, "0", "FAKE_WITHOUT=VK_KHR_cooperative_matrix", driver + "VK_KHR_cooperative_matrix: a newer one may, if the device has a matrix unit"},
		{"no feature", lib, "0", "FAKE_WITHOUT=cooperativeMatrix", driver + "feature cooperativeMatrix"},
		{"no memory model", lib, "0", "FAKE_WITHOUT=vulkanMemoryModel", driver + "feature vulkanMemoryModel"},
		{"no function of the extension", lib, "0", "FAKE_WITHOUT=vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", driver + "function vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"},
		{"no FP16", lib, "0", "FAKE_WITHOUT=shaderFloat16", "vulkan:0 does not execute vulkan/" + oblong + ": its driver lacks the feature shaderFloat16"},
		{"no workgroups", lib, "0", "FAKE_WITHOUT=VK_NV_cooperative_matrix2", `vulkan:0 has no instruction "` + shared + `"; nearest: `},
		{"no queue", lib, "0", "FAKE_WITHOUT=compute", "Fake RTX: none of its 2 families of queues can compute"},
		{"no memory", lib, "0", "FAKE_WITHOUT=memory", "none of the 3 types of memory is for buffers and visible to this process"},
		{"subgroups", lib, "0", subgroupVar + "=64", `Fake RTX: MMAFUZZ_VULKAN_SUBGROUP is "64", and the device has subgroups of 16 to 32`},
		{"subgroups cannot be chosen", lib, "0", subgroupVar + "=16\x00FAKE_WITHOUT=computeFullSubgroups", `Fake RTX: MMAFUZZ_VULKAN_SUBGROUP is "16", and the device has subgroups of 16 to 32`},
		{"broken", lib, "0", "FAKE_LANE=256", "vulkan/" + small + ": it fails its self-test: "},
	} {
		for _, where := range []string{"", ",inprocess"} {
			said := use(t, tc.lib, tc.device+where, strings.Split(tc.env, "\x00")...)
			said = strings.ReplaceAll(strings.ReplaceAll(said, "0,inprocess", "0"), "its driver lacks a feature that it needs", "its driver lacks the feature shaderFloat16")
			if !strings.Contains(said, tc.want) || strings.HasPrefix(said, "fault") {
				t.Errorf("%s%s:\n got %s\nwant %s", tc.name, where, said, tc.want)
			}
		}
	}
}

// TestFacts has what bundles say of a device and of a kernel.
func TestFacts(t *testing.T) {
	if os.Getenv(libraryVar) == "" {
		lib := buildFake(t)
		for _, tc := range []struct{ without, code string }{{"", "native: 2 hmma.16816.f32"}, {"native", "no matrix instruction that is known in 1 listings: emulated, or unknown to this version"}} {
			cmd := exec.Command(os.Args[0], "-test.run=^TestFacts$")
			cmd.Env = append(os.Environ(), libraryVar+"="+lib, "FAKE_WITHOUT="+tc.without, "FAKE_CODE="+tc.code)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		}
		return
	}
	target, err := devices.Open("vulkan:0,inprocess")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	facts := target.Environment()
	for name, want := range map[string]string{
		"device": "Fake RTX", "device-kind": "GPU", "vendor-id": "0x10de", "device-id": "0x2330", "driver": "FAKE 580.00", "driver-id": "4", "driver-version": "0x100",
		"vulkan": "1.4.0", "subgroup": "32", "uuid": "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", "pci": "0000:1b:00.0", "arch": "vulkan", factOthers: integers + "," + bfloat + "," + unknown,
	} {
		if facts[name] != want {
			t.Errorf("%s: %q, want %q", name, facts[name], want)
		}
	}
	i, err := devices.Find(target, small)
	if err != nil {
		t.Fatal(err)
	}
	u, err := target.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	facts = u.(devices.Provenance).Environment()
	for name, want := range map[string]string{
		"code": os.Getenv("FAKE_CODE"), "statistics": "main, subgroups of 32: registers 40",
		"self-test": "passed: layout, position independence, repeatability", "kernel": small + " for SPIR-V, workgroups of 32",
	} {
		if facts[name] != want {
			t.Errorf("%s: %q, want %q", name, facts[name], want)
		}
	}
}

// TestParse has bad names of targets.
func TestParse(t *testing.T) {
	for argument, want := range map[string]string{
		"":           `"" is not the number of a device: vulkan:0 is the first`,
		"zero":       `"zero" is not the number of a device: vulkan:0 is the first`,
		"-1":         `"-1" is not the number of a device: vulkan:0 is the first`,
		"0,fast":     `unknown option "fast" (known: inprocess, force, deadline=TIME)`,
		"0,deadline": "deadline= is no time such as 500ms or 10s",
	} {
		if o, err := open(argument); err == nil || err.Error() != want {
			t.Errorf("%q: %+v, %v, want %s", argument, o, err, want)
		}
	}
}
