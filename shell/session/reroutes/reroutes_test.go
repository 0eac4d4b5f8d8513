// SPDX-License-Identifier: Apache-2.0

package reroutes_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/traces"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/reroutes"
	"example.org/ibconsole/shell/session/sessiontest"
)

// bench is a fat-tree whose tables and links are changed. It keeps its own model: the entry of each switch, by GUID and
// LID, and the cables that are cut.
type bench struct {
	*sessiontest.Subnet
	r     *rand.Rand
	s     *session.Session
	lft   map[uint64][]uint8
	cut   map[fabric.PortIndex]bool // both ends
	steps []step
}

// step is what the test planted, with the paths of all pairs after it.
type step struct {
	kind  reroutes.Kind // of changes that are no link
	entry int64         // of a commit
	links map[fabric.PortIndex]bool
	paths map[[2]fabric.PortIndex]string
}

func newBench(t *testing.T, r *rand.Rand) *bench {
	t.Helper()
	b := &bench{Subnet: sessiontest.NewSubnet(t, "fattree:2,8"), r: r, cut: map[fabric.PortIndex]bool{}}
	f := b.Fabric
	b.Sim.SetSM(f.EndPorts[3], &mad.SMInfo{GUID: f.Ports[f.EndPorts[3]].GUID, Priority: 7, State: mad.SMMaster})
	b.Record = true
	b.s = b.Console()
	b.Sweep(b.s)
	live := b.s.State().Live
	b.lft = map[uint64][]uint8{}
	for sw := range live.Fabric.NumSwitches() {
		b.lft[live.Fabric.SwitchNode(sw).GUID] = slices.Clone(live.Tables.LFT.Row(sw))
	}
	b.steps = append(b.steps, step{paths: b.paths()})
	return b
}

// peer returns the other end of a link that is not cut.
func (b *bench) peer(p fabric.PortIndex) fabric.PortIndex {
	if b.cut[p] {
		return fabric.None
	}
	return b.Fabric.Ports[p].Peer
}

// walk follows the entries by hand: "GUID/port ..." with the links that it uses.
func (b *bench) walk(src, dst fabric.PortIndex) (path string, links []fabric.PortIndex) {
	f := b.Fabric
	at := src
	for range 10 {
		path += fmt.Sprintf(" %x/%d", f.Nodes[f.Ports[at].Node].GUID, f.Ports[at].Num)
		to := b.peer(at)
		if to == fabric.None {
			return path + " lost", append(links, at)
		}
		links = append(links, at)
		node := f.Ports[to].Node
		path += fmt.Sprintf(" %d", f.Ports[to].Num)
		if !f.Nodes[node].IsSwitch() {
			return path, links
		}
		at = f.Port(node, b.lft[f.Nodes[node].GUID][f.Ports[dst].LID])
	}
	return path + " loops", links
}

func (b *bench) hosts() []fabric.PortIndex {
	hosts, _ := b.Fabric.Ends(false)
	return hosts
}

func (b *bench) paths() map[[2]fabric.PortIndex]string {
	all := map[[2]fabric.PortIndex]string{}
	for _, src := range b.hosts() {
		for _, dst := range b.hosts() {
			if src != dst {
				all[[2]fabric.PortIndex{src, dst}], _ = b.walk(src, dst)
			}
		}
	}
	return all
}

// cables are the links between switches, by their lower port, that are cut or not.
func (b *bench) cables(cut bool) (all []fabric.PortIndex) {
	for _, l := range b.Fabric.Links() {
		if b.Fabric.PeerSwitch(l.A) != fabric.None && b.Fabric.PeerSwitch(l.B) != fabric.None && b.cut[l.A] == cut {
			all = append(all, l.A)
		}
	}
	return all
}

func (b *bench) set(p fabric.PortIndex, cut bool) map[fabric.PortIndex]bool {
	b.T.Helper()
	do := b.Sim.Relink
	if cut {
		do = b.Sim.Unlink
	}
	if err := do(p); err != nil {
		b.T.Fatal(err)
	}
	peer := b.Fabric.Ports[p].Peer
	b.cut[p], b.cut[peer] = cut, cut
	return map[fabric.PortIndex]bool{p: true, peer: true}
}

