// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestLostUpdate: two consoles stage and one commits. The commit of the other one writes nothing and reports which
// entries changed and who wrote them; with permission it writes.
func TestLostUpdate(t *testing.T) {
	for _, whatIf := range []bool{false, true} {
		n := newSubnet(t, "fattree:2,8")
		a, b := n.Console(), n.Console()
		if whatIf { // routes of a what-if start from the base
			link := a.State().Live.Fabric.Links()[len(a.State().Live.Fabric.Links())-1]
			if _, err := a.Fail(t.Context(), failures.Link(link.A)); err != nil {
				t.Fatal(err)
			}
		}
		n.Route(a, sessiontest.Engines[0]...)
		n.Route(b, sessiontest.Engines[3]...)
		if _, err := commits.Commit(t.Context(), b, yes); err != nil {
			t.Fatal(err)
		}
		was, held := a.State().Live.Tables, n.LFT()
		rep, err := commits.Commit(t.Context(), a, yes)
		refused, ok := errors.AsType[*commits.RefusedError](err)
		if !ok || refused.Needs != commits.Overwrite || rep.Written != nil || diff.Count(held, n.LFT()).Changed > 0 {
			t.Fatalf("whatIf %v: %v", whatIf, err)
		}
		// expected by hand: where the three tables have three values, or the first and the last one
		count := 0
		staged := a.State().Staged.Tables
		for sw := range held.Fabric.NumSwitches() {
			for lid := uint16(1); lid <= staged.Top[sw]; lid++ {
				if is := held.Port(sw, lid); is != was.Port(sw, lid) && is != staged.Port(sw, lid) {
					count++
				}
			}
		}
		others := refused.Others
		if others.Count != count || count == 0 || !others.Restarted ||
			!strings.Contains(others.Who, "commit ") || !strings.Contains(err.Error(), "LID ") {
			t.Fatalf("whatIf %v: want %d entries: %v", whatIf, count, err)
		}
		if _, err := commits.Commit(t.Context(), a, yes); err == nil {
			t.Fatal("the second try overwrites")
		}
		opt := yes
		opt.AllowOverwrite = true
		if whatIf {
			n.Route(a, sessiontest.Engines[1]...)
			opt.AllowOverwrite, opt.AllowUnreachable = false, true // of the host that failed
		}
		if _, err := commits.Commit(t.Context(), a, opt); err != nil {
			t.Fatalf("what-if %v: routed again or with permission: %v", whatIf, err)
		}
		if diff.Count(a.State().Staged.Tables, n.LFT()).Changed > 0 {
			t.Fatal("not written")
		}
		n.Route(b, sessiontest.Engines[3]...) // b has not looked since
		if _, err := commits.Commit(t.Context(), b, yes); !commits.Needs(err, commits.Overwrite) {
			t.Fatalf("the other console: %v", err)
		}
	}
}

// TestLostUpdateOfRollbacks: a rollback does not overwrite what others wrote since. Tables that another console rolled
// back are not written again unless they are computed again.
func TestLostUpdateOfRollbacks(t *testing.T) {
	n := newSubnet(t, "fattree:2,8")
	a, b := n.Console(), n.Console()
	n.Route(a, sessiontest.Engines[0]...)
	if _, err := commits.Commit(t.Context(), a, yes); err != nil {
		t.Fatal(err)
	}
	n.Dir = t.TempDir() // one of another host
	c := n.Console()
	n.Route(c, sessiontest.Engines[3]...)
	if _, err := commits.Commit(t.Context(), c, yes); err != nil {
		t.Fatal(err)
	}
	held := n.LFT()
	for _, s := range []*session.Session{a, b} {
		_, _, err := commits.Rollback(t.Context(), s, 0, yes)
		if !commits.Needs(err, commits.Overwrite) || !strings.Contains(err.Error(), "unknown") ||
			diff.Count(held, n.LFT()).Changed > 0 {
			t.Fatalf("rollback: %v", err)
		}
	}
	opt := yes
	opt.AllowOverwrite = true
	if _, _, err := commits.Rollback(t.Context(), b, 0, opt); err != nil {
		t.Fatal(err)
	}
	store, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.Journal(t.Context(), b.Subnet())
	if err != nil || all[0].Others.Count == 0 || all[0].Others.Count < len(all[0].Others.List) {
		t.Fatalf("the journal has %+v, %v", all, err)
	}
	if _, err := commits.Commit(t.Context(), c, yes); !commits.Needs(err, commits.Overwrite) {
		t.Fatalf("what was rolled back is written again: %v", err)
	}
}

