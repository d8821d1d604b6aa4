package fuzz

import "github.com/mmafuzz/mmafuzz/devices"

// Side is one side of a pair.
type Side struct {
	Target string
	Unit   devices.Unit
}
