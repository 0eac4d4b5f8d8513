// SPDX-License-Identifier: Apache-2.0

package linkinfo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/prose"
)

// The output of infiniband-diags 44 over ibsim for two switches, two hosts and a router.
const (
	listPorts = `CA     6  1 0x0000000000100004 4x SDR - SW     3  2 0x0000000000200001 ( 'host two' - 'S2' )
RT     4  1 0x0000000000300001 4x SDR - SW     1  3 0x0000000000200000 ( 'R1' - 'S1' )
CA     2  1 0x0000000000100001 4x SDR - SW     1  2 0x0000000000200000 ( 'host one HCA-1' - 'S1' )
SW     3  4 0x0000000000200001 4x SDR                                    'S2'
SW     3  2 0x0000000000200001 4x SDR - CA     6  1 0x0000000000100004 ( 'S2' - 'host two' )
SW     3  1 0x0000000000200001 4x SDR - SW     1  1 0x0000000000200000 ( 'S2' - 'S1' )
SW     1  3 0x0000000000200000 4x SDR - RT     4  1 0x0000000000300001 ( 'S1' - 'R1' )
SW     1  2 0x0000000000200000 4x SDR - CA     2  1 0x0000000000100001 ( 'S1' - 'host one HCA-1' )
SW     1  1 0x0000000000200000 4x SDR - SW     3  1 0x0000000000200001 ( 'S1' - 'S2' )
`
	up        = "==( 4X           2.5 Gbps Active/  LinkUp)==>"
	could     = "(Could be 12X Could be 10.0 Gbps)"
	listLinks = `CA: host two:
      0x0000000000100004      6    1[  ] ` + up + `       3    2[  ] "S2" ` + could + `
Router: R1:
      0x0000000000300001      4    1[  ] ` + up + `       1    3[  ] "S1" ` + could + `
CA: host one HCA-1:
      0x0000000000100001      2    1[  ] ` + up + `       1    2[  ] "S1" ` + could + `
Switch: 0x0000000000200001 S2:
           3    1[  ] ` + up + `       1    1[  ] "S1" ` + could + `
           3    2[  ] ` + up + `       6    1[  ] "host two" ` + could + `
           3    4[  ] ==(                Down/ Polling)==>             [  ] "" ( )
Switch: 0x0000000000200000 S1:
           1    1[  ] ` + up + `       3    1[  ] "S2" ` + could + `
           1    2[  ] ` + up + `       2    1[  ] "host one HCA-1" ` + could + `
           1    3[  ] ` + up + `       4    1[  ] "R1" ` + could + `
`
	listLines = `0x0000000000100004 "                      host two"      6    1[  ] ` +
		up + `  0x0000000000200001      3    2[  ] "S2" ` + could + `
0x0000000000200001 "                            S2"      3    2[  ] ` +
		up + `  0x0000000000100004      6    1[  ] "host two" ` + could + `
0x0000000000200001 "                            S2"      3    4[  ] ` +
		`==(                Down/ Polling)==>             [  ] "" ( )
`
	// otherLines is a switch with two cables to a switch without rows.
	otherLines = `0x0000000000200000 "                            S1"      1    1[  ] ` +
		up + `  0x0000000000200002      7    1[  ] "S3" ` + could + `
0x0000000000200000 "                            S1"      1    2[  ] ` +
		up + `  0x0000000000200002      7    2[  ] "S3" ` + could + `
`
)