// TestCommitBeforeTheLock checks that the journal does not record out-of-date tables as those before a rollback:
// another console commits after a rollback has read the subnet, and before it is journalled.
func TestCommitBeforeTheLock(t *testing.T) {
	n := newSubnet(t, "fattree:2,8")
	a, b := n.Console(), n.Console()
	n.Route(a, sessiontest.Engines[0]...)
	if _, err := commits.Commit(t.Context(), a, yes); err != nil {
		t.Fatal(err)
	}
	opt := yes
	opt.Planned = func(*commits.Report) error {
		n.Route(a, sessiontest.Engines[3]...)
		_, err := commits.Commit(t.Context(), a, yes)
		return err
	}
	if _, _, err := commits.Rollback(t.Context(), b, 0, opt); !errors.Is(err, commits.ErrCommitted) {
		t.Fatalf("the rollback: %v", err)
	}
	store, err := b.History()
	if err != nil {
		t.Fatal(err)
	}
	if all, err := store.Journal(t.Context(), b.Subnet()); err != nil || len(all) != 2 {
		t.Errorf("the journal has %+v, %v", all, err)
	}
	if _, _, err := commits.Rollback(t.Context(), b, 0, yes); err != nil {
		t.Errorf("the second rollback: %v", err)
	}
}

func isOverwritten(err error) bool {
	_, ok := errors.AsType[*commits.OverwrittenError](err)
	return ok
}

// gate is a transport of one of two consoles, which takes turns with the other.
type gate struct {
	mad.Transport
	who   int
	turns *turns
}

func (g *gate) Send(f *mad.Frame) error {
	var smp mad.SMP
	if err := smp.UnmarshalBinary(f.Data[:]); err != nil {
		return g.Transport.Send(f)
	}
	return g.turns.take(g.who, &smp, func() error { return g.Transport.Send(f) })
}

// block is one of a switch.
type block struct {
	sw  fabric.SwitchIndex
	num uint32
}

// access is one request for a block of a forwarding table.
type access struct {
	who  int
	set  bool
	at   block
	data [mad.DataSize]byte
}

// turns interleaves the requests of two consoles at random, and notes those for forwarding tables.
type turns struct {
	mu   sync.Mutex
	cond *sync.Cond
	rnd  *rand.Rand
	f    *fabric.Fabric
	turn int // whose it is
	most int // requests in a turn
	left int // how many more requests that one sends
	on   [2]bool
	log  []access
}

func (u *turns) take(who int, smp *mad.SMP, send func() error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.on[who] && u.on[1-who] && u.turn != who {
		u.cond.Wait()
	}
	if u.left--; u.left <= 0 {
		u.turn, u.left = 1-who, 1+u.rnd.IntN(u.most)
		u.cond.Broadcast()
	}
	if smp.Attr == mad.AttrLinearForwardingTable && u.f != nil {
		u.log = append(u.log, access{
			who, smp.Method == mad.MethodSet, block{switchAt(u.f, smp.InitialPath, smp.HopCount), smp.Mod}, smp.Data,
		})
	}
	return send()
}

// run does something for each console until both are done.
func (u *turns) run(do func(who int)) {
	u.log, u.on = nil, [2]bool{true, true}
	var both sync.WaitGroup
	for who := range 2 {
		both.Go(func() {
			do(who)
			u.mu.Lock()
			defer u.mu.Unlock()
			u.on[who] = false
			u.cond.Broadcast()
		})
	}
	both.Wait()
}

// lost is an entry that one console wrote, and the other one something else over it.
type lost struct {
	access       // of the one that lost
	entry  int   // in its block
	by     uint8 // what is there instead
	inside bool  // says that it was written between the other's look and its Set
}

// lossKinds returns the entries that a console overwrote without having read them.
func lossKinds(log []access, held func(block) []byte) (all []lost) {
	type cell struct {
		block
		entry int
	}
	last := map[cell]int{} // the last Set that changed an entry
	read := map[block][2]int{}
	for i, a := range log {
		if !a.set {
			r := read[a.at]
			r[a.who] = i + 1
			read[a.at] = r
			continue
		}
		was := held(a.at)
		for k := range a.data {
			c := cell{a.at, k}
			j, written := last[c]
			if written && log[j].who != a.who && log[j].data[k] != a.data[k] && log[j].data[k] != was[k] {
				all = append(all, lost{log[j], k, a.data[k], read[a.at][a.who] < j+1})
			}
			last[c] = i
		}
	}
	return all
}

