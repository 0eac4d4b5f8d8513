// SPDX-License-Identifier: Apache-2.0

package incremental_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// BenchmarkFailure times a failed link, from the failure to tables that are routed, checked and compared with those
// before, and full routes in turn, for 1620 switches and for 300 switches of an irregular fabric. ratio is the time of
// a full route divided by that; entries counts the entries that were examined one by one.
func BenchmarkFailure(b *testing.B) {
	for _, spec := range []string{"fattree:3,36", "random:300,12,1500"} {
		b.Run(spec, func(b *testing.B) { benchFailure(b, treestest.Routed(b, spec)) })
	}
}

func benchFailure(b *testing.B, old *fabric.Tables) {
	base := baseOf(b, old)
	checks, err := reach.NewBase(b.Context(), base.Forest, reach.Options{})
	if err != nil {
		b.Fatal(err)
	}
	diffs, err := diff.NewBase(b.Context(), base.Forest)
	if err != nil {
		b.Fatal(err)
	}
	var links []fabric.Link
	for _, l := range old.Fabric.Links() {
		if old.Fabric.PeerSwitch(l.A) != fabric.None && old.Fabric.PeerSwitch(l.B) != fabric.None {
			links = append(links, l)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	const each = 20
	var took [5]time.Duration
	var lids, entries, touched int
	for b.Loop() {
		start := time.Now()
		lap := func(i int) {
			now := time.Now()
			took[i] += now.Sub(start)
			start = now
		}
		treestest.Minhop(b, old.Fabric)
		lap(0)
		for range each {
			f := old.Fabric.Without([]fabric.Link{links[r.IntN(len(links))]})
			lap(1)
			res, err := base.Route(b.Context(), f, routing.Options{})
			if err != nil {
				b.Fatal(err)
			}
			lap(2)
			all, err := checks.Check(b.Context(), res.Tables)
			if err != nil || all.Bad() > 0 {
				b.Fatal(all, err)
			}
			lap(3)
			d, err := diffs.Compare(b.Context(), res.Tables, diff.Options{})
			if err != nil || d.Entries.Changed != res.Touched {
				b.Fatal(d, err)
			}
			lap(4)
			lids, entries, touched = lids+res.LIDs, entries+res.Looked, touched+res.Touched
		}
	}
	sum := took[1] + took[2] + took[3] + took[4]
	n := float64(b.N * each)
	b.ReportMetric(took[0].Seconds()*1000/float64(b.N), "full-ms")
	for i, name := range []string{"", "fail-ms", "route-ms", "check-ms", "diff-ms"} {
		if i > 0 {
			b.ReportMetric(took[i].Seconds()*1000/n, name)
		}
	}
	b.ReportMetric(float64(took[0])/float64(b.N)/(float64(sum)/n), "ratio")
	b.ReportMetric(float64(lids)/n, "LIDs")
	b.ReportMetric(float64(entries)/n, "entries")
	b.ReportMetric(float64(touched)/n, "touched")
}
