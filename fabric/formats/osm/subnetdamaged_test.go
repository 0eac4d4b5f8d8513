// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats/unread"
)

// TestReadDamagedSubnet reads damaged files and compares the parts that could be read and the findings.
func TestReadDamagedSubnet(t *testing.T) {
	lines := strings.SplitAfter(subnetLines, "\n")
	for _, c := range []struct {
		name, text   string
		nodes, links int
		lids         [3]uint16 // of the switch and the adapter's two ports
		findings     []string
	}{
		{"nothing wrong", subnetLines, 2, 3, [3]uint16{1, 2, 49151}, nil},
		{"a line of garbage", strings.Replace(subnetLines, lines[1], "hello\n", 1), 2, 3, [3]uint16{1, 2, 49151},
			[]string{"line 2", "line 6"}},
		{"a link from one end", strings.Replace(subnetLines, lines[4], "", 1), 2, 3, [3]uint16{1, 2, 49151},
			[]string{"truncated 5", "line 1"}},
		{"LID 65535", strings.ReplaceAll(subnetLines, "LID:BFFF", "LID:FFFF"), 2, 3, [3]uint16{1, 2, 0}, nil},
		{"LID 65534", strings.ReplaceAll(subnetLines, "LID:BFFF", "LID:FFFE"), 2, 3, [3]uint16{1, 2, 0},
			[]string{"line 2", "line 6"}},
		{"a LID twice", strings.ReplaceAll(subnetLines, "LID:BFFF", "LID:0002"), 2, 3, [3]uint16{1, 2, 0},
			[]string{"duplicate LID 6"}},
		{"another LID in one line", strings.Replace(subnetLines, "LID:0001", "LID:0007", 1), 2, 3,
			[3]uint16{7, 2, 49151},
			[]string{"line 2", "line 3", "line 3", "line 4", "line 4", "line 5", "line 6"}},
		{"a name twice", strings.Replace(subnetLines, "{h {x} LID:}", "{g}", 1), 2, 3, [3]uint16{1, 2, 49151},
			[]string{"line 2", "line 5", "line 6"}},
		{"a GUID with letters", strings.Replace(subnetLines, "PortGUID:00000000000000b3",
			"PortGUID:00000000000000x3", 1), 2, 3, [3]uint16{1, 2, 49151}, []string{"line 2", "line 6"}},
		{
			"a NUL byte", strings.Replace(subnetLines, "sw 1", "\x00", 1), 2, 3, [3]uint16{1, 2, 49151},
			[]string{"line 1", "line 5"},
		},
		{
			"the end is missing", subnetLines[:len(subnetLines)-200], 2, 3, [3]uint16{1, 2, 49151},
			[]string{"truncated 6", "line 6", "line 2"},
		},
	} {
		var found unread.List
		f, err := ReadSubnet(strings.NewReader(c.text), "lst", &found)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var findings []string
		for _, x := range found.Findings {
			findings = append(findings, fmt.Sprintf("%s %d", x.Kind, x.Line))
		}
		sw, ca := f.NodeByGUID(0xa1), f.NodeByGUID(0xb1)
		lids := [3]uint16{f.Ports[f.PortAt(sw, 0)].LID, f.Ports[f.PortAt(ca, 1)].LID, f.Ports[f.PortAt(ca, 2)].LID}
		if len(f.Nodes) != c.nodes || len(f.Links()) != c.links || lids != c.lids ||
			!slices.Equal(findings, c.findings) {
			t.Errorf("%s: %d nodes, %d links, LIDs %v, findings %v; expected %d, %d, %v, %v\n%v",
				c.name, len(f.Nodes), len(f.Links()), lids, findings, c.nodes, c.links, c.lids, c.findings,
				found.Findings)
		}
	}
}
