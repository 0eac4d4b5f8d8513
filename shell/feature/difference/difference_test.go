// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/comparison"
)

// TestText compares the text of a difference with one that was written down by hand.
func TestText(t *testing.T) {
	f, err := gen.Parse("fattree", []string{"2,4"})
	if err != nil {
		t.Fatal(err)
	}
	picture := func(kind session.Kind) *session.Picture {
		return &session.Picture{Kind: kind, Fabric: f, Tables: &fabric.Tables{Fabric: f}}
	}
	host := func(i int) diff.Port {
		p := f.EndPorts[i]
		return diff.Port{Name: f.PortName(p), GUID: diff.GUID(f.Ports[p].GUID), LID: uint16(10 + i)}
	}
	leaf := f.NodesByDescription("leaf-01")[0]
	end := diff.End{GUID: diff.GUID(f.Nodes[leaf].GUID), Num: 3}
	peer := f.Ports[f.PortAt(leaf, 3)].Peer
	to := diff.End{GUID: diff.GUID(f.Nodes[f.Ports[peer].Node].GUID), Num: f.Ports[peer].Num}
	load := diff.Load{From: end, To: &to, EntriesOld: 3, EntriesNew: 2, PathsOld: 1152, PathsNew: 2}
	d := compareAll(&session.State{}, &comparison.Difference{Before: picture(session.Live),
		After: picture(session.WhatIf), Result: &diff.Result{
			Old: "live", New: "whatif", Entries: diff.Entries{Changed: 11664, Blocks: 2, Switches: 1, Unread: 1},
			Pairs: diff.Pairs{Total: 56, Same: 40, Changed: 3, Lost: 12, Unknown: 1},
			Lost: []diff.Pair{
				{Src: host(0), Dst: host(1)},
			}, Gone: []diff.Port{{GUID: host(2).GUID, LID: 12, Unreachable: true}},
			Loads: []diff.Load{load}, WorstOld: &load, WorstNew: &load,
			Multicast: &diff.Multicast{Changed: 2, Switches: 1, LIDs: 2, Examples: []diff.MulticastEntry{
				{GUID: end.GUID, MLID: 0xc000, Gone: []int{1}, Come: []int{3, 4}},
				{GUID: end.GUID, MLID: 0xc001, Come: []int{2}},
			}},
		}})
	var got strings.Builder
	if err := decl.Answer(d.basis, d).Text(&got); err != nil {
		t.Fatal(err)
	}
	want := `from live to whatif
pairs lost                12
  ` + host(0).Name + ` (LID 10) -> ` + host(1).Name + ` (LID 11)
  and 11 more
pairs with another path   3 of 56
pairs not known           1, over switches whose tables were not read
LFT entries               11,664 on 1 switches, 2 blocks; 1 switch not compared, as a table was not read
multicast entries         2 on 1 switches, of 2 LIDs
  0xc000 at leaf-01: without port 1 with port 3, 4
  0xc001 at leaf-01: with port 2
end ports gone            1
  ` + host(2).Name + ` (LID 12), unreachable
links whose load changes  1
  leaf-01/3 -> ` + f.PortName(peer) + `: paths 2, was 1,152; entries 2, was 3
most paths on a link      2, was 1,152   leaf-01/3 -> ` + f.PortName(peer) + `
not compared              node names, link widths and speeds, counters, cables, temperatures, ` +
		"error correction, SL2VL tables, service levels of paths, adaptive routing\n"
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}
