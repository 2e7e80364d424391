// Release builds the archives of a release: static programs for each system,
// with the README, the documents, the manual page and completions. The same
// commit and Go version give the same bytes, whoever builds them and where.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// targets are the systems that a release is for.
var targets = []struct{ os, arch string }{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// A file is what stands in an archive.
type file struct {
	name    string // with slashes
	content []byte
	program bool
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	dir := flag.String("o", "dist", "write to this `folder`")
	version := flag.String("version", "", "the version (default: what git describe says)")
	flag.Parse()
	if err := release(*dir, *version); err != nil {
		log.Fatal(err)
	}
}

func release(dir, version string) error {
	commit, err := command(nil, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if version == "" {
		if version, err = command(nil, "git", "describe", "--tags", "--always", "--dirty"); err != nil {
			return err
		}
	}
	stamp, err := command(nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the commit: %w", err)
	}
	when := time.Unix(seconds, 0).UTC()
	texts, err := documents()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var sums []string
	for _, t := range targets {
		program, err := build(t.os, t.arch, version, commit)
		if err != nil {
			return err
		}
		folder := fmt.Sprintf("benchreport_%s_%s_%s", version, t.os, t.arch)
		pack, name, binary := tarball, folder+".tar.gz", "benchreport"
		if t.os == "windows" {
			pack, name, binary = zipped, folder+".zip", "benchreport.exe"
		}
		archive, err := pack(folder, append(slices.Clone(texts), file{binary, program, true}), when)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), archive, 0o644); err != nil {
			return err
		}
		log.Printf("%s: %d kB", name, len(archive)>>10)
		sums = append(sums, fmt.Sprintf("%x  %s\n", sha256.Sum256(archive), name))
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(strings.Join(sums, "")), 0o644)
}

// documents are the files that are the same for every system.
func documents() ([]file, error) {
	var out []file
	for _, pattern := range []string{"README.md", "LICENSE*", "docs/*.md", "docs/*.1"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			text, err := os.ReadFile(n)
			if err != nil {
				return nil, err
			}
			out = append(out, file{filepath.ToSlash(n), text, false})
		}
	}
	for shell, name := range map[string]string{"bash": "benchreport.bash", "zsh": "_benchreport", "fish": "benchreport.fish"} {
		script, err := command([]string{"GOFLAGS="}, "go", "run", "./cmd/benchreport", "completion", shell)
		if err != nil {
			return nil, err
		}
		out = append(out, file{"completions/" + name, []byte(script + "\n"), false})
	}
	return out, nil
}

// build makes the program for a system. Nothing of the machine that builds it is
// in it: no paths, no C library, no settings of the environment.
func build(system, arch, version, commit string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	path := filepath.Join(temp, "benchreport")
	env := []string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off"}
	ldflags := fmt.Sprintf("-s -w -buildid= -X main.version=%s -X main.commit=%s", version, commit)
	if _, err := command(env, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", path, "./cmd/benchreport"); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// command runs a program and returns what it prints, without the last line end.
func command(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, args[0], err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// sorted are the files of an archive in their order.
func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

func mode(f file) os.FileMode {
	if f.program {
		return 0o755
	}
	return 0o644
}

// tarball packs files under a folder, with one time and no user.
func tarball(folder string, files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range sorted(files) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.content)), Mode: int64(mode(f)), ModTime: when, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.content); err != nil {
			return nil, err
		}
	}
	for _, c := range []io.Closer{t, z} {
		if err := c.Close(); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// zipped packs files under a folder, with one time.
func zipped(folder string, files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range sorted(files) {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(mode(f))
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
