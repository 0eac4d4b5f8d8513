// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/engines/minhop"
)

// BenchmarkChecks routes a fat-tree of 11,664 hosts with minhop and makes the three
// checks of its tables, all in each run. It reports the milliseconds of each, how
// many times as long as the routing reach and load are, and the peak memory.
func BenchmarkChecks(b *testing.B) {
	f := assigned(b, "fattree:3,36")
	var took [4]time.Duration
	runs := 0
	for b.Loop() {
		last := time.Now()
		lap := func(i int, err error) {
			if err != nil {
				b.Fatal(err)
			}
			took[i] += time.Since(last)
			last = time.Now()
		}
		res, err := minhop.Engine{}.Route(b.Context(), f, routing.Options{})
		lap(0, err)
		_, err = reach.Check(b.Context(), res.Tables, reach.Options{})
		lap(1, err)
		_, err = linkload.AllToAll(b.Context(), res.Tables, linkload.Options{})
		lap(2, err)
		_, err = credits.Check(b.Context(), res.Tables, credits.Options{})
		lap(3, err)
		runs++
	}
	for i, name := range []string{"route", "reach", "load", "credits"} {
		b.ReportMetric(took[i].Seconds()*1000/float64(runs), name+"-ms")
	}
	b.ReportMetric(float64(took[1])/float64(took[0]), "reach-x")
	b.ReportMetric(float64(took[2])/float64(took[0]), "load-x")
	b.ReportMetric(peakMB(b), "our-MB")
}

// peakMB is the highest resident memory that this process has had.
func peakMB(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kb), " kB"))
			if err != nil {
				b.Fatal(err)
			}
			return float64(n) / 1024
		}
	}
	return 0
}
