// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
)

// TestBlame: a link goes with its node, or for its cable, by what either end had counted; what others counted does not
// matter.
func TestBlame(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	l, other := f.Links()[0], f.Links()[1]
	end := func(p fabric.PortIndex) fabric.End {
		return fabric.End{GUID: f.Nodes[f.Ports[p].Node].GUID, Port: int(f.Ports[p].Num)}
	}
	down := &fabric.Change{Kind: fabric.LinkDown, At: end(l.A), Peer: end(l.B)}
	at := time.Date(2026, 11, 22, 2, 58, 0, 0, time.Local)
	read := func(p fabric.PortIndex, symbols uint64) *counters.Reading {
		c := counters.Port{Port: p, At: at, Has: counters.Errors}
		c.Values[counters.SymbolErrors], c.Values[counters.XmitDiscards] = symbols, 9 // discards say nothing of a cable
		return &counters.Reading{Fabric: f, Ports: []counters.Port{c}}
	}
	for _, x := range []struct {
		counted *counters.Reading
		gone    map[uint64]bool
		want    string
	}{
		{nil, nil, "cable or port; no counters were read before"},
		{read(other.A, 5), nil, "cable or port; no counters were read before"},
		{read(l.A, 0), nil, "cable or port; no errors were counted by 02:58:00"},
		{read(l.B, 114), nil, "cable; counted by 02:58:00: " + counters.SymbolErrors.String() + " 114"},
		{read(l.B, 114), map[uint64]bool{down.At.GUID: true}, "with its node"},
		{nil, map[uint64]bool{down.Peer.GUID: true}, "with the node behind it"},
	} {
		if got := (&found{counted: x.counted}).blame(down, x.gone); got != x.want {
			t.Errorf("got %q, want %q", got, x.want)
		}
	}
}
