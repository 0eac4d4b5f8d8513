// SPDX-License-Identifier: Apache-2.0

package ucastcache_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/ucastcache"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/engines/minhop"
)

func links(t testing.TB, f *fabric.Fabric, desc string, ports ...int) (out []fabric.Link) {
	t.Helper()
	nodes := f.NodesByDescription(desc)
	if len(nodes) != 1 {
		t.Fatalf("%d nodes with description %q", len(nodes), desc)
	}
	for p := 1; p <= int(f.Nodes[nodes[0]].NumPorts); p++ {
		if l, ok := f.LinkOf(f.PortAt(nodes[0], p)); ok && (len(ports) == 0 || slices.Contains(ports, p)) {
			out = append(out, l)
		}
	}
	return out
}

// rebuilt returns f with its nodes in another order, and so other indexes, and with other changes.
func rebuilt(t testing.TB, f *fabric.Fabric, change func(f *fabric.Fabric)) *fabric.Fabric {
	t.Helper()
	h := *f
	h.Nodes, h.Ports = slices.Clone(f.Nodes), slices.Clone(f.Ports)
	if change != nil {
		change(&h)
	}
	var b fabric.Builder
	at := map[fabric.NodeIndex]fabric.NodeIndex{}
	for i := len(h.Nodes) - 1; i >= 0; i-- {
		n, err := b.AddNode(h.Nodes[i])
		if err != nil {
			t.Fatal(err)
		}
		at[fabric.NodeIndex(i)] = n
	}
	for i, p := range h.Ports {
		if q := b.Port(at[p.Node], int(p.Num)); q != nil {
			q.GUID, q.LID, q.LMC = p.GUID, p.LID, p.LMC
		}
		if p.Peer > fabric.PortIndex(i) {
			if err := b.Connect(at[p.Node], int(p.Num), at[h.Ports[p.Peer].Node], int(h.Ports[p.Peer].Num)); err !=
				nil {
				t.Fatal(err)
			}
		}
	}
	sm := h.Ports[h.SMPort]
	if err := b.SetSMPort(at[sm.Node], int(sm.Num)); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestVerdicts has expected sentences from the rules of osm_ucast_cache.c.
func TestVerdicts(t *testing.T) {
	tables := treestest.Routed(t, "fattree:2,4")
	whole := tables.Fabric
	far := whole.EndPorts[len(whole.EndPorts)-1]
	for _, k := range []struct {
		name string
		now  *fabric.Fabric
		kind ucastcache.Kind
		want string
	}{
		{"same", whole, 0, "the unicast cache is valid: nothing is missing"},
		{"other indexes", rebuilt(t, whole, nil), 0, "the unicast cache is valid: nothing is missing"},
		{
			"a host", whole.Without(links(t, whole, "leaf-02", 1)), 0,
			"the unicast cache is valid: missing nodes (1) and links (1) need no computation",
		},
		{
			"a leaf", whole.Without(links(t, whole, "leaf-02")), 0,
			"the unicast cache is valid: missing nodes (3) and links (4) need no computation",
		},
		{
			"a spine", whole.Without(links(t, whole, "spine-02")), ucastcache.SwitchGone,
			"the unicast cache is invalid: spine-02 is gone, a switch without CAs",
		},
		{
			"a link", whole.Without(links(t, whole, "leaf-02", 3)), ucastcache.LinkGone,
			"the unicast cache is invalid: the link leaf-02/3 -- spine-01/2 is gone, and both its switches are present",
		},
		{"a LID", rebuilt(t, whole, func(f *fabric.Fabric) { f.Ports[far].LID += 50 }), ucastcache.LIDChanged,
			" has LID "},
		{"an LMC", rebuilt(t, whole, func(f *fabric.Fabric) { f.Ports[far].LID, f.Ports[far].LMC = 64, 1 }),
			ucastcache.LIDChanged, " has LID "},
		{"a view", rebuilt(t, whole, func(f *fabric.Fabric) { f.SMPort = far }), ucastcache.ViewMoved,
			"the subnet manager's port is "},
		{
			"no subnet", whole.Without(whole.Links()), ucastcache.SwitchGone,
			"the unicast cache is invalid: the subnet manager's port is leaf-01/0 now and was node-0001 HCA-1/1 (and " +
				"2 other reasons)",
		},
	} {
		got, v := ucastcache.New(tables).Next(k.now)
		if !strings.Contains(v.String(), k.want) {
			t.Errorf("%s: %q, want %q", k.name, v, k.want)
		}
		if holds := k.kind == 0; v.Holds() != holds || (got != nil) != holds {
			t.Errorf("%s: holds %v, tables %v", k.name, v.Holds(), got != nil)
		}
		if k.kind != 0 && !slices.ContainsFunc(v.Reasons, func(r ucastcache.Reason) bool { return r.Kind == k.kind }) {
			t.Errorf("%s: reasons %v, want kind %d", k.name, v.Reasons, k.kind)
		}
	}
	if got, v := (ucastcache.Cache{}).Next(whole); got != nil || v.Holds() || v.Reasons[0].Kind != ucastcache.NoRoutes {
		t.Errorf("no routes: %v, %v", got, v)
	}
}

// TestNewcomers checks that additions since the routes were made make them invalid.
func TestNewcomers(t *testing.T) {
	whole := treestest.Routed(t, "fattree:2,4").Fabric
	for _, k := range []struct {
		lost []fabric.Link
		kind ucastcache.Kind
		want string
	}{
		{links(t, whole, "leaf-02", 1), ucastcache.NodeNew, " is new"},
		{links(t, whole, "leaf-02"), ucastcache.NodeNew, " is new (and 2 other reasons)"},
		{links(t, whole, "leaf-02", 3), ucastcache.LinkNew, "the link leaf-02/3 -- spine-01/2 is new"},
	} {
		part := whole.Without(k.lost)
		res, err := minhop.Engine{}.Route(t.Context(), part, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, v := ucastcache.New(res.Tables).Next(whole)
		if got != nil || !strings.Contains(v.String(), k.want) ||
			!slices.ContainsFunc(v.Reasons, func(r ucastcache.Reason) bool {
				return r.Kind == k.kind
			}) {
			t.Errorf("%v; want %q", v, k.want)
		}
	}
}

// TestTables compares the tables with the cached ones: rows follow their switches, those of missing switches are
// unread, and they return with them.
func TestTables(t *testing.T) {
	tables := treestest.Routed(t, "fattree:2,4")
	tables.SL2VL = fabric.NewSL2VL(tables.Fabric)
	leaf := tables.Fabric.NodesByDescription("leaf-02")[0]
	tables.SL2VL.Set(leaf, 1, 3, fabric.VLs{0, 1, 2})
	c := ucastcache.New(tables)
	for _, now := range []*fabric.Fabric{
		tables.Fabric, rebuilt(t, tables.Fabric, nil), tables.Fabric.Without(links(t, tables.Fabric, "leaf-02")),
		rebuilt(t, tables.Fabric, nil),
	} {
		got, v := c.Next(now)
		if got == nil {
			t.Fatal(v)
		}
		for s := range now.NumSwitches() {
			n := now.SwitchNode(s)
			old := tables.Fabric.SwitchByGUID(n.GUID)
			row, want := got.LFT.Row(s), tables.LFT.Row(old)
			if !n.InSubnet {
				want = bytes.Repeat([]byte{fabric.NoPath}, len(want))
			}
			if got.Known[s] != n.InSubnet || n.InSubnet && got.Top[s] != tables.Top[old] || !bytes.Equal(row, want) {
				t.Errorf("%s: known %v, top %d, %v, want %v", n.Desc, got.Known[s], got.Top[s], row, want)
			}
		}
		node := now.NodesByDescription("leaf-02")[0]
		if got.Fabric != now || now.Nodes[node].InSubnet && got.SL2VL.VLs(node, 1, 3) != (fabric.VLs{0, 1, 2}) {
			t.Errorf("the VLs of leaf-02 are %v", got.SL2VL.VLs(node, 1, 3))
		}
	}
}

func BenchmarkNext(b *testing.B) {
	tables := treestest.Routed(b, "fattree:3,24")
	now := tables.Fabric.Without(tables.Fabric.Links()[len(tables.Fabric.Links())-1:])
	c := ucastcache.New(tables)
	for b.Loop() {
		c.Next(now)
	}
}

// TestAfter lets leaf-02 return with its LID. An OpenSM at leaf-01 keeps its cache while leaf-01 has links to both
// spines, and drops it if spine-02 is only reached through leaf-02 (as observed with OpenSM 3.3.23 over ibsim).
func TestAfter(t *testing.T) {
	whole := treestest.Routed(t, "fattree:2,4").Fabric
	for _, k := range []struct {
		lost  []fabric.Link
		holds bool
	}{{nil, true}, {links(t, whole, "leaf-01", 4), false}} {
		now := whole.Without(k.lost)
		res, err := minhop.Engine{}.Route(t.Context(), now, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := ucastcache.New(res.Tables)
		before := whole.Without(append(links(t, whole, "leaf-02"), k.lost...))
		if _, v := c.After(now, before); !v.Holds() {
			t.Errorf("the leaf disappears: %v", v)
		}
		if got, v := c.After(before, now); v.Holds() != k.holds || (got != nil) != k.holds {
			t.Errorf("the leaf returns: %v", v)
		}
	}
}
