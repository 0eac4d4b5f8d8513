// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"fmt"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
)

// rails generates subnets of the same hosts.
func rails(t testing.TB, n int, kind string) []*fabric.Fabric {
	t.Helper()
	var all []*fabric.Fabric
	for i := range n {
		all = append(all, gentest.Fabric(t, fmt.Sprintf("%s,rail=%d", kind, i+1)))
	}
	return all
}

func compared(all []*fabric.Fabric) string {
	var of []*Structure
	for _, f := range all {
		of = append(of, Recognise(f, nil))
	}
	text := ""
	for _, d := range Compare(of, make([]*fabric.Tables, len(of))) {
		text += fmt.Sprintf("%d %s: %s\n", d.Subnet+1, d.Kind, d.What)
	}
	return text
}

// cut removes the links that have an end with one of the names.
func cut(t testing.TB, f *fabric.Fabric, links ...string) *fabric.Fabric {
	t.Helper()
	var removed []fabric.Link
	for _, l := range f.Links() {
		a, b := f.PortName(l.A), f.PortName(l.B)
		if slices.Contains(links, a) || slices.Contains(links, b) {
			removed = append(removed, l)
		}
	}
	if len(removed) != len(links) {
		t.Fatalf("cut %d links, want %d", len(removed), len(links))
	}
	return f.Without(removed)
}

// swap exchanges the far ends of two cables.
func swap(f *fabric.Fabric, a, b fabric.PortIndex) {
	x, y := f.Ports[a].Peer, f.Ports[b].Peer
	f.Ports[a].Peer, f.Ports[y].Peer, f.Ports[b].Peer, f.Ports[x].Peer = y, a, x, b
}

func port(t testing.TB, f *fabric.Fabric, name string) fabric.PortIndex {
	t.Helper()
	for p := range f.NumPorts() {
		if f.PortName(p) == name {
			return p
		}
	}
	t.Fatalf("no port %s", name)
	return fabric.None
}

// TestCompare compares rails one of which has a fault, also if that one is the model.
func TestCompare(t *testing.T) {
	for name, c := range map[string]struct {
		rails int
		fault func(t *testing.T, all []*fabric.Fabric)
		want  string
	}{
		"equal": {4, func(*testing.T, []*fabric.Fabric) {}, ""},
		"link": {4, func(t *testing.T, all []*fabric.Fabric) { all[2] = cut(t, all[2], "leaf-03/6") },
			"3 cabling: leaf-03/6 has no link, on most others it leads to spine-02/3\n"},
		"link of the first": {3, func(t *testing.T, all []*fabric.Fabric) { all[0] = cut(t, all[0], "leaf-03/6") },
			"1 cabling: leaf-03/6 has no link, on most others it leads to spine-02/3\n"},
		"host": {3, func(t *testing.T, all []*fabric.Fabric) { all[1] = cut(t, all[1], "node-0002 mlx5_1/1") },
			"2 hosts: node-0002 is missing, 2 others have it\n"},
		"hosts on the wrong leaves": {3, func(t *testing.T, all []*fabric.Fabric) {
			swap(all[2], port(t, all[2], "leaf-01/1"), port(t, all[2], "leaf-04/2"))
		}, "3 hosts: node-0001 is on leaf-04/2, by most others it would be on leaf-01\n" +
			"3 hosts: node-0014 is on leaf-01/1, by most others it would be on leaf-04\n"},
		"cables exchanged": {3, func(t *testing.T, all []*fabric.Fabric) {
			swap(all[0], port(t, all[0], "leaf-01/5"), port(t, all[0], "leaf-02/6"))
		}, "1 cabling: leaf-01/5 leads to spine-02/2, on most others to spine-01/1\n" +
			"1 cabling: leaf-02/6 leads to spine-01/1, on most others to spine-02/2\n"},
		"speed": {3, func(t *testing.T, all []*fabric.Fabric) {
			p := port(t, all[1], "leaf-02/7")
			all[1].Ports[p].Speed, all[1].Ports[all[1].Ports[p].Peer].Speed = fabric.HDR, fabric.HDR
		}, "2 speed: leaf-02/7 -- spine-03/2 runs 4xHDR, 4xSDR on most\n"},
		"all speeds": {3, func(t *testing.T, all []*fabric.Fabric) {
			all[1] = gentest.Fabric(t, "fattree:2,8,rail=2,speed=hdr")
		},
			"2 speed: 64 of 64 links run at another speed than on most: leaf-01/5 -- spine-01/1 runs 4xHDR, 4xSDR " +
				"on most\n"},
		"switch": {3, func(t *testing.T, all []*fabric.Fabric) {
			all[2] = cut(t, all[2], "spine-04/1", "spine-04/2", "spine-04/3", "spine-04/4", "spine-04/5", "spine-04/6",
				"spine-04/7", "spine-04/8")
		}, "3 size: has 11 switches, most have 12\n3 size: has no switch in the place of spine-04 of the others\n"},
	} {
		t.Run(name, func(t *testing.T) {
			all := rails(t, c.rails, "fattree:2,8")
			c.fault(t, all)
			got := compared(all)
			if got != c.want {
				t.Errorf("got:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

// BenchmarkCompare compares eight rails of 2,048 hosts.
func BenchmarkCompare(b *testing.B) {
	var all []*Structure
	for _, f := range rails(b, 8, "fattree:2,64") {
		all = append(all, Recognise(f, nil))
	}
	for b.Loop() {
		Compare(all, make([]*fabric.Tables, len(all)))
	}
}
