//go:build unix

package parse

import (
	"io"
	"io/fs"
	"syscall"
)

// openFile opens what is known to be a file. os.Open does not know that, and asks
// whether it could wait for it as for a pipe: that is half of the time of opening
// and reading a small log.
func openFile(path string) (io.ReadCloser, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			return plainFile(fd), nil
		}
		if err != syscall.EINTR {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// plainFile is an open file by its number.
type plainFile int

func (f plainFile) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(f), b)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f plainFile) Close() error { return syscall.Close(int(f)) }
