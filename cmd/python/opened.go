package main

import "github.com/mmafuzz/mmafuzz/devices"

// opened is a unit that C has opened.
type opened struct {
	target string
	unit   devices.Unit
	close  func() error
}

var units handles[opened]
