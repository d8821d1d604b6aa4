package driver

import (
	"os"
	"strings"
)

// versionFile is where the kernel's part of the driver describes itself.
const versionFile = "/proc/driver/nvidia/version"

// Package returns the version of the driver's package, such as 580.95.05, "" if it
// is not known. It tells apart drivers with the same version of the API.
func Package() string {
	body, err := os.ReadFile(versionFile)
	if err != nil {
		return ""
	}
	return PackageVersion(string(body))
}

// PackageVersion returns the version in the kernel module's description of itself.
func PackageVersion(text string) string {
	for _, word := range strings.Fields(text) {
		if strings.Count(word, ".") >= 1 && word[0] >= '0' && word[0] <= '9' {
			return word
		}
	}
	return ""
}
