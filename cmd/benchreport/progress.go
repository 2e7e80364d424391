package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/parse"
)

// read reads inputs, and shows on a terminal how far it is when that takes long.
func (a *app) read(inputs []parse.Input) *parse.Result {
	defer a.progress()()
	return parse.Files(inputs, a.stdin)
}

// readEach does the same and gives the runs away as they are read.
func (a *app) readEach(inputs []parse.Input, yield func([]*bench.Run)) *parse.Result {
	defer a.progress()()
	return parse.Each(inputs, a.stdin, yield)
}

// progress begins to show it, where somebody sees it.
func (a *app) progress() (stop func()) {
	if !isTerminal(a.stderr) {
		return func() {}
	}
	return showProgress(a.stderr, time.Second, time.Second/5)
}

// clearLine goes to the start of a line of a terminal and empties it.
const clearLine = "\r\x1b[K"

// showProgress shows what has been read after a while, and again every so often.
// stop clears the line, so that nothing of it is left.
func showProgress(w io.Writer, after, every time.Duration) (stop func()) {
	done, cleared := make(chan bool), make(chan bool)
	go func() {
		defer close(cleared)
		shown := false
		for wait := time.After(after); ; wait = time.After(every) {
			select {
			case <-done:
				if shown {
					fmt.Fprint(w, clearLine)
				}
				return
			case <-wait:
				if bytes := parse.Progress.Bytes.Load(); bytes > 0 { // not while a user types
					fmt.Fprintf(w, "%sread %d of %d files, %.1f MB", clearLine, parse.Progress.Files.Load(), parse.Progress.Of.Load(), float64(bytes)/1e6)
					shown = true
				}
			}
		}
	}()
	return func() {
		close(done)
		<-cleared
	}
}

// isTerminal reports whether a stream is a terminal that understands escapes.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// isColourful reports whether a stream shows colours: it is a terminal, and the
// user has not asked for none.
func isColourful(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && isTerminal(w) }
