// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
)

// stage stages tables of the live fabric.
func stage(t *testing.T, s *session.Session, tables *fabric.Tables) {
	t.Helper()
	(&sessiontest.Subnet{T: t}).Stage(s, tables)
}

// TestCommitOfLanesAndGroups writes a routing of torus-2QoS with its lanes and the
// tree of a group that was written before, and takes it back: the switches hold what
// they held. It is a mesh, where no service levels are needed: nobody grants any.
func TestCommitOfLanesAndGroups(t *testing.T) {
	s := sessiontest.OpenIn(t, "sim:mesh:4x4 hosts=2", t.TempDir())
	if err := s.SetWrite(true); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	all := session.Reads{SL2VL: true, MFT: true}
	if _, err := s.SweepFor(ctx, all); err != nil {
		t.Fatal(err)
	}
	before := s.State().Live.Tables
	f := before.Fabric
	group := *before
	group.MFT, group.SL2VL = before.MFT.Clone(), before.SL2VL.Clone()
	for _, name := range []string{"sw-0-0", "sw-0-1"} { // a link between them and a host on each
		sw := f.NodesByDescription(name)[0]
		for p := range f.Nodes[sw].Ports() {
			next := f.PeerSwitch(p)
			if f.Ports[p].Linked() && (next == fabric.None || next >= 0 && next+f.Nodes[sw].Switch == 1) {
				group.MFT.Add(f.Nodes[sw].Switch, fabric.FirstMLID+1, f.Ports[p].Num)
			}
		}
	}
	group.SL2VL.Set(f.NodesByDescription("sw-1-1")[0], 1, 2, fabric.VLs{3, 2, 1})
	commit := func(p *fabric.Tables) commits.Report {
		t.Helper()
		stage(t, s, p)
		told := false
		rep, err := commits.Commit(ctx, s, commits.Options{Confirmed: true, AllowInterrupt: true,
			Planned: func(r *commits.Report) error {
				told = r.Written == nil && r.Plan != nil
				return nil
			}})
		if err != nil || !told || rep.Written == nil {
			t.Fatalf("%v, told before %v, %+v", err, told, rep.Plan.Totals())
		}
		return rep
	}
	rep := commit(&group)
	if n := rep.Plan.Totals(); n.SL2VLs != 1 || n.MFTs != 2 || rep.Written.ReadBack.SL2VLs != 1 ||
		rep.Written.ReadBack.MFTs != 2 {
		t.Errorf("%+v, %+v", n, rep.Written)
	}
	same := func(want *fabric.Tables, what string) {
		t.Helper()
		if _, err := s.SweepFor(ctx, all); err != nil {
			t.Fatal(err)
		}
		got := s.State().Live.Tables
		for i := range f.Nodes {
			n := &f.Nodes[i]
			for in := uint8(0); n.IsSwitch() && in <= n.NumPorts; in++ {
				for out := uint8(1); out <= n.NumPorts; out++ {
					if f.Ports[n.FirstPort+fabric.PortIndex(out)].Linked() &&
						(in == 0 || f.Ports[n.FirstPort+fabric.PortIndex(in)].Linked()) &&
						got.SL2VL.VLs(fabric.NodeIndex(i), in, out) != want.SL2VL.VLs(fabric.NodeIndex(i), in, out) {
						t.Fatalf("%s: lanes of %s from %d to %d", what, f.NodeName(fabric.NodeIndex(i)), in, out)
					}
				}
			}
		}
		for sw := range f.Switches {
			for lid := uint16(fabric.FirstMLID); lid <= max(got.MFT.Top, want.MFT.Top); lid++ {
				for p := range f.SwitchNode(fabric.SwitchIndex(sw)).NumPorts + 1 {
					a, b := lid <= got.MFT.Top && got.MFT.Has(fabric.SwitchIndex(sw), lid, p), lid <= want.MFT.Top &&
						want.MFT.Has(fabric.SwitchIndex(sw), lid, p)
					if a != b {
						t.Fatalf("%s: group 0x%x of switch %d, port %d: %v, want %v", what, lid, sw, p, a, b)
					}
				}
			}
		}
	}
	same(&group, "written")
	set, err := settings.Parse(t.Context(), []string{"torus-2QoS"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.SetSettings(set)
	routed, err := s.Route(ctx, compute.KeepNo)
	if err != nil || routed.Engine != "torus-2QoS" {
		t.Fatal(routed, err)
	}
	staged := s.State().Staged
	heard := 0
	for _, e := range f.EndPorts {
		if sw, port := f.AttachedSwitch(e); sw != fabric.None && staged.Tables.MFT.Has(sw, fabric.FirstMLID+1, port) {
			heard++
		}
	}
	if heard != 4 {
		t.Errorf("%d hosts are in the group after routing, want the 4 of two switches", heard)
	}
	if _, err = commits.Commit(ctx, s, commits.Options{Confirmed: true, AllowInterrupt: true}); err != nil {
		t.Fatal(err)
	}
	same(staged.Tables, "routed")
	if _, _, err := commits.Rollback(ctx, s, 0, commits.Options{Confirmed: true, AllowInterrupt: true}); err != nil {
		t.Fatal(err)
	}
	same(&group, "rolled back")
	if _, _, err := commits.Rollback(ctx, s, rep.Journal, commits.Options{
		Confirmed: true, AllowInterrupt: true,
	}); err != nil {
		t.Fatal(err)
	}
	same(before, "back at the beginning")
}

// TestCommitOfTreesWithCycles lets every switch of a ring of four send the packets of
// a group to both of its neighbours: they would go round for ever.
func TestCommitOfTreesWithCycles(t *testing.T) {
	s := sessiontest.OpenIn(t, "sim:mesh:2x2", t.TempDir())
	if err := s.SetWrite(true); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SweepFor(t.Context(), session.Reads{MFT: true}); err != nil {
		t.Fatal(err)
	}
	live := s.State().Live
	ring := *live.Tables
	f := ring.Fabric
	ring.MFT = ring.MFT.Clone()
	for sw, n := range f.Switches {
		for p := uint8(1); p <= f.Nodes[n].NumPorts; p++ {
			if f.Ports[f.Port(n, p)].Linked() {
				ring.MFT.Add(fabric.SwitchIndex(sw), fabric.FirstMLID, p)
			}
		}
	}
	stage(t, s, &ring)
	if rep, err := commits.Commit(t.Context(), s, commits.Options{Confirmed: true}); !commits.Needs(err,
		commits.Interrupt) ||
		!strings.Contains(err.Error(), "1 multicast group have cycles") || rep.Written != nil {
		t.Fatalf("%v, written: %v", err, rep.Written)
	}
	if rep, err := commits.Commit(t.Context(), s, commits.Options{Confirmed: true, AllowInterrupt: true,
		AllowLoop: true}); err != nil ||
		rep.Written == nil {
		t.Fatalf("with both permissions: %v", err)
	}
}
