// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// someFailure returns a few links, possibly all links of a host or switch.
func someFailure(r *rand.Rand, f *fabric.Fabric) []fabric.Link {
	links := f.Links()
	var gone []fabric.Link
	for range min(len(links), 1+r.IntN(3)) {
		l := links[r.IntN(len(links))]
		gone = append(gone, l)
		if r.IntN(4) == 0 {
			node := f.Ports[l.B].Node
			for _, m := range links {
				if f.Ports[m.A].Node == node || f.Ports[m.B].Node == node {
					gone = append(gone, m)
				}
			}
		}
	}
	return gone
}

// TestWithoutEqualsRebuilt compares fabrics after a sequence of failures, which share data with the original fabric,
// with rebuilt ones.
func TestWithoutEqualsRebuilt(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 300, 3000) {
		f := treestest.Random(t, r)
		for whole := f; len(f.Links()) > 0; {
			if whole != f && r.IntN(3) == 0 {
				break
			}
			gone := someFailure(r, f)
			part := f.Without(gone)
			rebuilt, err := part.WithSMPort(part.SMPort)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(part.EndPorts, rebuilt.EndPorts) || !slices.Equal(part.Nodes, rebuilt.Nodes) ||
				part.MaxLID != rebuilt.MaxLID {
				t.Fatalf("without %v: end ports %v and highest LID %d, rebuilt %v and %d", gone, part.EndPorts,
					part.MaxLID, rebuilt.EndPorts, rebuilt.MaxLID)
			}
			left := slices.DeleteFunc(slices.Clone(whole.EndPorts), func(e fabric.PortIndex) bool {
				return slices.Contains(part.EndPorts, e)
			})
			if !slices.Equal(part.Unreachable, left) || !slices.Equal(rebuilt.Unreachable, left) {
				t.Fatalf("without %v: unreachable %v, rebuilt %v, want %v", gone, part.Unreachable,
					rebuilt.Unreachable, left)
			}
			for _, e := range whole.EndPorts {
				if guid := whole.Ports[e].GUID; part.PortByGUID(guid) != rebuilt.PortByGUID(guid) {
					t.Fatalf("without %v: port GUID 0x%x is that of port %d, rebuilt %d", gone, guid,
						part.PortByGUID(guid), rebuilt.PortByGUID(guid))
				}
			}
			for lid := range whole.MaxLID + 2 {
				if part.PortByLID(lid) != rebuilt.PortByLID(lid) {
					t.Fatalf("without %v: LID %d is that of port %d, rebuilt %d", gone, lid, part.PortByLID(lid),
						rebuilt.PortByLID(lid))
				}
			}
			if got, want := fabric.Changes(f, part), fabric.Changes(f, rebuilt); !slices.Equal(got, want) {
				t.Fatalf("without %v: changes %v, want %v", gone, got, want)
			}
			checkRemoved(t, f, part)
			checkRemoved(t, whole, part)
			if _, ok := fabric.Removed(part, f); ok && !fabric.SameLinks(f, part) {
				t.Fatal("Removed accepts the original fabric as part of a failed one")
			}
			f = part
		}
	}
}

// checkRemoved checks that Removed returns the links that whole has and part does not have.
func checkRemoved(t *testing.T, whole, part *fabric.Fabric) {
	t.Helper()
	links, ok := fabric.Removed(whole, part)
	if !ok {
		if whole.SMPort == part.SMPort {
			t.Fatal("Removed does not recognize a part of a fabric")
		}
		return
	}
	gone := map[fabric.Link]bool{}
	for _, l := range links {
		gone[l] = true
	}
	for _, l := range whole.Links() {
		if now, ok := part.LinkOf(l.A); gone[l] == ok || ok && now != l {
			t.Fatalf("link %v: removed %v, up in the part %v", l, gone[l], ok)
		}
	}
}

// TestPatched compares patched tables with a copy that is written directly.
func TestPatched(t *testing.T) {
	r := testenv.Rand(t)
	for range 200 {
		switches, most := 1+r.IntN(8), uint16(1+r.IntN(300))
		under := fabric.NewLFT(switches, most)
		plain := fabric.NewLFT(switches, most)
		for range 1 + r.IntN(3) {
			edits := map[fabric.Edit]bool{}
			for range r.IntN(40) {
				edits[fabric.Edit{Switch: fabric.SwitchIndex(r.IntN(switches)), LID: uint16(r.IntN(int(most) + 1))}] =
					true
			}
			var list []fabric.Edit
			for e := range edits {
				e.Port = uint8(r.IntN(256))
				list = append(list, e)
				plain.Row(e.Switch)[e.LID] = e.Port
			}
			patched := under.Patched(list)
			if got, ok := patched.EditsOf(under); !ok || len(got) != len(list) {
				t.Fatalf("%d edits, %v; want %d", len(got), ok, len(list))
			}
			copied := patched.Clone()
			for sw := range fabric.SwitchIndex(switches) {
				for lid := range most + 2 {
					if patched.Port(sw, lid) != plain.Port(sw, lid) || copied.Port(sw, lid) != plain.Port(sw, lid) {
						t.Fatalf("switch %d LID %d: %d, copied %d, want %d", sw, lid, patched.Port(sw, lid),
							copied.Port(sw, lid), plain.Port(sw, lid))
					}
				}
				if !slices.Equal(patched.Row(sw), plain.Row(sw)) {
					t.Fatalf("switch %d: row %v, want %v", sw, patched.Row(sw), plain.Row(sw))
				}
			}
			under = patched
		}
	}
}
