package parse

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
)

// tree turns an object into what encoding/json makes of it, as far as it is kept.
func tree(o *object) map[string]any {
	m := map[string]any{}
	for i := range o.members {
		switch mem := &o.members[i]; mem.kind {
		case jsonNull:
			m[mem.key] = nil
		case jsonBool:
			m[mem.key] = string(mem.text) == "true"
		case jsonNumber:
			m[mem.key] = number64(string(mem.text))
		case jsonString:
			m[mem.key] = string(mem.text)
		case jsonObject:
			m[mem.key] = tree(mem.object)
		case jsonList:
			m[mem.key] = "list"
		}
	}
	return m
}

// flatten replaces lists by a word, so that both sides can be compared.
func flatten(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = flatten(e)
		}
		return v
	case []any:
		return "list"
	}
	return v
}

func TestJSONValues(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"a": 1, "b": -2.5e-3, "c": "x\"y\\z\/\n\t\u00e9\ud83d\ude00", "d": null, "e": true, "f": false}`,
		"{\n  \"nested\": {\"deep\": {\"er\": 1}},\r\n\t\"list\": [1, [2, 3], {\"k\": []}, \"s\", null]\n}",
		`{"":"empty key","dup":1}`,
	} {
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		o := objectIn(text)
		if o == nil {
			t.Errorf("%s: not read", text)
			continue
		}
		if got := tree(o); !reflect.DeepEqual(got, flatten(want)) {
			t.Errorf("%s:\n got %v\nwant %v", text, got, want)
		}
	}
}

// Python writes NaN and Infinity, which no strict decoder takes.
func TestJSONNotNumbers(t *testing.T) {
	o := objectIn(`{"a": NaN, "b": Infinity, "c": -Infinity, "d": [NaN, 1.5, Infinity]}`)
	if o == nil {
		t.Fatal("not read")
	}
	for _, k := range []string{"a", "b", "c"} {
		if m := o.get(k); m == nil || m.kind != jsonNull {
			t.Errorf("%s is not null", k)
		}
	}
	if got := o.numbers("d"); len(got) != 1 || got[0] != 1.5 {
		t.Errorf("d = %v, want [1.5]", got)
	}
}

func TestJSONBroken(t *testing.T) {
	for _, text := range []string{
		`{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{"a":0x10}`, `{"a":1_000}`, `{"a":"line` + "\n" + `end"}`, `{"a":"\q"}`, `{"a":"\u12"}`,
		`{"a":[1,2}`, `{"a":[1 2]}`, `{"a":nul}`, strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100),
	} {
		if objectIn(text) != nil {
			t.Errorf("%.40q is read", text)
		}
	}
}

// A value must come out the same wherever the buffer happens to end.
func TestJSONAcrossBuffers(t *testing.T) {
	text := `{"completed": 64, "duration": 155.97, "request_throughput": 0.41, "itls": [[0.021345678901234567, 0.5], [0.25]], "model_id": "a\\\"b\u00e9", "generated_texts": ["x\\", "\\\"", "", "\\\\"], "mean_ttft_ms": 871.62}` + "\n"
	want := Reader(strings.NewReader(text), "x.json")
	if len(want.Runs) != 1 {
		t.Fatalf("%d runs", len(want.Runs))
	}
	for size := 32; size < 400; size++ {
		room := newRoom()
		room.buffer = make([]byte, size)
		d, err := read(strings.NewReader(text), "x.json", room, reading{})
		if err != nil || len(d.runs) != 1 || len(d.errs) > 0 {
			t.Fatalf("buffer of %d: %d runs, %v, %v", size, len(d.runs), err, d.errs)
		}
		if got := fmt.Sprint(d.runs[0].Metrics, d.runs[0].Config); got != fmt.Sprint(want.Runs[0].Metrics, want.Runs[0].Config) {
			t.Fatalf("buffer of %d: %s", size, got)
		}
	}
}

// What encoding/json takes as an object, we take too, with the same scalars.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a":[1,{"b":"c"}],"d":null}`, `{"x":"\ud83d\ude00\\"}`, `{"a":1e400}`, `{"a":-0.0}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want map[string]any
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			objectIn(text) // must not panic
			return
		}
		o := objectIn(text)
		if o == nil {
			if strings.Count(text, "{")+strings.Count(text, "[") >= maxDepth || strings.Contains(text, "\n") || len(text) > 4000 {
				return
			}
			t.Fatalf("not read: %q", text)
		}
		for k, v := range want {
			m := o.members[lastMember(o, k)]
			switch v := v.(type) {
			case float64:
				if x := number64(string(m.text)); x != v && !math.IsNaN(x) {
					t.Errorf("%q = %v, want %v", k, x, v)
				}
			case string:
				if s := string(m.text); len(s) < shortText && strings.ToValidUTF8(s, "") != strings.ToValidUTF8(v, "") && !strings.ContainsAny(v, "\b\f\ufffd") {
					t.Errorf("%q = %q, want %q", k, s, v)
				}
			}
		}
	})
}

// lastMember finds a key: of two equal ones encoding/json keeps the last.
func lastMember(o *object, key string) int {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].key == key {
			return i
		}
	}
	// A key with broken UTF-8 is written differently.
	return 0
}

// Requests that a format has counted leave nothing behind: a file may hold more
// of them than may be kept of one value.
func TestTakenObjectsKeepNothing(t *testing.T) {
	request := `{"type_": "generative_text_response", "scheduler_info": {"completed": true}, "prompt": "` + strings.Repeat("word ", 800) + `", "time_to_first_token_ms": 20.5}`
	n := maxKept/len(request) + 1000
	parts := []io.Reader{strings.NewReader(`{"benchmarks": [{"type_": "generative_benchmark", "run_stats": {}, "requests": {"successful": [`)}
	for range n {
		parts = append(parts, strings.NewReader(request), strings.NewReader(","))
	}
	parts[len(parts)-1] = strings.NewReader(fmt.Sprintf(`]}, "request_totals": {"successful": %d, "errored": 0, "incomplete": 0}, "metrics": {}}]}`, n))
	res := Reader(io.MultiReader(parts...), "benchmarks.json")
	if len(res.Runs) != 1 {
		t.Fatalf("%d runs, want 1 (%v)", len(res.Runs), res.Errors)
	}
	if m, _ := res.Runs[0].Metric("mean_ttft_ms"); m.Raw != 20.5 || *res.Runs[0].Completed != n {
		t.Errorf("mean TTFT %v of %d requests, want 20.5 of %d", m.Raw, *res.Runs[0].Completed, n)
	}
}
