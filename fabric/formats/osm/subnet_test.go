// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// subnetText returns opensm-subnet.lst of a fabric.
func subnetText(t testing.TB, f *fabric.Fabric) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSubnet(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// routed returns a fabric as a subnet manager leaves it.
func routed(t testing.TB, f *fabric.Fabric) *fabric.Fabric {
	t.Helper()
	f, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	return f.Activated()
}

// TestWriteSubnet compares generated fabrics with OpenSM's files over ibsim. Package ibnet's tests do so for fabrics
// from files.
func TestWriteSubnet(t *testing.T) {
	for _, spec := range []string{"fattree:3,8", "torus:4x4x3,hosts=2", "dragonfly:4,2,2", "random:20,6,60,seed=3"} {
		t.Run(spec, func(t *testing.T) {
			f, err := gen.ParseSpec(spec)
			if err != nil {
				t.Fatal(err)
			}
			var net bytes.Buffer
			if err := gen.WriteNet(&net, f); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "net")
			if err := os.WriteFile(path, net.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			read, err := ibnet.ReadFile(context.Background(), path, ibnet.Options{Reading: ibnet.AsIbsim})
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(ibsimtest.OpenSM(t, ibsimtest.Start(t, path)), "opensm-subnet.lst"))
			if err != nil {
				t.Fatal(err)
			}
			sameLines(t, "as generated", subnetText(t, routed(t, f)), string(want))
			sameLines(t, "as read", subnetText(t, routed(t, read.Fabric)), string(want))
		})
	}
}

func sameLines(t *testing.T, what, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Errorf("%s: %d lines, expected %d", what, len(g), len(w))
	}
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s: line %d:\n got %q\nwant %q", what, i+1, g[i], w[i])
		}
	}
}

// TestSubnetRoundTrip reads the written files of the shared fabrics.
func TestSubnetRoundTrip(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Shared(t), "fabrics", "*.[nt][eo][tp]*"))
	if err != nil || len(files) < 7 {
		t.Fatalf("%d shared fabrics, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := ibnet.ReadFile(context.Background(), path, ibnet.Options{})
			if err != nil {
				t.Fatal(err)
			}
			f := routed(t, file.Fabric)
			text := subnetText(t, f)
			g, err := ReadSubnet(strings.NewReader(text), "opensm-subnet.lst", nil)
			if err != nil {
				t.Fatal(err)
			}
			sameLines(t, "written again", subnetText(t, g), text)
			sameSubnet(t, f, g)
		})
	}
}

// sameSubnet checks that g has the links, GUIDs and LIDs of f's subnet.
func sameSubnet(t *testing.T, f, g *fabric.Fabric) {
	t.Helper()
	if len(f.EndPorts) != len(g.EndPorts) || len(f.Links()) != len(g.Links()) || f.MaxLID != g.MaxLID {
		t.Fatalf("%d end ports, %d links, highest LID %d, expected %d, %d, %d",
			len(g.EndPorts), len(g.Links()), g.MaxLID, len(f.EndPorts), len(f.Links()), f.MaxLID)
	}
	for _, l := range f.Links() {
		a, b := counterpart(f, g, l.A), counterpart(f, g, l.B)
		if a == fabric.None || b == fabric.None || g.Ports[a].Peer != b {
			t.Fatalf("no link from %s to %s", f.PortName(l.A), f.PortName(l.B))
		}
	}
	for _, e := range f.EndPorts {
		p, q := &f.Ports[e], &g.Ports[counterpart(f, g, e)]
		if p.GUID != q.GUID || p.LID != q.LID || p.SMLID != q.SMLID {
			t.Fatalf("%s: %+v, expected %+v", f.PortName(e), q, p)
		}
	}
	if g.SMPort != counterpart(f, g, f.SMPort) {
		t.Errorf("the SM's port is %s, expected %s", g.PortName(g.SMPort), f.PortName(f.SMPort))
	}
}

func counterpart(f, g *fabric.Fabric, port fabric.PortIndex) fabric.PortIndex {
	p := &f.Ports[port]
	n := g.NodeByGUID(f.Nodes[p.Node].GUID)
	if n == fabric.None {
		return fabric.None
	}
	return g.PortAt(n, int(p.Num))
}

