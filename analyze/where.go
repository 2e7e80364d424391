package analyze

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// Where is a set of conditions that a run must meet.
type Where []condition

type condition struct {
	key    string
	value  string
	not    bool
	regexp *regexp.Regexp
}

// ParseWhere reads conditions KEY=VALUE, KEY!=VALUE and KEY~REGEX, joined by
// commas. A comma inside a value is written \, and a comma that no condition
// follows belongs to the value before it.
func ParseWhere(exprs []string) (Where, error) {
	var w Where
	for _, e := range exprs {
		for _, part := range splitConditions(e) {
			c, err := parseCondition(part)
			if err != nil {
				return nil, err
			}
			w = append(w, c)
		}
	}
	return w, nil
}

// splitConditions splits at the commas that a condition follows, so that
// `model~a{2,3},tool=x` is two conditions.
func splitConditions(s string) []string {
	var parts []string
	for part := range strings.SplitSeq(s, ",") {
		if len(parts) > 0 && !startsCondition(part) {
			parts[len(parts)-1] += "," + part
			continue
		}
		parts = append(parts, part)
	}
	return parts
}

func startsCondition(s string) bool {
	i := strings.IndexAny(s, "=~!")
	if i <= 0 {
		return false
	}
	return strings.Trim(strings.ToLower(s[:i]), "abcdefghijklmnopqrstuvwxyz0123456789_.- ") == ""
}

func parseCondition(s string) (condition, error) {
	i := strings.IndexAny(s, "=~!")
	if i <= 0 || s[i] == '!' && !strings.HasPrefix(s[i:], "!=") {
		return condition{}, fmt.Errorf("--where: expected KEY=VALUE, KEY!=VALUE or KEY~REGEX, found %q", s)
	}
	c := condition{key: strings.TrimSpace(s[:i])}
	switch s[i] {
	case '=':
		c.value = strings.TrimSpace(s[i+1:])
	case '!':
		c.not, c.value = true, strings.TrimSpace(s[i+2:])
	case '~':
		re, err := regexp.Compile(s[i+1:])
		if err != nil {
			return condition{}, fmt.Errorf("--where: %s: %w", c.key, err)
		}
		c.regexp = re
	}
	return c, nil
}

// Filter returns the runs that meet all conditions.
func (w Where) Filter(runs []*bench.Run) []*bench.Run {
	if len(w) == 0 {
		return runs
	}
	return slices.DeleteFunc(slices.Clone(runs), func(r *bench.Run) bool { return !w.match(r) })
}

func (w Where) match(r *bench.Run) bool {
	for _, c := range w {
		v := Key(r, c.key)
		if c.regexp != nil && !c.regexp.MatchString(v) || c.regexp == nil && (v == c.value) == c.not {
			return false
		}
	}
	return true
}

// Key returns what a run has under a key: its tool, label, input or file, or a
// setting of its configuration. "" stands for nothing.
func Key(r *bench.Run, key string) string {
	switch key {
	case "tool":
		return r.Source.Tool
	case "label":
		return r.Label
	case "input":
		return r.Input
	case "file":
		return r.Source.File
	case "format":
		return r.Source.Format
	case "id":
		return r.ID
	}
	return r.Config.Get(key)
}
