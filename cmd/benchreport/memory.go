package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// collectLater lets the first garbage collection wait for 12 MB instead of 4:
// most runs of the program end before that, and collecting meanwhile is a fifth
// of their time. Later ones come when twice as much was allocated as is kept,
// so that memory stays in proportion to that. GOGC says otherwise, if it is set.
func collectLater() {
	const early, late = 300, 200
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(early)
	first := new([16]byte)
	runtime.SetFinalizer(first, func(*[16]byte) { debug.SetGCPercent(late) })
}
