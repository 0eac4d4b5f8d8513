// SPDX-License-Identifier: Apache-2.0

package ibsim_test

import (
	"context"
	"fmt"
	"testing"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

func dial(t testing.TB, s *ibsimtest.Sim, opts mad.ClientOptions) *mad.Client {
	t.Helper()
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: s.Name})
	if err != nil {
		t.Fatal(err)
	}
	client, err := mad.NewClient(transport, opts)
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

// BenchmarkBatch reads NodeInfo two hops away over a real ibsim.
func BenchmarkBatch(b *testing.B) {
	s := ibsimtest.Start(b, "testdata/two-switches.net")
	path, err := mad.NewPath(1, 3)
	if err != nil {
		b.Fatal(err)
	}
	for _, window := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("window=%d", window), func(b *testing.B) {
			client := dial(b, s, mad.ClientOptions{Window: window})
			batch := client.NewBatch(context.Background())
			req := mad.Request{Attr: mad.AttrNodeInfo, Path: path}
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

// BenchmarkDo reads NodeInfo one at a time.
func BenchmarkDo(b *testing.B) {
	s := ibsimtest.Start(b, "testdata/two-switches.net")
	client := dial(b, s, mad.ClientOptions{})
	path, err := mad.NewPath(1, 3)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.NodeInfo(context.Background(), path); err != nil {
			b.Fatal(err)
		}
	}
}
