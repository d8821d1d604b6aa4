package vulkan

import "fmt"

// callError is a call of Vulkan that failed.
type callError struct {
	Call string // name of the function
	Code int32  // VkResult
}

func (e *callError) Error() string {
	r, known := results[e.Code]
	if !known {
		r.name = "a VkResult that is not known"
	}
	s := fmt.Sprintf("%s: error %d (%s)", e.Call, e.Code, r.name)
	if r.remedy != "" {
		s += ": " + r.remedy
	}
	return s
}

// check turns a code into an error.
func check(call string, code int32) error {
	if code == success {
		return nil
	}
	return &callError{call, code}
}

// Codes of VkResult.
const (
	success    = 0
	incomplete = 5
	deviceLost = -4
)

// results are the names of the codes, with what to do about them.
var results = map[int32]struct{ name, remedy string }{
	1:           {"VK_NOT_READY", ""},
	2:           {"VK_TIMEOUT", ""},
	incomplete:  {"VK_INCOMPLETE", ""},
	-1:          {"VK_ERROR_OUT_OF_HOST_MEMORY", "this machine has no memory left"},
	-2:          {"VK_ERROR_OUT_OF_DEVICE_MEMORY", "another program has the GPU's memory"},
	-3:          {"VK_ERROR_INITIALIZATION_FAILED", "the driver does not start: may this user open /dev/dri/render* (groups render and video)?"},
	deviceLost:  {"VK_ERROR_DEVICE_LOST", "the GPU was reset: look at the kernel's log (dmesg)"},
	-5:          {"VK_ERROR_MEMORY_MAP_FAILED", ""},
	-6:          {"VK_ERROR_LAYER_NOT_PRESENT", "VK_INSTANCE_LAYERS names a layer that is not installed"},
	-7:          {"VK_ERROR_EXTENSION_NOT_PRESENT", ""},
	-8:          {"VK_ERROR_FEATURE_NOT_PRESENT", ""},
	-9:          {"VK_ERROR_INCOMPATIBLE_DRIVER", "the loader finds no driver: is one installed (/usr/share/vulkan/icd.d), and do VK_DRIVER_FILES and VK_ICD_FILENAMES, if set, name it?"},
	-10:         {"VK_ERROR_TOO_MANY_OBJECTS", ""},
	-12:         {"VK_ERROR_FRAGMENTED_POOL", ""},
	-13:         {"VK_ERROR_UNKNOWN", ""},
	-1000011001: {"VK_ERROR_VALIDATION_FAILED", ""},
	-1000012000: {"VK_ERROR_INVALID_SHADER_NV", "the driver refuses the shader"},
	-1000069000: {"VK_ERROR_OUT_OF_POOL_MEMORY", ""},
	-1000174001: {"VK_ERROR_NOT_PERMITTED", ""},
}
