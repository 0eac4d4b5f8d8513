// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/tui/pane/load"
	"example.org/ibconsole/tui/pane/panetest"
)

// TestPaths uses a fat-tree of 4 leaf switches with 2 hosts each: 48 ordered pairs of hosts on two leaf switches, each
// of which takes one link up and one down.
func TestPaths(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", panetest.Of(load.New))
	table := s.Pane.Base()
	var paths int
	for line := range table.N {
		row := table.Row(line)
		for _, c := range table.Shown() {
			if c.Name == "paths" {
				n, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(c.Cell(row)), ",", ""))
				if err != nil {
					t.Fatal(err)
				}
				paths += n
			}
		}
	}
	if paths != 2*48 {
		t.Errorf("%d paths over %d links, want %d:\n%s", paths, table.N, 2*48, strings.Join(s.Rows(), "\n"))
	}
	s.Drawn(70)
}

// TestOpensAtTop checks that a failure leaves the cursor on the busiest link unless a row was selected. Then
// the cursor follows this row.
func TestOpensAtTop(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,12", "", panetest.Of(load.New))
	table := s.Pane.Base()
	s.Run("fail link leaf-01/7")
	s.Run("route")
	if table.N == 0 || table.Cursor != 0 {
		t.Errorf("the cursor is in line %d of %d", table.Cursor, table.N)
	}
	table.To(3)
	row, _ := table.Selected()
	at := table.ID(row)
	s.Run("restore all")
	s.Run("fail link leaf-02/8")
	s.Run("route")
	if row, ok := table.Selected(); !ok || table.ID(row) != at {
		t.Errorf("the selected link was left for line %d", table.Cursor)
	}
}
