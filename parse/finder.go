package parse

// A finder looks for a few dozen words in one pass over a text. Most texts hold
// none, and looking for one word after another costs more than all else that is
// done with them.
type finder struct {
	words []string
	pairs [1 << 10]uint64  // a bit for each two bytes with which a word begins
	begin map[uint16][]int // the words that begin so
}

// newFinder makes one for words of two bytes and more.
func newFinder(words []string) *finder {
	f := &finder{words: words, begin: map[uint16][]int{}}
	for i, w := range words {
		pair := uint16(w[0])<<8 | uint16(w[1])
		f.pairs[pair>>6] |= 1 << (pair & 63)
		f.begin[pair] = append(f.begin[pair], i)
	}
	return f
}

// findWords tells which of the first 64 words stand in a text, a bit a word.
func findWords[T string | []byte](f *finder, text T) (found uint64) {
	for i := 1; i < len(text); i++ {
		pair := uint16(text[i-1])<<8 | uint16(text[i])
		if f.pairs[pair>>6]&(1<<(pair&63)) == 0 {
			continue
		}
		for _, w := range f.begin[pair] {
			if word := f.words[w]; i-1+len(word) <= len(text) && string(text[i-1:i-1+len(word)]) == word {
				found |= 1 << w
			}
		}
	}
	return found
}
