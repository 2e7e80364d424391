package plots

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a figure: 1600 × 1000 pixels.
const (
	width  = 8 * vg.Inch
	height = 5 * vg.Inch
	dpi    = 200
)

// palette are the colours of Okabe and Ito, which people who do not see all
// colours tell apart, without the yellow that nobody sees on white.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x88, 0x4d, 0x1a, 0xff}, {0x44, 0x44, 0x44, 0xff},
}

// shapes tell series apart where colours do not.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}}

// hollowShapes are the same for partial runs.
var hollowShapes = []draw.GlyphDrawer{draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}}

var grey = color.RGBA{0x88, 0x88, 0x88, 0xff}

func colourOf(i int) color.RGBA {
	if i < 0 {
		return grey
	}
	return palette[i%len(palette)]
}

// sans is the font of all text, in several sizes.
func sans(size vg.Length, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = 3 // bold, as x/image/font counts
	}
	return text.Style{Color: color.RGBA{0x22, 0x22, 0x22, 0xff}, Font: f, Handler: plot.DefaultTextHandler}
}

// A drawn figure is a plot with its legend and notes beside it.
type drawn struct {
	plot   *plot.Plot
	names  []string
	thumbs [][]plot.Thumbnailer
	notes  []string
}

// newPlot makes the gonum plot of a figure.
func newPlot(f *Figure) (*drawn, error) {
	p := plot.New()
	p.Title.Text = f.Title
	p.Title.TextStyle = sans(13, true)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.Title.Padding = 8
	for _, a := range [...]*plot.Axis{&p.X, &p.Y} {
		style := sans(11, false)
		style.XAlign, style.YAlign = a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign
		style.Rotation = a.Label.TextStyle.Rotation
		a.Label.TextStyle = style
		tick := sans(10, false)
		tick.XAlign, tick.YAlign = a.Tick.Label.XAlign, a.Tick.Label.YAlign
		a.Tick.Label = tick
		a.Tick.LineStyle.Color, a.LineStyle.Color = grey, grey
		a.Padding = 6
	}
	p.X.Label.Text, p.Y.Label.Text = f.X.Label, f.Y.Label
	p.Y.Label.Padding, p.X.Label.Padding = 4, 4
	d := &drawn{plot: p, notes: f.Notes}
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal.Color = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	p.Add(grid)
	var err error
	if f.Bars != nil {
		err = d.bars(f)
	} else {
		err = d.lines(f)
	}
	if err != nil {
		return nil, err
	}
	p.Y.Min = math.Min(p.Y.Min, 0)
	if p.Y.Max <= p.Y.Min {
		p.Y.Max = p.Y.Min + 1
	}
	p.Y.Max *= 1.06
	p.Y.Tick.Marker = numbers{}
	switch {
	case f.Bars != nil:
	case f.X.Log2 && p.X.Min > 0 && !math.IsInf(p.X.Min, 0):
		p.X.Scale = plot.LogScale{}
		p.X.Tick.Marker = powers{}
		if p.X.Min == p.X.Max { // which the library would widen to 0
			p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
		}
	default:
		p.X.Tick.Marker = numbers{}
	}
	return d, nil
}

func (d *drawn) entry(name string, thumbs ...plot.Thumbnailer) {
	d.names = append(d.names, name)
	d.thumbs = append(d.thumbs, thumbs)
}

