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

// BenchmarkBatch reads NodeInfo two hops away over a real ibsim.
func BenchmarkBatch(b *testing.B) {
	s := ibsimtest.Start(b, "testdata/two-switches.net")
	path, err := mad.Path{}.Append(1, 3)
	if err != nil {
		b.Fatal(err)
	}
	for _, window := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("window=%d", window), func(b *testing.B) {
			client := client(b, ibsim.Options{Name: s.Name}, mad.ClientOptions{Window: window})
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
	client := client(b, ibsim.Options{Name: s.Name}, mad.ClientOptions{})
	path, err := mad.Path{}.Append(1, 3)
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
