package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"testing"
	"time"
)

var (
	packed = []file{{"docs/b.md", []byte("b"), false}, {"README.md", []byte("read me"), false}, {"benchreport", []byte("\x7fELF"), true}}
	order  = []string{"x/README.md", "x/benchreport", "x/docs/b.md"}
	when   = time.Date(2026, 3, 4, 5, 6, 8, 0, time.UTC)
)

// An archive depends on its files and the time of the commit alone.
func TestSameBytes(t *testing.T) {
	shuffled := slices.Clone(packed)
	slices.Reverse(shuffled)
	for name, pack := range map[string]func(string, []file, time.Time) ([]byte, error){"tar": tarball, "zip": zipped} {
		a, err := pack("x", packed, when)
		if err != nil {
			t.Fatal(err)
		}
		b, err := pack("x", shuffled, when)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s: other bytes", name)
		}
	}
}

func TestTarball(t *testing.T) {
	b, err := tarball("x", packed, when)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("gzip header: %+v", z.Header)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if !h.ModTime.Equal(when) || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || (h.Mode == 0o755) != (h.Name == "x/benchreport") {
			t.Errorf("%+v", h)
		}
	}
	if !slices.Equal(names, order) {
		t.Errorf("got %q, want %q", names, order)
	}
}

func TestZip(t *testing.T) {
	b, err := zipped("x", packed, when)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
		if !f.Modified.Equal(when) || (f.Mode() == 0o755) != (f.Name == "x/benchreport") {
			t.Errorf("%s: %v %v", f.Name, f.Modified, f.Mode())
		}
	}
	if !slices.Equal(names, order) {
		t.Errorf("got %q, want %q", names, order)
	}
}
