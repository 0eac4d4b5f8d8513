// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/test/testenv"
)

// noNode lists the changes after which no node can be read.
var noNode = map[string]bool{"nothing": true, "prose": true}

// reported maps changes to the text of their finding, if it differs from that of the error.
var reported = map[string]string{
	"a port GUID twice": "net:9: port GUID 0x0000000000200000 belongs to both one/0 and h/1, which is treated as " +
		"0x0000000000100001",
}

// TestReadDamaged reads the files that a strict reader refuses, and checks that the finding has the line and the text
// of the error.
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
		if text, ok := reported[c.name]; ok {
			want = text
		}
		is := func(f unread.Finding) bool { return strings.HasPrefix(f.Error(), want) }
		if !slices.ContainsFunc(file.Unread.Findings, is) {
			t.Errorf("%s: %v, expected %s", c.name, file.Unread.Findings, want)
		}
		if file.Fabric.NodeByGUID(0x200000) == fabric.None && !strings.HasPrefix(c.want, "net:1:") {
			t.Errorf("%s: the first switch is missing", c.name)
		}
	}
}

// TestWhatIsReadOfDamagedFiles checks the nodes, links, LIDs and findings of damaged files.
func TestWhatIsReadOfDamagedFiles(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		nodes, links   int
		lids           []uint16 // of one, two and h
		findings       []string
	}{
		{"nothing wrong", "", "", 3, 2, []uint16{2, 3, 4}, nil},
		{"a cable that one end names", "[3]\t\"S1\"[1]\n", "", 3, 2, []uint16{2, 3, 4}, []string{"line 2"}},
		{"a line of garbage, whose cable the other end has", `[2]	"H1"[1]`, `[2 "H`, 3, 2, []uint16{2, 3, 4},
			[]string{"line 3", "line 9"}},
		{"a line cut short, whose cable the other end has", `[2]	"H1"[1]`, `[2]	"H`, 3, 2, []uint16{2, 3, 4},
			[]string{"line 3"}},
		{"a GUID with letters", "[1](11)", "[1](1x1)", 3, 2, []uint16{2, 3, 4}, []string{"line 9"}},
		{"LID 65535", "lid 4", "lid 65535", 3, 2, []uint16{2, 3, 0}, nil},
		{"LID 50000", "lid 4", "lid 50000", 3, 2, []uint16{2, 3, 0}, []string{"line 9"}},
		{"a port GUID with 0x", "[1](11)", "[1](0x11)", 3, 2, []uint16{2, 3, 4}, nil},
		{"port GUID 0", "[1](11)", "[1](0)", 3, 2, []uint16{2, 3, 4}, []string{"line 9"}},
		{"a LID twice", "lid 4", "lid 3", 3, 2, []uint16{2, 3, 0}, []string{"duplicate LID 9"}},
		{
			"a node GUID twice", `Ca	2 "H1"`, "caguid=0x200001\nCa	2 \"H1\"", 2, 1, []uint16{2, 3},
			[]string{"duplicate GUID 9"},
		},
		{"a port GUID twice", "[1](11)", "[1](200001)", 3, 2, []uint16{2, 3, 4}, []string{"duplicate GUID 9"}},
		{"an invalid header", `Switch	4 "S2"`, `Switch	4x "S2"`, 2, 1, []uint16{2, 4}, []string{"line 5"}},
		{"truncated in a line", `[1](11)	"S1"[2]		# lid 4 lmc 0 "one" lid 2 4xQDR` + "\n",
			`[1](11)	"S`, 3, 2,
			[]uint16{2, 3, 0}, []string{"truncated 9", "line 9"}},
		{
			"truncated before the host", pair[strings.Index(pair, "Ca"):], "", 2, 1, []uint16{2, 3},
			[]string{"truncated 7", "line 3"},
		},
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
		if len(f.Nodes) != c.nodes || len(f.Links()) != c.links || !slices.Equal(lids, c.lids) ||
			!slices.Equal(findings, c.findings) {
			t.Errorf("%s: %d nodes, %d links, LIDs %v, findings %v; expected %d, %d, %v, %v\n%v",
				c.name, len(f.Nodes), len(f.Links()), lids, findings, c.nodes, c.links, c.lids, c.findings,
				file.Unread.Findings)
		}
	}
}

// TestIndented checks that the indented text of a manual page is the same subnet.
func TestIndented(t *testing.T) {
	want, err := read(t, pair, Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, margin := range []string{"   ", "\t"} {
		text := margin + strings.ReplaceAll(pair, "\n", "\n"+margin)
		got, err := read(t, text, Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Fabric.Ports, want.Fabric.Ports) || !slices.Equal(got.Fabric.Nodes, want.Fabric.Nodes) {
			t.Errorf("indented by %q: %d nodes, %d links", margin, len(got.Fabric.Nodes), len(got.Fabric.Links()))
		}
	}
}

// TestTruncated truncates a file of a real cluster at many positions. The switches come first, so once all of them are
// there the fabric has all nodes and links, with LIDs and GUIDs.
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
		if first := file.Unread.Findings; text[n-1] != '\n' && (len(first) == 0 || first[0].Kind != unread.Truncated) &&
			!strings.Contains(strings.Join(file.Warnings, ""), "truncated") {
			t.Errorf("cut after %d bytes: %v, %q", n, first, file.Warnings)
		}
		if n > hosts {
			if len(f.Links()) != len(whole.Links()) || len(f.EndPorts) != len(whole.EndPorts) {
				t.Errorf("cut after %d bytes: %d links, %d end ports, expected %d and %d", n, len(f.Links()),
					len(f.EndPorts), len(whole.Links()), len(whole.EndPorts))
			}
			for _, e := range whole.EndPorts {
				p := &whole.Ports[e]
				if i := f.PortByGUID(p.GUID); i == fabric.None || f.Ports[i].LID != p.LID ||
					f.Nodes[f.Ports[i].Node].Desc != whole.Nodes[p.Node].Desc {
					t.Errorf("cut after %d bytes: %s has not LID %d or not its name", n, whole.PortName(e), p.LID)
				}
			}
		}
	}
}

