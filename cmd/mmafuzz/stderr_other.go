//go:build !unix

package main

import "os"

// progressStream is standard error: writing what nobody reads does not end the program here.
func progressStream() *os.File { return os.Stderr }
