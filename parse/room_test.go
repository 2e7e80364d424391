package parse

import (
	"bytes"
	"os"
	"reflect"
	"testing"
)

// A log reads the same whatever was read before it in the same room.
func TestRoom(t *testing.T) {
	shared := newRoom()
	for range 2 { // the second time, all of them have been met
		for _, path := range logs(t) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := read(bytes.NewReader(text), path, newRoom(), reading{})
			want, wantErr := alone.outcome, err
			behind, err := read(bytes.NewReader(text), path, shared, reading{})
			if !reflect.DeepEqual(behind.outcome, want) || (err == nil) != (wantErr == nil) {
				t.Errorf("%s: %d runs and %d errors, alone %d and %d, or others", path, len(behind.runs), len(behind.errs), len(want.runs), len(want.errs))
			}
		}
	}
}
