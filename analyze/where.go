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

// Check reports a key that no run has, with the one that was probably meant.
func (w Where) Check(runs []*bench.Run) error {
	for _, c := range w {
		if err := checkKey("--where", c.key, runs); err != nil {
			return err
		}
	}
	return nil
}

// checkKey reports a key that neither a run nor the program knows.
func checkKey(flag, key string, runs []*bench.Run) error {
	known := Keys()
	if slices.Contains(known, key) || bench.IsWorkload(key) {
		return nil
	}
	for _, r := range runs {
		for i := range r.Config {
			if k := r.Config[i].Key; k == key {
				return nil
			} else if !slices.Contains(known, k) {
				known = append(known, k)
			}
		}
	}
	if s := Suggest(key, known); s != "" {
		return fmt.Errorf("%s: no run has a key %q (did you mean %s?)", flag, key, s)
	}
	return fmt.Errorf("%s: no run has a key %q", flag, key)
}