// lines draws points, lines and their error bars.
func (d *drawn) lines(f *Figure) error {
	p := d.plot
	for _, s := range f.Series {
		c := colourOf(s.Colour)
		xy := make(plotter.XYs, len(s.Points))
		errors := make(plotter.YErrors, len(s.Points))
		for i, pt := range s.Points {
			xy[i].X, xy[i].Y = pt.X, pt.Y
			errors[i].Low, errors[i].High = pt.Err, pt.Err
		}
		var thumbs []plot.Thumbnailer
		if s.Line {
			l, err := plotter.NewLine(xy)
			if err != nil {
				return err
			}
			l.Color, l.Width = c, vg.Points(1.6)
			if s.Dashed {
				l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
			}
			p.Add(l)
			thumbs = append(thumbs, l)
		}
		if !s.Plain && (len(s.Points) <= 60 || !s.Line) { // more would hide their line
			sc, err := plotter.NewScatter(xy)
			if err != nil {
				return err
			}
			shape := max(s.Colour, 0) / len(palette)
			if s.Dashed {
				shape++
			}
			style := draw.GlyphStyle{Color: c, Radius: vg.Points(3.6), Shape: shapes[shape%len(shapes)]}
			sc.GlyphStyle = style
			points := s.Points
			sc.GlyphStyleFunc = func(i int) draw.GlyphStyle {
				g := style
				if points[i].Hollow {
					g.Shape = hollowShapes[shape%len(hollowShapes)]
				}
				return g
			}
			p.Add(sc)
			thumbs = append(thumbs, sc)
			bars, err := plotter.NewYErrorBars(struct {
				plotter.XYer
				plotter.YErrorer
			}{xy, errors})
			if err != nil {
				return err
			}
			bars.LineStyle.Color = c
			if hasErrors(s.Points) {
				p.Add(bars)
			}
			if err := d.labels(s.Points, xy); err != nil {
				return err
			}
		}
		if !slices.Contains(d.names, s.Name) { // the dashed line of one has the colour of the solid
			d.entry(s.Name, thumbs...)
		}
	}
	return nil
}

func hasErrors(points []Point) bool {
	for _, p := range points {
		if p.Err > 0 {
			return true
		}
	}
	return false
}

// labels writes the labels of points beside them.
func (d *drawn) labels(points []Point, xy plotter.XYs) error {
	var at plotter.XYs
	var names []string
	for i, pt := range points {
		if pt.Label != "" {
			at = append(at, xy[i])
			names = append(names, Latin(pt.Label))
		}
	}
	if names == nil {
		return nil
	}
	l, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: names})
	if err != nil {
		return err
	}
	for i := range l.TextStyle {
		l.TextStyle[i] = sans(9, false)
	}
	l.Offset = vg.Point{X: vg.Points(5), Y: vg.Points(4)}
	d.plot.Add(l)
	return nil
}

// bars draws grouped bars with their error bars.
func (d *drawn) bars(f *Figure) error {
	p := d.plot
	single := true // one bar a category: the category names it
	taken := map[float64]bool{}
	for _, s := range f.Series {
		for _, p := range s.Points {
			single = single && !taken[p.X]
			taken[p.X] = true
		}
	}
	groups := len(f.Series)
	if single {
		groups = 1
	}
	w := vg.Length(float64(width) * 0.68 / float64(len(f.Bars)) / float64(groups))
	w = min(w, vg.Points(46))
	for n, s := range f.Series {
		offset := vg.Length(0)
		if !single {
			offset = vg.Length(float64(n)-float64(groups-1)/2) * w
		}
		for _, pt := range s.Points {
			b, err := plotter.NewBarChart(plotter.Values{pt.Y}, w*0.9)
			if err != nil {
				return err
			}
			b.XMin = pt.X
			b.Offset = offset
			c := colourOf(s.Colour)
			b.Color, b.LineStyle.Color, b.LineStyle.Width = c, c, vg.Points(1.2)
			if pt.Hollow {
				b.Color = color.White
			}
			p.Add(b)
			if pt.Err > 0 {
				p.Add(errorBar{pt, offset})
			}
			if len(f.Bars)*groups <= 16 {
				p.Add(barLabel{pt, offset})
			}
		}
		if !single && len(s.Points) > 0 {
			b, err := plotter.NewBarChart(plotter.Values{1}, w)
			if err != nil {
				return err
			}
			b.Color, b.LineStyle.Width = colourOf(s.Colour), 0
			d.entry(s.Name, b)
		}
	}
	p.X.Min, p.X.Max = -0.6, float64(len(f.Bars))-0.4
	p.X.Tick.Length = 0
	longest := 0
	for _, b := range f.Bars {
		longest = max(longest, len([]rune(b)))
	}
	p.X.Tick.Marker = categories(f.Bars)
	if len(f.Bars)*longest > 88 { // they would run into each other
		short := make(categories, len(f.Bars))
		for i, b := range f.Bars {
			short[i] = Shorten(b, 24)
		}
		p.X.Tick.Marker = short
		p.X.Tick.Label.Rotation = math.Pi / 7
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YTop
		if len(f.Bars) > 8 {
			p.X.Tick.Label.Font.Size = 8
		}
	}
	return nil
}

