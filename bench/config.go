package bench

import (
	"cmp"
	"slices"
)

// From tells where a configuration value was read.
type From string

// The origins of a setting, most trusted first.
const (
	FromUser    From = "flag"    // said on the command line of benchreport
	FromJSON    From = "json"    // the saved result
	FromLog     From = "log"     // the log's own lines
	FromArgs    From = "args"    // the log's argument line
	FromCommand From = "command" // a command line above it
	FromComment From = "comment" // a comment above it
	FromHeading From = "heading" // a heading above it
	FromFile    From = "file"    // the file's name
	FromDerived From = "derived" // follows from other settings
)

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

// From tells where key was read, "" if it is not set.
func (c Config) From(key string) From {
	for i := range c {
		if c[i].Key == key {
			return c[i].From
		}
	}
	return ""
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
