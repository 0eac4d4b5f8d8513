// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"fmt"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
)

func generate(t testing.TB, spec string) *fabric.Fabric {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func dial(t testing.TB, s *sim.Sim, port fabric.PortIndex, opts mad.ClientOptions) *mad.Client {
	t.Helper()
	conn, err := s.Open(port)
	if err != nil {
		t.Fatal(err)
	}
	client, err := mad.NewClient(conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return client
}

// BenchmarkBatch reads PortInfo four hops away.
func BenchmarkBatch(b *testing.B) {
	f := generate(b, "fattree:3,36")
	path, err := mad.Path{}.Append(1, 19, 19, 2)
	if err != nil {
		b.Fatal(err)
	}
	for _, window := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("window=%d", window), func(b *testing.B) {
			client := dial(b, sim.New(f, sim.Options{}), f.SMPort, mad.ClientOptions{Window: window})
			batch := client.NewBatch(context.Background())
			req := mad.Request{Attr: mad.AttrPortInfo, Mod: 3, Path: path}
			todo := b.N
			var next func(*mad.Reply)
			next = func(r *mad.Reply) {
				if r.Err != nil {
					b.Error(r.Err)
				}
				if todo > 0 {
					todo--
					batch.Go(req, next)
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range min(window, b.N) {
				todo--
				batch.Go(req, next)
			}
			if err := batch.Wait(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "MADs/s")
		})
	}
}
