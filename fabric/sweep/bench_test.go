// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// BenchmarkDiags compares sweeps with ibnetdiscover and dump_fts on one ibsim with the fat-tree of 11,664 hosts and
// 1,620 switches, which OpenSM routes first. It takes minutes and runs only with IBCONSOLE_BENCH_DIAGS=1:
//
//	IBCONSOLE_BENCH_DIAGS=1 go test -run - -bench Diags -benchtime 1x ./fabric/sweep
//
// The windows and the tools take turns, so that other load on the machine affects all of them. Figures are medians;
// dump_fts runs once. Each turn has a client of its own, so that none occupies clients of ibsim. The time of LFTs is
// the difference between sweeps with and without them; x-dump_fts-all compares dump_fts, which must find the switches
// as well, with the whole sweep. limit-% is our share of the rate at which ibsim answers NodeInfos of the local node to
// a window of 128, full-% the same for the sweep without tables, and share-% that of 364,000 per second, once measured
// for one client with 64 of them in flight.
func BenchmarkDiags(b *testing.B) {
	if os.Getenv("IBCONSOLE_BENCH_DIAGS") != "1" {
		b.Skip("takes minutes: set IBCONSOLE_BENCH_DIAGS=1")
	}
	s := ibsimOf(b, generate(b, "fattree:3,36"))
	ibsimtest.OpenSM(b, s)
	tool := func(name string) float64 {
		cmd := s.Command(b.Context(), name)
		cmd.Stdout = io.Discard
		start := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(name, err)
		}
		return time.Since(start).Seconds()
	}
	windows := []int{4, 16, 64, 128}
	runs := make([]benchRuns, len(windows))
	dump := tool("dump_fts")
	var discover, limit []float64
	for range 3 {
		discover = append(discover, tool("ibnetdiscover"))
		turn(b, s, 128, func(c *mad.Client) { limit = append(limit, rate(b, c)) })
		for i, w := range windows {
			turn(b, s, w, func(c *mad.Client) { runs[i].add(b, c) })
		}
	}
	b.Logf("ibnetdiscover %.2f s, dump_fts %.2f s, NodeInfos of the local node %.0f a second", median(discover), dump,
		median(limit))
	for i, w := range windows {
		b.Run(fmt.Sprintf("window=%d", w), func(b *testing.B) {
			for b.Loop() {
				runs[i].report(b, median(discover), dump, median(limit))
			}
		})
	}
}

// benchRuns holds the times of one window in seconds and its last results.
type benchRuns struct {
	full, lfts, all, light []float64
	nodes, tables, again   *sweep.Result
}

func (r *benchRuns) add(b *testing.B, c *mad.Client) {
	b.Helper()
	runtime.GC() // garbage of earlier turns
	r.nodes = full(b, c, sweep.Options{NoTables: true})
	r.tables = full(b, c, sweep.Options{})
	r.again = light(b, c, r.nodes.Fabric, sweep.LightOptions{})
	if len(r.tables.Unanswered)+len(r.tables.Warnings) > 0 || !fabric.Same(r.nodes.Fabric, r.tables.Fabric) ||
		!fabric.Same(r.nodes.Fabric, r.again.Fabric) {
		b.Fatal(r.tables.Unanswered, r.tables.Warnings)
	}
	seconds := func(r *sweep.Result) float64 { return r.Stats.Elapsed.Seconds() }
	r.full = append(r.full, seconds(r.nodes))
	r.all = append(r.all, seconds(r.tables))
	r.lfts = append(r.lfts, seconds(r.tables)-seconds(r.nodes))
	r.light = append(r.light, seconds(r.again))
}

func (r *benchRuns) report(b *testing.B, discover, dump, limit float64) {
	perSecond := float64(r.tables.Stats.Requests) / median(r.all)
	fullPerSecond := float64(r.nodes.Stats.Requests) / median(r.full)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(r.full), "s-full")
	b.ReportMetric(median(r.lfts), "s-LFTs")
	b.ReportMetric(median(r.light), "s-light")
	b.ReportMetric(discover/median(r.full), "x-ibnetdiscover")
	b.ReportMetric(dump/median(r.lfts), "x-dump_fts")
	b.ReportMetric(dump/median(r.all), "x-dump_fts-all")
	b.ReportMetric(float64(r.nodes.Stats.Requests), "MADs-full")
	b.ReportMetric(float64(r.tables.Stats.Requests), "MADs-all")
	b.ReportMetric(float64(r.again.Stats.Requests), "MADs-light")
	b.ReportMetric(perSecond, "MADs/s")
	b.ReportMetric(100*fullPerSecond/limit, "full-%")
	b.ReportMetric(100*perSecond/limit, "limit-%")
	b.ReportMetric(100*perSecond/364_000, "share-%")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// turn calls do with a client of its own.
func turn(b *testing.B, s *ibsimtest.Sim, window int, do func(*mad.Client)) {
	b.Helper()
	transport, err := ibsim.Dial(b.Context(), ibsim.Options{Name: s.Name})
	if err != nil {
		b.Fatal(err)
	}
	c, err := mad.NewClient(transport, mad.ClientOptions{Window: window})
	if err != nil {
		b.Fatal(err)
	}
	do(c)
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
}

// rate returns how many NodeInfos of the local node are answered per second.
func rate(b *testing.B, c *mad.Client) float64 {
	const n = 100_000
	batch := c.NewBatch(b.Context())
	todo := n
	var next func(*mad.Reply)
	next = func(r *mad.Reply) {
		if r.Err != nil {
			b.Fatal(r.Err)
		}
		if todo--; todo > 0 {
			batch.Go(mad.Request{Attr: mad.AttrNodeInfo}, next)
		}
	}
	start := time.Now()
	for range c.Options().Window {
		batch.Go(mad.Request{Attr: mad.AttrNodeInfo}, next)
	}
	if err := batch.Wait(); err != nil {
		b.Fatal(err)
	}
	return n / time.Since(start).Seconds()
}
