package parse

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A finder finds what strings.Contains finds, in texts made of pieces of the
// words.
func TestFinder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, f := range []*finder{index.words, commandWords(), factWords(), engineWords(), newFinder([]string{"aab", "aa", "ab", "ba", "aab"})} {
		if len(f.words) > 64 {
			t.Fatalf("%d words, and there are bits for 64", len(f.words))
		}
		for range 2000 {
			var text strings.Builder
			for range random.IntN(6) {
				w := f.words[random.IntN(len(f.words))]
				if random.IntN(2) == 0 {
					w = w[random.IntN(2):][:random.IntN(len(w))]
				}
				text.WriteString(w)
				text.WriteString([]string{"", " ", "a"}[random.IntN(3)])
			}
			found := findWords(f, text.String())
			for i, w := range f.words {
				if want := strings.Contains(text.String(), w); want != (found&(1<<i) != 0) {
					t.Fatalf("%q in %q: found %v, want %v", w, text.String(), !want, want)
				}
			}
			if bytes := findWords(f, []byte(text.String())); bytes != found {
				t.Fatalf("%q: %b in bytes, %b in the string", text.String(), bytes, found)
			}
		}
	}
}

// No line that a format reads is passed over as one of a server that says
// nothing, and the lines that such a server writes most are.
func TestMayStart(t *testing.T) {
	for _, f := range formats {
		for _, st := range f.Lines {
			if st.Prefix != "" && (!mayStart([]byte(st.Prefix)) || !mayStart([]byte(st.Prefix+" and more"))) {
				t.Errorf("%s: %q is passed over", f.Tool, st.Prefix)
			}
		}
	}
	for _, msg := range []string{"Received request cmpl-1", "Added request cmpl-1", "Finished request cmpl-1", ""} {
		if mayStart([]byte(msg)) {
			t.Errorf("%q is read", msg)
		}
	}
}
