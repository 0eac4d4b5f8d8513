// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
)

// TestBullSizes expects numbers counted by hand in the drawing of the RFC.
func TestBullSizes(t *testing.T) {
	for _, c := range []struct {
		spec                   string
		switches, hosts, links int
	}{
		// The drawing with L2-1 and L2-2 each drawn twice: 4 L0, 4 L1, 2 L2, 2 L3; 8 hosts and S1 to S4;
		// 12 cables of adapters, 8 from L0 to L1, 4 to L2, 4 to L3.
		{"bull:2,2,hosts=2,services=2", 12, 12, 12 + 8 + 4 + 4},
		// The drawing with four L2.
		{"bull:2,2,hosts=2,rows=2", 14, 12, 12 + 8 + 4 + 8},
		{"bull:2,2", 12, 16 + 2, 18 + 8 + 4 + 4},
		{"bull:3,4,hosts=6,planes=3,up=2,services=2,l3=2,top=3", 12 + 9 + 3 + 2, 72 + 6, 78 + 36 + 18 + 18},
		{"bull:3,1,rows=2,services=0,l3=1", 3 + 6 + 4 + 1, 12, 12 + 6 + 6 + 4},
		{"bull:1,1,1,1,1,0,1,1,1", 4, 1, 4},
	} {
		f := parse(t, c.spec)
		hosts := len(f.Nodes) - len(f.Switches)
		if len(f.Switches) != c.switches || hosts != c.hosts || len(f.Links()) != c.links {
			t.Errorf("%s: %d switches, %d hosts, %d links, want %d, %d, %d",
				c.spec, len(f.Switches), hosts, len(f.Links()), c.switches, c.hosts, c.links)
		}
		checkShape(t, c.spec, f)
	}
}

// TestBullCables compares each level's neighbours with the drawing.
func TestBullCables(t *testing.T) {
	f := parse(t, "bull:2,2,hosts=1,up=2,services=1,rows=2")
	for name, want := range map[string]string{
		"l0-01-02": "node-0002 l1-01-01 l1-01-02",
		"l1-02-01": "l0-02-01 l0-02-02 l2-02-01 l2-02-01",
		"l2-01-02": "service-0002 l1-01-02 l1-01-02 l3-01 l3-02",
		"l2-02-01": "service-0003 l1-02-01 l1-02-01 l3-01 l3-02",
		"l3-02":    "l2-01-01 l2-01-02 l2-02-01 l2-02-02",
	} {
		if got := neighbours(t, f, name); got != want {
			t.Errorf("neighbours of %s: %s, want %s", name, got, want)
		}
	}
	f = parse(t, "bull:2,1,hosts=1,services=0")
	if got := neighbours(t, f, "l2-02"); got != "l1-01-02 l1-02-02 l3-01 l3-02" {
		t.Errorf("neighbours of an L2 of all sets: %s", got)
	}
}

// neighbours returns the names of the peers of a node's ports, in their order.
func neighbours(t *testing.T, f *fabric.Fabric, name string) string {
	t.Helper()
	nodes := f.NodesByDescription(name)
	if len(nodes) != 1 {
		t.Fatalf("%d nodes are named %s", len(nodes), name)
	}
	n := &f.Nodes[nodes[0]]
	var names []string
	for p := range n.Ports() {
		if peer := f.PeerNode(p); peer != fabric.None {
			names = append(names, strings.TrimSuffix(f.NodeName(peer), " HCA-1"))
		}
	}
	return strings.Join(names, " ")
}

func TestBullErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"bull:2":                       "groups is missing",
		"bull:2,3,rows=3":              "rows: 3 is too many for 2 sets",
		"bull:300,2":                   "a switch would need 303 ports, expected at most 254",
		"bull:2,2,hosts=200,planes=99": "a switch would need 299 ports",
		"bull:2000,200,rows=100":       "need more LIDs than",
		"bull:2,2,sevices=3":           `unknown argument "sevices"`,
	} {
		if _, err := ParseSpec(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", spec, err, want)
		}
	}
}
