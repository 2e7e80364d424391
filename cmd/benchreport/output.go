package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// outputFlags are shared by the commands that write a report.
type outputFlags struct {
	Output string `short:"o" help:"Write to this file, not to standard output." placeholder:"FILE"`
}

// An output is where a report goes. A file appears under its name only when it
// is complete.
type output struct {
	io.Writer
	temp *os.File
	name string
}

// open makes sure that the report can be written, before the long work.
func (f *outputFlags) open(a *app) (*output, error) {
	if f.Output == "" || f.Output == "-" {
		return &output{Writer: a.stdout}, nil
	}
	temp, err := os.CreateTemp(filepath.Dir(f.Output), ".benchreport-*")
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", f.Output, cause(err))
	}
	return &output{temp, temp, f.Output}, nil
}

// close ends the output: with the report in place, or with nothing at all.
func (o *output) close(err error) error {
	if o.temp == nil {
		if err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		return nil
	}
	if err != nil {
		return o.abandon(fmt.Errorf("writing %s: %w", o.name, cause(err)))
	}
	if err := o.temp.Chmod(0o644); err != nil {
		return o.abandon(err)
	}
	if err := o.temp.Close(); err != nil {
		return o.abandon(fmt.Errorf("writing %s: %w", o.name, cause(err)))
	}
	return os.Rename(o.temp.Name(), o.name)
}

// cause is an error without the temporary name, which tells a user nothing.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// abandon removes what was written and hands the error on.
func (o *output) abandon(err error) error {
	if o.temp != nil {
		_ = o.temp.Close()
		_ = os.Remove(o.temp.Name())
	}
	return err
}
