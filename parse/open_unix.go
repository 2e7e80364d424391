//go:build unix

package parse

import (
	"io/fs"
	"os"
	"syscall"
)

// openFile opens what is known to be a file. os.Open does not know that, and asks
// whether it could wait for it as for a pipe: five calls of the system for each
// of thousands of small logs.
func openFile(path string) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			return os.NewFile(uintptr(fd), path), nil
		}
		if err != syscall.EINTR {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
