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
// Our figures are the best of some rounds and each tool's that of one, after one
// to warm up for the quick one; limit-% is our share of the rate at which ibsim
// answers a NodeInfo to a window of 64.
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
	tool("ibnetdiscover")
	discover, dump := tool("ibnetdiscover"), tool("dump_fts")
	b.Logf("ibnetdiscover %.2f s, dump_fts %.2f s", discover.Seconds(), dump.Seconds())
	for _, window := range []int{4, 16, 64, 256} {
		b.Run(fmt.Sprintf("window=%d", window), func(b *testing.B) {
			transport, err := ibsim.Dial(b.Context(), ibsim.Options{Name: s.Name})
			if err != nil {
				b.Fatal(err)
			}
			c := client(b, transport, mad.ClientOptions{Window: window})
			limit := rate(b, c)
			nodes, tables := time.Duration(1<<62), time.Duration(1<<62)
			var seen, all *sweep.Result
			for b.Loop() {
				for range 3 {
					seen = full(b, c, sweep.Options{NoTables: true})
					nodes = min(nodes, seen.Stats.Elapsed)
					all = full(b, c, sweep.Options{})
					tables = min(tables, all.Stats.Elapsed)
				}
			}
			if len(all.Holes)+len(all.Warnings) > 0 || !fabric.Same(seen.Fabric, all.Fabric) {
				b.Fatal(all.Holes, all.Warnings)
			}
			b.ReportMetric(nodes.Seconds(), "s-full")
			b.ReportMetric((tables - nodes).Seconds(), "s-LFTs")
			b.ReportMetric(discover.Seconds()/nodes.Seconds(), "x-ibnetdiscover")
			b.ReportMetric(dump.Seconds()/(tables-nodes).Seconds(), "x-dump_fts")
			b.ReportMetric(dump.Seconds()/tables.Seconds(), "x-dump_fts-with-sweep")
			b.ReportMetric(float64(seen.Stats.Requests), "MADs-full")
			b.ReportMetric(float64(all.Stats.Requests), "MADs-all")
			b.ReportMetric(100*float64(all.Stats.Requests)/tables.Seconds()/limit, "limit-%")
		})
	}
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
