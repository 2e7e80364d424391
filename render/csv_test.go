package render

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

func TestDefused(t *testing.T) {
	for cell, want := range map[string]string{
		"":                         "",
		"tp8":                      "tp8",
		"=1+2":                     "'=1+2",
		"=HYPERLINK(\"http://x\")": "'=HYPERLINK(\"http://x\")",
		"+cmd|' /C calc'!A0":       "'+cmd|' /C calc'!A0",
		"-2+3":                     "'-2+3",
		"@SUM(1)":                  "'@SUM(1)",
		"\t=1":                     "'\t=1",
		"\r=1":                     "'\r=1",
		"\n=1":                     "'\n=1",
		"＝1":                       "'＝1",
		"-":                        "'-",
		"-e5":                      "'-e5",
		"-1e":                      "'-1e",
		"-.":                       "'-.",
		"-1.5.2":                   "'-1.5.2",
		"--1":                      "'--1",
		"-inf":                     "'-inf",
		// Numbers stay numbers.
		"-1":      "-1",
		"-12.5":   "-12.5",
		"+3":      "+3",
		"-.5":     "-.5",
		"-1e-09":  "-1e-09",
		"-1.5E+3": "-1.5E+3",
	} {
		if got := defused(cell); got != want {
			t.Errorf("%q: got %q, want %q", cell, got, want)
		}
	}
}

// No cell of any CSV begins a formula, whatever the log is called and holds.
func TestCSVFormulas(t *testing.T) {
	var runs []*bench.Run
	for _, name := range []string{"=1+1", "@a"} {
		r := &bench.Run{Label: name, Input: name, Source: bench.Source{File: "+" + name, Line: 1, Tool: "lm-eval", Format: "text"}}
		r.Config.Add("model", "-"+name, bench.FromUser)
		r.Config.Add("=key", "\t"+name, bench.FromUser)
		r.Add(bench.Metric{Name: "=metric", Value: -2.5, Raw: -2.5})
		r.Add(bench.Metric{Name: "accuracy", Value: 0.25, Raw: 0.25})
		r.Add(bench.Metric{Name: "f1", Value: 0.5, Raw: 0.5})
		runs = append(runs, r)
	}
	bench.AssignIDs(runs)
	rep, err := analyze.Compare(runs, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plans, err := analyze.MakePlan(runs, analyze.Options{Noise: 0.03, Metrics: []string{"f1"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var a, b, c bytes.Buffer
	for _, err := range []error{RunsCSV(&a, runs), CompareCSV(&b, rep), PlanCSV(&c, plans)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, out := range map[string]*bytes.Buffer{"runs": &a, "compare": &b, "plan": &c} {
		text := out.String()
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) < 3 {
			t.Fatalf("%s: %d rows, %v", name, len(rows), err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") && !isNumber(cell) {
					t.Errorf("%s: %q begins a formula", name, cell)
				}
			}
		}
		if name == "runs" && !strings.Contains(text, ",-2.5,") {
			t.Errorf("the number -2.5 is none any more:\n%s", text)
		}
	}
}

// A row is written as encoding/csv writes it, with its cells defused, whatever
// they hold.
func TestCSVRows(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	letters := []string{"a", "7", " ", ",", `"`, "\\", ".", "=", "-", "é", "\u00a0", "\n", "\r", "\t", "|"}
	var got, want bytes.Buffer
	ours, theirs := newCSV(&got), csv.NewWriter(&want)
	for range 5000 {
		row := make([]string, 1+random.IntN(4))
		cells := make([]string, len(row))
		for i := range row {
			for range random.IntN(4) {
				row[i] += letters[random.IntN(len(letters))]
			}
			cells[i] = defused(row[i])
		}
		if err := cmp.Or(ours.Write(row), theirs.Write(cells)); err != nil {
			t.Fatal(err)
		}
	}
	ours.Flush()
	theirs.Flush()
	if got.String() != want.String() {
		t.Error("some row is not what encoding/csv writes")
	}
}
