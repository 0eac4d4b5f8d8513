// SPDX-License-Identifier: Apache-2.0

package paths_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/paths"
)

func fatTree(b testing.TB) *fabric.Fabric { return generated(b, "fattree:3,36") }

func torus(b testing.TB) *fabric.Fabric { return generated(b, "torus:12x12x12") }

func generated(b testing.TB, spec string) *fabric.Fabric {
	f, err := gen.ParseSpec(spec)
	if err != nil {
		b.Fatal(err)
	}
	return withLIDs(b, f)
}

func withLIDs(b testing.TB, f *fabric.Fabric) *fabric.Fabric {
	f, err := fabric.AssignLIDs(f)
	if err != nil {
		b.Fatal(err)
	}
	return f
}

func rhino(b testing.TB) *fabric.Fabric {
	s, err := formats.Read(b.Context(), testenv.SharedFile(b, "fabrics/rhino10k-2520sw.net"))
	if err != nil {
		b.Fatal(err)
	}
	return withLIDs(b, s.Fabric)
}

// BenchmarkBuild times the building of databases and the routing of their tables in one run. The ratios are those of
// the shortest times. Parts are in bytes.
func BenchmarkBuild(b *testing.B) {
	for name, fabricOf := range map[string]func(testing.TB) *fabric.Fabric{"fattree:3,36": fatTree, "rhino10k": rhino,
		"torus:12x12x12": torus} {
		for _, engine := range engines.Names() {
			b.Run(name+"/"+engine, func(b *testing.B) {
				f := fabricOf(b)
				e, err := engines.ByName(engine)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := e.Route(b.Context(), f, routing.Options{}); err != nil {
					b.Skip(err)
				}
				routed, built, whole := time.Hour, time.Hour, time.Hour
				var records, all int
				for b.Loop() {
					start := time.Now()
					res, err := e.Route(b.Context(), f, routing.Options{})
					if err != nil {
						b.Fatal(err)
					}
					routed = min(routed, time.Since(start))
					start = time.Now()
					image, err := paths.Build(b.Context(), res.Tables, paths.Options{})
					if err != nil {
						b.Fatal(err)
					}
					built = min(built, time.Since(start))
					records = len(image)
					start = time.Now()
					image, err = paths.Build(b.Context(), res.Tables, paths.Options{Trace: true})
					if err != nil {
						b.Fatal(err)
					}
					whole = min(whole, time.Since(start))
					all = len(image)
				}
				b.ReportMetric(float64(built)/float64(routed), "built/routed")
				b.ReportMetric(float64(whole)/float64(routed), "with-trace/routed")
				b.ReportMetric(float64(records), "records-bytes")
				b.ReportMetric(float64(all-records), "trace-bytes")
				b.ReportMetric(float64(len(f.Switches)*int(f.MaxLID)), "lft-bytes")
			})
		}
	}
}

func BenchmarkQuery(b *testing.B) {
	f := fatTree(b)
	e, _ := engines.ByName("minhop")
	res, err := e.Route(b.Context(), f, routing.Options{})
	if err != nil {
		b.Fatal(err)
	}
	image, err := paths.Build(b.Context(), res.Tables, paths.Options{})
	if err != nil {
		b.Fatal(err)
	}
	db, err := pathdb.Parse(image)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	pairs := make([][2]uint16, 1<<16)
	for i := range pairs {
		pairs[i] = [2]uint16{
			f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].LID, f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].LID,
		}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		p := pairs[i&(1<<16-1)]
		i++
		if _, err := db.View().Query(p[0], p[1], pathdb.Want{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDelta has a failed link of the fat-tree. It reports the size of the difference relative to the file, after
// incremental and after full routing.
func BenchmarkDelta(b *testing.B) {
	f := fatTree(b)
	before := route(b, f, "minhop")
	old := view(b, build(b, before, nil))
	var cut fabric.Link
	for _, l := range f.Links() {
		if f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None {
			cut = l
		}
	}
	less := f.Without([]fabric.Link{cut})
	for name, after := range map[string]*fabric.Tables{
		"incremental": adapted(b, before, less), "whole": route(b, less, "minhop"),
	} {
		b.Run(name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				delta, err := pathdb.Delta(old, view(b, build(b, after, old)))
				if err != nil {
					b.Fatal(err)
				}
				size = len(delta)
			}
			b.ReportMetric(100*float64(size)/float64(old.Info().Whole), "%-of-file")
		})
	}
}

// BenchmarkLimit has a tree at the limit of 48,000 LIDs: 2,288 switches, 46,080 hosts.
func BenchmarkLimit(b *testing.B) {
	f, err := gen.ParseSpec("xgft:3,32,16,90,1,8,16")
	if err != nil {
		b.Skip(err)
	}
	f = withLIDs(b, f)
	tables := route(b, f, "minhop")
	for b.Loop() {
		image, err := paths.Build(b.Context(), tables, paths.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(image)), "records-bytes")
		b.ReportMetric(float64(f.MaxLID), "LIDs")
		b.ReportMetric(float64(len(f.Switches)), "switches")
	}
}
