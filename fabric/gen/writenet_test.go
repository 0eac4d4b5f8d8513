// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

func written(t testing.TB, f *fabric.Fabric) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteNet(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// reread reads the output of WriteNet as ibsim does.
func reread(t testing.TB, net []byte) *fabric.Fabric {
	t.Helper()
	got, err := ibnet.Read(context.Background(), bytes.NewReader(net), "written.net",
		ibnet.Options{Reading: ibnet.AsIbsim})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range got.Warnings {
		t.Error(w)
	}
	return got.Fabric
}

// Written by hand in ibsim's format.
func TestWriteNetSmall(t *testing.T) {
	want := "Hca\t1 \"node-0001\"\t\t# \"node-0001 HCA-1\"\n[1]\t\"leaf-01\"[1]\n\n" +
		"Hca\t1 \"node-0002\"\t\t# \"node-0002 HCA-1\"\n[1]\t\"leaf-02\"[1]\n\n" +
		"Switch\t2 \"leaf-01\"\n[1]\t\"node-0001\"[1]\n[2]\t\"spine-01\"[1]\n\n" +
		"Switch\t2 \"leaf-02\"\n[1]\t\"node-0002\"[1]\n[2]\t\"spine-01\"[2]\n\n" +
		"Switch\t2 \"spine-01\"\n[1]\t\"leaf-01\"[2]\n[2]\t\"leaf-02\"[2]\n\n"
	if got := string(written(t, parse(t, "fattree:2,2"))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGeneratedFabricIsWhatIbsimReads(t *testing.T) {
	for _, spec := range []string{
		"fattree:2,36", "fattree:3,8", "xgft:2,3,4,1,2,1,2", "xgft:2,2,2,2,2", "torus:6x5,2,3", "mesh:3x4x2",
		"hypercube:5,2", "dragonfly:4,2,2", "random:40,5,100,seed=9",
	} {
		f := parse(t, spec)
		compare(t, spec, reread(t, written(t, f)), f)
	}
}

// compare checks two fabrics field by field.
func compare(t *testing.T, what string, got, want *fabric.Fabric) {
	t.Helper()
	if len(got.Nodes) != len(want.Nodes) || len(got.Ports) != len(want.Ports) {
		t.Fatalf("%s: %d nodes and %d ports, want %d and %d", what, len(got.Nodes), len(got.Ports), len(want.Nodes),
			len(want.Ports))
	}
	for i := range want.Nodes {
		if got.Nodes[i] != want.Nodes[i] {
			t.Fatalf("%s: node %+v, want %+v", what, got.Nodes[i], want.Nodes[i])
		}
	}
	for i := range want.NumPorts() {
		if got.Ports[i] != want.Ports[i] {
			t.Fatalf("%s: port %s %+v, want %+v", what, want.PortName(i), got.Ports[i], want.Ports[i])
		}
	}
	if got.SMPort != want.SMPort || got.MaxLID != want.MaxLID {
		t.Errorf("%s: SM port %d and highest LID %d, want %d and %d", what, got.SMPort, got.MaxLID, want.SMPort,
			want.MaxLID)
	}
}

// mixedFabric returns a fabric with everything that the format can express.
func mixedFabric(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	nodes := []fabric.Node{
		{GUID: 0x2c903, Type: mad.NodeSwitch, NumPorts: 8, Desc: `core "A"; lid 9 w=3 ` + "\x1b[31m\n", VendorID: 0x2c9,
			DeviceID: 0xbd36, EnhancedPort0: true},
		{GUID: 0x100, SystemGUID: 0x99, Type: mad.NodeCA, NumPorts: 2, Desc: "node HCA-1", DeviceID: 0x1011},
		{GUID: 0x103, Type: mad.NodeCA, NumPorts: 1, Desc: "node HCA-1", DeviceID: 0x1011},
		{GUID: 0x300, Type: mad.NodeRouter, NumPorts: 1, Desc: "edge"},
		{GUID: 0x2c904, Type: mad.NodeSwitch, NumPorts: 2, Desc: "S-0000000000000103"},
		{GUID: 0x200, Type: mad.NodeCA, NumPorts: 1, Desc: strings.Repeat("long", 12) + " HCA-1"},
	}
	for i, n := range nodes {
		if n.SystemGUID == 0 {
			n.SystemGUID = n.GUID
		}
		n.Revision = defaultRevision
		node, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		for p := range int(n.NumPorts) + 1 {
			port := b.Port(node, p)
			if port == nil {
				continue
			}
			if port.VLCap, port.OperVLs = 4, 4; !n.IsSwitch() {
				port.GUID, port.CapMask = n.GUID+uint64(p), hostCapMask
			}
			port.State = mad.PortDown
			if n.IsSwitch() && p == 0 {
				port.LID, port.LMC, port.MTU, port.State, port.CapMask = uint16(16+8*i), 1, 1, mad.PortActive,
					port0CapMask
			}
		}
	}
	for _, l := range []struct {
		a, pa, b, pb int
		w            fabric.Width
		s            fabric.Speed
	}{
		{0, 1, 1, 1, 4, fabric.HDR}, {0, 2, 2, 1, 1, fabric.SDR}, {0, 3, 3, 1, 4, fabric.SDR},
		{0, 5, 4, 2, 12, fabric.QDR}, {4, 1, 5, 1, 4, fabric.DDR},
	} {
		if err := b.Connect(fabric.NodeIndex(l.a), l.pa, fabric.NodeIndex(l.b), l.pb); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*fabric.Port{b.Port(fabric.NodeIndex(l.a), l.pa), b.Port(fabric.NodeIndex(l.b), l.pb)} {
			p.Width, p.Speed, p.MTU, p.State = l.w, l.s, 4, mad.PortInit
		}
	}
	b.Port(1, 1).LID, b.Port(1, 1).LMC = 4, 2
	b.Port(1, 1).State, b.Port(0, 1).State = mad.PortActive, mad.PortActive
	b.Port(0, 5).State, b.Port(4, 2).State = mad.PortActive, mad.PortActive
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestWriteNetKeepsWhatTheFormatExpresses(t *testing.T) {
	f := mixedFabric(t)
	got := reread(t, written(t, f))
	// Characters that end a quoted text or a line cannot be kept.
	if desc := got.Nodes[0].Desc; desc != "core 'A'; lid 9 w=3  [31m " {
		t.Errorf("description %q", desc)
	}
	got.Nodes[0].Desc = f.Nodes[0].Desc
	compare(t, "mixed fabric", got, f)
}

func TestWriteNetRefusesOtherPortGUIDs(t *testing.T) {
	var b fabric.Builder
	ca, _ := b.AddNode(fabric.Node{GUID: 7, Type: mad.NodeCA, NumPorts: 1, Desc: "node"})
	sw, _ := b.AddNode(fabric.Node{GUID: 9, Type: mad.NodeSwitch, NumPorts: 1, Desc: "sw"})
	if err := b.Connect(ca, 1, sw, 1); err != nil {
		t.Fatal(err)
	}
	b.Port(ca, 1).GUID = 7
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteNet(&bytes.Buffer{}, f); err == nil || !strings.Contains(err.Error(), "0x0000000000000008") {
		t.Errorf("error %v, want one with the GUID that ibsim gives", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteNetReportsWriteErrors(t *testing.T) {
	if err := WriteNet(fullDisk{}, parse(t, "fattree:2,36")); err == nil ||
		!strings.Contains(err.Error(), "no space left") {
		t.Errorf("error %v", err)
	}
}

// Every port GUID and LID in OpenSM's guid2lid file over ibsim is the one in the fabric.
func TestIbsimAndOpenSMFindTheSameSubnet(t *testing.T) {
	specs := []string{"fattree:3,8", "torus:4x3,2", "dragonfly:4,2,2", "random:30,4,90"}
	for _, spec := range specs[:testenv.Count(t, 2, len(specs))] {
		f := parse(t, spec)
		file := filepath.Join(t.TempDir(), "made.net")
		if err := os.WriteFile(file, written(t, f), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := fabric.AssignLIDs(f)
		if err != nil {
			t.Fatal(err)
		}
		lids := guid2lid(t, filepath.Join(ibsimtest.OpenSM(t, ibsimtest.Start(t, file)), "guid2lid"))
		if len(lids) != len(f.EndPorts) {
			t.Errorf("%s: OpenSM has %d end ports, want %d", spec, len(lids), len(f.EndPorts))
		}
		for _, e := range f.EndPorts {
			if p := &f.Ports[e]; lids[p.GUID] != p.LID {
				t.Errorf("%s: OpenSM gives %s LID %d, want %d", spec, f.PortName(e), lids[p.GUID], p.LID)
			}
		}
	}
}

// guid2lid reads OpenSM's guid2lid file.
func guid2lid(t *testing.T, name string) map[uint64]uint16 {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lids := map[uint64]uint16{}
	for line := range strings.Lines(string(text)) {
		var guid uint64
		var low, high uint16
		if strings.TrimSpace(line) == "" {
			continue
		}
		if _, err := fmt.Sscanf(line, "0x%x 0x%x 0x%x", &guid, &low, &high); err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		lids[guid] = low
	}
	return lids
}

// The real ibsim accepts everything that WriteNet writes.
func TestIbsimReadsAMixedFabric(t *testing.T) {
	f := mixedFabric(t)
	file := filepath.Join(t.TempDir(), "mixed.net")
	if err := os.WriteFile(file, written(t, f), 0o600); err != nil {
		t.Fatal(err)
	}
	lids := guid2lid(t, filepath.Join(ibsimtest.OpenSM(t, ibsimtest.Start(t, file)), "guid2lid"))
	for _, e := range f.EndPorts {
		if lids[f.Ports[e].GUID] == 0 {
			t.Errorf("OpenSM does not know port GUID 0x%016x of %s", f.Ports[e].GUID, f.PortName(e))
		}
	}
	if len(lids) != len(f.EndPorts) {
		t.Errorf("OpenSM knows %d end ports, want %d", len(lids), len(f.EndPorts))
	}
}
