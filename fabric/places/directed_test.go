// SPDX-License-Identifier: Apache-2.0

package places

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad"
)

// TestDirectedRoutes finds a route to each node, and compares its length with the distance that relaxing all links in
// turn gives. The text of the route leads back to the node.
func TestDirectedRoutes(t *testing.T) {
	for _, spec := range []string{"fattree:2,4", "torus:3x3", "hypercube:3,hosts=1"} {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		from := f.Ports[f.SMPort].Node
		distance := make([]int, len(f.Nodes))
		for i := range distance {
			distance[i] = len(f.Nodes)
		}
		distance[from] = 0
		for range f.Nodes {
			for i := range f.Ports {
				a := f.Ports[i].Node
				if f.Ports[i].Peer == fabric.None || a != from && !f.Nodes[a].IsSwitch() {
					continue
				}
				b := f.Ports[f.Ports[i].Peer].Node
				distance[b] = min(distance[b], distance[a]+1)
			}
		}
		for i := range f.Nodes {
			to := fabric.NodeIndex(i)
			hops, ok := FindDirected(f, from, to)
			if !ok || len(hops) != distance[to] {
				t.Fatalf("%s: %d links to %s, %v, want %d", spec, len(hops), f.NodeName(to), ok, distance[to])
			}
			if got, err := Resolve(f, DirectedText(hops, f)); err != nil || got.Node != to {
				t.Errorf("%s: %s leads to %+v, %v, want %s", spec, DirectedText(hops, f), got, err, f.NodeName(to))
			}
		}
	}
}

// TestAddresses resolves node GUIDs, GIDs and directed routes, and refuses those without an end.
func TestAddresses(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if got, err := Resolve(f, fmt.Sprintf("node:0x%x", n.GUID)); err != nil || got.Node != fabric.NodeIndex(i) {
			t.Errorf("node:0x%x: %+v, %v", n.GUID, got, err)
		}
		if got, err := Resolve(f, fmt.Sprintf("node:0x%x/1", n.GUID)); err != nil || got.Port != n.FirstPort+1 {
			t.Errorf("node:0x%x/1: %+v, %v", n.GUID, got, err)
		}
	}
	for _, e := range f.EndPorts {
		guid := f.Ports[e].GUID
		words := [4]any{guid >> 48, guid >> 32 & 0xffff, guid >> 16 & 0xffff, guid & 0xffff}
		for _, prefix := range []string{"fe80::", "fe80:0000:0000:0000:", "fec0:0:0:1:"} {
			text := prefix + fmt.Sprintf("%x:%x:%x:%x", words[:]...)
			if got, err := Resolve(f, text); err != nil || got.Port != e {
				t.Errorf("%s: %+v, %v, want port %d", text, got, err, e)
			}
			for port := range f.Nodes[f.Ports[e].Node].Ports() {
				text := fmt.Sprintf("%s/%d", text, f.Ports[port].Num)
				if got, err := Resolve(f, text); err != nil || got.Port != port || !got.PortNamed {
					t.Errorf("%s: %+v, %v, want port %d", text, got, err, port)
				}
			}
		}
	}
	first := f.Ports[f.Ports[f.SMPort].Peer].Node // the switch of the port at which routes begin
	if got, err := Resolve(f, "dr:0,1/3"); err != nil || got.Port != f.PortAt(first, 3) || !got.PortNamed {
		t.Errorf("dr:0,1/3: %+v, %v", got, err)
	}
	seat := f.NodeName(f.Ports[f.SMPort].Node)
	for text, want := range map[string]string{
		"dr:":                             "expected 0 and then ports",
		"dr:1,2":                          "expected 0 and then ports",
		"dr:0,0":                          "expected 0 and then ports",
		"dr:0,256":                        "expected 0 and then ports",
		"dr:0,1,":                         "expected 0 and then ports",
		"dr:0,2":                          "link 1: " + seat + " has no port 2",
		"dr:0,1,99":                       "has no port 99",
		"dr:0,1,1,1,1":                    "link 3: " + seat + " is no switch",
		"dr:0" + strings.Repeat(",1", 64): "a directed route of 64 links, expected at most 63",
		"node:0x1":                        "no node has GUID 0x0000000000000001",
		"node:0xz":                        "is not a GUID",
		"fe80::1":                         "nothing has GUID 0x0000000000000001",
		"fe80::1%eth0":                    "no node is called",
		"fe80::1/2":                       "nothing has GUID 0x0000000000000001",
		"ff12::10:1":                      "is a multicast GID",
		"ff12:401b:ffff::1/3":             "is a multicast GID",
		"dr:0,1/99":                       "has no port 99",
		"dr:0,1/x":                        `"x" is not a port number`,
	} {
		if got, err := Resolve(f, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want an error with %q", text, got, err, want)
		}
	}
}

