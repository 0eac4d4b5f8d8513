// SPDX-License-Identifier: Apache-2.0

package groups_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/tui/pane/groups"
	"example.org/ibconsole/tui/pane/panetest"
)

// TestGroups checks that the pane explains why there are no groups, and shows a group of a file with its members.
func TestGroups(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", panetest.Of(groups.New))
	if s.Pane.Base().N == 0 && s.Pane.Empty() == "" {
		t.Error("no rows and no explanation")
	}
	file := groupFile(t, s)
	s.Run("load groups " + file + "; route")
	if s.Pane.Base().N != 1 {
		t.Fatalf("%d groups, want 1: %s", s.Pane.Base().N, s.Pane.Empty())
	}
	if cells := s.Cells("0xc005"); cells["members"] != "2" {
		t.Errorf("the row is %q", cells)
	}
	s.Turn(2)
	s.Has("node-0001")
	s.Has("node-0005")
	s.Drawn(70)
}

// groupFile writes a group of two hosts in the form of OpenSM's opensm-sa.dump.
func groupFile(t *testing.T, s *panetest.Stand) string {
	t.Helper()
	f := s.Session.State().Live.Fabric
	port := func(name string) uint64 { return f.Ports[s.Place(name).EndPort(f)].GUID }
	text := fmt.Sprintf("MC Group 0xc005 :\nmcm_port: port_gid=0xfe80000000000000:0x%016x\nmcm_port: "+
		"port_gid=0xfe80000000000000:0x%016x\n", port("node-0001"), port("node-0005"))
	file := filepath.Join(t.TempDir(), "groups")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestTorusRoot checks that the tree of torus-2QoS begins at the root that torus-2QoS(8) draws for a torus of 6 x 5,
// which none of the members is attached to.
func TestTorusRoot(t *testing.T) {
	s := panetest.New(t, "sim:torus:6x5", "", panetest.Of(groups.New))
	s.Run("engine torus-2QoS,no_fallback; load groups " + groupFile(t, s) + "; route")
	s.Turn(1)
	s.Drawn(70)
	if rows := s.Rows(); len(rows) < 2 || !strings.Contains(rows[1], "sw-3-2") || !strings.Contains(rows[1], "root") {
		t.Errorf("the tree is %q, want that it begins with sw-3-2, root", rows)
	}
	s.Has("node-0001")
	s.Has("node-0005")
}

// TestGroupsFollowSettings checks that the pane shows the SL of a group as soon as the settings name a partition file.
func TestGroupsFollowSettings(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", panetest.Of(groups.New))
	s.Run("load groups " + groupFile(t, s) + "; route")
	if sl := s.Cells("0xc005")["SL"]; sl != "?" {
		t.Fatalf("SL %q, want ?", sl)
	}
	for _, sl := range []string{"5", "3"} {
		file := filepath.Join(t.TempDir(), "partitions.conf")
		if err := os.WriteFile(file, []byte("Default=0x7fff,ipoib,sl="+sl+": ALL=full;\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Run("engine minhop qos=yes partition_config_file=" + file)
		if got := s.Cells("0xc005")["SL"]; got != sl {
			t.Errorf("SL %q, want %s", got, sl)
		}
	}
}