// TestTwoConsoles commits in two consoles at once. Their requests are interleaved at random. With a common lock nothing
// is lost. Without one, only entries written between the reading and the Set of the other console are lost, and the
// console that lost them reports that at its next reading at the latest. Its journal has both values.
func TestTwoConsoles(t *testing.T) {
	rnd := testenv.Rand(t)
	for _, shared := range []bool{true, false} {
		inside, both, done, since, stopped, seen, overwrote := 0, 0, 0, 0, 0, 0, 0
		for i := range testenv.Count(t, 6, 1000) {
			t.Run("", func(t *testing.T) {
				n := newSubnet(t, "fattree:2,8")
				u := &turns{rnd: rnd, left: 1, most: 1 << rnd.IntN(6)}
				u.cond = sync.NewCond(&u.mu)
				var consoles [2]*session.Session
				picked := rnd.Perm(len(sessiontest.Engines))
				for who := range consoles {
					n.Wrap = func(conn mad.Transport) mad.Transport { return &gate{conn, who, u} }
					s := n.Console()
					n.Route(s, sessiontest.Engines[picked[who]]...)
					consoles[who] = s
					if !shared {
						n.Dir = t.TempDir()
					}
				}
				live := consoles[0].State().Live.Tables
				u.f = live.Fabric
				var errs [2]error
				u.run(func(who int) { _, errs[who] = commits.Commit(t.Context(), consoles[who], yes) })
				found := lossKinds(u.log, func(b block) []byte { return live.LFT.Block(b.sw, int(b.num)) })
				for who, err := range errs {
					switch {
					case err == nil:
						done++
					case isOverwritten(err):
						since++
					// both make the file at once
					case commits.Needs(err, commits.Overwrite), errors.Is(err, history.ErrLocked),
						errors.Is(err, commits.ErrCommitted), shared && commits.Needs(err, commits.NoJournal):
						stopped++
					default:
						if _, ok := errors.AsType[*commits.StoppedError](err); !ok {
							t.Fatalf("round %d, console %d: %v", i, who, err)
						}
						both++
					}
				}
				if shared && len(found) > 0 {
					t.Fatalf("round %d: lost in spite of a lock: %+v", i, found)
				}
				for _, l := range found {
					if !l.inside {
						t.Fatalf("round %d: lost, and not between look and Set: %+v", i, l)
					}
				}
				inside += min(1, len(found))
				for who, s := range consoles {
					rep, err := s.Sweep(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					says := errs[who] != nil || len(rep.Warnings) > 0
					for _, l := range found {
						sw := l.at.sw
						lid := int(l.at.num)*fabric.BlockSize + l.entry
						if l.who != who {
							continue
						}
						if final := consoles[who].State().Staged.Tables.Port(sw, uint16(lid)); l.data[l.entry] !=
							final {
							continue // it would have been another one in the end
						}
						if now := s.State().Live.Tables.Port(sw, uint16(lid)); now == l.data[l.entry] {
							continue // it was written again
						}
						if !says {
							t.Fatalf("round %d: console %d says nothing: %+v", i, who, l)
						}
						expectNoted(t, s, live.Fabric.SwitchNode(sw).GUID, lid, l.data[l.entry],
							s.State().Live.Tables.Port(sw, uint16(lid)))
						seen++
					}
					if says && slices.ContainsFunc(found, func(l lost) bool { return l.who != who }) {
						overwrote++
					}
				}
			})
		}
		t.Logf("shared lock %v: %d commits done, %d done and written over before they ended, %d stopped before they "+
			"wrote, %d stopped in the middle; in %d rounds something was written between look and Set, "+
			"%d entries were lost, all noted with both values; %d of those who wrote over it saw it too", shared, done,
			since, stopped, both, inside, seen, overwrote)
	}
}

// switchAt is the switch that a path leads to from the port of the consoles.
func switchAt(f *fabric.Fabric, path [mad.MaxHops + 1]uint8, hops uint8) fabric.SwitchIndex {
	at := f.Ports[f.SMPort].Node
	for _, port := range path[1 : hops+1] {
		at = f.PeerNode(f.Port(at, port))
	}
	return f.Nodes[at].Switch
}

// expectNoted checks that the journal of a console has an entry with what was written and what is there.
func expectNoted(t *testing.T, s *session.Session, guid uint64, lid int, wrote, is uint8) {
	t.Helper()
	store, err := s.History()
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.Journal(t.Context(), s.Subnet())
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	if !slices.ContainsFunc(all[0].Others.List, func(w write.Conflict) bool {
		return w.GUID == fmt.Sprintf("0x%016x", guid) && w.What == fmt.Sprintf("LID %d", lid) &&
			w.Was == fmt.Sprint(wrote) && w.Is == fmt.Sprint(is)
	}) {
		t.Fatalf("0x%x LID %d was written as %d and is %d: the journal has %+v", guid, lid, wrote, is, all[0].Others)
	}
}