// shuffle changes random entries of leaves: another spine for a destination. Spines without a working link are avoided.
func (b *bench) shuffle(entries int) {
	f := b.Fabric
	for range entries {
		dst := b.hosts()[b.r.IntN(len(b.hosts()))]
		leaf, port := f.AttachedSwitch(b.hosts()[b.r.IntN(len(b.hosts()))])
		if home, _ := f.AttachedSwitch(dst); port == 0 || leaf == home {
			continue
		}
		n := f.SwitchNode(leaf)
		for _, num := range b.r.Perm(int(n.NumPorts)) {
			up := f.Port(f.Switches[leaf], uint8(num+1))
			spine := f.PeerSwitch(up)
			if spine == fabric.None || b.peer(up) == fabric.None {
				continue
			}
			lid := f.Ports[dst].LID
			if down := f.Port(f.Switches[spine], b.lft[f.SwitchNode(spine).GUID][lid]); b.peer(down) != fabric.None {
				b.lft[n.GUID][lid] = uint8(num + 1)
				break
			}
		}
	}
}

// tables returns the model as tables of a fabric.
func (b *bench) tables(f *fabric.Fabric) *fabric.Tables {
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	for sw := range f.NumSwitches() {
		copy(lft.Row(sw), b.lft[f.SwitchNode(sw).GUID])
	}
	return fabric.NewTables(f, lft, "shuffled")
}

func (b *bench) commit() int64 {
	b.T.Helper()
	b.Stage(b.s, b.tables(b.s.State().Live.Fabric))
	_, err := commits.Commit(b.T.Context(), b.s, commits.Options{
		Confirmed: true, AllowUnreachable: true, AllowInterrupt: true, AllowLoop: true, AllowOverwrite: true,
		Master: b.Fabric.Ports[b.Fabric.EndPorts[3]].GUID,
	})
	if err != nil {
		b.T.Fatal(err)
	}
	all, err := b.s.Journal().Commits(b.T.Context())
	if err != nil {
		b.T.Fatal(err)
	}
	return all[0].After
}

// change plants a random change.
func (b *bench) change() {
	b.T.Helper()
	x := step{kind: reroutes.Unknown}
	switch up, down := b.cables(false), b.cables(true); b.r.IntN(5) {
	case 0:
		x.links = b.set(up[b.r.IntN(len(up))], true)
	case 1: // the subnet manager reacts before the sweep
		x.kind, x.links = reroutes.Reroute, b.set(up[b.r.IntN(len(up))], true)
		b.shuffle(40)
		b.Sim.SetTables(b.tables(b.Fabric))
	case 2:
		if len(down) > 0 {
			x.links = b.set(down[b.r.IntN(len(down))], false)
		}
	case 3:
		x.kind = reroutes.Reroute
		b.shuffle(40)
		b.Sim.SetTables(b.tables(b.Fabric))
	case 4:
		x.kind = reroutes.Commit
		b.shuffle(40)
		x.entry = b.commit()
	}
	b.Sweep(b.s)
	x.paths = b.paths()
	b.steps = append(b.steps, x)
}

// cause returns the planted cause of a pair at a step, as text.
func (b *bench) cause(at int, pair [2]fabric.PortIndex) string {
	x := &b.steps[at]
	for _, port := range slices.Sorted(portsOf(x.links)) {
		end := fmt.Sprintf("%x/%d", b.Fabric.Nodes[b.Fabric.Ports[port].Node].GUID, b.Fabric.Ports[port].Num)
		for _, path := range []string{b.steps[at-1].paths[pair], x.paths[pair]} {
			if strings.Contains(path+" ", " "+end+" ") && !strings.HasSuffix(path, end+" lost") {
				return fmt.Sprint("link", slices.Sorted(portsOf(x.links))[0])
			}
		}
	}
	return fmt.Sprint(x.kind, x.entry)
}

func portsOf(m map[fabric.PortIndex]bool) func(yield func(fabric.PortIndex) bool) {
	return func(yield func(fabric.PortIndex) bool) {
		for p := range m {
			if !yield(p) {
				return
			}
		}
	}
}

