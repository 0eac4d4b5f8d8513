// SPDX-License-Identifier: Apache-2.0

package problems_test

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/fabric/problems"
)

// kinds returns the kinds of the problems with their places.
func kinds(r *problems.Report) string {
	var all []string
	for _, p := range r.Problems {
		all = append(all, fmt.Sprintf("%v %s at %s", p.Severity, p.Kind, p.At.Name))
	}
	return strings.Join(all, "; ")
}

func TestHardware(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	var h health.Report
	switches := f.Switches
	for i, n := range switches {
		h.OfNode(n).PSID, h.OfNode(n).Firmware = "MT_1", "27.2008.0232"
		h.OfNode(n).Supplies = []health.Supply{{Index: 1, Present: "Yes", DC: "OK", Alert: "OK", Fan: "OK"}}
		h.OfNode(n).Fans = []health.Fan{{Index: 1, RPM: health.LevelOf(5000), Min: health.LevelOf(4000)}, {Index: 2}}
		h.OfNode(n).Sensors = []health.Sensor{{Celsius: health.LevelOf(float64(40 + i))}, {Index: 1}}
	}
	var r problems.Report
	if r.Hardware(f, &h); len(r.Problems) != 0 {
		t.Errorf("sound hardware: %s", kinds(&r))
	}
	name := func(i int) string { return f.NodeName(switches[i]) }
	h.OfNode(switches[0]).Sensors[1].Celsius = health.LevelOf(96)
	h.OfNode(switches[1]).Sensors[0].Celsius = health.LevelOf(105)
	h.OfNode(switches[2]).Fans[0].RPM = health.LevelOf(3999)
	h.OfNode(switches[3]).Supplies[0].DC = "Failure"
	h.OfNode(switches[4]).Firmware = "27.2006.1024"
	r.Hardware(f, &h)
	r.Sort()
	want := fmt.Sprintf("error hot node at %s; warning hot node at %s; warning power supply at %s; warning fan at %s; "+
		"note firmware differs at %s", name(1), name(0), name(3), name(2), name(4))
	if got := kinds(&r); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

// TestParts checks that a part with many faulty cables is reported, but neither a few faulty cables nor equal shares.
func TestParts(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,12")
	if err != nil {
		t.Fatal(err)
	}
	links := f.Links()
	for _, c := range []struct {
		name            string
		cables, bad, of int // cables of the part, those with errors, and other cables with errors
		want            bool
	}{
		{"a bad batch", 20, 8, 1, true},
		{"two cables", 20, 2, 0, false},
		{"equal shares", 20, 4, 12, false}, // 20 of 108 cables, 4 of 16 bad ones
		{"all cables are of one part", len(links), 30, 0, false},
	} {
		var h health.Report
		others := 0
		for i, l := range links {
			part := "MFS2"
			bad := false
			if i < c.cables {
				part, bad = "MFS1", i < c.bad
			} else {
				bad = others < c.of
				others++
			}
			for _, at := range []fabric.PortIndex{l.A, l.B} {
				p := h.Of(at)
				p.Cable = &health.Cable{Vendor: "Acme", Part: part}
				p.BER[health.SymbolBER] = health.Rate{Value: 1e-254, Known: true}
			}
			if bad {
				h.Of(l.B).BER[health.SymbolBER].Value = 1e-13
			}
		}
		parts := problems.PartsOf(f, &h, nil)
		if parts[0].Cables != c.cables || parts[0].Bad != c.bad || !parts[0].Judged {
			t.Errorf("%s: %+v", c.name, parts)
		}
		var r problems.Report
		if r.Parts(f, parts); (len(r.Problems) == 1) != c.want {
			t.Errorf("%s: %s", c.name, kinds(&r))
		}
	}
}

// TestGenericNames checks descriptions of adapters. The generic ones are those of firmware and of hosts without a name.
func TestGenericNames(t *testing.T) {
	for desc, want := range map[string]bool{
		"MT4123 ConnectX6   Mellanox Technologies": true, "MT4129": true, "localhost mlx5_0": true,
		"(none) HCA-1": true, "": true, "node-17 mlx5_0": false, "mtl-gpu1 HCA-2": false, "localhost-7 mlx5_0": true,
		"localhosts mlx5_0": false, "localhost": true, "LOCALHOST_2": false, "mt": false, "mtx HCA-1": false,
		"connect01 mlx5_0": false, "Mellanox Technologies Aggregation Node": false,
	} {
		f, err := gen.ParseSpec("fattree:2,4")
		if err != nil {
			t.Fatal(err)
		}
		host := f.Ports[f.EndPorts[len(f.EndPorts)-1]].Node
		if f.Nodes[host].IsSwitch() {
			t.Fatal("expected a host last")
		}
		f.Nodes[host].Desc = desc
		var r problems.Report
		if r.GenericNames(f); (len(r.Problems) == 1) != want {
			t.Errorf("%q: %s, expected generic %v", desc, kinds(&r), want)
		}
	}
}
