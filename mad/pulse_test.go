// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// If the subnet stops answering, the local port shows why. If the local port answers normally, requests continue even
// if many nodes do not respond.
func TestPulse(t *testing.T) {
	const stateAt = 32 // of a PortInfo, in its lower 4 bits
	for name, c := range map[string]struct {
		state PortState // of the local port; 0: it does not answer
		want  error
	}{
		"silent":     {0, ErrSilent},
		"unplugged":  {PortDown, ErrUnplugged},
		"unanswered": {PortActive, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				client := newTestClient(t, newAgent(func(_ int, f Frame) []answer {
					if f.Data[OffHopCount] > 0 {
						return nil
					}
					asked++
					if c.state == 0 {
						return nil
					}
					r := reply(f, StatusOK)
					r.Data[OffData+stateAt] = uint8(c.state)
					return []answer{at(0, r)}
				}), ClientOptions{Window: 4})
				ctx, cancel := context.WithCancelCause(t.Context())
				b := client.NewBatch(ctx)
				var pulse Pulse
				begun, ended := 0, 0
				const n = 40
				var next func()
				next = func() {
					begun++
					path, err := (Path{}).Append(uint8(begun))
					if err != nil {
						t.Fatal(err)
					}
					b.Go(Request{Attr: AttrNodeInfo, Path: path}, func(r *Reply) {
						ended++
						pulse.Observe(b, r.Err, cancel)
						if begun < n {
							next()
						}
					})
				}
				for range client.Options().Window {
					next()
				}
				start := time.Now()
				err := b.Wait()
				if c.want == nil {
					if err != nil || ended != n || asked < 2 {
						t.Errorf("%v; %d of %d requests ended, the local port was asked %d times", err, ended, n, asked)
					}
					return
				}
				if err == nil || !errors.Is(context.Cause(ctx), c.want) || ended == n {
					t.Errorf("%v, %v after %v and %d requests, want %v before the last", err, context.Cause(ctx),
						time.Since(start), ended, c.want)
				}
			})
		})
	}
}
