// SPDX-License-Identifier: Apache-2.0

package trend

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/health"
)

var began = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)

// daily returns points of successive days.
func daily(values ...float64) []Point {
	points := make([]Point, len(values))
	for i, v := range values {
		points[i] = Point{began.AddDate(0, 0, i), v}
	}
	return points
}

// TestChance compares the probabilities with Kendall's tables and with counted permutations.
func TestChance(t *testing.T) {
	for _, c := range []struct {
		n, score int
		want     float64
	}{
		{4, 6, 1.0 / 24}, {4, 4, 4.0 / 24}, {5, 10, 1.0 / 120}, {5, 8, 5.0 / 120}, {6, 15, 1.0 / 720},
		{6, 13, 6.0 / 720}, {10, 31, 0.0023},
	} {
		if got := chance(c.n, c.score); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%d points, score %d: %g, expected %g", c.n, c.score, got, c.want)
		}
	}
	exact, normal := chance(mostExact, 200), math.Erfc(199/math.Sqrt(2*variance(mostExact)))/2
	if math.Abs(exact-normal) > 0.1*exact {
		t.Errorf("40 points: %g by permutations, %g by the normal distribution", exact, normal)
	}
}

func TestFit(t *testing.T) {
	l, ok := Fit(daily(40, 41, 42, 90, 44, 45, 46)) // one outlier
	if !ok || l.Slope != 1 || math.Abs(l.Last.Value-46) > 1e-9 || l.Low > 1 || l.High < 1 {
		t.Errorf("%+v, expected a slope of 1 per day and 46 at the end", l)
	}
	if _, ok := Fit(nil); ok {
		t.Error("a trend of nothing")
	}
	if _, ok := Fit([]Point{{began, 1}, {began, 2}}); ok {
		t.Error("a trend of one time")
	}
}

// TestExpect compares forecasts with the answers of made series.
func TestExpect(t *testing.T) {
	steady := daily(50, 52, 54, 56, 58, 60)
	for _, c := range []struct {
		name    string
		points  []Point
		limit   float64
		rising  bool
		outcome Outcome
		days    float64
	}{
		{"two degrees a day, ten left", steady, 70, true, Crosses, 5},
		{"falling power", daily(-6, -6.5, -7, -7.5, -8, -8.5), -10, false, Crosses, 3},
		{"five readings", steady[:5], 70, true, TooFew, 0},
		{"five readings beyond", daily(71, 72, 73, 74, 75), 70, true, Beyond, 0},
		{"beyond", daily(60, 62, 64, 66, 68, 71), 70, true, Beyond, 0},
		{"rises away from a lower limit", steady, 40, false, NoTrend, 0},
		{"far away", steady, 100, true, Distant, 0},
		{"constant", daily(50, 50, 50, 50, 50, 50, 50, 50), 70, true, NoTrend, 0},
		{"a single step", daily(50, 50, 50, 50, 60, 60, 60, 60), 70, true, NoTrend, 0},
		{"five of six rise", daily(50, 52, 54, 53, 58, 60), 70, true, NoTrend, 0},
		{"no readings", nil, 70, true, TooFew, 0},
	} {
		f, outcome := Expect(c.points, c.limit, c.rising)
		if outcome != c.outcome || math.Abs(f.In.Hours()/24-c.days) > 0.01 {
			t.Errorf("%s: outcome %d in %v, expected %d in %g days", c.name, outcome, f.In, c.outcome, c.days)
		}
		if outcome == Crosses && (f.Earliest > f.In || f.Latest != 0 && f.Latest < f.In) {
			t.Errorf("%s: in %v, from %v to %v", c.name, f.In, f.Earliest, f.Latest)
		}
	}
}