// errorBar is the spread of one bar.
type errorBar struct {
	Point
	offset vg.Length
}

// Plot draws it.
func (e errorBar) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := x(e.X) + e.offset
	style := draw.LineStyle{Color: color.RGBA{0x22, 0x22, 0x22, 0xff}, Width: vg.Points(1)}
	lo, hi := y(math.Max(e.Y-e.Err, 0)), y(e.Y+e.Err)
	c.StrokeLine2(style, at, lo, at, hi)
	for _, end := range [...]vg.Length{lo, hi} {
		c.StrokeLine2(style, at-vg.Points(3), end, at+vg.Points(3), end)
	}
}

// DataRange makes room for it.
func (e errorBar) DataRange() (xmin, xmax, ymin, ymax float64) {
	return e.X, e.X, e.Y, e.Y + e.Err
}

// barLabel is the figure above one bar.
type barLabel struct {
	Point
	offset vg.Length
}

// Plot draws it.
func (b barLabel) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := sans(8.5, false)
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	c.FillText(style, vg.Point{X: x(b.X) + b.offset, Y: y(b.Y+b.Err) + vg.Points(2)}, shortNumber(b.Y))
}

// DataRange makes room for it.
func (b barLabel) DataRange() (xmin, xmax, ymin, ymax float64) {
	return b.X, b.X, b.Y, (b.Y + b.Err) * 1.05
}

func shortNumber(x float64) string {
	switch {
	case math.Abs(x) >= 1e6 || math.Abs(x) < 0.01 && x != 0:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case math.Abs(x) >= 100, x == math.Trunc(x):
		return strconv.FormatFloat(x, 'f', 0, 64)
	case math.Abs(x) >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// categories are the names below bars.
type categories []string

// Ticks gives a tick for each name.
func (c categories) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	for i, name := range c {
		out = append(out, plot.Tick{Value: float64(i), Label: Shorten(name, 30)})
	}
	return out
}

// powers ticks a logarithmic axis at powers of two.
type powers struct{}

// Ticks gives integers, 1, 2, 4, …
func (powers) Ticks(lo, hi float64) []plot.Tick {
	var out []plot.Tick
	from, to := math.Ceil(math.Log2(lo)-1e-9), math.Floor(math.Log2(hi)+1e-9)
	step := math.Max(1, math.Ceil((to-from)/12))
	for e := from; e <= to; e += step {
		x := math.Exp2(e)
		out = append(out, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'f', -1, 64)})
	}
	if len(out) < 2 {
		return plot.DefaultTicks{}.Ticks(lo, hi)
	}
	return out
}

// numbers ticks an axis with plain numbers.
type numbers struct{}

// Ticks gives the default places with readable labels.
func (numbers) Ticks(lo, hi float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(lo, hi)
	for i := range ticks {
		if ticks[i].Label == "" {
			continue
		}
		x := ticks[i].Value
		switch {
		case math.Abs(x) >= 1e6:
			ticks[i].Label = strconv.FormatFloat(x, 'g', 4, 64)
		case x == math.Trunc(x):
			ticks[i].Label = strconv.FormatFloat(x, 'f', 0, 64)
		default:
			ticks[i].Label = strconv.FormatFloat(x, 'g', 4, 64)
		}
	}
	return ticks
}

// render draws plot, legend and notes onto a canvas: the legend below the plot,
// where it covers nothing.
func (d *drawn) render(c draw.Canvas) draw.Canvas {
	const line = 15
	columns := 1
	longest := 0
	for _, n := range d.names {
		longest = max(longest, len([]rune(n)))
	}
	if perColumn := 50 + 4.7*float64(longest); perColumn > 0 {
		columns = max(1, int(float64(c.Max.X-c.Min.X-20)/perColumn))
	}
	rows := (len(d.names) + columns - 1) / columns
	if len(d.names) < 2 && len(d.names) > 0 && d.names[0] != "" {
		rows = 1
	}
	bottom := vg.Length(rows*line + len(d.notes)*13 + 8)
	top := draw.Crop(c, 10, -16, bottom, -10)
	d.plot.Draw(top)
	for i, name := range d.names {
		x := c.Min.X + 24 + vg.Length(i%columns)*(c.Max.X-c.Min.X-40)/vg.Length(columns)
		y := c.Min.Y + bottom - vg.Length((i/columns+1)*line)
		icon := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + 24, Y: y + 10}}}
		for _, t := range d.thumbs[i] {
			t.Thumbnail(&icon)
		}
		style := sans(9.5, false)
		c.FillText(style, vg.Point{X: x + 30, Y: y + 1}, name)
	}
	for i, n := range d.notes {
		style := sans(9, false)
		style.Color = color.RGBA{0x55, 0x55, 0x55, 0xff}
		c.FillText(style, vg.Point{X: c.Min.X + 24, Y: c.Min.Y + 4 + vg.Length((len(d.notes)-1-i)*13)}, n)
	}
	return d.plot.DataCanvas(top)
}

