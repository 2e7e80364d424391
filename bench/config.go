package bench

import (
	"cmp"
	"slices"
)

// From tells where a configuration value was read; the zero From is nowhere.
type From uint8

// The origins of a setting, most trusted first.
const (
	FromUser    From = iota + 1 // said on the command line of benchreport
	FromJSON                    // the saved result
	FromLog                     // the log's own lines
	FromArgs                    // the log's argument line
	FromCommand                 // a command line above it
	FromComment                 // a comment above it
	FromHeading                 // a heading above it
	FromFile                    // the file's name
	FromDerived                 // follows from other settings
)

// String is how an origin is called in reports.
func (f From) String() string {
	return [...]string{"", "flag", "json", "log", "args", "command", "comment", "heading", "file", "derived"}[f]
}

// A Setting is one configuration value and where it was read.
type Setting struct {
	Key   string
	Value string
	From  From
}

// Config is what a run was made with, a setting a key. The zero Config is empty
// and ready to use.
type Config []Setting

// Get returns the value of key, or "".
func (c Config) Get(key string) string {
	for i := range c {
		if c[i].Key == key {
			return c[i].Value
		}
	}
	return ""
}

// Has reports whether key is set.
func (c Config) Has(key string) bool {
	for i := range c {
		if c[i].Key == key {
			return true
		}
	}
	return false
}

// From tells where key was read, 0 if it is not set.
func (c Config) From(key string) From {
	for i := range c {
		if c[i].Key == key {
			return c[i].From
		}
	}
	return 0
}

// Add sets key unless it is set already or the value is empty: settings are
// added from the most trusted origin to the least.
func (c *Config) Add(key, value string, from From) {
	if key == "" || value == "" || c.Has(key) {
		return
	}
	*c = append(*c, Setting{key, value, from})
}

// Set sets key, whatever it was before.
func (c *Config) Set(key, value string, from From) {
	for i := range *c {
		if (*c)[i].Key == key {
			(*c)[i].Value, (*c)[i].From = value, from
			return
		}
	}
	*c = append(*c, Setting{key, value, from})
}

// Merge adds the settings of other that c does not have.
func (c *Config) Merge(other Config) {
	for _, s := range other {
		c.Add(s.Key, s.Value, s.From)
	}
}

// SameKeys reports whether two runs have settings of the same keys in the same
// order, whatever their values: those of one file mostly have.
func (c Config) SameKeys(other Config) bool {
	if len(c) != len(other) {
		return false
	}
	for i := range c {
		if c[i].Key != other[i].Key {
			return false
		}
	}
	return true
}

// Sort orders the settings by key.
func (c Config) Sort() {
	slices.SortStableFunc(c, func(a, b Setting) int { return cmp.Compare(a.Key, b.Key) })
}

// workload lists the keys that must agree for a fair comparison. All others
// are of the subject: what is compared.
var workload = map[string]bool{
	"dataset": true, "num_prompts": true, "input_len": true, "output_len": true, "concurrency": true,
	"request_rate": true, "seed": true, "test": true, "depth": true, "task": true, "num_fewshot": true,
	"stage":        true,
	"is_pp_shared": true, "is_tg_separate": true, "chunks": true, "n_ctx": true,
}

// IsWorkload reports whether key describes the work rather than who did it.
func IsWorkload(key string) bool { return workload[key] }