// TestExpectNoise checks that series without a trend have no forecast, and that most degrading series have one whose
// bounds contain the truth.
func TestExpectNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	const series = 100
	found, within := 0, 0
	for i := range series {
		n := 6 + i%40
		noise, degrading := make([]float64, n), make([]float64, n)
		for k := range n {
			noise[k] = 60 + 2*random.NormFloat64()
			degrading[k] = 50 + 12*float64(k)/float64(n-1) + 0.3*random.NormFloat64()
		}
		if _, outcome := Expect(daily(noise...), 70, true); outcome != NoTrend {
			t.Errorf("series %d of %d readings of noise: outcome %d", i, n, outcome)
		}
		f, outcome := Expect(daily(degrading...), 70, true)
		if outcome != Crosses {
			continue
		}
		found++
		truth := time.Duration(8 / 12.0 * float64(n-1) * float64(day)) // from 62 to 70
		if f.Earliest <= truth && (f.Latest == 0 || truth <= f.Latest) {
			within++
		}
	}
	if found < series*9/10 || within < found*85/100 {
		t.Errorf("%d of %d degrading series have a forecast, %d with the truth within its bounds", found, series,
			within)
	}
}

// folderOf returns a folder of a small tree in which the module of one port has a temperature.
func folderOf(t *testing.T, f *fabric.Fabric, when time.Time, celsius int, downed, symbols uint64) (*Folder,
	fabric.PortIndex) {
	t.Helper()
	at := f.Links()[0].A
	h := &health.Report{}
	h.Of(at).Cable = &health.Cable{Part: "MFS1", Serial: "1", Celsius: celsius, Measured: true}
	h.Of(at).BER[SymbolBER] = health.Rate{Value: 1e-15 * float64(1+symbols), Known: true}
	c := counters.Port{Port: at, Has: counters.Of(counters.LinkDowned, counters.SymbolErrors)}
	c.Values[counters.LinkDowned], c.Values[counters.SymbolErrors] = downed, symbols
	return &Folder{Name: when.Format(time.DateOnly), When: when, Fabric: f, Health: h,
		Counters: &counters.Reading{Fabric: f, Ports: []counters.Port{c}}}, at
}

// TestHistory checks which readings of folders count: those of a link that is known to be up for 125 minutes.
func TestHistory(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	h := &History{}
	add := func(when time.Time, celsius int, downed, symbols uint64) {
		folder, _ := folderOf(t, f, when, celsius, downed, symbols)
		h.AddReading(folder.Read())
	}
	for i := range 4 {
		add(began.AddDate(0, 0, i), 50+i, 3, uint64(i*24))
	}
	p := h.Ports()[0]
	if got := p.Points[Temperature]; len(got) != 3 || got[0].Value != 51 || p.Unsettled[Temperature] != 1 {
		t.Errorf("temperatures %v and %d that do not count, expected 51 to 53 and 1", got, p.Unsettled[Temperature])
	}
	if got := p.Points[SymbolErrors]; len(got) != 3 || got[2].Value != 1 {
		t.Errorf("symbol errors per hour %v, expected 1 three times", got)
	}
	add(began.AddDate(0, 0, 4), 60, 4, 500)                          // the link was down
	add(began.AddDate(0, 0, 4).Add(Settled-time.Second), 61, 4, 500) // and is up for less than 125 minutes
	add(began.AddDate(0, 0, 4).Add(Settled), 62, 4, 10)              // counters were cleared
	if got := p.Points[Temperature]; len(got) != 4 || got[3].Value != 62 || p.Unsettled[Temperature] != 3 {
		t.Errorf("temperatures %v and %d that do not count", got, p.Unsettled[Temperature])
	}
	if got := p.Points[SymbolErrors]; len(got) != 3 {
		t.Errorf("symbol errors per hour %v, expected none after the outage", got)
	}
}

// TestAddSamples checks the rates of recorded samples, with an outage in between.
func TestAddSamples(t *testing.T) {
	var p Port
	var samples []counters.Delta
	var ends []time.Time
	for i := range 10 {
		d := counters.Delta{Has: counters.Of(counters.LinkDowned, counters.SymbolErrors), Seconds: 3600}
		d.Increase[counters.SymbolErrors] = uint64(10 * i)
		if i == 5 {
			d.Increase[counters.LinkDowned] = 1
		}
		samples, ends = append(samples, d), append(ends, began.Add(time.Duration(i)*time.Hour))
	}
	p.AddSamples(samples, ends, nil)
	// Hours 0 and 1 end less than 125 minutes after the first sample begins; 5 has the outage; 6 and 7 follow it.
	var got []float64
	for _, x := range p.Points[SymbolErrors] {
		got = append(got, x.Value)
	}
	want := []float64{20, 30, 40, 80, 90}
	if len(got) != len(want) {
		t.Fatalf("rates %v, expected %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("rates %v, expected %v", got, want)
		}
	}
}