// subnetLines is a switch with an adapter at two of its ports and a cable from its port 3 to its port 4, made from the
// source of dump_topology_node.
//
//go:embed testdata/opensm-subnet.lst
var subnetLines string

func TestReadSubnet(t *testing.T) {
	f, err := ReadSubnet(strings.NewReader(subnetLines), "lst", nil)
	if err != nil {
		t.Fatal(err)
	}
	sameLines(t, "written again", subnetText(t, f), subnetLines)
	sw, ca := f.Nodes[0], f.Nodes[1]
	if sw.GUID != 0xa1 || sw.SystemGUID != 0xa0 || sw.DeviceID != 0xbd36 || sw.VendorID != 0x2c9 ||
		sw.Revision != 0xa0 || sw.NumPorts != 36 ||
		ca.Desc != "h {x} LID:" || ca.DeviceID != 0x1011 || ca.Type != mad.NodeCA {
		t.Errorf("nodes %+v and %+v", sw, ca)
	}
	p := f.Ports[f.PortAt(1, 2)]
	if p.GUID != 0xb3 || p.LID != 49151 || p.Width != 8 || p.Speed != fabric.FDR || p.State != mad.PortActive ||
		p.SMLID != 1 || f.SMPort != f.PortAt(0, 0) {
		t.Errorf("port %+v, the SM's is %d", p, f.SMPort)
	}
}

func TestReadSubnetRefuses(t *testing.T) {
	line := func(n int, text string) string { // returns subnetLines with another line n
		lines := strings.SplitAfter(subnetLines, "\n")
		lines[n-1] = text
		return strings.Join(lines, "")
	}
	for _, c := range []struct{ text, want string }{
		{"", `lst: no link, expected lines "{ SW Ports:... } { CA Ports:... } PHY=... LOG=... SPD=..."`},
		{
			line(5, ""),
			"lst:1: port 1 of sw 1 is linked to port 1 of h {x} LID:, but that port has no line; " +
				"expected a line for each port of a link",
		},
		{line(2, "hello\n"), `lst:2: "hello", expected "{ SW", "{ CA" or "{ Rt"`},
		{line(2, "{ HUB Ports:24\n"), `lst:2: node type "HUB", expected SW, CA or Rt`},
		{
			strings.Replace(subnetLines, "Ports:24", "Ports:23", 1),
			`lst:2: the number of ports of node 0x00000000000000a1 differs from its value in line 1`,
		},
		{strings.Replace(subnetLines, "Ports:24", "Ports:1FF", 1), `lst:1: Ports:"1FF SystemGUID`},
		{strings.Replace(subnetLines, "Ports:24 ", "Ports:24,", 1), `lst:1: Ports:"24,SystemGUID`},
		{
			strings.Replace(subnetLines, "PortGUID:00000000000000a2", "PortGUID:0000000000000000", 1),
			`lst:1: port GUID 0`,
		},
		{
			strings.Replace(subnetLines, "DevID:BD36 ", "DevID:1BD36 ", 1),
			`lst:1: device ID 1BD36, expected at most FFFF`,
		},
		{strings.Replace(subnetLines, "LID:BFFF", "LID:C000", 1), `lst:2: LID 49152, expected at most 49151`},
		{
			strings.Replace(subnetLines, "LID:BFFF", "LID:BFFE", 1),
			`lst:6: port 2 of h {x} LID:: the port has LID 49151 here and LID 49150 in an earlier line`,
		},
		{
			strings.ReplaceAll(subnetLines, "LID:BFFF", "LID:0002"),
			`lst:6: LID 2 belongs to both h {x} LID:/1 and h {x} LID:/2`,
		},
		{strings.ReplaceAll(subnetLines, "00b3", "00b2"), `lst:6: port GUID 0x00000000000000b2 belongs to both`},
		{
			strings.Replace(subnetLines, "00b3", "00b2", 1),
			`lst:6: port 2 of h {x} LID:: the port has GUID 0x00000000000000b3 here ` +
				`and GUID 0x00000000000000b2 in an earlier line`,
		},
		{
			strings.Replace(subnetLines, "{sw 1} LID:0001 PN:03", "{sw 1} LID:0001 PN:02", 1),
			`lst:3: port 2 of sw 1 is already the near end in line 2`,
		},
		{
			strings.Replace(subnetLines, "{sw 1} LID:0001 PN:04", "{sw 1} LID:0001 PN:02", 1),
			`lst:3: sw 1/2 is already linked to h {x} LID:/2`,
		},
		{strings.Replace(subnetLines, "PN:01", "PN:25", 1), `lst:1: bad port 37 of sw 1, expected 1 to 36`},
		{strings.Replace(subnetLines, "PN:01", "PN:00", 1), `lst:1: bad port 0 of sw 1, expected 1 to 36`},
		{
			strings.Replace(subnetLines, "{sw 1}", "{sw 2}", 1),
			`lst:2: the name of node 0x00000000000000a1 differs from its value in line 1`,
		},
		{
			strings.Replace(subnetLines, "PHY=4x", "PHY=3x", 1),
			`lst:1: "PHY=3x", expected PHY= with 1x, 2x, 4x, 8x, 12x or ??`,
		},
		{
			strings.Replace(subnetLines, "LOG=ACT", "LOG=UP", 1),
			`lst:1: "LOG=UP", expected LOG= with ACT, ARM, INI or DWN`,
		},
		{strings.Replace(subnetLines, "SPD=25\n", "SPD=2\n", 1), `lst:1: "SPD=2", expected SPD= with`},
		{
			strings.Replace(subnetLines, " SPD=25\n", "\n", 1),
			`lst:1: "PHY=4x LOG=ACT", expected PHY=WIDTH LOG=STATE SPD=SPEED`,
		},
		{
			strings.Replace(subnetLines, "PN:01 } {", "PN:01 {", 1),
			`lst:1: "PHY=4x LOG=ACT SPD=25", expected "{ SW", "{ CA" or "{ Rt"`,
		},
		{strings.Replace(subnetLines, "sw 1", "\x00", 1), `lst:1: a NUL byte`},
		{subnetLines[:len(subnetLines)-200], `lst:6: `},
	} {
		f, err := ReadSubnet(strings.NewReader(c.text), "lst", nil)
		switch {
		case err == nil:
			t.Errorf("no error, expected %s", c.want)
		case !strings.HasPrefix(err.Error(), c.want):
			t.Errorf("\n got %s\nwant %s", err, c.want)
		case f != nil:
			t.Errorf("%s: a fabric together with the error", c.want)
		}
	}
}

