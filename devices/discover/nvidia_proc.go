//go:build !(nvml && cgo && linux)

package discover

import (
	"os"
	"path/filepath"
	"strings"
)

// nvidia reads what the kernel driver publishes. Built for Linux with -tags nvml
// and cgo, the program asks NVML instead and knows more.
func nvidia() []Device { return nvidiaProc("/proc/driver/nvidia") }

func nvidiaProc(root string) []Device {
	files, _ := filepath.Glob(filepath.Join(root, "gpus", "*", "information"))
	var found []Device
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			found = append(found, Device{Kind: "nvidia", Name: f, Problem: err.Error(), Remedy: "read access to " + root})
			continue
		}
		d := Device{Kind: "nvidia", Driver: driverVersion(root)}
		for line := range strings.Lines(string(data)) {
			name, value, _ := strings.Cut(line, ":")
			switch value = strings.TrimSpace(value); strings.TrimSpace(name) {
			case "Model":
				d.Name = value
			case "GPU UUID":
				d.UUID = value
			}
		}
		found = append(found, d)
	}
	return found
}

// driverVersion returns the first version-like word of the driver's own line.
func driverVersion(root string) string {
	data, err := os.ReadFile(filepath.Join(root, "version"))
	if err != nil {
		return ""
	}
	for _, word := range strings.Fields(string(data)) {
		if strings.Count(word, ".") >= 1 && word[0] >= '0' && word[0] <= '9' {
			return word
		}
	}
	return ""
}