// TestReadDamaged checks the nodes, links and findings of damaged lists.
func TestReadDamaged(t *testing.T) {
	for _, c := range []struct {
		name, text, old, new string
		nodes, links         int
		findings             []string
	}{
		{"ports", listPorts, "", "", 5, 4, nil},
		{"links", listLinks, "", "", 5, 4, nil},
		{"lines", listLines, "", "", 2, 1, nil},
		{"a comment and a warning", listPorts, "SW     3  4", "# ibnetdiscover\nibwarn: [7] x: y\n\nSW     3  4",
			5, 4, nil},
		{"a line of garbage", listPorts, "SW     3  2 0x", "SW     3  two 0x", 5, 4, []string{"line 1", "line 5"}},
		{"a GUID with letters", listPorts, "CA     6  1 0x0000000000100004 4x", "CA     6  1 0x000000000010000x 4x", 5,
			4, []string{"line 1", "line 5"}},
		{"LID 65535", listPorts, "RT     4  1", "RT 65535  1", 5, 4, nil},
		{"LID 50000", listPorts, "RT     4  1", "RT 50000  1", 5, 4, []string{"line 2"}},
		{"a LID twice", listPorts, "CA     2  1 0x", "CA     6  1 0x", 5, 4, []string{"duplicate LID 3"}},
		{"a port twice", listPorts, "SW     3  4", "SW     3  2", 5, 4, []string{"line 5", "line 1"}},
		{"a port of garbage", listLinks, "           1    2[  ] ==( 4X", "           1    x[  ] ==( 4X", 5, 4,
			[]string{"line 13", "line 6"}},
		{"a rate of garbage", listLinks, "==( 4X           2.5 Gbps Active/  LinkUp)==>       3    1[  ] \"S2\"",
			"==( )==>       3    1[  ] \"S2\"", 5, 4, []string{"line 12", "line 8"}},
		{"truncated in the middle", listPorts, "( 'S1' - 'host one HCA-1' )\nSW     1  1 0x0000000000200000 4x SDR - " +
			"SW     3  1 0x0000000000200001 ( 'S1' - 'S2' )\n", "", 5, 4,
			[]string{"truncated 8", "line 8", "line 3", "line 6"}},
		{
			"truncated between lines", listPorts, "SW     1  1 0x0000000000200000 4x SDR - SW     3  1 " +
				"0x0000000000200001 ( 'S1' - 'S2' )\n", "", 5, 4, []string{"truncated 8", "line 6"},
		},
		{
			"a switch that cables name", listLines[strings.Index(listLines, "\n")+1:] + otherLines, "", "", 4, 3,
			[]string{"truncated 4", "line 3"},
		},
	} {
		var found unread.List
		f, _, err := Read(context.Background(), strings.NewReader(strings.Replace(c.text, c.old, c.new, 1)),
			"list", &found)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var findings []string
		for _, x := range found.Findings {
			findings = append(findings, fmt.Sprintf("%s %d", x.Kind, x.Line))
		}
		if len(f.Nodes) != c.nodes || len(f.Links()) != c.links || !slices.Equal(findings, c.findings) {
			t.Errorf("%s: %d nodes, %d links, findings %v; expected %d, %d, %v\n%v", c.name, len(f.Nodes),
				len(f.Links()), findings, c.nodes, c.links, c.findings, found.Findings)
		}
		if c.findings == nil {
			continue
		}
		if _, _, err := Read(context.Background(), strings.NewReader(strings.Replace(c.text, c.old, c.new, 1)), "list",
			nil); err == nil || !strings.HasPrefix(err.Error(), "list:") {
			t.Errorf("%s: error of a strict reader: %v", c.name, err)
		}
	}
	if _, _, err := Read(context.Background(), strings.NewReader("hello\n"), "list", &unread.List{}); err == nil {
		t.Error("no error for a text that is not a list")
	}
}

// TestIndented checks that the indented text of a manual page is the same list.
func TestIndented(t *testing.T) {
	for _, text := range []string{listPorts, listLinks, listLines} {
		var of [2]*fabric.Fabric
		for i, text := range []string{text, "   " + strings.ReplaceAll(text, "\n", "\n   ")} {
			var err error
			if of[i], _, err = Read(context.Background(), strings.NewReader(text), "list", nil); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(of[0].Ports, of[1].Ports) || !slices.Equal(of[0].Nodes, of[1].Nodes) {
			t.Errorf("%d nodes, %d links", len(of[1].Nodes), len(of[1].Links()))
		}
	}
}

// TestFarEnds reads lists of switches only whose far ends have no GUIDs.
func TestFarEnds(t *testing.T) {
	const head = "Switch: 0x0000000000200001 S2:\n"
	to := func(port, lid, far int, name string) string {
		return fmt.Sprintf("  3 %d[  ] %s %d %d[  ] %q ( )\n", port, up, lid, far, name)
	}
	for _, c := range []struct {
		name, text string
		adapters   int
	}{
		{"two hosts", head + to(1, 4, 1, "a") + to(2, 5, 1, "b"), 2},
		{"two ports of a host", head + to(1, 4, 1, "a") + to(2, 5, 2, "a"), 1},
		{"two hosts of the same name", head + to(1, 4, 1, "a") + to(2, 5, 1, "a"), 2},
		{"without LIDs", head + to(1, 0, 1, "a") + to(2, 65535, 1, "b"), 2},
		{"the same name, without LIDs", head + to(1, 0, 1, "a") + to(2, 65535, 1, "a"), 2},
	} {
		f, warnings, err := Read(context.Background(), strings.NewReader(c.text), "list", nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if n := len(f.Nodes) - 1; n != c.adapters || len(f.Links()) != 2 {
			t.Errorf("%s: %d adapters, %d links, expected %d and 2", c.name, n, len(f.Links()), c.adapters)
		}
		if made := fmt.Sprintf("the GUIDs of %s", prose.Count(c.adapters, "node")); !strings.Contains(
			strings.Join(warnings, "\n"), made) {
			t.Errorf("%s: warnings %q, expected %s", c.name, warnings, made)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{
		listPorts, listLinks, listLines, listPorts[:300], strings.ReplaceAll(listLines, "0x00000000001",
			"0x00000000002"), listLinks[strings.Index(listLinks, "Switch"):], otherLines,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, found := range []*unread.List{nil, {}} {
			g, _, err := Read(context.Background(), strings.NewReader(string(text)), "list", found)
			if err != nil && (g != nil || strings.ContainsAny(err.Error(), "\x1b\x00\n")) {
				t.Fatalf("fabric %v, error %q", g, err)
			}
			if err == nil && g.SMPort == fabric.None {
				t.Fatal("a fabric without a port")
			}
		}
	})
}
