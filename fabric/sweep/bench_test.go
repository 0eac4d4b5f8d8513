// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// BenchmarkDiags lays sweeps beside ibnetdiscover and dump_fts on one ibsim with
// the fat-tree of 11,664 hosts and 1,620 switches, which OpenSM routes first. It
// takes minutes and runs only with IBCONSOLE_BENCH_DIAGS=1:
//
//	IBCONSOLE_BENCH_DIAGS=1 go test -run - -bench Diags -benchtime 1x ./fabric/sweep
//
// Figures are the best of some rounds, of dump_fts of one. The time of LFTs is that
// by which a sweep with them is longer; x-dump_fts-all lays dump_fts, which has to
// find the switches as well, beside all of that sweep. limit-% is our share of the
// rate at which ibsim answers NodeInfos to a window of 64.
func BenchmarkDiags(b *testing.B) {
	if os.Getenv("IBCONSOLE_BENCH_DIAGS") != "1" {
		b.Skip("takes minutes: set IBCONSOLE_BENCH_DIAGS=1")
	}
	s := ibsimOf(b, generate(b, "fattree:3,36"))
	ibsimtest.OpenSM(b, s)
	tool := func(name string) time.Duration {
		cmd := s.Command(b.Context(), name)
		cmd.Stdout = io.Discard
		start := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(name, err)
		}
		return time.Since(start)
	}
	discover := time.Duration(1 << 62)
	for range 4 {
		discover = min(discover, tool("ibnetdiscover"))
	}
	dump := tool("dump_fts")
	b.Logf("ibnetdiscover %.2f s, dump_fts %.2f s", discover.Seconds(), dump.Seconds())
	limit := 0.0
	for range 5 {
		limit = max(limit, rate(b, dialWindow(b, s, 64)))
	}
	for _, window := range []int{4, 16, 64, 256} {
		b.Run(fmt.Sprintf("window=%d", window), func(b *testing.B) {
			c := dialWindow(b, s, window)
			var nodes, tables, again *sweep.Result
			for b.Loop() {
				for range 5 {
					nodes = faster(nodes, full(b, c, sweep.Options{NoTables: true}))
					tables = faster(tables, full(b, c, sweep.Options{}))
					again = faster(again, light(b, c, nodes.Fabric, sweep.LightOptions{}))
				}
			}
			if len(tables.Holes)+len(tables.Warnings) > 0 || !fabric.Same(nodes.Fabric, tables.Fabric) || !fabric.Same(nodes.Fabric, again.Fabric) {
				b.Fatal(tables.Holes, tables.Warnings)
			}
			seconds := func(r *sweep.Result) float64 { return r.Stats.Elapsed.Seconds() }
			lfts := seconds(tables) - seconds(nodes)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(seconds(nodes), "s-full")
			b.ReportMetric(lfts, "s-LFTs")
			b.ReportMetric(seconds(again), "s-light")
			b.ReportMetric(discover.Seconds()/seconds(nodes), "x-ibnetdiscover")
			b.ReportMetric(dump.Seconds()/lfts, "x-dump_fts")
			b.ReportMetric(dump.Seconds()/seconds(tables), "x-dump_fts-all")
			b.ReportMetric(float64(nodes.Stats.Requests), "MADs-full")
			b.ReportMetric(float64(tables.Stats.Requests), "MADs-all")
			b.ReportMetric(float64(again.Stats.Requests), "MADs-light")
			b.ReportMetric(100*tables.Stats.PerSecond()/limit, "limit-%")
		})
	}
}

func dialWindow(b *testing.B, s *ibsimtest.Sim, window int) *mad.Client {
	b.Helper()
	transport, err := ibsim.Dial(b.Context(), ibsim.Options{Name: s.Name})
	if err != nil {
		b.Fatal(err)
	}
	return client(b, transport, mad.ClientOptions{Window: window})
}

// faster is the one of two results that took less time; a may be nil.
func faster(a, b *sweep.Result) *sweep.Result {
	if a == nil || b.Stats.Elapsed < a.Stats.Elapsed {
		return b
	}
	return a
}

// rate is how many NodeInfos of the local node are answered a second.
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
