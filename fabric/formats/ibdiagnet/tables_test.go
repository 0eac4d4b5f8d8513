// SPDX-License-Identifier: Apache-2.0

package ibdiagnet_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/fabric/gen"
)

// big returns tables of a fat-tree, with arbitrary ports, as fdbs and as far.
func big(t testing.TB, spec string) (fdbs, far []byte) {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	for s := range f.NumSwitches() {
		for lid := 1; lid <= int(f.MaxLID); lid++ {
			lft.Row(s)[lid] = uint8((lid + int(s)) % int(f.SwitchNode(s).NumPorts+1))
		}
	}
	a := ibdiagnet.FarOf(fabric.NewTables(f, lft, "test"))
	var x, y bytes.Buffer
	if err := ibdiagnet.WriteFDBs(&x, a, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := ibdiagnet.WriteFar(&y, a, time.Time{}); err != nil {
		t.Fatal(err)
	}
	return x.Bytes(), y.Bytes()
}

type readTables func(context.Context, io.Reader, string, *unread.List) (*ibdiagnet.Far, error)

// A line costs no allocation: there are fewer than ten per table.
func TestAllocations(t *testing.T) {
	fdbs, far := big(t, "fattree:2,16")
	for name, c := range map[string]struct {
		text []byte
		read readTables
	}{"fdbs": {fdbs, ibdiagnet.ReadFDBs}, "far": {far, ibdiagnet.ReadFar}} {
		const switches = 24
		lines := bytes.Count(c.text, []byte("\n"))
		n := testing.AllocsPerRun(5, func() {
			if a, err := c.read(t.Context(), bytes.NewReader(c.text), name, nil); err != nil ||
				len(a.Switches) != switches {
				t.Fatal(err)
			}
		})
		if n > 10*switches+50 {
			t.Errorf("%s: %v allocations for %d lines", name, n, lines)
		}
	}
}

func BenchmarkTables(b *testing.B) {
	fdbs, far := big(b, "fattree:3,24")
	for name, c := range map[string]struct {
		text []byte
		read readTables
	}{"fdbs": {fdbs, ibdiagnet.ReadFDBs}, "far": {far, ibdiagnet.ReadFar}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.read(b.Context(), bytes.NewReader(c.text), name, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
