// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"errors"
	"testing"
)

// Whatever is received, outstanding requests end at most once, and the client keeps working.
func FuzzTake(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x01\x81\x01\x81"))
	f.Add([]byte("\x00\x01\x00\x00\x01\x03\x02\x92\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x00\x01\x01\x01\x05"))
	f.Fuzz(func(t *testing.T, b []byte) {
		traps := make(chan Trap, 1)
		a := newAgent(silence)
		c, err := NewClient(a, ClientOptions{Window: 2, Traps: traps})
		if err != nil {
			t.Fatal(err)
		}
		batch := c.NewBatch(t.Context())
		ended := [2]int{}
		batch.Go(Request{Attr: AttrNodeInfo, Path: Path{n: 1}}, func(*Reply) { ended[0]++ })
		batch.Go(tableRequest(), func(*Reply) { ended[1]++ })
		sent := a.frames()
		var out Frame
		for i := 0; len(b) > 4; i++ {
			// Frame status, index of the request, changes of its transaction id, then the MAD.
			frame := Frame{Status: uint32(b[0])}
			n := copy(frame.Data[:], b[4:])
			copy(frame.Data[OffTID:], sent[b[1]&1].Data[OffTID:OffTID+8])
			frame.Data[OffTID+7] ^= b[2]
			if b[3]&1 != 0 {
				copy(frame.Data[OffAttr:], sent[b[1]&1].Data[OffAttr:OffBody])
			}
			if c.take(&frame, &out, nil) && !segmented(&out.Data) {
				t.Fatalf("sends %x", out.Data)
			}
			b = b[4+n:]
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := batch.Wait(); err != nil && !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
		if ended[0] > 1 || ended[1] > 1 {
			t.Fatalf("ended %v", ended)
		}
	})
}