// full is a file whose records have as many port lines as the node has ports.
const full = `Switch	3 "S-0000000000500001"		# "one" base port 0 lid 2 lmc 0
[1]	"S-0000000000500002"[3]
[2]	"H-0000000000600001"[1]
[3]	"H-0000000000600002"[1]

switchguid=0x500002(500002)
Switch	3 "S-0000000000500002"		# "two" base port 0 lid 3 lmc 0
[1]	"H-0000000000600001"[2]
[2]	"H-0000000000600002"[2]
[3]	"S-0000000000500001"[1]

Ca	2 "H-0000000000600001"		# "h1"
[1](11)	"S-0000000000500001"[2]		# lid 4 lmc 0 "one" lid 2 4xQDR
[2](12)	"S-0000000000500002"[1]		# lid 5 lmc 0 "two" lid 3 4xQDR

caguid=0x600002
Ca	2 "H-0000000000600002"		# "h2"
[1](21)	"S-0000000000500001"[3]		# lid 6 lmc 0 "one" lid 2 4xQDR
[2](22)	"S-0000000000500002"[2]		# lid 7 lmc 0 "two" lid 3 4xQDR
`

// statements returns the links of a fabric and the LIDs of its end ports as a set of texts.
func statements(f *fabric.Fabric) map[string]bool {
	all := map[string]bool{}
	port := func(p fabric.PortIndex) string {
		return fmt.Sprintf("%x/%d", f.Nodes[f.Ports[p].Node].GUID, f.Ports[p].Num)
	}
	for _, e := range f.EndPorts {
		all[fmt.Sprintf("%x is LID %d", f.Ports[e].GUID, f.Ports[e].LID)] = true
	}
	for _, l := range f.Links() {
		a, b := port(l.A), port(l.B)
		all[min(a, b)+" "+max(a, b)] = true
	}
	return all
}

// TestOnlyTheBadLineIsLost checks that an additional invalid line has no effect on any other line, and that an invalid
// line in place of another loses only the content of that line. It must not create a cable.
func TestOnlyTheBadLineIsLost(t *testing.T) {
	texts := map[string]string{"full": full, "without blank lines": strings.ReplaceAll(full, "\n\n", "\n")}
	if os.Getenv("IBCONSOLE_SHARED") != "" {
		text, err := os.ReadFile(testenv.SharedFile(t, "fabrics/real-qdr-11sw.topo"))
		if err != nil {
			t.Fatal(err)
		}
		texts["real"] = string(text)
	}
	r := testenv.Rand(t)
	for name, text := range texts {
		links := statements(mustRead(t, text, Options{Strict: true}).Fabric)
		lines := slices.Collect(strings.Lines(text))
		chosen := r.Perm(len(lines))
		for _, i := range chosen[:min(len(lines), testenv.Count(t, 60, 1000))] {
			isPort := startsPort(lines[i])
			for _, bad := range []string{"[1x]\t\"S1\"[1]", "[200]\t\"S1\"[1]", "[1", "[1]\t\"S1", "1]\t\"S1\"[1]",
				"garbage", "  # remark", "\x01\x02", strings.Repeat("x", 70000)} {
				more := strings.Join(lines[:i], "") + bad + "\n" + strings.Join(lines[i:], "")
				file := mustRead(t, more, Options{})
				if got := statements(file.Fabric); !maps.Equal(got, links) || len(file.Unread.Findings) > 1 {
					t.Errorf("%s: %.20q before line %d: %d statements of %d, %v", name, bad, i+1, len(got), len(links),
						file.Unread.Findings)
				}
				if isPort && i > 0 && startsPort(lines[i-1]) && bad[0] != ' ' && len(file.Unread.Findings) == 0 {
					t.Errorf("%s: no finding for %.20q before line %d", name, bad, i+1)
				}
			}
			for _, bad := range []string{
				"", "garbage", "?" + lines[i],
				lines[i][:min(len(lines[i])/2,
					1+len(lines[i])-len(strings.TrimLeft(lines[i], "[]()0123456789abcdef \t")))],
				strings.Replace(lines[i], `"`, "", 1), "[1]",
			} {
				file, err := read(t, strings.Join(lines[:i], "")+strings.TrimSuffix(bad, "\n")+"\n"+
					strings.Join(lines[i+1:], ""), Options{})
				if err != nil {
					t.Errorf("%s: line %d as %.30q: %v", name, i+1, bad, err)
					continue
				}
				got := statements(file.Fabric)
				for l := range got {
					if !links[l] && strings.Contains(l, "/") {
						t.Errorf("%s: line %d as %.30q makes the link %s", name, i+1, bad, l)
					}
				}
				if isPort && len(got) < len(links)-2 {
					t.Errorf("%s: line %d as %.30q: %d statements of %d", name, i+1, bad, len(got), len(links))
				}
			}
		}
	}
}

// TestManyFindings checks that the list keeps a limited number of findings and counts all.
func TestManyFindings(t *testing.T) {
	file := mustRead(t, pair+strings.Repeat("[1] \"H1\"[1]\n", 5000), Options{})
	if n := len(file.Unread.Findings); n != unread.Most || file.Unread.Count < 4990 {
		t.Errorf("%d findings of %d", n, file.Unread.Count)
	}
}
