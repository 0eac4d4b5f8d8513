// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/testenv"
)

// noNode are the changes after which there is nothing left to read.
var noNode = map[string]bool{"nothing": true, "prose": true}

// told are the changes whose finding says what became of it, where the error has no need.
var told = map[string]string{
	"a port GUID twice": `net:9: port GUID 0x0000000000200000 belongs to both one/0 and h/1, which is taken as 0x0000000000100001`,
}

// TestReadDamaged reads what is right of each file that a strict reader refuses, and
// lists what is wrong at the line and with the words of the error.
func TestReadDamaged(t *testing.T) {
	for _, c := range refused {
		file, err := read(t, strings.Replace(pair, c.old, c.new, 1), Options{})
		if noNode[c.name] {
			if err == nil {
				t.Errorf("%s: no error", c.name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := c.want
		if text, ok := told[c.name]; ok {
			want = text
		}
		is := func(f unread.Finding) bool { return strings.HasPrefix(f.Error(), want) }
		if !slices.ContainsFunc(file.Unread.Findings, is) {
			t.Errorf("%s: %v, expected %s", c.name, file.Unread.Findings, want)
		}
		if file.Fabric.NodeByGUID(0x200000) == fabric.None && !strings.HasPrefix(c.want, "net:1:") {
			t.Errorf("%s: the first switch is gone", c.name)
		}
	}
}

// The expectations are what a reader of the changed file can see in it.
func TestWhatIsReadOfDamagedFiles(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		nodes, links   int
		lids           []uint16 // of one, two and h
		findings       []string
	}{
		{"nothing wrong", "", "", 3, 2, []uint16{2, 3, 4}, nil},
		{"a cable that one end names", "[3]\t\"S1\"[1]\n", "", 3, 2, []uint16{2, 3, 4}, []string{"line 2"}},
		{"a line of garbage, whose cable the other end has", `[2]	"H1"[1]`, `[2 "H`, 3, 2, []uint16{2, 3, 4}, []string{"line 3", "line 9"}},
		{"a line cut short, whose cable the other end has", `[2]	"H1"[1]`, `[2]	"H`, 3, 2, []uint16{2, 3, 4}, []string{"line 3"}},
		{"a GUID with letters", "[1](11)", "[1](1x1)", 3, 2, []uint16{2, 3, 4}, []string{"line 9"}},
		{"LID 65535", "lid 4", "lid 65535", 3, 2, []uint16{2, 3, 0}, []string{"line 9"}},
		{"a LID twice", "lid 4", "lid 3", 3, 2, []uint16{2, 3, 0}, []string{"duplicate LID 9"}},
		{"a node GUID twice", `Ca	2 "H1"`, "caguid=0x200001\nCa	2 \"H1\"", 2, 1, []uint16{2, 3}, []string{"duplicate GUID 9"}},
		{"a port GUID twice", "[1](11)", "[1](200001)", 3, 2, []uint16{2, 3, 4}, []string{"duplicate GUID 9"}},
		{"a header that is none", `Switch	4 "S2"`, `Switch	4x "S2"`, 2, 1, []uint16{2, 4}, []string{"line 5"}},
		{"it stops in a line", `[1](11)	"S1"[2]		# lid 4 lmc 0 "one" lid 2 4xQDR` + "\n", `[1](11)	"S`, 3, 2, []uint16{2, 3, 0}, []string{"truncated 9", "line 9"}},
		{"it stops before the host", pair[strings.Index(pair, "Ca"):], "", 2, 1, []uint16{2, 3}, []string{"truncated 7", "line 3"}},
	} {
		file := mustRead(t, strings.Replace(pair, c.old, c.new, 1), Options{})
		f := file.Fabric
		var lids []uint16
		for _, name := range []string{"one", "two", "h"} {
			for _, n := range f.NodesByDescription(name) {
				port := &f.Nodes[n]
				lids = append(lids, f.Ports[f.EndPortOf(port.FirstPort+1)].LID)
			}
		}
		var findings []string
		for _, x := range file.Unread.Findings {
			findings = append(findings, fmt.Sprintf("%s %d", x.Kind, x.Line))
		}
		if len(f.Nodes) != c.nodes || len(f.Links()) != c.links || !slices.Equal(lids, c.lids) || !slices.Equal(findings, c.findings) {
			t.Errorf("%s: %d nodes, %d links, LIDs %v, findings %v; expected %d, %d, %v, %v\n%v",
				c.name, len(f.Nodes), len(f.Links()), lids, findings, c.nodes, c.links, c.lids, c.findings, file.Unread.Findings)
		}
	}
}

// TestTruncated cuts a file of a real cluster at every so many bytes: the switches come
// first in it, so once it has these it has all nodes and links, with LIDs and GUIDs.
func TestTruncated(t *testing.T) {
	text, err := os.ReadFile(testenv.SharedFile(t, "fabrics/real-qdr-11sw.topo"))
	if err != nil {
		t.Fatal(err)
	}
	whole := mustRead(t, string(text), Options{Strict: true}).Fabric
	hosts := strings.Index(string(text), "\nCa\t")
	r := testenv.Rand(t)
	for range testenv.Count(t, 40, 2000) {
		n := 1 + r.IntN(len(text)-1)
		file, err := read(t, string(text[:n]), Options{})
		if err != nil {
			if n > strings.Index(string(text), "\n[1]") {
				t.Errorf("cut after %d bytes: %v", n, err)
			}
			continue
		}
		f := file.Fabric
		if first := file.Unread.Findings; text[n-1] != '\n' && n < len(text)-8 && (len(first) == 0 || first[0].Kind != unread.Truncated) {
			t.Errorf("cut after %d bytes: %v", n, first)
		}
		if n > hosts {
			if len(f.Links()) != len(whole.Links()) || len(f.EndPorts) != len(whole.EndPorts) {
				t.Errorf("cut after %d bytes: %d links, %d end ports, expected %d and %d", n, len(f.Links()), len(f.EndPorts), len(whole.Links()), len(whole.EndPorts))
			}
			for _, e := range whole.EndPorts {
				p := &whole.Ports[e]
				if i := f.PortByGUID(p.GUID); i == fabric.None || f.Ports[i].LID != p.LID || f.Nodes[f.Ports[i].Node].Desc != whole.Nodes[p.Node].Desc {
					t.Errorf("cut after %d bytes: %s with LID %d is not so", n, whole.PortName(e), p.LID)
				}
			}
		}
	}
}

// TestManyFindings keeps so many of them and counts all.
func TestManyFindings(t *testing.T) {
	file := mustRead(t, pair+strings.Repeat("[1] \"H1\"[1]\n", 5000), Options{})
	if n := len(file.Unread.Findings); n != unread.Most || file.Unread.Count < 4990 {
		t.Errorf("%d findings of %d", n, file.Unread.Count)
	}
}
