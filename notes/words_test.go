package notes

import (
	"strings"
	"testing"
)

// Headers as people write them, and what they mean.
func TestUnderstand(t *testing.T) {
	for _, tc := range []struct{ header, want string }{
		{"Duration (s)", "duration"}, {"Benchmark duration (s)", "duration"}, {"Req/s", "request_throughput"}, {"Request throughput (req/s)", "request_throughput"},
		{"Output Tok/s", "output_throughput generation_throughput"}, {"Output token throughput (tok/s)", "output_throughput generation_throughput"},
		{"Total Tok/s", "total_token_throughput"}, {"Total Token throughput (tok/s)", "total_token_throughput"},
		{"Mean TTFT (ms)", "mean_ttft_ms"}, {"Avg. TTFT [ms]", "mean_ttft_ms"}, {"P99 ITL (ms)", "p99_itl_ms"}, {"99th percentile TTFT", "p99_ttft_ms"},
		{"Median Time to First Token", "median_ttft_ms p50_ttft_ms"}, {"TTFT", "mean_ttft_ms median_ttft_ms p50_ttft_ms"}, {"TTFT p50 (s)", "p50_ttft_ms median_ttft_ms"},
		{"Time per Output Token (excl. 1st token)", "mean_tpot_ms median_tpot_ms p50_tpot_ms"}, {"Mean Inter-Token Latency (ms)", "mean_itl_ms"},
		{"End-to-end latency P99 (s)", "p99_e2el_ms"}, {"Tokens/sec", "output_throughput total_token_throughput avg_ts generation_throughput"},
		{"Throughput (tokens/s) ↑", "output_throughput total_token_throughput avg_ts generation_throughput"}, {"Throughput (req/s)", "request_throughput"},
		{"pp512 (t/s)", "avg_ts test=pp512"}, {"tg128 @ d4096", "avg_ts test=tg128 depth=4096"}, {"t/s", "output_throughput total_token_throughput avg_ts generation_throughput"},
		{"Acceptance rate (%)", "draft_acceptance_rate"}, {"Total generated tokens", "total_output_tokens"}, {"Successful requests", "completed"},
		{"Tok/s/GPU", "output_throughput_per_gpu total_throughput_per_gpu"}, {"RPS", "request_throughput"}, {"input (tok/s)", "input_throughput prompt_throughput"},
		{"Concurrency", "key:concurrency"}, {"Max concurrency", "key:concurrency"}, {"Backend", "key:engine"}, {"Model/Quant", "key:model"}, {"Request rate", "key:request_rate"},
		{"GPU", "key:device"}, {"TP", "key:tp"}, {"Run", "key:label"}, {"ISL", "key:input_len"}, {"Users", "key:concurrency"},
		{"% Difference", "change"}, {"Δ%", "change"}, {"Speedup", "change"}, {"vs FP16", "change"}, {"×", "change"}, {"%", "change"}, {"TTFT change", "change"},
		{"Max Mem (MiB)", ""}, {"Size", ""}, {"Weights (GB)", ""}, {"Notes", ""}, {"", ""}, {"Description", ""}, {"Details", ""}, {"Value", ""}, {"Memory Usage (GiB)", ""},
		{"it/s", ""}, {"Price ($/h)", ""},
	} {
		m := Understand(tc.header)
		got := strings.Join(m.Metrics, " ")
		for _, s := range m.Where {
			got += " " + s.Key + "=" + s.Value
		}
		if m.Key != "" {
			got += "key:" + m.Key
		}
		if m.Change {
			got += "change"
		}
		if got != tc.want {
			t.Errorf("%q: %q, want %q", tc.header, got, tc.want)
		}
	}
}

