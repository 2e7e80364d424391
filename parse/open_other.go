//go:build !unix

package parse

import (
	"io"
	"os"
)

// openFile opens what is known to be a file.
func openFile(path string) (io.ReadCloser, error) { return os.Open(path) }