// side returns all pairs of a state, or a file with them if the argument file is set.
func (b *bench) side(p *session.Picture, file bool) *reroutes.Side {
	b.T.Helper()
	ends, _ := p.Fabric.Ends(false)
	list := pairs.Product(p.Fabric, ends, pairs.Places(p.Fabric, ends))
	pairs.Sort(p.Fabric, list)
	side := reroutes.PictureSide(p, "state")
	if err := side.Trace(b.T.Context(), reroutes.PairKeys(p.Fabric, list)); err != nil {
		b.T.Fatal(err)
	}
	if !file {
		return side
	}
	var out bytes.Buffer
	w := traces.NewWriter(&out, &traces.Head{Subnet: b.s.Subnet(), State: p.Kind.Word(), Tables: p.When})
	for i := range side.Set.Len() {
		if err := w.Add(new(side.Set.Row(i, nil))); err != nil {
			b.T.Fatal(err)
		}
	}
	if err := w.Close(func(uint64) string { return "" }); err != nil {
		b.T.Fatal(err)
	}
	f, err := traces.Read(&out, "file")
	if err != nil {
		b.T.Fatal(err)
	}
	return reroutes.FileSide(f, "file")
}

// TestCauses plants random failures, repairs, commits and reroutes by a subnet manager. Each changed path is blamed on
// what the test planted, by a walk through a model of the tables.
func TestCauses(t *testing.T) {
	seen, random := map[string]int{}, testenv.Rand(t)
	for n := range testenv.Count(t, 5, 100) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := newBench(t, random)
			old := b.side(b.s.State().Live, n%2 == 0)
			for range 2 + b.r.IntN(4) {
				b.change()
			}
			fresh := b.side(b.s.State().Live, n%3 == 0)
			b.check(old, fresh, seen)
			b.check(fresh, old, nil)
		})
	}
	if t.Failed() {
		return
	}
	for _, kind := range []string{"link", "commit", "reroute", "twice"} {
		if seen[kind] == 0 {
			t.Errorf("no path was moved by: %s (%v)", kind, seen)
		}
	}
}

