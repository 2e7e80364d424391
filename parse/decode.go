package parse

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxInflated and maxRatio bound what a compressed input may grow to: a
	// log compresses 10 to 50 times, a bomb a thousand times.
	maxInflated = 64 << 30
	maxRatio    = 400
	freeInflate = 64 << 20 // the ratio counts only from here on
)

// decode gives the text behind r: decompressed if it is gzip or zstd (told by
// its first bytes, not by a name), as UTF-8 if it is UTF-16, without a BOM.
func decode(br *bufio.Reader) (io.Reader, error) {
	for range 3 { // an archive of an archive is still somebody's log
		head, err := br.Peek(4)
		if err != nil && err != io.EOF {
			return nil, err
		}
		switch {
		case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
			in := &counter{r: br}
			z, err := gzip.NewReader(in)
			if err != nil {
				return nil, fmt.Errorf("gzip: %w", err)
			}
			br = bufio.NewReaderSize(&inflated{z, in, 0}, 4096)
		case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
			in := &counter{r: br}
			z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
			if err != nil {
				return nil, fmt.Errorf("zstd: %w", err)
			}
			br = bufio.NewReaderSize(&inflated{z, in, 0}, 4096)
		default:
			return text(br)
		}
	}
	return nil, fmt.Errorf("compressed more than twice")
}

// text strips a byte order mark and turns UTF-16 into UTF-8. Without a mark,
// UTF-16 shows by a zero in every other of the first bytes.
func text(br *bufio.Reader) (io.Reader, error) {
	head, _ := br.Peek(64)
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, _ = br.Discard(3)
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		_, _ = br.Discard(2)
		return &utf16Reader{r: br, order: binary.LittleEndian}, nil
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		_, _ = br.Discard(2)
		return &utf16Reader{r: br, order: binary.BigEndian}, nil
	case zeros(head, 1) && !zeros(head, 0):
		return &utf16Reader{r: br, order: binary.LittleEndian}, nil
	case zeros(head, 0) && !zeros(head, 1):
		return &utf16Reader{r: br, order: binary.BigEndian}, nil
	}
	return br, nil
}

// zeros reports whether all bytes at even (from 0) or odd (from 1) places are zero.
func zeros(b []byte, from int) bool {
	if len(b) < 8 {
		return false
	}
	for i := from; i < len(b); i += 2 {
		if b[i] != 0 {
			return false
		}
	}
	return true
}

type utf16Reader struct {
	r     io.Reader
	order binary.ByteOrder
	in    []byte // bytes not yet decoded
	out   []byte // text not yet given
	high  rune   // a first surrogate that waits for its second
	err   error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		chunk := make([]byte, 32<<10)
		var n int
		n, u.err = u.r.Read(chunk)
		u.in = append(u.in, chunk[:n]...)
		for len(u.in) >= 2 {
			c := rune(u.order.Uint16(u.in))
			u.in = u.in[2:]
			switch {
			case u.high != 0:
				c, u.high = utf16.DecodeRune(u.high, c), 0
			case c >= 0xd800 && c < 0xdc00:
				u.high = c
				continue
			}
			u.out = utf8.AppendRune(u.out, c)
		}
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// counter counts the compressed bytes that were read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// inflated is a decompressed stream that stops at the bounds.
type inflated struct {
	r   io.Reader
	in  *counter
	out int64
}

func (f *inflated) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	f.out += int64(n)
	switch {
	case f.out > maxInflated:
		return n, fmt.Errorf("decompresses to more than %d GB: not read further", maxInflated>>30)
	case f.out > freeInflate && f.out/maxRatio > f.in.n:
		return n, fmt.Errorf("decompresses to more than %d times its size: not read further", maxRatio)
	}
	return n, err
}
