// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// generated returns the fabric of a specification, nil if that is invalid.
func generated(spec string) *fabric.Fabric {
	f, err := gen.ParseSpec(spec)
	if err != nil {
		return nil
	}
	return f
}

// summary returns one line for each group.
func summary(c *Classes) string {
	var b strings.Builder
	for _, g := range c.SwitchGroups() {
		fmt.Fprintf(&b, "%d %v %d %s %d-%d %d-%d\n", len(g.Switches), g.Layer, g.Rank, g.Pattern, g.MinDegree,
			g.MaxDegree, g.MinHosts, g.MaxHosts)
	}
	for _, g := range c.AdapterGroups() {
		fmt.Fprintf(&b, "%d %v %s %s\n", len(g.Ends), g.Role, g.Pattern, g.Reason)
	}
	return b.String()
}

// TestClasses compares with numbers calculated by hand from the shapes.
func TestClasses(t *testing.T) {
	for spec, want := range map[string]string{
		"fattree:3,8": "16 root 2 spine-#-# 8-8 0-0\n32 middle 1 agg-#-# 8-8 0-0\n32 leaf 0 leaf-#-# 4-4 4-4\n128 " +
			"compute node-# \n",
		"fattree:2,8": "4 root 1 spine-# 8-8 0-0\n8 leaf 0 leaf-# 4-4 4-4\n32 compute node-# \n",
		"bull:3,4,hosts=6,up=2,services=2": "2 root 3 l#-# 2-2 0-0\n2 middle 2 l#-# 8-8 2-2\n6 middle 1 l#-#-# 6-6 " +
			"0-0\n12 leaf 0 l#-#-# 2-2 6-6\n72 compute node-# \n4 service service-# its name contains service\n",
		"mesh:2x2": "4 leaf 0 sw-#-# 2-2 1-1\n4 compute node-# \n",
	} {
		if got := summary(classesOf(gentest.Fabric(t, spec), nil)); got != want {
			t.Errorf("%s:\n%swant\n%s", spec, got, want)
		}
	}
}

// TestNamelessServices finds I/O nodes on upper switches that are named like all other nodes.
func TestNamelessServices(t *testing.T) {
	for _, spec := range []string{"bull:3,4,hosts=6,services=2", "bull:2,2,hosts=6,services=1,rows=2",
		"bull:4,3,hosts=4,planes=3,services=1"} {
		f := gentest.Fabric(t, spec)
		names := map[uint64]string{}
		services := 0
		for i := range f.Nodes {
			if n := &f.Nodes[i]; strings.HasPrefix(n.Desc, "service") {
				names[n.GUID] = fmt.Sprintf("node-%d HCA-1", 5000+i)
				services++
			}
		}
		s, err := Suggest(t.Context(), f.WithDescriptions(names), nil, routing.Options{})
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		if len(s.IONodes) != services || len(s.Roots) != 2 || len(s.Tried) != 1 || s.Tried[0].Unreachable != 0 {
			t.Errorf("%s: %d I/O nodes, %d roots, tried %+v, want %d, the 2 L3, and one attempt", spec, len(s.IONodes),
				len(s.Roots), s.Tried, services)
		}
	}
}

// TestServicesOnRoots checks that I/O nodes on roots need reverse hops to reach each other.
func TestServicesOnRoots(t *testing.T) {
	f := withAdapters(t, gentest.Fabric(t, "fattree:2,8"), "spine", mad.NodeCA, "oss-%d mlx5_0", nil)
	s, err := Suggest(t.Context(), f, nil, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tried) != 2 || s.Tried[0].Unreachable != 4*3 || s.Tried[1].Unreachable != 0 || s.MaxReverseHops != 1 ||
		len(s.IONodes) != 4 {
		t.Errorf("tried %+v, max_reverse_hops %d, %d I/O nodes, want 12 unreachable pairs, then none with 1", s.Tried,
			s.MaxReverseHops, len(s.IONodes))
	}
}