// TestGIDPrefix refuses GIDs of another subnet if the prefix of the subnet is known.
func TestGIDPrefix(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	guid := f.Ports[f.EndPorts[0]].GUID
	for _, c := range []struct {
		subnet, prefix uint64
		refused        bool
	}{
		{0, 0xfec0 << 48, false}, {0xfec0<<48 | 1, 0xfec0<<48 | 1, false}, {0xfec0<<48 | 1, 0xfe80 << 48, false},
		{0xfec0<<48 | 1, 0xfec0<<48 | 2, true}, {0xfe80 << 48, 0xfec0<<48 | 1, true},
	} {
		f.GIDPrefix = c.subnet
		for _, port := range []string{"", "/1"} {
			_, err := Resolve(f, mad.NewGID(c.prefix, guid).String()+port)
			refused := err != nil && strings.Contains(err.Error(), "is a GID of another subnet")
			if refused != c.refused || err != nil && !refused {
				t.Errorf("subnet %x, GID prefix %x: %v", c.subnet, c.prefix, err)
			}
		}
	}
}

// TestDirectedHosts finds the hosts of directed routes, whose commas do not separate hosts.
func TestDirectedHosts(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	finder := HostFinder{Fabric: f}
	from := f.Ports[f.SMPort].Node
	for _, e := range f.EndPorts {
		node := f.Ports[e].Node
		if f.Nodes[node].IsSwitch() {
			continue
		}
		hops, _ := FindDirected(f, from, node)
		text := DirectedText(hops, f)
		if got, err := finder.Find(text); err != nil || len(got) != 1 || got[0] != e {
			t.Errorf("%s: ports %v, %v, want %d", text, got, err, e)
		}
	}
}

// TestHostsOfFailures checks that every switch and every host list names the same hosts with and without failures.
func TestHostsOfFailures(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"node-[0001-0008]"}
	for _, n := range f.Switches {
		words = append(words, f.NodeName(n))
	}
	for n := range f.Nodes {
		var down []fabric.Link
		for p := range f.Nodes[n].Ports() {
			if f.Ports[p].Linked() {
				down = append(down, fabric.Link{A: p, B: f.Ports[p].Peer})
			}
		}
		g := f.Without(down)
		for _, word := range words {
			want, err := (&HostFinder{Fabric: f}).Find(word)
			got, failed := (&HostFinder{Fabric: g}).Find(word)
			if err != nil || failed != nil || !slices.Equal(got, want) {
				t.Errorf("%s without %s: ports %v, %v, want %v, %v", word, f.NodeName(fabric.NodeIndex(n)), got, failed,
					want, err)
			}
		}
	}
}

// TestLinkOfOtherPort refuses a port number that contradicts the port of a place.
func TestLinkOfOtherPort(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	leaf := f.NodeName(f.Switches[0])
	if p, err := Link(f, []string{leaf + "/1", "1"}); err != nil || f.Ports[p].Num != 1 {
		t.Errorf("port %d, %v, want port 1", p, err)
	}
	// The GUID of a port also stands for its node, whose GUID is often the same.
	host := f.Ports[f.SMPort]
	if p, err := Link(f, []string{fmt.Sprintf("guid:0x%x", host.GUID), "1"}); err != nil || p != f.SMPort {
		t.Errorf("port %d, %v, want port 1 of the host", p, err)
	}
	_, err = Link(f, []string{leaf + "/1", "2"})
	if err == nil || !strings.Contains(err.Error(), "is port 1, not port 2") {
		t.Errorf("another port: %v", err)
	}
}