// TestDiff compares two folders with known differences.
func TestDiff(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	links := f.Links()
	last := links[len(links)-1]
	old, at := folderOf(t, f, began, 50, 3, 0)
	now, _ := folderOf(t, f.Without([]fabric.Link{last}), began.AddDate(0, 0, 1), 71, 3, 99)
	name := f.PortName(at)
	check := func(what string, changes []Change, want map[string]Direction) {
		t.Helper()
		got := map[string]Direction{}
		for _, c := range changes {
			got[c.What+" "+c.At.Name+" "+c.Old+" "+c.New] = c.Direction
		}
		for k, d := range want {
			if x, ok := got[k]; !ok || x != d {
				t.Errorf("%s: no %q (%v)", what, k, d)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v", what, got)
		}
	}
	check("worse", Diff(old, now, Defaults()), map[string]Direction{
		"link down " + f.PortName(last.A) + " " + f.PortName(last.B) + " ": Worse,
		"temperature " + name + " 50 C 71 C":                               Worse,
		"symbol BER " + name + " 1.0e-15 1.0e-13":                          Worse,
		"SymbolErrorCounter " + name + " 0 99":                             Worse,
	})
	old.When, now.When = now.When, old.When
	check("better", Diff(now, old, Defaults()), map[string]Direction{
		"link up " + f.PortName(last.A) + "  " + f.PortName(last.B): Better,
		"temperature " + name + " 71 C 50 C":                        Better,
		"symbol BER " + name + " 1.0e-13 1.0e-15":                   Better,
	})
	again, _ := folderOf(t, f, began.AddDate(0, 0, 2), 54, 3, 0)
	check("little", Diff(old, again, Defaults()), nil)
	again.Health.Of(at).Cable.Serial = "2"
	again.Health.Of(at).Cable.Celsius = 90
	check("a new module", Diff(old, again, Defaults()),
		map[string]Direction{"module " + name + " MFS1 1 MFS1 2": Altered})
}

func TestParseLimit(t *testing.T) {
	l, err := ParseLimit("effective-ber 1e-13 speed=ndr fec=kp4 medium=optical", "site.conf:3")
	want := Limit{Quantity: EffectiveBER, Value: 1e-13, Source: "site.conf:3", Speed: fabric.NDR, FEC: kp4,
		Medium: Optical}
	if err != nil || l != want || l.Name() != "effective-ber speed=NDR fec=kp4 medium=optical" {
		t.Errorf("%+v (%s), %v, expected %+v", l, l.Name(), err, want)
	}
	all := append([]Limit{l}, Defaults()...)
	for link, want := range map[Link]float64{
		{Speed: fabric.NDR, FEC: kp4, Medium: Optical}: 1e-13, {Speed: fabric.NDR, FEC: kp4, Medium: Copper}: 1e-14,
		{Speed: fabric.HDR, FEC: lowLatencyRS}: 1e-11, {Speed: fabric.EDR, FEC: health.Unknown}: 1e-12,
	} {
		if got, ok := LimitOf(all, EffectiveBER, &link); !ok || got.Value != want {
			t.Errorf("%+v: limit %g, expected %g", link, got.Value, want)
		}
	}
	for _, text := range []string{"", "temperature", "heat 70", "temperature hot", "temperature NaN", "temperature -1",
		"temperature 5000", "effective-ber 5", "raw-ber 1e-40", "received-power 500", "symbol-errors 0.001",
		"temperature 70 speed=fast", "temperature 70 fec=9", "temperature 70 medium=any", "temperature 70 colour=red"} {
		if l, err := ParseLimit(text, ""); err == nil {
			t.Errorf("%q: %+v", text, l)
		}
	}
	if l, err := ParseLimit("received-power -9.5", ""); err != nil || l.Value != -9.5 {
		t.Errorf("%+v, %v", l, err)
	}
}
