// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
)

// partly states some GUIDs and rates and omits others: in ids, in GUID lines, in brackets at one end of a cable, after
// an unquoted description, or without a description.
const partly = `# not a line of ibnetdiscover
devid=0xd2f0
Switch	8 "S-00000000000000a0"		# "sw" base port 0 lid 2 lmc 0
[1]	"H-00000000000000b0"[1](b7)		# "h" lid 3 4xNDR
[2]	"two"[1]	w=3 s=3
[3]	"three"[1]		# a node of 2xGPU lid 0 2xHDR
[4]	"four"[1]		# 12xXDR
[5]	"five"[1]		# "five" lid 0 4x???
[6]	"six"[1]		# "six" lid 0 ??QDR

switchguid=0xc0(c1)
Switch	2 "other"		# "other" base port 0 lid 9 lmc 0
[1]	"four"[2]		# "four" lid 0 4xHDR s=7

Ca	1 "H-00000000000000b0"		# "h"
[1]	"S-00000000000000a0"[1]		# lid 3 lmc 0 "sw" lid 2

Ca	2 "two"
[1](d5)	"S-00000000000000a0"[2]	w=1 s=3

caguid=0xe0
Ca	1 "three"
[1]	"S-00000000000000a0"[3]

Ca	2 "four"
[1]	"S-00000000000000a0"[4]
[2]	"other"[1]		# lid 0 lmc 0 "other" lid 9 4xEDR w=1

Ca	1 "five"
[1]	"S-00000000000000a0"[5]

Ca	1 "six"
[1]	"S-00000000000000a0"[6]
`

// TestPartlyStated checks that stated values are used at whichever end of the cable they are. The others were counted
// by hand like ibsim: an adapter takes 1 + its ports from 0x100000, or from the last GUID line on.
func TestPartlyStated(t *testing.T) {
	f := mustRead(t, partly, Options{}).Fabric
	for _, want := range []struct {
		node  fabric.NodeIndex
		port  int
		guids [3]uint64 // of the node, its system and the port
		rate  string
	}{
		{0, 1, [3]uint64{0xa0, 0xa0, 0xa0}, "4xNDR"},
		{1, 1, [3]uint64{0xc0, 0xc0, 0xc1}, "4xHDR"}, // the ends of the cable state different rates: each has its own
		{2, 1, [3]uint64{0xb0, 0xb0, 0xb7}, "4xNDR"},
		{3, 1, [3]uint64{0x100002, 0x100002, 0xd5}, "1xDDR"},
		{3, 2, [3]uint64{0x100002, 0x100002, 0x100004}, "?????"},
		{4, 1, [3]uint64{0xe0, 0xe0, 0xe1}, "2xHDR"},
		{5, 1, [3]uint64{0xe2, 0xe2, 0xe3}, "12xXDR"},
		{5, 2, [3]uint64{0xe2, 0xe2, 0xe4}, "4xEDR"},
		{6, 1, [3]uint64{0xe5, 0xe5, 0xe6}, "4x???"},
		{7, 1, [3]uint64{0xe7, 0xe7, 0xe8}, "??QDR"},
	} {
		n, p := &f.Nodes[want.node], &f.Ports[f.PortAt(want.node, want.port)]
		if got := [3]uint64{n.GUID, n.SystemGUID, p.GUID}; got != want.guids {
			t.Errorf("%s, port %d: GUIDs %x, expected %x", n.Desc, want.port, got, want.guids)
		}
		if got := p.Width.String() + p.Speed.String(); got != want.rate {
			t.Errorf("%s, port %d: %s, expected %s", n.Desc, want.port, got, want.rate)
		}
	}
}

// TestSystemInGUIDLine reads ibdiagnet's form, in which the system's GUID precedes that of the node.
func TestSystemInGUIDLine(t *testing.T) {
	const text = "switchguid=0x9(a0)\nSwitch 2 \"S-00000000000000a0\"\n[1](1) \"H\"[1](b1)\n\nCa 1 \"H\"\n[1](b1) " +
		"\"S-00000000000000a0\"[1]\n"
	if n := mustRead(t, text, Options{}).Fabric.Nodes[0]; n.GUID != 0xa0 || n.SystemGUID != 9 {
		t.Errorf("node GUID 0x%x, system 0x%x", n.GUID, n.SystemGUID)
	}
	const want = `net:3: port line in ibdiagnet's form, [1](1), which ibsim does not accept`
	if _, err := read(t, text, Options{Reading: AsIbsim}); err == nil || err.Error() != want {
		t.Errorf("by ibsim's rules: %v, expected %s", err, want)
	}
}

