package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// outputFlags are shared by the commands that write a report.
type outputFlags struct {
	Output string `short:"o" help:"Write to this file, not to standard output." placeholder:"FILE"`
}

// An output is where a report goes. A file appears under its name only when it
// is complete; a pipe or a device is written as it is. The buffer remembers the
// first error, whoever writes.
type output struct {
	*bufio.Writer
	file *os.File // nil for standard output
	name string   // as the user knows it
	to   string   // what the file is renamed to; "" for a pipe or a device
	mode fs.FileMode
}

// open makes sure that the report can be written, before the long work.
func (f *outputFlags) open(a *app) (*output, error) {
	if f.Output == "" || f.Output == "-" {
		return &output{Writer: bufio.NewWriter(a.stdout)}, nil
	}
	return create(f.Output)
}

// tempPrefix begins the names of files that are not complete.
const tempPrefix = ".benchreport-"

// temps are the files that are not complete, for an interrupted program to
// remove. Whoever holds the lock begins or ends some.
var temps = struct {
	sync.Mutex
	names map[string]bool
}{names: map[string]bool{}}

// create begins a file.
func create(path string) (*output, error) {
	to := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		to = target // a link stays one
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		return nil, fmt.Errorf("cannot write %s: it is a folder", path)
	} else if err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	} else if err == nil {
		f, err := os.OpenFile(to, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", path, cause(err))
		}
		return &output{bufio.NewWriter(f), f, path, "", 0}, nil
	}
	temps.Lock()
	defer temps.Unlock()
	temp, err := os.CreateTemp(filepath.Dir(to), tempPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", path, cause(err))
	}
	temps.names[temp.Name()] = true
	return &output{bufio.NewWriter(temp), temp, path, to, mode}, nil
}

// close ends the output: with the report in place, or with nothing at all.
func (o *output) close(err error) error {
	if err := o.finish(err); err != nil {
		return err
	}
	return publish(o)
}

// finish ends writing. The file still has its temporary name.
func (o *output) finish(err error) error {
	err = cmp.Or(err, o.Flush())
	if o.file == nil {
		if err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		return nil
	}
	if err == nil && o.to != "" {
		err = o.file.Chmod(o.mode)
	}
	if err == nil {
		err = o.file.Close()
	}
	if err != nil {
		return o.abandon(fmt.Errorf("writing %s: %w", o.name, cause(err)))
	}
	return nil
}

// publish gives finished files their names, all of them or, if the program is
// interrupted, none.
func publish(outs ...*output) error {
	temps.Lock()
	defer temps.Unlock()
	var first error
	for _, o := range outs {
		if o.to == "" {
			continue
		}
		if err := os.Rename(o.file.Name(), o.to); err != nil {
			first = cmp.Or(first, fmt.Errorf("cannot write %s: %w", o.name, cause(err)))
			_ = os.Remove(o.file.Name())
		}
		delete(temps.names, o.file.Name())
	}
	return first
}

// cause is an error without the temporary name, which tells a user nothing.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

// abandon removes what was written and hands the error on.
func (o *output) abandon(err error) error {
	if o.file == nil {
		return err
	}
	_ = o.file.Close()
	if o.to != "" {
		temps.Lock()
		defer temps.Unlock()
		_ = os.Remove(o.file.Name())
		delete(temps.names, o.file.Name())
	}
	return err
}

// writeFile writes a file under a temporary name, for publish to give it its own.
func writeFile(path string, write func(io.Writer) error) (*output, error) {
	out, err := create(path)
	if err != nil {
		return nil, err
	}
	return out, out.finish(write(out))
}

// lockTime is after how long a lock is that of a program that died: giving
// finished files their names takes milliseconds.
const lockTime = 10 * time.Second

// lockFolder waits until no other program gives files of this folder their
// names, so that two reports do not mix.
func lockFolder(dir string) (unlock func(), err error) {
	name := filepath.Join(dir, tempPrefix+"lock")
	for {
		temps.Lock()
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			temps.names[name] = true
		}
		temps.Unlock()
		if err == nil {
			return func() {
				_ = f.Close()
				_ = os.Remove(name)
				temps.Lock()
				defer temps.Unlock()
				delete(temps.names, name)
			}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("cannot write %s: %w", dir, cause(err))
		}
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > lockTime {
			_ = os.Remove(name)
			continue
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// isTemp reports whether a name is one that only an unfinished report has.
func isTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// exitPipe is the status of a program whose reader has gone, as shells tell it.
const exitPipe = 128 + int(syscall.SIGPIPE)

// isReaderGone reports whether standard output is a pipe that nobody reads.
func isReaderGone(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p) && p.Path == os.Stdout.Name() && errors.Is(p.Err, syscall.EPIPE)
}

// catchSignals lets an interrupted program remove the files that are not
// complete, and then die of the signal as if it had not been caught. A reader
// that has gone (benchreport … | head) is an error of the write instead, so that
// files are removed there too.
func catchSignals() {
	signal.Ignore(syscall.SIGPIPE)
	caught := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as nohup and shells do for work in the background
			signal.Notify(caught, s)
		}
	}
	go func() {
		s := <-caught
		temps.Lock() // for good: nothing begins or ends any more
		for name := range temps.names {
			_ = os.Remove(name)
		}
		signal.Reset(s)
		if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(s) == nil {
			time.Sleep(time.Second)
		}
		os.Exit(128 + int(s.(syscall.Signal))) // where a program cannot signal itself
	}()
}
