// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
)

func generate(t *testing.T, spec string) *fabric.Fabric {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func inSubnet(f *fabric.Fabric) int {
	n := 0
	for i := range f.Nodes {
		if f.Nodes[i].InSubnet {
			n++
		}
	}
	return n
}

// TestWithoutKeepsIndexes: on a ring of 5 switches with a host each, two cut
// links leave two parts; that of the SM, on host 0, is the subnet.
func TestWithoutKeepsIndexes(t *testing.T) {
	f := generate(t, "torus:5")
	var ring []fabric.Link
	for _, l := range f.Links() {
		if f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None {
			ring = append(ring, l)
		}
	}
	if len(ring) != 5 || inSubnet(f) != 10 {
		t.Fatalf("%d links between switches, %d nodes", len(ring), inSubnet(f))
	}
	g := f.Without(ring[:1])
	if inSubnet(g) != 10 || len(g.Links()) != 9 || fabric.Same(f, g) {
		t.Errorf("one cut: %d nodes, %d links", inSubnet(g), len(g.Links()))
	}
	h := f.Without(ring[:2])
	if n := inSubnet(h); n == 10 || n%2 != 0 || h.SMPort != f.SMPort {
		t.Errorf("two cuts: %d nodes, SM on %s", n, h.PortName(h.SMPort))
	}
	if len(f.Links()) != 10 || !fabric.Same(f, f.Without(nil)) {
		t.Error("the fabric itself changed")
	}
}

// TestWithoutTheSMPort: the rest stays a subnet when the SM's own link fails.
func TestWithoutTheSMPort(t *testing.T) {
	f := generate(t, "torus:5")
	l, ok := f.LinkOf(f.SMPort)
	if !ok {
		t.Fatal("the SM's port has no link")
	}
	g := f.Without([]fabric.Link{l})
	if inSubnet(g) != 9 || g.Nodes[f.Ports[f.SMPort].Node].InSubnet {
		t.Errorf("%d nodes, want the 9 others", inSubnet(g))
	}
	if all := f.Without(f.Links()); inSubnet(all) != 1 {
		t.Errorf("without any link %d nodes, want one switch or the SM's port", inSubnet(all))
	}
}

func TestAssignLIDs(t *testing.T) {
	f := generate(t, "torus:3")
	g, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	// By hand: GUIDs are 0x100000+2n for hosts, port GUIDs one more, 0x200000+n for
	// switches. The SM's port 0x100001 comes first; the others by their last byte,
	// then by the first: 0x200000, 0x200001, 0x200002, 0x100003, 0x100005.
	for guid, lid := range map[uint64]uint16{0x100001: 1, 0x200000: 2, 0x200001: 3, 0x200002: 4, 0x100003: 5,
		0x100005: 6} {
		if p := g.PortByGUID(guid); p == fabric.None || g.Ports[p].LID != lid || g.PortByLID(lid) != p {
			t.Errorf("port GUID 0x%x does not have LID %d", guid, lid)
		}
	}
	if again, err := fabric.AssignLIDs(g); err != nil || again != g {
		t.Error("a fabric with all LIDs is not returned as it is")
	}
	if g.MaxLID != 6 || f.MaxLID != 0 {
		t.Errorf("highest LIDs %d and %d, want 6 and, untouched, 0", g.MaxLID, f.MaxLID)
	}
}