// TestRealAsStated compares every port line of real fabrics, parsed by a separate pattern, with the fabric: rate, port
// GUIDs and LID.
func TestRealAsStated(t *testing.T) {
	node := regexp.MustCompile(`^(?:Switch|Ca)\s+\d+ "[SH]-(\w{16})"`)
	line := regexp.MustCompile(`^\[(\d+)\](?:\((\w+)\))?\s*"([SH])-(\w{16})"\[(\d+)\](?:\((\w+)\))?.* lid (\d+) (\w+)$`)
	for name, lines := range map[string]int{
		"real-ndr-rail-40sw.topo": 2228, "real-qdr-11sw.topo": 318, "real-fdr10-8sw.topo": 384,
		"real-cs8500-hdr-192sw.topo": 8288, "real-cs8500-hdr-192sw.net": 8288, // counted with grep
	} {
		path := testenv.SharedFile(t, "fabrics/"+name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := ReadFile(context.Background(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(file.Warnings) > 0 {
			t.Errorf("%s: warnings %q", name, file.Warnings)
		}
		f, at, seen := file.Fabric, fabric.NodeIndex(fabric.None), 0
		for l := range strings.Lines(string(text)) {
			if m := node.FindStringSubmatch(l); m != nil {
				at = f.NodeByGUID(hex(t, m[1]))
			}
			m := line.FindStringSubmatch(strings.TrimRight(l, "\n"))
			if m == nil {
				continue
			}
			seen++
			num, _ := strconv.Atoi(m[1])
			p := &f.Ports[f.PortAt(at, num)]
			peer := &f.Ports[p.Peer]
			if got := p.Width.String() + p.Speed.String(); got != m[8] || f.Nodes[peer.Node].GUID != hex(t, m[4]) ||
				strconv.Itoa(int(peer.Num)) != m[5] {
				t.Fatalf("%s: %q: read as %s to %s", name, l, got, f.PortName(p.Peer))
			}
			if f.Nodes[at].Switch == fabric.None && p.GUID != hex(t, m[2]) || m[6] != "" && peer.GUID != hex(t, m[6]) {
				t.Fatalf("%s: %q: port GUIDs 0x%x and 0x%x", name, l, p.GUID, peer.GUID)
			}
			if lid := f.Ports[f.EndPortOf(p.Peer)].LID; strconv.Itoa(int(lid)) != m[7] {
				t.Fatalf("%s: %q: LID %d", name, l, lid)
			}
		}
		if seen != lines {
			t.Errorf("%s: %d port lines, expected %d", name, seen, lines)
		}
	}
}

func hex(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestWrittenIsRead checks that a written file is read as the same subnet.
func TestWrittenIsRead(t *testing.T) {
	texts := map[string]string{"partly stated": partly, "a pair": pair}
	for name, text := range nets {
		if _, err := read(t, text, Options{}); err == nil && name != "names" { // which has unprintable characters
			texts[name] = text
		}
	}
	for _, name := range []string{"ndr-rail-40sw.topo", "qdr-11sw.topo", "fdr10-8sw.topo", "cs8500-hdr-192sw.topo"} {
		if os.Getenv("IBCONSOLE_SHARED") == "" {
			break
		}
		text, err := os.ReadFile(testenv.SharedFile(t, "fabrics/real-"+name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	if len(texts) < 10 {
		t.Errorf("%d files only", len(texts))
	}
	for name, text := range texts {
		f := mustRead(t, text, Options{}).Fabric
		first := written(t, f)
		g := mustRead(t, first, Options{}).Fabric
		sameStated(t, name, f, g)
		// The order of the file makes another port the first one. Written from the same port the text is the same.
		g, err := g.WithSMPort(g.PortByGUID(f.Ports[f.EndPortOf(f.SMPort)].GUID))
		if err != nil {
			t.Fatal(err)
		}
		compareText(t, name, undated(first), undated(written(t, g)))
	}
}

// sameStated compares all parts of f that a discovery finds with g, by GUIDs.
func sameStated(t *testing.T, name string, f, g *fabric.Fabric) {
	t.Helper()
	for i := range f.NumPorts() {
		p := &f.Ports[i]
		if !f.Nodes[p.Node].InSubnet || !f.Discovered(i) && f.Nodes[p.Node].Switch == fabric.None {
			continue
		}
		n := g.NodeByGUID(f.Nodes[p.Node].GUID)
		if n == fabric.None {
			t.Fatalf("%s: %s is missing", name, f.Nodes[p.Node].Desc)
		}
		a, b := f.Nodes[p.Node], g.Nodes[n]
		a.FirstPort, b.FirstPort, a.Switch, b.Switch = 0, 0, 0, 0
		if a != b {
			t.Fatalf("%s: node %+v, expected %+v", name, b, a)
		}
		q := g.Ports[g.PortAt(n, int(p.Num))]
		was := *p
		if (was.Peer == fabric.None) != (q.Peer == fabric.None) || was.Peer != fabric.None &&
			f.PortName(was.Peer) != g.PortName(q.Peer) {
			t.Fatalf("%s: %s leads elsewhere", name, f.PortName(i))
		}
		was.Node, was.Peer, q.Node, q.Peer = 0, 0, 0, 0
		if was != q {
			t.Errorf("%s: port %s is %+v, expected %+v", name, f.PortName(i), q, was)
		}
	}
}

// TestStrictLines: an unknown line between records is an error with Options.Strict, and what tools print is none.
func TestStrictLines(t *testing.T) {
	const net = "Switch 4 \"S\"\n[1] \"A\"[1]\n\nHca 1 \"A\"\n[1] \"S\"[1]\n\n"
	for line, bad := range map[string]bool{
		"": false, "# a remark": false, "Non-Chassis Nodes": false, "Chassis 1 (guid 0x2c9)": false,
		"vendid=0x2c9": false, "some text": true, "nodes: 3": true, "key=value": true,
	} {
		_, err := Read(t.Context(), strings.NewReader(net+line+"\n"), "net", Options{Reading: AsStated, Strict: true})
		if (err != nil) != bad || bad && !strings.Contains(err.Error(), "net:7: unknown line") {
			t.Errorf("%q: %v", line, err)
		}
	}
}
