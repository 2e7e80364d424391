package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/benchreport/benchreport/analyze"
	"github.com/goccy/go-yaml"
)

// maxConfig is how large it may be.
const maxConfig = 64 << 10

// configName is the file that gives defaults.
const configName = ".benchreport.yaml"

// A config is what a .benchreport.yaml says: defaults of flags by their names,
// and waivers.
type config struct {
	path    string
	values  map[string]any
	waivers []analyze.Waiver
}

// empty reports whether there is no such file.
func (c *config) empty() bool { return c.path == "" }

// findConfig looks for the file in a folder and those above it.
func findConfig(dir string) (*config, error) {
	for {
		path := filepath.Join(dir, configName)
		text, err := os.ReadFile(path)
		if err == nil {
			return parseConfig(path, text)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading %s: %w", configName, err)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return &config{}, nil
		}
		dir = up
	}
}

// deep reports whether values are nested deeper than any that has a meaning. A
// few lines of aliases of aliases stand for more text than there is memory.
func deep(v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if depth >= 3 || deep(x, depth+1) {
				return true
			}
		}
	case []any:
		for _, x := range v {
			if depth >= 3 || deep(x, depth+1) {
				return true
			}
		}
	}
	return false
}

// parseConfig reads the text of a configuration file.
func parseConfig(path string, text []byte) (*config, error) {
	c := &config{path: path}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("%s: larger than %d kB", configName, maxConfig>>10)
	}
	if err := yaml.Unmarshal(text, &c.values); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("%s: %s", configName, first)
	}
	if deep(c.values, 0) {
		return nil, fmt.Errorf("%s: values nested deeper than a list of waivers", configName)
	}
	raw, ok := c.values["waivers"]
	delete(c.values, "waivers")
	if !ok {
		return c, nil
	}
	list, ok := raw.([]any)
	if !ok {
		return nil, fmt.Errorf("%s: waivers: expected a list", configName)
	}
	for i, e := range list {
		w, err := parseWaiver(e)
		if err != nil {
			return nil, fmt.Errorf("%s: waiver %d: %w", configName, i+1, err)
		}
		c.waivers = append(c.waivers, w)
	}
	return c, nil
}

func parseWaiver(e any) (analyze.Waiver, error) {
	m, ok := e.(map[string]any)
	if !ok {
		return analyze.Waiver{}, errors.New("expected metric, where, reason and expires")
	}
	var w analyze.Waiver
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if m[k] == nil {
			return w, fmt.Errorf("%s: expected a value", k)
		}
		v := strings.TrimSpace(fmt.Sprint(m[k]))
		switch k {
		case "metric":
			w.Metric = v
		case "where":
			where, err := analyze.ParseWhere([]string{v})
			if err != nil {
				return w, err
			}
			w.Where = where
		case "reason":
			w.Reason = v
		case "expires":
			if _, err := time.Parse(time.DateOnly, v); err != nil {
				return w, fmt.Errorf("expires: expected a date YYYY-MM-DD, found %q", v)
			}
			w.Expires = v
		default:
			return w, fmt.Errorf("unknown key %q%s", k, didYouMean(k, []string{"metric", "where", "reason", "expires"}))
		}
	}
	if w.Reason == "" {
		return w, errors.New("a waiver needs a reason")
	}
	return w, nil
}

// Validate reports keys that are no flag of any command.
func (c *config) Validate(app *kong.Application) error {
	known := []string{"waivers"}
	var visit func(n *kong.Node)
	visit = func(n *kong.Node) {
		for _, f := range n.Flags {
			if f.Name != "help" && f.Name != "self-test" && !slices.Contains(known, f.Name) {
				known = append(known, f.Name)
			}
		}
		for _, child := range n.Children {
			visit(child)
		}
	}
	visit(app.Node)
	var names []string
	for k := range c.values {
		if !slices.Contains(known, k) {
			names = append(names, k)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		const most = 5
		more := ""
		if len(names) > most {
			names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
		}
		for i, k := range names {
			shown := k
			if quoted := strconv.Quote(k); quoted != `"`+k+`"` {
				shown = quoted // nothing in it reaches a terminal
			}
			names[i] = shown + didYouMean(k, known)
		}
		return fmt.Errorf("%s: unknown key %s%s", configName, strings.Join(names, ", "), more)
	}
	return nil
}

// Resolve gives the default of a flag.
func (c *config) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	v, ok := c.values[flag.Name]
	if !ok {
		return nil, nil
	}
	switch v := v.(type) {
	case map[string]any: // threshold: {mean_ttft_ms: 5%}
		var list []any
		for _, k := range slices.Sorted(maps.Keys(v)) {
			list = append(list, fmt.Sprintf("%s=%v", k, v[k]))
		}
		return list, nil
	case []any:
		for i := range v {
			v[i] = fmt.Sprint(v[i])
		}
		return v, nil
	}
	if flag.IsSlice() {
		return []any{fmt.Sprint(v)}, nil
	}
	return fmt.Sprint(v), nil
}
