// SPDX-License-Identifier: Apache-2.0

package lft_test

import (
	"fmt"
	"testing"

	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/lft"
	"example.org/ibconsole/tui/pane/panetest"
)

// TestEntries checks that the table has a row for each LID of the subnet with its port, and that the rows by port count
// the same LIDs.
func TestEntries(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", panetest.Of(lft.New))
	at := s.Place("leaf-02")
	s.Pane.(pane.Follower).Follow(at)
	st := s.Session.State()
	f := st.Live.Fabric
	sw := f.Nodes[f.NodeByGUID(at.GUID)].Switch
	byPort := map[uint8]int{}
	for _, e := range f.EndPorts {
		lid := f.LIDOf(e)
		out := st.Live.Tables.LFT.Port(sw, lid)
		byPort[out]++
		if cells := s.Cells(fmt.Sprint(lid)); cells["port"] != fmt.Sprint(out) {
			t.Errorf("LID %d leaves by port %d, its row is %q", lid, out, cells)
		}
	}
	if s.Pane.Base().N != len(f.EndPorts) {
		t.Errorf("%d rows for %d LIDs", s.Pane.Base().N, len(f.EndPorts))
	}
	s.Turn(1)
	for port, n := range byPort {
		if cells := s.Cells(fmt.Sprint(port)); cells["LIDs"] != fmt.Sprint(n) {
			t.Errorf("port %d has %d LIDs, its row is %q", port, n, cells)
		}
	}
	s.Drawn(40)
}

// TestPathsOfMemo checks that counted paths are shown next to their port.
func TestPathsOfMemo(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", panetest.Of(lft.New))
	at := s.Place("leaf-02")
	s.Pane.(pane.Follower).Follow(at)
	s.Turn(1)
	tables := s.Session.State().Live.Tables
	f := tables.Fabric
	node := f.NodeByGUID(at.GUID)
	if cells := s.Cells("1"); cells["paths"] != "" {
		t.Errorf("paths are not counted, and the row is %q", cells)
	}
	loads, err := s.Session.Analysis().Load(t.Context(), tables, linkload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for port := range f.Nodes[node].Ports() {
		if loads.Paths[port] == 0 {
			continue
		}
		used++
		want, num := fmt.Sprint(loads.Paths[port]), fmt.Sprint(f.Ports[port].Num)
		if cells := s.Cells(num); cells["paths"] != want {
			t.Errorf("%s paths leave by port %s, its row is %q", want, num, cells)
		}
	}
	if used == 0 {
		t.Error("no path leaves the switch")
	}
}