// TestAggregationNodes finds aggregation nodes by name, by device and by system.
func TestAggregationNodes(t *testing.T) {
	byDevice := func(n, _ *fabric.Node) { n.VendorID, n.DeviceID = 0x2c9, 0xcf09 }
	bySystem := func(n, sw *fabric.Node) { n.SystemGUID = sw.SystemGUID }
	for reason, c := range map[string]struct {
		desc   string
		change func(n, sw *fabric.Node)
	}{
		"its description names an aggregation node": {"Mellanox Technologies Aggregation Node", nil},
		fabric.AggregationByDevice:                  {"host-%d", byDevice},
		fabric.AggregationBySystem:                  {"host-%d", bySystem},
	} {
		f := withAdapters(t, gentest.Fabric(t, "fattree:2,8"), "spine", mad.NodeCA, c.desc, c.change)
		found := classesOf(f, nil).AdapterGroups()
		if last := found[len(found)-1]; len(found) != 2 || last.Role != Aggregation || last.Reason != reason ||
			len(last.Ends) != 4 {
			t.Errorf("%s: found %+v", reason, found)
		}
		s, err := Suggest(t.Context(), f, nil, routing.Options{})
		if err != nil || len(s.Tried) != 1 || len(s.Roots) != 4 || s.Tried[0].Aggregation != 4*3 {
			t.Errorf("%s: %+v, %v, want the 4 spines as roots and 12 unreachable pairs of aggregation nodes",
				reason, s, err)
		}
	}
}

// withAdapters returns a fabric with one more port and adapter on each switch whose name begins with a prefix.
func withAdapters(t *testing.T, f *fabric.Fabric, prefix string, kind mad.NodeType, desc string,
	change func(n, sw *fabric.Node)) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for i := range f.Nodes {
		n := f.Nodes[i]
		if strings.HasPrefix(n.Desc, prefix) {
			n.NumPorts++
		}
		if _, err := b.AddNode(n); err != nil {
			t.Fatal(err)
		}
	}
	for i := range f.Ports {
		p := &f.Ports[i]
		if q := b.Port(p.Node, int(p.Num)); q != nil {
			q.GUID = p.GUID
		}
		if p.Peer != fabric.None {
			if err := b.Connect(p.Node, int(p.Num), f.Ports[p.Peer].Node, int(f.Ports[p.Peer].Num)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range f.Nodes {
		sw := &f.Nodes[i]
		if !strings.HasPrefix(sw.Desc, prefix) {
			continue
		}
		n := fabric.Node{
			GUID: sw.GUID + 1<<32, SystemGUID: sw.GUID + 1<<32, Type: kind, NumPorts: 1,
			Desc: strings.ReplaceAll(desc, "%d", fmt.Sprint(i)),
		}
		if change != nil {
			change(&n, sw)
		}
		node, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		b.Port(node, 1).GUID = n.GUID + 1
		if err := b.Connect(node, 1, fabric.NodeIndex(i), int(sw.NumPorts)+1); err != nil {
			t.Fatal(err)
		}
	}
	out, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNoTree(t *testing.T) {
	for spec, want := range map[string]string{
		"torus:3x3":       "no fat-tree: compute nodes are attached to every switch, of which there are 9",
		"random:1,0,4":    "no fat-tree: compute nodes are attached to every switch, of which there are 1",
		"hypercube:2,3":   "no fat-tree: compute nodes are attached to every switch, of which there are 4",
		"dragonfly:4,2,2": "no fat-tree: compute nodes are attached to every switch, of which there are 36",
	} {
		_, err := Suggest(t.Context(), gentest.Fabric(t, spec), nil, routing.Options{})
		var none *NoTreeError
		if !errors.As(err, &none) || err.Error() != want {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}

func TestServiceWords(t *testing.T) {
	for name, want := range map[string]string{
		"node-0001": "", "IO-03": "io", "cn12": "", "lustre-oss7": "lustre", "oss7.cluster": "oss", "radio-1": "",
		"login2": "login", "": "",
	} {
		if got := serviceWord(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := pattern("sw-01 L12/U1\x1b"); got != `sw-# L#/U#\x1b` {
		t.Errorf("pattern %q", got)
	}
}

// FuzzSuggest classifies fabrics of any shape, one node of which has any name.
func FuzzSuggest(f *testing.F) {
	f.Add("bull:2,2", "login-1")
	f.Add("mesh:2x2", "")
	f.Add("xgft:2,2,2,2,2", "a\x1b[0m")
	f.Fuzz(func(t *testing.T, spec, name string) {
		if len(spec) > 20 {
			return
		}
		net, err := gen.ParseSpec(spec)
		if err != nil || len(net.Ports) > 2000 {
			return
		}
		_, err = Suggest(t.Context(), net.WithDescriptions(map[uint64]string{net.Nodes[0].GUID: name}), nil,
			routing.Options{})
		var none *NoTreeError
		if err != nil && !errors.As(err, &none) {
			t.Fatal(err)
		}
	})
}