// PNG draws a figure as a picture of 1600 × 1000 pixels.
func PNG(w io.Writer, f *Figure) error {
	d, err := newPlot(f)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", f.Name, err)
	}
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
	d.render(draw.New(canvas))
	var encoder png.Encoder // the best compression saves 7 % and takes three times as long
	return encoder.Encode(w, paletted(canvas.Image().(*image.RGBA)))
}

// paletted reduces a picture to the 256 colours that it has most of, which is
// all but the faintest edges of letters, and a third of the bytes.
func paletted(img *image.RGBA) image.Image {
	bounds := img.Bounds()
	counts := map[color.RGBA]int{}
	runs(img, func(_, n int, c color.RGBA) { counts[c] += n })
	all := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	pal := color.Palette{}
	for _, c := range all[:min(len(all), 256)] {
		pal = append(pal, c)
	}
	out := image.NewPaletted(bounds, pal)
	index := make(map[color.RGBA]uint8, len(counts))
	runs(img, func(start, n int, c color.RGBA) {
		i, ok := index[c]
		if !ok {
			i = uint8(pal.Index(c))
			index[c] = i
		}
		for k := range n {
			out.Pix[start+k] = i
		}
	})
	return out
}

// runs visits the stretches of one colour of a picture, by the number of their
// first pixel: a figure is mostly background.
func runs(img *image.RGBA, visit func(start, n int, c color.RGBA)) {
	pix := img.Pix
	at := func(i int) color.RGBA { return color.RGBA{pix[4*i], pix[4*i+1], pix[4*i+2], pix[4*i+3]} }
	start := 0
	for i := 1; i <= len(pix)/4; i++ {
		if i == len(pix)/4 || at(i) != at(start) {
			visit(start, i-start, at(start))
			start = i
		}
	}
}

// SVG draws a figure for a page, with the values of its points on hover.
func SVG(w io.Writer, f *Figure) error {
	d, err := newPlot(f)
	if err != nil {
		return fmt.Errorf("drawing %s: %w", f.Name, err)
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, height))
	data := d.render(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	s := b.String()
	// The picture alone, as part of a page: no XML header, no fixed size.
	if i := strings.Index(s, "<svg"); i >= 0 {
		s = s[i:]
	}
	end := strings.IndexByte(s, '>')
	wide, high := float64(width), float64(height)
	s = fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\"", wide, high, html.EscapeString(f.Alt)) + s[end:]
	hover := d.hover(f, data, high)
	s = strings.Replace(s, "</svg>", hover+"</svg>", 1)
	_, err = io.WriteString(w, s)
	return err
}

// hover are invisible targets over the points, with their values as titles.
func (d *drawn) hover(f *Figure, c draw.Canvas, high float64) string {
	var b strings.Builder
	x, y := d.plot.Transforms(&c)
	for _, s := range f.Series {
		if s.Plain || len(s.Points) > 400 {
			continue
		}
		for _, p := range s.Points {
			what := shortNumber(p.Y)
			if f.Bars == nil {
				what = shortNumber(p.X) + ": " + what
			}
			if p.Err > 0 {
				what += " ± " + shortNumber(p.Err)
			}
			fmt.Fprintf(&b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" fill=\"transparent\"><title>%s, %s</title></circle>\n",
				float64(x(p.X)), high-float64(y(p.Y)), html.EscapeString(s.Name), html.EscapeString(what))
		}
	}
	return b.String()
}
