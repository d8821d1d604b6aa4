package main

// The kinds of targets. Each registers itself.
import (
	_ "github.com/mmafuzz/mmafuzz/devices/cpu"
	_ "github.com/mmafuzz/mmafuzz/devices/cuda"
	_ "github.com/mmafuzz/mmafuzz/devices/exec"
	_ "github.com/mmafuzz/mmafuzz/devices/hip"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	_ "github.com/mmafuzz/mmafuzz/devices/vulkan"
)
