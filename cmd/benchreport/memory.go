package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// collectLater lets the first garbage collection wait for 12 MB instead of 4:
// most runs of the program end before that, and collecting meanwhile is a fifth
// of their time. Later ones come when as much was allocated as is kept, and
// twice as much where that is large, so that memory stays in proportion to it.
// GOGC says otherwise, if it is set.
func collectLater() {
	const first, usual, large = 300, 100, 200
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(first)
	percent := first
	var collected func(*[16]byte)
	collected = func(*[16]byte) {
		next := usual
		if kept() > 32<<20 {
			next = large
		}
		if next != percent {
			percent = next
			debug.SetGCPercent(percent)
		}
		runtime.SetFinalizer(new([16]byte), collected) // it runs after the next one
	}
	runtime.SetFinalizer(new([16]byte), collected)
}

// kept is how much memory the last garbage collection found to be in use.
func kept() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
