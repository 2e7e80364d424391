package plots

import (
	"bytes"
	"flag"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/parse"
	"gonum.org/v1/plot/cmpimg"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// figuresOf reads logs and makes their figures.
func figuresOf(t testing.TB, logs ...string) []Figure {
	t.Helper()
	var inputs []parse.Input
	for _, l := range logs {
		inputs = append(inputs, parse.Input{Path: l})
	}
	result := parse.Files(inputs, strings.NewReader(""))
	for _, e := range result.Errors {
		t.Error(e)
	}
	return figuresOfRuns(t, result.Runs)
}

func figuresOfRuns(t testing.TB, runs []*bench.Run) []Figure {
	t.Helper()
	analyze.Normalize(runs)
	rep, err := analyze.Compare(runs, analyze.Options{Alpha: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	var out []Figure
	of := Of(rep)
	for _, s := range rep.Sections {
		out = append(out, of[s]...)
	}
	return out
}

// TestPoints holds what is plotted against text, whose numbers are those of the
// logs.
func TestPoints(t *testing.T) {
	for _, log := range []string{
		"vllm-serve/note-tensor-parallel.md", // bars, Pareto front, speculation, an extrapolated run
		"vllm-serve/note-vllm-llamacpp.md",   // against load, partial runs
		"vllm-serve/saved-appended.json",     // throughput, latency and scaling
		"vllm-engine/v1.log",                 // over time
		"vllm-serve/rate-sweep.log",          // by request rate
		"llama-bench/seed-hipblaslt.md",      // pp and tg
		"llama-bench/md-depth.md",            // against depth
	} {
		t.Run(strings.ReplaceAll(log, "/", "-"), func(t *testing.T) {
			var b strings.Builder
			for _, f := range figuresOf(t, filepath.Join("..", "..", "testdata", log)) {
				b.WriteString(f.Points() + "\n")
			}
			golden := filepath.Join("testdata", strings.ReplaceAll(log, "/", "-")+".points")
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("the points differ from %s:\n%s", golden, b.String())
			}
		})
	}
}

// TestPixels holds how a figure looks against a picture that a person has
// judged, within what fonts and rounding may change.
func TestPixels(t *testing.T) {
	for _, f := range figuresOf(t, "../../testdata/vllm-serve/note-tensor-parallel.md") {
		if f.Name != "vllm-serve-pareto" && f.Name != "vllm-serve-output-throughput" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			got := draw1(t, &f)
			golden := filepath.Join("testdata", f.Name+".png")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if ok, err := cmpimg.EqualApprox("png", got, want, 0.1); err != nil || !ok {
				t.Errorf("the picture differs from %s (%v)", golden, err)
			}
		})
	}
}