// check compares the result with the model. Without seen, the sides are exchanged: the totals are compared only.
func (b *bench) check(old, fresh *reroutes.Side, seen map[string]int) {
	t := b.T
	t.Helper()
	r, err := reroutes.Compare(t.Context(), b.s, old, fresh, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, last := b.steps[0].paths, b.steps[len(b.steps)-1].paths
	changed, lost, gained := 0, 0, 0
	for pair, path := range first {
		if path != last[pair] {
			changed++
			if strings.HasSuffix(last[pair], "lost") {
				lost++
			}
		}
	}
	if seen == nil {
		lost, gained = 0, lost
	}
	if r.Both != len(first) || r.Changed != changed || len(r.Moves) != changed || r.Lost != lost ||
		r.Gained != gained || r.Unknown+r.OnlyOld+r.OnlyNew+r.LIDs != 0 || r.Same != r.Both-changed {
		t.Fatalf("%d of %d changed, %d lost, %d gained; planted %d of %d, %d lost, %d gained", r.Changed, r.Both,
			r.Lost, r.Gained, changed, len(first), lost, gained)
	}
	sum := 0
	for i := range r.Causes {
		sum += r.Causes[i].Pairs
	}
	if sum != changed {
		t.Errorf("causes of %d paths, want %d", sum, changed)
	}
	if seen == nil {
		return
	}
	f := b.Fabric
	for i := range r.Moves {
		m := &r.Moves[i]
		k := old.Set.Key(m.Old)
		pair := [2]fabric.PortIndex{f.PortByGUID(k.Src), f.PortByGUID(k.Dst)}
		var want []string
		for at := 1; at < len(b.steps); at++ {
			switch now := b.steps[at].paths[pair]; now {
			case b.steps[at-1].paths[pair]:
			case first[pair]:
				want = nil
			default:
				want = append(want, b.cause(at, pair))
			}
		}
		var got []string
		for _, n := range append([]int{m.Cause}, m.Later...) {
			c := &r.Causes[n]
			word := string(c.Kind)
			switch c.Kind {
			case reroutes.Link:
				end, other := f.PortAt(f.NodeByGUID(c.A.GUID), c.A.Port), f.PortAt(f.NodeByGUID(c.B.GUID), c.B.Port)
				word += fmt.Sprint(min(end, other))
			case reroutes.Reroute:
				word += "0"
				if !strings.Contains(c.Text, "master subnet manager") {
					t.Errorf("reroute by %q", c.Text)
				}
			default:
				word += fmt.Sprint(c.Entry)
			}
			got = append(got, word)
			seen[string(c.Kind)]++
		}
		if len(got) > 1 {
			seen["twice"]++
		}
		if !slices.Equal(got, want) {
			for at := range b.steps {
				t.Logf("%d %v %d: %s", at, b.steps[at].kind, b.steps[at].entry, b.steps[at].paths[pair])
			}
			t.Fatalf("0x%x to LID %d: %v, want %v", k.Src, k.LID, got, want)
		}
	}
}

// TestCanceled checks that a comparison ends with its context.
func TestCanceled(t *testing.T) {
	b := newBench(t, testenv.Rand(t))
	old := b.side(b.s.State().Live, false)
	b.shuffle(200)
	b.commit()
	b.Sweep(b.s)
	fresh := b.side(b.s.State().Live, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reroutes.Compare(ctx, b.s, old, fresh, nil); err == nil {
		t.Error("no error")
	}
}

// TestUnrecorded compares with a file of a session that records no sweeps: a single change has its cause, of several
// without a state between them the cause is unknown.
func TestUnrecorded(t *testing.T) {
	b := newBench(t, testenv.Rand(t))
	b.Leave()
	b.Record = false
	b.s = b.Console()
	b.Sweep(b.s)
	old := b.side(b.s.State().Live, true)
	causes := func() (words []string) {
		b.Sweep(b.s)
		r, err := reroutes.Compare(t.Context(), b.s, old, b.side(b.s.State().Live, false), nil)
		if err != nil || r.Changed == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		for _, c := range r.Causes {
			words = append(words, fmt.Sprintf("%s: %s", c.Kind, c.Text))
		}
		return words
	}
	reroute := func() {
		b.shuffle(100)
		b.Sim.SetTables(b.tables(b.Fabric))
	}
	reroute()
	if got := causes(); len(got) != 1 || !strings.HasPrefix(got[0], "reroute: probably the master") {
		t.Errorf("after a reroute: %q", got)
	}
	reroute()
	if got := causes(); len(got) != 1 || !strings.HasPrefix(got[0], "unknown: no state was recorded between probably") {
		t.Errorf("after two: %q", got)
	}
	old = b.side(b.s.State().Live, true)
	b.shuffle(100)
	entry := b.commit()
	if got := causes(); len(got) != 1 || !strings.HasPrefix(got[0], fmt.Sprintf("commit: commit %d by ", entry)) {
		t.Errorf("after a commit: %q", got)
	}
	old = b.side(b.s.State().Live, true)
	old.File.Subnet = "another\x1b"
	reroute()
	b.Sweep(b.s)
	r, err := reroutes.Compare(t.Context(), b.s, old, b.side(b.s.State().Live, true), nil)
	if err != nil || r.NoHistory == nil || len(r.Causes) != 1 || r.Causes[0].Kind != reroutes.Unknown ||
		!strings.Contains(r.NoHistory.Error(), `another\x1b`) {
		t.Errorf("of another subnet: %+v, %v, %v", r.Causes, r.NoHistory, err)
	}
}

// TestOrder checks that the digest of a file does not depend on the order of the pairs or on names.
func TestOrder(t *testing.T) {
	b := newBench(t, testenv.Rand(t))
	p := b.s.State().Live
	ends, _ := p.Fabric.Ends(true)
	list := pairs.Product(p.Fabric, ends, pairs.Places(p.Fabric, ends))
	digests := map[string]bool{}
	for range 3 {
		b.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		pairs.Sort(p.Fabric, list)
		side := reroutes.PictureSide(p, "")
		if err := side.Trace(t.Context(), reroutes.PairKeys(p.Fabric, list)); err != nil {
			t.Fatal(err)
		}
		d := traces.NewDigest()
		for i := range side.Set.Len() {
			d.Add(new(side.Set.Row(i, nil)))
		}
		digests[d.String()] = true
		b.Sim.Rename(b.Fabric.Switches[b.r.IntN(len(b.Fabric.Switches))], "renamed")
		b.Sweep(b.s)
		p = b.s.State().Live
	}
	if len(digests) != 1 {
		t.Errorf("digests %v", digests)
	}
}