func FuzzReadSubnet(f *testing.F) {
	lines := strings.SplitAfter(subnetLines, "\n")
	f.Add([]byte(lines[0] + lines[4]))
	f.Add([]byte(strings.ReplaceAll(lines[1]+lines[5], "-SM", "")))
	f.Add([]byte(strings.ReplaceAll(lines[2]+lines[3], "LID:0001", "LID:0000")))
	f.Add([]byte(strings.ReplaceAll(subnetLines, "LID:0001", "LID:FFFF")))
	f.Add([]byte(subnetLines[:len(subnetLines)-200]))
	f.Fuzz(func(t *testing.T, text []byte) {
		var found unread.List
		if _, err := ReadSubnet(bytes.NewReader(text), "lst", &found); err != nil &&
			strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Fatalf("error %q", err)
		}
		g, err := ReadSubnet(bytes.NewReader(text), "lst", nil)
		if err != nil {
			if g != nil || strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Fatalf("fabric %v, error %q", g, err)
			}
			return
		}
		if len(g.EndPorts) > 0 {
			_ = subnetText(t, g)
		}
	})
}

func BenchmarkWriteSubnet(b *testing.B) {
	f, err := gen.ParseSpec("fattree:3,36")
	if err != nil {
		b.Fatal(err)
	}
	f = routed(b, f)
	for b.Loop() {
		subnetText(b, f)
	}
}

func BenchmarkReadSubnet(b *testing.B) {
	f, err := gen.ParseSpec("fattree:3,36")
	if err != nil {
		b.Fatal(err)
	}
	text := subnetText(b, routed(b, f))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ReadSubnet(strings.NewReader(text), "lst", nil); err != nil {
			b.Fatal(err)
		}
	}
}