func draw1(t testing.TB, f *Figure) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := PNG(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPNG holds what every picture must be: large, small in bytes, the same
// each time.
func TestPNG(t *testing.T) {
	for _, f := range figuresOf(t, "../../testdata/vllm-serve/note-vllm-llamacpp.md") {
		first := draw1(t, &f)
		config, err := png.DecodeConfig(bytes.NewReader(first))
		if err != nil {
			t.Fatal(err)
		}
		if config.Width < 1500 || config.Height < 900 {
			t.Errorf("%s: %d×%d pixels, want 1600×1000 or so", f.Name, config.Width, config.Height)
		}
		if len(first) > 200<<10 {
			t.Errorf("%s: %d bytes, want at most 200 KB", f.Name, len(first))
		}
		if !bytes.Equal(first, draw1(t, &f)) {
			t.Errorf("%s: drawn twice, it differs", f.Name)
		}
	}
}

// serving makes a run at a concurrency with one throughput.
func serving(label string, concurrency string, throughput float64) *bench.Run {
	r := &bench.Run{Label: label, Input: "a", Source: bench.Source{File: "a.log", Line: 1, EndLine: 2, Tool: "vllm-serve", Format: "text"}}
	r.Config.Set("concurrency", concurrency, bench.FromArgs)
	r.Config.Set("model", label, bench.FromArgs)
	for _, name := range []string{"output_throughput", "mean_ttft_ms", "mean_tpot_ms"} {
		r.Metrics = append(r.Metrics, bench.Metric{Name: name, Value: throughput})
	}
	return r
}

// TestHostile draws figures of names and values that no honest log has.
func TestHostile(t *testing.T) {
	names := []string{"../../etc/passwd", "", strings.Repeat("very-long-", 400), "<script>alert(1)</script>", "模型 ✨", "a\nb\x1b[31m", "\xff\xfe", "$(rm -rf .)"}
	values := []float64{0, -1, math.NaN(), math.Inf(1), 1e300, 5e-324, 1, 1e17}
	var runs []*bench.Run
	for i, n := range names {
		for k, v := range values {
			c := []string{"1", "0", "-4", "999999999999", "x", "NaN", "2", "4"}[k]
			runs = append(runs, serving(n, c, v))
			_ = i
		}
	}
	safe := regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	for _, f := range figuresOfRuns(t, runs) {
		if !safe.MatchString(f.Name) {
			t.Errorf("%q is no safe file name", f.Name)
		}
		for _, s := range f.Series {
			for _, p := range s.Points {
				if math.IsNaN(p.X+p.Y+p.Err) || math.IsInf(p.X+p.Y+p.Err, 0) {
					t.Errorf("%s: draws %v, %v", f.Name, p.X, p.Y)
				}
			}
		}
		draw1(t, &f)
		var svg bytes.Buffer
		if err := SVG(&svg, &f); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		if bytes.Contains(svg.Bytes(), []byte("<script")) {
			t.Errorf("%s: the name of a model is markup", f.Name)
		}
	}
}

// Many points, with a line and without one, are drawn on either axis, and so is
// one point alone.
func TestManyPoints(t *testing.T) {
	for _, n := range []int{1, 2, 60, 61, 2000} {
		for _, line := range []bool{true, false} {
			for _, log := range []bool{true, false} {
				points := make([]Point, n)
				for i := range points {
					points[i] = Point{X: float64(int(1) << (i % 7)), Y: float64(i)}
				}
				f := Figure{Name: "many", X: Axis{Log2: log}, Series: []Series{{Name: "a", Line: line, Points: points}}}
				d, err := newPlot(&f)
				if err != nil {
					t.Fatal(err)
				}
				if p := d.plot; p.X.Max != points[min(n-1, 6)].X && n > 1 {
					t.Errorf("%d points, line %v: the axis ends at %v: nothing is drawn", n, line, p.X.Max)
				}
				draw1(t, &f)
			}
		}
	}
}

// A figure says that its points are labelled where they are.
func TestLabelled(t *testing.T) {
	for _, loads := range [][]string{{"1", "2", "4"}, {"8", "8", "16"}} {
		var runs []*bench.Run
		for i, load := range loads {
			r := serving("a", load, float64(100+i))
			r.Config.Set("num_prompts", strconv.Itoa(64+i), bench.FromArgs) // no repeats of each other
			runs = append(runs, r)
		}
		found := false
		for _, f := range figuresOfRuns(t, runs) {
			if f.Name != "vllm-serve-throughput-latency" {
				continue
			}
			found = true
			labels := 0
			for _, p := range f.Series[0].Points {
				if p.Label != "" {
					labels++
				}
			}
			if says := strings.Contains(strings.Join(f.Notes, " "), "labelled"); says != (labels == len(loads)) || labels != 0 && labels != len(loads) {
				t.Errorf("loads %v: %d labels, and the notes are %q", loads, labels, f.Notes)
			}
		}
		if !found {
			t.Errorf("loads %v: no such figure", loads)
		}
	}
}

// TestEscapes holds that a figure says what it could not write.
func TestEscapes(t *testing.T) {
	for _, f := range figuresOfRuns(t, []*bench.Run{serving("模型", "8", 100), serving("b", "8", 90)}) {
		if !strings.Contains(f.Points(), `\u6A21\u578B`) || !strings.Contains(f.Points(), "a letter that the font does not have") {
			t.Errorf("no escape, or no note: %s", f.Points())
		}
	}
}

// TestOneCategory holds that several bars of one category stand beside each
// other, and have a legend.
func TestOneCategory(t *testing.T) {
	f := &Figure{Name: "x", Bars: []string{"one"}, Series: []Series{
		{Name: "completed", Points: []Point{{Y: 14}}}, {Name: "not completed", Colour: 1, Points: []Point{{Y: 6}}},
	}}
	d, err := newPlot(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.names) != 2 {
		t.Errorf("legend %q, want both", d.names)
	}
	f.Bars = []string{"one", "two"}
	f.Series[1].Points[0].X = 1
	if d, err = newPlot(f); err != nil || len(d.names) != 0 {
		t.Errorf("a bar a category: legend %q, %v, want none", d.names, err)
	}
}

// TestOneDepth holds that runs at one depth are no figure against depth.
func TestOneDepth(t *testing.T) {
	for _, f := range figuresOf(t, "../../testdata/llama-bench/seed-hipblaslt.md") {
		if strings.HasSuffix(f.Name, "-depth") {
			t.Errorf("%s is drawn", f.Name)
		}
	}
}

// TestManyLines holds that a heap of configurations is not drawn as lines, and
// that several runs at one load are not joined.
func TestManyLines(t *testing.T) {
	var heap []*bench.Run
	for i := range 40 {
		for _, c := range []string{"1", "2", "4"} {
			heap = append(heap, serving("model-"+strconv.Itoa(i), c, float64(100+i)))
		}
	}
	for _, f := range figuresOfRuns(t, heap) {
		if f.Bars == nil && len(f.Series) > 16 {
			t.Errorf("%s has %d lines", f.Name, len(f.Series))
		}
	}
	for _, c := range []struct {
		loads []string
		join  bool
	}{{[]string{"1", "2", "4"}, true}, {[]string{"1", "1", "2", "4"}, false}} {
		s := &analyze.Section{Tool: "vllm-serve"}
		for i, load := range c.loads {
			s.Rows = append(s.Rows, &analyze.Row{Label: "m", Input: "a", Runs: []*bench.Run{serving("m", load, float64(100+i))}})
		}
		series, _ := lines(s, &colours{of: map[string]int{}}, func(r *analyze.Row) (Point, bool) {
			x, ok := setting(r, "concurrency")
			return Point{X: x, Y: 1}, ok
		})
		if len(series) != 1 || series[0].Line != c.join {
			t.Errorf("loads %v: %d lines, joined %v, want %v", c.loads, len(series), series[0].Line, c.join)
		}
	}
}

// TestFewPoints holds that one point is no figure.
func TestFewPoints(t *testing.T) {
	if f := figuresOfRuns(t, []*bench.Run{serving("one", "8", 100)}); len(f) != 0 {
		t.Errorf("one run gave %d figures", len(f))
	}
}

// TestSpread holds that the quantiles of 1 to 101 ms, all equally often, give a
// straight line and a flat histogram, and that few values give neither.
func TestSpread(t *testing.T) {
	spread := bench.Spread{Name: "ttft", N: 2000}
	for i := range 201 {
		spread.Quantiles = append(spread.Quantiles, 1+float64(i)/2)
	}
	of := func(n int) []Figure {
		r := serving("one", "8", 100)
		spread.N = n
		r.Spreads = []bench.Spread{spread}
		return figuresOfRuns(t, []*bench.Run{r})
	}
	figures := of(2000)
	if len(figures) != 2 {
		t.Fatalf("%d figures, want a curve and a histogram", len(figures))
	}
	for _, p := range figures[0].Series[0].Points {
		if want := (p.X - 1) / 100; math.Abs(p.Y-want) > 1e-9 {
			t.Errorf("the share up to %v ms is %v, want %v", p.X, p.Y, want)
		}
	}
	sum := 0.0
	for i, p := range figures[1].Series[0].Points {
		sum += p.Y
		if i < 19 && math.Abs(p.Y-0.05) > 0.006 {
			t.Errorf("bar %d holds %v, want 0.05", i, p.Y)
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("the bars sum to %v", sum)
	}
	if n := len(of(50)); n != 1 {
		t.Errorf("50 values: %d figures, want the curve alone", n)
	}
	if n := len(of(3)); n != 0 {
		t.Errorf("3 values: %d figures, want none", n)
	}
}

// TestUSL fits points that follow the law exactly, and must find its
// parameters: N* = sqrt((1 − σ)/κ) = sqrt(0.95/0.0005) = 43.589 by hand.
func TestUSL(t *testing.T) {
	var points []Point
	for _, n := range []float64{1, 2, 4, 8, 16, 32, 64} {
		points = append(points, Point{X: n, Y: 100 * n / (1 + 0.05*(n-1) + 0.0005*n*(n-1))})
	}
	lambda, sigma, kappa, ok := fitUSL(points)
	if !ok || math.Abs(lambda-100) > 0.5 || math.Abs(sigma-0.05) > 0.002 || math.Abs(kappa-0.0005) > 0.00002 {
		t.Errorf("λ %v, σ %v, κ %v, %v; want 100, 0.05, 0.0005", lambda, sigma, kappa, ok)
	}
	if peak := math.Sqrt((1 - sigma) / kappa); math.Abs(peak-43.589) > 0.5 {
		t.Errorf("N* %v, want 43.589", peak)
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"short", "short"},
		{"abcdefghijklmnopqrstuvwxyz", "abcd…wxyz"},
	} {
		if got := Shorten(c.in, 9); got != c.want {
			t.Errorf("Shorten(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := Latin("模 x"); got != `\u6A21 x` {
		t.Errorf("Latin = %q", got)
	}
}

// BenchmarkPNG draws a figure.
func BenchmarkPNG(b *testing.B) {
	f := figuresOf(b, "../../testdata/vllm-serve/note-tensor-parallel.md")[0]
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(draw1(b, &f))))
	}
}

// BenchmarkBareLine draws what our figures are measured against: a line chart of
// the library as it comes, in the same size.
func BenchmarkBareLine(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		p := plot.New()
		line, err := plotter.NewLine(plotter.XYs{{X: 1, Y: 1}, {X: 2, Y: 4}, {X: 3, Y: 9}, {X: 4, Y: 16}})
		if err != nil {
			b.Fatal(err)
		}
		p.Add(line)
		canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
		p.Draw(draw.New(canvas))
		var out bytes.Buffer
		if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&out); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(out.Len()))
	}
}
