package plots

import (
	"fmt"
	"math"

	"github.com/benchreport/benchreport/analyze"
	"gonum.org/v1/gonum/optimize"
)

// scaling: measured throughput against concurrency, the ideal line from the
// smallest load, and from five points on the universal scalability law.
func scaling(s *analyze.Section, c *colours) []Figure {
	series, rows := lines(s, c, func(r *analyze.Row) (Point, bool) {
		x, ok := setting(r, "concurrency")
		y, err, ok2 := value(r, "output_throughput")
		return Point{X: x, Y: y, Err: err}, ok && ok2 && !hollow(r)
	})
	var out []Figure
	for _, line := range series {
		if len(line.Points) < 3 || len(out) > 3 || !line.Line { // one value a load
			continue
		}
		first, last := line.Points[0], line.Points[len(line.Points)-1]
		f := Figure{
			Name: "scaling", Title: Latin("Scaling of " + line.Name), Alt: "Measured output throughput against concurrency, beside linear scaling",
			X: Axis{"Concurrency (requests in flight)", true}, Y: Axis{Label: "Output tok/s"}, Notes: notesOf(rows),
		}
		line.Line = false
		ideal := Series{Name: "linear from the smallest load", Colour: -1, Line: true, Dashed: true, Plain: true}
		for i := range 60 {
			x := first.X * math.Pow(last.X/first.X, float64(i)/59)
			if y := first.Y / first.X * x; y <= 1.6*top(line.Points) {
				ideal.Points = append(ideal.Points, Point{X: x, Y: y})
			}
		}
		f.Series = []Series{line, ideal}
		if len(line.Points) >= 5 {
			if lambda, sigma, kappa, ok := fitUSL(line.Points); ok {
				var fit []Point
				for i := range 60 {
					x := first.X * math.Pow(last.X/first.X, float64(i)/59)
					fit = append(fit, Point{X: x, Y: usl(x, lambda, sigma, kappa)})
				}
				f.Series = append(f.Series, Series{Name: fmt.Sprintf("USL fit, σ %.3g, κ %.2g", sigma, kappa), Colour: line.Colour, Line: true, Plain: true, Points: fit})
				if kappa > 0 && sigma < 1 {
					if peak := math.Sqrt((1 - sigma) / kappa); peak < 4*last.X {
						f.Notes = append(f.Notes, fmt.Sprintf("The fit has its peak at concurrency %.0f.", peak))
					}
				}
			}
		}
		out = append(out, f)
	}
	return out
}

func top(points []Point) float64 {
	y := 0.0
	for _, p := range points {
		y = math.Max(y, p.Y)
	}
	return y
}

// usl is Gunther's universal scalability law.
func usl(n, lambda, sigma, kappa float64) float64 {
	return lambda * n / (1 + sigma*(n-1) + kappa*n*(n-1))
}

// fitUSL fits the law to points by least squares of relative errors. The
// parameters are squares, so that they stay positive.
func fitUSL(points []Point) (lambda, sigma, kappa float64, ok bool) {
	problem := optimize.Problem{Func: func(x []float64) float64 {
		sum := 0.0
		for _, p := range points {
			d := usl(p.X, x[0]*x[0], x[1]*x[1], x[2]*x[2])/p.Y - 1
			sum += d * d
		}
		return sum
	}}
	start := []float64{math.Sqrt(points[0].Y / points[0].X), 0.2, 0.02}
	result, err := optimize.Minimize(problem, start, &optimize.Settings{MajorIterations: 2000}, &optimize.NelderMead{})
	if err != nil && result == nil {
		return 0, 0, 0, false
	}
	x := result.X
	return x[0] * x[0], x[1] * x[1], x[2] * x[2], result.F < 0.1*float64(len(points))
}
