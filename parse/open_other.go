//go:build !unix

package parse

import "os"

// openFile opens what is known to be a file.
func openFile(path string) (*os.File, error) { return os.Open(path) }
