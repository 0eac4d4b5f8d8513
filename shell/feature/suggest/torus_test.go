// SPDX-License-Identifier: Apache-2.0

package suggest

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
)

// A torus that is recognised keeps the coordinates and service levels that it had
// before failures, of all that is still connected.
func TestRecognisedTorusStays(t *testing.T) {
	r := testenv.Rand(t)
	compared := 0
	for i := range testenv.Count(t, 10, 200) {
		source := []string{
			"sim:torus:6x6", "sim:torus:5x4x3", "sim:torus:4x4", "sim:mesh:5x5", "sim:torus:3x7,links=2",
		}[i%5]
		s := sessiontest.Open(t, source)
		set, err := settings.Parse(t.Context(), []string{"torus-2QoS", "no_fallback"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.SetSettings(set)
		if _, err := s.Route(t.Context(), compute.KeepNo); err != nil {
			t.Fatal(err)
		}
		before := s.State().Staged.Tables
		grid, _ := torus.Of(before)
		if r.IntN(2) == 0 {
			_, err = s.Fail(t.Context(), failures.Random(1+r.IntN(4), r.Uint64()))
		} else {
			f := before.Fabric
			sw := f.Switches[r.IntN(len(f.Switches))]
			if sw == f.PeerNode(f.SMPort) {
				continue
			}
			_, err = s.Fail(t.Context(), failures.Nodes("switch", f.NodeName(sw), sw))
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Route(t.Context(), compute.KeepNo); err != nil {
			continue // a ring in pieces
		}
		after := s.State().Staged.Tables
		now, ok := torus.Of(after)
		if !ok {
			t.Fatalf("%s is routed by %s", source, after.Origin)
		}
		for sw := range after.Fabric.Switches {
			is, ok := now.Coordinates(fabric.SwitchIndex(sw))
			if was, _ := grid.Coordinates(fabric.SwitchIndex(sw)); ok && is != was {
				t.Fatalf("%s: %s was at %v, is at %v", source, after.Fabric.NodeName(after.Fabric.Switches[sw]), was,
					is)
			}
		}
		for _, a := range after.Fabric.EndPorts {
			for _, b := range after.Fabric.EndPorts {
				src, dst := after.Fabric.Ports[a].LID, after.Fabric.Ports[b].LID
				if !hasPlace(now, after, a) || !hasPlace(now, after, b) {
					continue
				}
				if was, is := before.SLs.SL(src, dst), after.SLs.SL(src, dst); was != is {
					t.Fatalf("%s: the service level from LID %d to %d was %d, is %d", source, src, dst, was, is)
				}
				compared++
			}
		}
		conf, err := recognised(&feature.Call{Ctx: t.Context(), Session: s})
		if err != nil {
			t.Fatal(err)
		}
		res, err := torus.Engine{Conf: conf}.Route(t.Context(), after.Fabric, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		again, _ := torus.Of(res.Tables)
		for sw := range after.Fabric.Switches {
			is, _ := again.Coordinates(fabric.SwitchIndex(sw))
			if was, _ := now.Coordinates(fabric.SwitchIndex(sw)); is != was {
				t.Fatalf("%s: the configuration written puts %s at %v, it is at %v", source,
					after.Fabric.NodeName(after.Fabric.Switches[sw]), is, was)
			}
		}
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}

// hasPlace reports whether the switch of an end port has coordinates.
func hasPlace(grid *torus.Torus, t *fabric.Tables, end fabric.PortIndex) bool {
	sw, _ := t.Fabric.AttachedSwitch(end)
	if sw == fabric.None {
		return false
	}
	_, ok := grid.Coordinates(sw)
	return ok
}