func TestUnderstandUnits(t *testing.T) {
	for _, tc := range []struct {
		header, cell string
		factor       float64
	}{
		{"Mean TTFT (ms)", "121.23", 1}, {"Mean TTFT (s)", "0.121", 1000}, {"Mean TTFT", "0.121 s", 1000}, {"Mean TTFT (s)", "121 ms", 1}, {"Duration", "12 min", 60},
		{"Duration (ms)", "12", 0.001}, {"Acceptance (%)", "79.7", 0.01}, {"Acceptance", "79.7%", 0.01}, {"Acceptance", "0.797", 1}, {"Output tok/s", "72.17 tok/s", 1},
	} {
		m := Understand(tc.header)
		n, ok := ParseNumber(tc.cell)
		if !ok || !m.IsMetric() {
			t.Errorf("%s %s: not understood", tc.header, tc.cell)
			continue
		}
		if got := m.FactorOf(n, m.Metrics[0]); got != tc.factor {
			t.Errorf("%s %s: %v, want %v", tc.header, tc.cell, got, tc.factor)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for _, tc := range []struct {
		cell string
		want Number
	}{
		{"155.97", Number{Value: 155.97, Decimals: 2, Digits: 5}},
		{"0.05", Number{Value: 0.05, Decimals: 2, Digits: 1}},
		{"10,483.07", Number{Value: 10483.07, Decimals: 2, Digits: 7}},
		{"294.64 ± 0.58", Number{Value: 294.64, Decimals: 2, Digits: 5, Std: 0.58, HasStd: true}},
		{"~760", Number{Value: 760, Digits: 2, About: true}},
		{"-37.5", Number{Value: -37.5, Decimals: 1, Digits: 3, Sign: true}},
		{"−37.5 %", Number{Value: -37.5, Decimals: 1, Digits: 3, Sign: true, Unit: "%"}},
		{"+60.7%", Number{Value: 60.7, Decimals: 1, Digits: 3, Sign: true, Unit: "%"}},
		{"2.3x", Number{Value: 2.3, Decimals: 1, Digits: 2, Unit: "x"}},
		{"×2.3", Number{Value: 2.3, Decimals: 1, Digits: 2, Unit: "x"}},
		{"44,874 ms (~45 sec)", Number{Value: 44874, Digits: 5, Unit: "ms"}},
		{"24 (4.2%)", Number{Value: 24, Digits: 2}},
		{"36/64", Number{Value: 36, Digits: 2, Of: 64, HasOf: true}},
		{"1.2k", Number{Value: 1200, Decimals: -2, Digits: 2}},
		{"4.8894E+14", Number{Value: 4.8894e14, Decimals: -10, Digits: 5}},
		{"12.5ms", Number{Value: 12.5, Decimals: 1, Digits: 3, Unit: "ms"}},
		{"1000", Number{Value: 1000, Digits: 1}},
	} {
		got, ok := ParseNumber(tc.cell)
		got.Text = ""
		if !ok || got != tc.want {
			t.Errorf("%q: %+v, want %+v", tc.cell, got, tc.want)
		}
	}
	for _, cell := range []string{"860–902", "438.7 → 467.8", "1-2", "", "N/A", "-", "—", "c=16", "vLLM 0.8", "n/a", "inf", "."} {
		if n, ok := ParseNumber(cell); ok {
			t.Errorf("%q: %+v", cell, n)
		}
	}
}

func TestRead(t *testing.T) {
	source := "# A\n\nSee [the log](logs/a.log) and `x`.\n\n| Run | Tok/s | Mean TTFT (ms) |\n|:--|--:|--:|\n| a\\|b | **12.5** | <b>3</b><sup>1</sup> |\n| c[^2] | 🏆 13 | 4* |\n| d |\n\n" +
		"## B\n- 2.3x faster\n\n```\n| not | a table |\n|---|---|\n```\n"
	note, err := Read([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if len(note.Tables) != 1 || len(note.Links) != 1 || note.Links[0] != "logs/a.log" {
		t.Fatalf("%d tables, links %v", len(note.Tables), note.Links)
	}
	table := note.Tables[0]
	if table.Line != 5 || table.EndLine != 9 || table.Heading != "A" || table.Number != 1 {
		t.Errorf("%+v", table)
	}
	var got []string
	for _, row := range table.Rows {
		for _, c := range row.Cells {
			s := c.Text
			if c.Marked {
				s += "!"
			}
			if c.Noted {
				s += "?"
			}
			got = append(got, s)
			if c.End > 0 && strings.TrimSpace(source[c.Start:c.End]) != source[c.Start:c.End] {
				t.Errorf("place of %q: %q", c.Text, source[c.Start:c.End])
			}
		}
	}
	if want := "a|b,12.5!,3!?,c?,13!,4?,d,,"; strings.Join(got, ",") != want {
		t.Errorf("%s, want %s", strings.Join(got, ","), want)
	}
	last := note.Prose[len(note.Prose)-1]
	if last.Text != "2.3x faster" || last.Line != 12 {
		t.Errorf("%+v", last)
	}
}
