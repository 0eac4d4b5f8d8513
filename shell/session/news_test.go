// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// news sweeps lightly and returns the new events.
func (b *bench) news() []string {
	b.t.Helper()
	old := len(b.State().Events)
	if _, err := b.SweepLight(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	var text []string
	for _, e := range b.State().Events[old:] {
		text = append(text, e.Text)
	}
	return text
}

func (b *bench) wants(what string, want ...string) {
	b.t.Helper()
	if got := b.news(); !slices.Equal(got, want) {
		b.t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const settled = "the subnet has settled: two sweeps in a row are equal"

// TestNews: the next light sweep reports each change of a subnet once.
func TestNews(t *testing.T) {
	b := newBench(t, testenv.Rand(t), "fattree:2,12", nil)
	b.wants("nothing")
	host := b.host()
	node, leaf := b.f.Ports[host].Node, b.f.Ports[host].Peer
	name, at := b.f.NodeName(node), b.f.PortName(leaf)
	ends := at + " to " + b.f.PortName(host)

	b.sim.Rename(node, "lustre-\x1b7")
	b.wants("renamed", `lustre-\x1b7: node renamed, was `+name)
	b.wants("after that", settled)
	b.sim.Rename(node, b.f.Nodes[node].Desc)
	b.news()
	b.news()

	b.must(b.sim.Unlink(host))
	b.wants("unplugged", name+": node gone", ends+": link down")
	b.wants("after that", settled)
	b.wants("and then")
	b.must(b.sim.Relink(host))
	b.wants("plugged in", name+": node new", ends+": link up")
	b.wants("after that", settled)

	b.sim.Silence(node, true)
	b.wants("silent", name+": does not respond")
	b.wants("after that", settled)
	b.sim.Silence(node, false)
	b.wants("speaks", name+": answers again")
	b.wants("after that", settled)

	other := b.host()
	b.manager(other, mad.SMMaster)
	b.manager(b.master, mad.SMStandby)
	b.wants("another master", fmt.Sprintf("the subnet manager on %s is the master now (before: %s)",
		b.f.PortName(other), b.f.PortName(b.master)))
}

// TestManyAlike: many ports that a subnet manager brought up are one event; few ports have an event each.
func TestManyAlike(t *testing.T) {
	var changes []fabric.Change
	for i := range 100 {
		at := fabric.End{GUID: uint64(i), Port: 1, Name: fmt.Sprintf("node-%d/1", i)}
		changes = append(changes, fabric.Change{Kind: fabric.StateChanged, At: at, From: "Initialize", To: "Active"})
		if i%50 == 0 {
			changes = append(changes, fabric.Change{Kind: fabric.StateChanged, At: at, From: "Active", To: "Armed"},
				fabric.Change{Kind: fabric.LinkDown, At: at, Peer: at})
		}
	}
	var st session.State
	st.NoteEach(changes)
	var told []string
	for _, e := range st.Events {
		told = append(told, e.Text)
	}
	want := []string{
		"node-0/1: state Active, was Initialize, and 99 ports more in the same way",
		"node-0/1: state Armed, was Active", "node-0/1 to node-0/1: link down",
		"node-50/1: state Armed, was Active", "node-50/1 to node-50/1: link down",
	}
	if !slices.Equal(told, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

// TestNewsOfTables: one entry that somebody else writes is seen, also against what the
// last commit wrote, and seen to be back.
func TestNewsOfTables(t *testing.T) {
	b := newBench(t, testenv.Rand(t), "fattree:2,12", nil)
	st := b.State()
	b.Publish(session.ChangeLive, func(s *session.State) { s.Committed = st.Live })
	sw := b.f.Switches[b.r.IntN(len(b.f.Switches))]
	lid := uint16(1 + b.r.IntN(int(b.f.MaxLID)))
	path, err := sweep.NewRoutes(st.Live.Fabric).ToNode(st.Live.Fabric.NodeByGUID(b.f.Nodes[sw].GUID))
	b.must(err)
	write := func(port uint8) {
		t.Helper()
		block := mad.LinearForwardingTable(b.lft.Block(b.f.Nodes[sw].Switch, int(lid)/fabric.BlockSize))
		block[lid%fabric.BlockSize] = port
		_, err := mad.Set(t.Context(), b.Connection().Client(), path, uint32(lid/fabric.BlockSize), block)
		b.must(err)
	}
	const changed = "forwarding tables: 1 entry of 1 switch changed"
	write(b.lft.Port(b.f.Nodes[sw].Switch, lid) + 1)
	b.wants("written", changed, "no longer what the last commit wrote: 1 entry")
	b.wants("after that", settled)
	b.wants("and then")
	write(b.lft.Port(b.f.Nodes[sw].Switch, lid))
	b.wants("written back", changed, "the switches hold again what the last commit wrote")
	b.wants("after that", settled)
}

// TestUnreadTables: a switch whose table was not read is no changed entries, neither of
// what happened nor of a route, and is named.
func TestUnreadTables(t *testing.T) {
	s := sessiontest.Open(t, "sim:fattree:2,4")
	whole := s.State().Live.Tables
	const unread, other, lid = 0, 1, 1
	show := func(port uint8) *session.State {
		part := *whole
		part.LFT, part.Known = whole.LFT.Clone(), slices.Clone(whole.Known)
		part.Known[unread] = false
		for l := range part.LFT.Row(unread) {
			part.LFT.Row(unread)[l] = fabric.NoPath
		}
		part.LFT.Row(other)[lid] = port
		st := s.State()
		live := *st.Live
		live.Tables = &part
		st.Live, st.Committed = &live, &session.Picture{Fabric: whole.Fabric, Tables: whole}
		s.Publish(session.ChangeLive, func(now *session.State) { now.Live = st.Live })
		return &st
	}
	was := whole.Port(other, lid)
	st := show(was + 1)
	st.NoteDrift()
	st.Live = show(was).Live
	st.NoteDrift()
	const named = "; 1 switch not compared, as a table was not read"
	var told []string
	for _, e := range st.Events {
		told = append(told, e.Text)
	}
	if want := []string{
		"no longer what the last commit wrote: 1 entry" + named, "the switches hold again what the last commit wrote" +
			named,
	}; !slices.Equal(told, want) {
		t.Errorf("got %q, want %q", told, want)
	}
	for _, want := range []int{0, 1} { // a simulation holds what minhop makes
		show(was + uint8(want))
		if rep, err := s.Route(t.Context(), compute.KeepNo); err != nil || rep.Changed != want || rep.Unread != 1 {
			t.Errorf("%d entries changed, %d switches unread, %v; want %d and 1", rep.Changed, rep.Unread, err, want)
		}
	}
}

// TestHiddenBehindSilence: hosts behind a switch that does not answer are out of sight
// and not gone, and no cable is said to be down.
func TestHiddenBehindSilence(t *testing.T) {
	b := newBench(t, testenv.Rand(t), "fattree:2,12", nil)
	leaf := b.f.PeerNode(b.host())
	b.sim.Silence(leaf, true)
	want := map[string]bool{b.f.NodeName(leaf) + ": does not respond": true}
	n := &b.f.Nodes[leaf]
	for p := range n.Ports() {
		if peer := b.f.PeerNode(p); peer != fabric.None && !b.f.Nodes[peer].IsSwitch() {
			want[b.f.NodeName(peer)+": hidden behind nodes that do not respond"] = true
		}
	}
	got := b.news()
	for _, text := range got {
		if !want[text] {
			t.Errorf("told: %s", text)
		}
	}
	if len(got) != len(want) || len(want) != 7 {
		t.Errorf("%d events, want %d: %q", len(got), len(want), got)
	}
	b.sim.Silence(leaf, false)
	if got := b.news(); len(got) != 7 || !strings.HasSuffix(got[0], ": answers again") {
		t.Errorf("back: %q", got)
	}
}

// TestWatchFollowsOpenSM pulls a cable while a real OpenSM runs, which routes again later: the watch reports both, and
// reads until it has the tables that OpenSM wrote.
func TestWatchFollowsOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	sim := sessiontest.Ibsim(t, "sim:fattree:2,8")
	dir := ibsimtest.Master(t, sim, "-R", "minhop", "-s", "1")
	s := sessiontest.Open(t, "ibsim:"+sim.Name)
	if err := s.KeepCurrent(50 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	f := s.State().Live.Fabric
	if said := sim.Console(fmt.Sprintf(`Unlink "S-%016x"[5]`,
		f.Nodes[f.NodesByDescription("leaf-01")[0]].GUID)); strings.Contains(said, "not found") {
		t.Fatal(said)
	}
	told := func() (text string) {
		for _, e := range s.State().Events {
			text += e.Text + "\n"
		}
		return text
	}
	done := func() bool {
		text := told()
		if !strings.Contains(text, ": link down\n") || !strings.Contains(text, "forwarding tables: ") ||
			!strings.HasSuffix(text, settled+"\n") {
			return false
		}
		var ours bytes.Buffer
		if err := osm.WriteLFTs(&ours, s.State().Live.Tables); err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join(dir, "opensm-lfts.dump"))
		return err == nil && ours.String() == string(theirs)
	}
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("told:\n%s", told())
		}
	}
}
