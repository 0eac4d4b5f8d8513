// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/survey"
)

// there are the names of nodes and links of the subnet of a fabric; a link's has " -- " in it.
func there(f *fabric.Fabric) map[string]bool {
	names := map[string]bool{}
	for i := range f.NumNodes() {
		if f.Nodes[i].InSubnet {
			names[f.NodeName(i)] = true
		}
	}
	for _, l := range f.Links() {
		if f.Discovered(l.A) && f.Discovered(l.B) {
			names[linkName(f.PortName(l.A), f.PortName(l.B))] = true
		}
	}
	return names
}

func linkName(a, b string) string { return min(a, b) + " -- " + max(a, b) }

// TestLossesOverConsoles: links and nodes fail and come back, between sweeps and between consoles. What some console
// has seen and is not there is lost, in each console that comes later, until it is back or a baseline is saved; it is
// an error with a time, and the count of links is that of all who show it.
func TestLossesOverConsoles(t *testing.T) {
	r := testenv.Rand(t)
	for round := range testenv.Count(t, 4, 100) {
		n := sessiontest.NewSubnet(t, "fattree:2,6")
		n.Record = true
		s := n.Console()
		f, known := n.Fabric, there(s.State().Live.Fabric)
		down, off := map[fabric.PortIndex]bool{}, map[fabric.NodeIndex]bool{}
		steps := []string{}
		for range 25 {
			port := fabric.PortIndex(r.IntN(len(f.Ports)))
			node := f.Ports[port].Node
			switch what := r.IntN(12); {
			case what < 3 && f.Ports[port].Linked() && node != f.Ports[n.Port].Node &&
				f.PeerNode(port) != f.Ports[n.Port].Node:
				port = min(port, f.Ports[port].Peer)
				steps = append(steps, fmt.Sprintf("%s down", f.PortName(port)))
				if err := n.Sim.Unlink(port); err != nil {
					t.Fatal(err)
				}
				down[port] = true
			case what < 5 && len(down) > 0:
				port = slices.Sorted(maps.Keys(down))[r.IntN(len(down))]
				steps = append(steps, fmt.Sprintf("%s up", f.PortName(port)))
				if err := n.Sim.Relink(port); err != nil {
					t.Fatal(err)
				}
				delete(down, port)
			case what == 5 && !f.Nodes[node].IsSwitch() && node != f.Ports[n.Port].Node:
				steps = append(steps, f.NodeName(node)+" off")
				n.Sim.PowerOff(node)
				off[node] = true
			case what == 6 && len(off) > 0:
				node = slices.Sorted(maps.Keys(off))[r.IntN(len(off))]
				steps = append(steps, f.NodeName(node)+" on")
				n.Sim.PowerOn(node)
				delete(off, node)
			case what < 9:
				steps = append(steps, "sweep")
				if _, err := s.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				maps.Copy(known, there(s.State().Live.Fabric))
			case what == 9:
				steps = append(steps, "baseline save")
				if _, err := s.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, err := s.SaveBaseline(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				known = there(s.State().Live.Fabric)
			default:
				steps = append(steps, "another console")
				n.Leave()
				s = n.Console()
				maps.Copy(known, there(s.State().Live.Fabric))
			}
			st := s.State()
			if fault := lossFault(t, &st, s, known); fault != "" {
				t.Errorf("round %d: %s: %s", round, strings.Join(steps, ", "), fault)
				break
			}
		}
		n.Leave()
	}
}

// lossFault returns how the losses of a session differ from what was seen and is gone, "" for no difference.
func lossFault(t *testing.T, st *session.State, s *session.Session, known map[string]bool) string {
	t.Helper()
	now := there(st.Live.Fabric)
	var want, got []string
	links := 0
	for name := range known {
		if !now[name] {
			want = append(want, name)
			if strings.Contains(name, " -- ") {
				links++
			}
		}
	}
	for i := range st.Losses {
		x := &st.Losses[i]
		if x.Since.IsZero() || x.Unseen {
			return fmt.Sprintf("%+v", x)
		}
		name := x.At.Name
		if x.Link() {
			name = linkName(name, x.Peer.Name)
		}
		got = append(got, name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Sprintf("lost are %q, want %q", got, want)
	}
	if d := st.Down(); d != links {
		return fmt.Sprintf("%d down, want %d", d, links)
	}
	rep, err := survey.Problems(context.Background(), s, survey.Options{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, p := range rep.Problems {
		if p.Kind == problems.Missing || p.Kind == problems.LinkMissing || p.Kind == problems.Recabled {
			told++
			if p.Severity != problems.Error || p.Since.IsZero() || !strings.Contains(p.What, " since ") {
				return fmt.Sprintf("%+v", p)
			}
		}
	}
	for _, name := range want { // each node, and each link whose ends are there
		a, b, link := strings.Cut(name, " -- ")
		if !link || now[a[:strings.LastIndexByte(a, '/')]] && now[b[:strings.LastIndexByte(b, '/')]] {
			told--
		}
	}
	if told != 0 {
		return fmt.Sprintf("%d problems more than losses: %+v", told, rep.Problems)
	}
	return ""
}

// TestSilentIsNotLost: what does not answer, and what is behind it, is not called lost while it is cabled, and is once
// its links are down, in a later console too.
func TestSilentIsNotLost(t *testing.T) {
	n := sessiontest.NewSubnet(t, "fattree:2,4")
	n.Record = true
	s := n.Console()
	f := n.Fabric
	leaf := f.NodesByDescription("leaf-04")[0]
	n.Sim.Silence(leaf, true)
	lost := func() (links, unseen int) {
		st := s.State()
		for i := range st.Losses {
			if st.Losses[i].Unseen {
				unseen++
			}
		}
		return st.Down(), unseen
	}
	for _, how := range []string{"at a sweep", "at the start of another console"} {
		if _, err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if links, unseen := lost(); links != 0 || unseen != 3+4 { // a leaf and two hosts, with four links
			t.Errorf("%s: %d links down, %d cannot be seen", how, links, unseen)
		}
		n.Leave()
		s = n.Console()
	}
	for p := range f.Nodes[leaf].Ports() {
		if f.PeerSwitch(p) != fabric.None {
			if err := n.Sim.Unlink(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	n.Leave()
	s = n.Console()
	if links, unseen := lost(); links != 4 || unseen != 0 {
		t.Errorf("once its links are down: %d links down, %d cannot be seen", links, unseen)
	}
}
