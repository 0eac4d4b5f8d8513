// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"testing"

	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
)

// TestSharedFabrics classifies real fabrics. The numbers of switches and adapters are those of their descriptions. The
// layers are those in the names of switches (L and S are boards of a director, spine its spines). In real-qdr-11sw they
// follow from the cabling: sw-007 to sw-010 have three or more cables to each leaf, and sw-005, with no hosts, has them
// to two of these four as the leaves have.
func TestSharedFabrics(t *testing.T) {
	for _, c := range []struct {
		file                        string
		roots, compute, aggregation int
		// unreachable reports whether some pairs with aggregation nodes need a path down and up again.
		unreachable bool
	}{
		{"real-cs8500-hdr-192sw.topo", 40, 990, 192, true},
		{"real-cs8500-hdr-192sw.net", 40, 990, 192, true},
		{"real-ndr-rail-40sw.topo", 9, 542, 40, true},
		{"real-fdr10-8sw.topo", 2, 142, 0, false},
		{"real-qdr-11sw.topo", 4, 89, 0, false},
		{"reindeer1100-116sw.net", 18, 1100, 0, false},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			subnet, err := formats.Read(t.Context(), testenv.SharedFile(t, "fabrics/"+c.file))
			if err != nil {
				t.Fatal(err)
			}
			s, err := Suggest(t.Context(), subnet.Fabric, nil, routing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			aggregation := 0
			for _, g := range s.Classes.AdapterGroups() {
				if g.Role == Aggregation {
					aggregation += len(g.Ends)
				}
			}
			if len(s.Roots) != c.roots || len(s.ComputeNodes) != c.compute || aggregation != c.aggregation {
				t.Errorf("%d roots, %d compute and %d aggregation nodes, want %d, %d, %d",
					len(s.Roots), len(s.ComputeNodes), aggregation, c.roots, c.compute, c.aggregation)
			}
			if len(s.Tried) != 1 || s.Tried[0].Err != nil || s.Tried[0].Unreachable != 0 ||
				(s.Tried[0].Aggregation > 0) != c.unreachable {
				t.Errorf("tried %+v, want one attempt after which all hosts reach each other", s.Tried)
			}
		})
	}
}

// TestNoFatTree uses a real fabric that ftree routes only in part: from some directors, spines of others are below the
// switches with hosts.
func TestNoFatTree(t *testing.T) {
	if !testenv.Full() {
		t.Skip("takes long: only with IBCONSOLE_FULL=1")
	}
	subnet, err := formats.Read(t.Context(), testenv.SharedFile(t, "fabrics/rhino10k-2520sw.net"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Suggest(t.Context(), subnet.Fabric, nil, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s.Tried {
		if a.Err != nil || a.Unreachable == 0 {
			t.Errorf("tried %+v, want hosts that do not reach each other", a)
		}
	}
}
