// SPDX-License-Identifier: Apache-2.0

// Package trend compares readings of links over time: bit error rates, temperatures, optical powers and error counters.
// It forecasts when a value crosses its limit.
package trend

import (
	"math"
	"slices"
	"time"
)

// Point is a value at a time.
type Point struct {
	At    time.Time
	Value float64
}

// Line is the trend of a series of points: the median slope of all pairs of points (Theil 1950, Sen 1968).
type Line struct {
	Slope     float64 // per day
	Low, High float64 // bounds of the slope at 95 % confidence
	Last      Point   // the point of the line at the time of the last reading
	// Chance is the probability that points without a trend rise or fall as consistently as these (Mann-Kendall test,
	// one-sided).
	Chance float64
	spread float64 // median distance of the points from the line
}

const day = 24 * time.Hour

// quantile is the number of standard deviations for 95 % confidence. medianError is the standard error of the median of
// normal values, times the square root of their number, as a multiple of their median distance from the median.
const (
	quantile    = 1.96
	medianError = 1.4826 * 1.2533
)

// Fit returns the trend of points in ascending order of time. It returns false for fewer than two different times.
// O(points^2 log points).
func Fit(points []Point) (Line, bool) {
	n := len(points)
	var slopes []float64
	score := 0 // rises less falls
	for i := range points {
		for j := i + 1; j < n; j++ {
			days := points[j].At.Sub(points[i].At).Hours() / 24
			if days <= 0 {
				continue
			}
			rise := points[j].Value - points[i].Value
			slopes = append(slopes, rise/days)
			switch {
			case rise > 0:
				score++
			case rise < 0:
				score--
			}
		}
	}
	if len(slopes) == 0 {
		return Line{}, false
	}
	slices.Sort(slopes)
	last := points[n-1].At
	l := Line{Slope: median(slopes), Chance: chance(n, max(score, -score))}
	// The bounds are the slopes whose ranks differ from the middle by the quantile of the score.
	width := quantile * math.Sqrt(variance(n)) / 2
	middle := float64(len(slopes)-1) / 2
	l.Low = slopes[max(0, int(math.Floor(middle-width)))]
	l.High = slopes[min(len(slopes)-1, int(math.Ceil(middle+width)))]
	l.Last = Point{last, levelAt(points, l.Slope)}
	distance := make([]float64, n)
	for i, p := range points {
		distance[i] = math.Abs(p.Value + l.Slope*last.Sub(p.At).Hours()/24 - l.Last.Value)
	}
	slices.Sort(distance)
	l.spread = median(distance)
	return l, true
}

// levelAt returns the value at the last point of a line with a slope: the median of the points, moved along the slope.
func levelAt(points []Point, slope float64) float64 {
	last := points[len(points)-1].At
	at := make([]float64, len(points))
	for i, p := range points {
		at[i] = p.Value + slope*last.Sub(p.At).Hours()/24
	}
	slices.Sort(at)
	return median(at)
}

// median returns the median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// variance returns the variance of the score of n points without a trend.
func variance(n int) float64 { return float64(n) * float64(n-1) * float64(2*n+5) / 18 }

// mostExact is the number of points up to which chance counts permutations.
const mostExact = 40

// chance returns the probability that the score of n points without a trend is at least the given one.
func chance(n, score int) float64 {
	if n > mostExact {
		return math.Erfc((float64(score)-1)/math.Sqrt(2*variance(n))) / 2
	}
	// The score is pairs - 2 x inversions. share[k] is the share of the permutations with k inversions.
	pairs := n * (n - 1) / 2
	share := make([]float64, pairs+1)
	share[0] = 1
	for m := 2; m <= n; m++ {
		next := make([]float64, pairs+1)
		for k, s := range share {
			if s == 0 {
				continue
			}
			for i := 0; i < m && k+i <= pairs; i++ {
				next[k+i] += s / float64(m)
			}
		}
		share = next
	}
	sum := 0.0
	for k := 0; k <= (pairs-score)/2; k++ {
		sum += share[k]
	}
	return sum
}

// The conditions for a forecast.
const (
	// LeastReadings is the minimum number of readings.
	LeastReadings = 6
	// Settled is the time after link up from which readings count. The source is the NDR link validation of NVIDIA's
	// ufm_sdk_3.0 (plugins/pdr_deterministic_plugin/README.md), which judges links after 125 minutes.
	Settled = 125 * time.Minute
	// maxChance is the maximum probability that the trend is noise. Six readings that all rise have 1/720.
	maxChance = 0.0015
	// leastRise is the minimum ratio between the change along the line and the spread of the points.
	leastRise = 4
	// farthest limits a forecast to this multiple of the time between the first and the last reading.
	farthest = 3
)

// Forecast is the expected time at which a value crosses its limit.
type Forecast struct {
	Line
	Limit float64
	In    time.Duration // from the last reading; 0 if the last reading is beyond the limit
	// Earliest and Latest are In with the bounds of the slope. Latest is 0 if the lower bound does not reach the limit.
	Earliest, Latest time.Duration
}

// Outcome is the result of a forecast.
type Outcome uint8

// The outcomes.
const (
	TooFew  Outcome = iota // fewer than LeastReadings
	NoTrend                // the values do not move consistently towards the limit
	Distant                // the limit is farther away than the readings permit a forecast
	Crosses                // the value crosses the limit after Forecast.In
	Beyond                 // the last reading is beyond the limit
)

// Expect forecasts when points cross a limit. The limit is an upper limit if rising is set, otherwise a lower limit.
func Expect(points []Point, limit float64, rising bool) (Forecast, Outcome) {
	n := len(points)
	f := Forecast{Limit: limit}
	if n == 0 {
		return f, TooFew
	}
	sign := 1.0
	if !rising {
		sign = -1
	}
	isBeyond := sign*(points[n-1].Value-limit) >= 0
	if n < LeastReadings {
		if isBeyond {
			f.Last = points[n-1]
			return f, Beyond
		}
		return f, TooFew
	}
	var ok bool
	if f.Line, ok = Fit(points); !ok {
		return f, TooFew
	}
	if isBeyond {
		return f, Beyond
	}
	span := points[n-1].At.Sub(points[0].At)
	slope, low, high := sign*f.Slope, sign*f.Low, sign*f.High
	if sign < 0 {
		low, high = high, low
	}
	rise := slope * span.Hours() / 24
	if slope <= 0 || f.Chance > maxChance || rise < leastRise*f.spread {
		return f, NoTrend
	}
	// after returns the time until a line of this slope crosses the limit. The argument sigmas moves the line by a
	// multiple of the standard error of a median.
	sigma := medianError * f.spread / math.Sqrt(float64(n))
	after := func(slope, sigmas float64) float64 {
		level := levelAt(points, sign*slope)
		return max(0, (sign*(limit-level)+sigmas*sigma)/slope) * float64(day)
	}
	in := after(slope, 0)
	if in > farthest*float64(span) {
		return f, Distant
	}
	f.In, f.Earliest = time.Duration(in), time.Duration(after(high, -quantile))
	if low > 0 {
		if latest := after(low, quantile); latest < math.MaxInt64/2 {
			f.Latest = time.Duration(latest)
		}
	}
	return f, Crosses
}
