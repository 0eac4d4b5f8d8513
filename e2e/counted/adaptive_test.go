// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCountedAdaptive compares the outcomes of packets over all choices of adaptive routing with the model, in separate
// random scenes.
func TestCountedAdaptive(t *testing.T) {
	luck := 0
	scenes := eachScene(t, func(t *testing.T, r *rand.Rand) *exam {
		x := newSim(t, r)
		m := maker{x}
		if r.IntN(2) == 0 {
			m.engine()
			m.route("route")
		}
		if m.do("adaptive on") != nil {
			return nil
		}
		if r.IntN(2) == 0 {
			m.commit()
		}
		for range r.IntN(4) {
			m.fail()
		}
		m.routed = nil
		luck += x.eachRouted(x.checkChoices)
		return x
	})
	t.Logf("%d pairs by luck", luck)
	if luck == 0 && scenes > 100 { // few may have none
		t.Error("no pair arrived by luck")
	}
}

// groupTable holds the adaptive routing of a switch: the ports of each group, and the group of each LID whose packets
// may use any of them.
type groupTable struct {
	isOn   bool
	groups map[int][]int
	group  map[int]int
}

var (
	farSwitch = regexp.MustCompile(`^Switch (0x[0-9a-f]{16}) en: (\d+), fr_en: 0$`)
	farGroup  = regexp.MustCompile(`^(\d+) +\d+ +\d+ +([\d,]+),$`)
	farEntry  = regexp.MustCompile(`^(0x[0-9a-f]{4}) +\S+ +(\w+) +(\d+)$`)
)

// readFar reads the adaptive routing in the output of `dump ibdiagnet`.
func readFar(text string) map[uint64]*groupTable {
	all := map[uint64]*groupTable{}
	var now *groupTable
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := farSwitch.FindStringSubmatch(line); m != nil {
			now = &groupTable{isOn: m[2] == "1", groups: map[int][]int{}, group: map[int]int{}}
			all[hex(m[1])] = now
		} else if m := farGroup.FindStringSubmatch(line); m != nil && now != nil {
			for port := range strings.SplitSeq(m[2], ",") {
				now.groups[decimal(m[1])] = append(now.groups[decimal(m[1])], decimal(port))
			}
		} else if m := farEntry.FindStringSubmatch(line); m != nil && now != nil && m[2] != "Static" {
			now.group[int(hex(m[1]))] = decimal(m[3])
		}
	}
	return all
}

// fates is the set of ways in which packets from a switch to a LID can end.
type fates struct{ arrives, fails bool }

// leaves returns the ports by which a switch can forward packets to a LID: those of the group that have a link, or
// otherwise the static one.
func (s *state) leavesBy(far map[uint64]*groupTable, n *node, lid int) (all []int) {
	if g := far[n.guid]; g != nil && g.isOn {
		for _, num := range g.groups[g.group[lid]] {
			if n.ports[num] != nil && num != 0 && g.group[lid] != 0 {
				all = append(all, num)
			}
		}
	}
	if num, has := s.lft[n.guid][lid]; has && len(all) == 0 {
		all = append(all, num)
	}
	return all
}

// choose follows packets to a LID by every choice. on holds the switches that they have passed. A return to one of them
// is a loop.
func (s *state) choose(far map[uint64]*groupTable, n *node, lid int, on map[*node]bool, f *fates) {
	if on[n] {
		f.fails = true
		return
	}
	outs := s.leavesBy(far, n, lid)
	if len(outs) == 0 {
		f.fails = true
	}
	on[n] = true
	for _, num := range outs {
		out := n.ports[num]
		switch {
		case num == 0:
			f.end(s.net.owner[lid] == out)
		case out == nil:
			f.fails = true
		case out.peer.node.isSwitch():
			s.choose(far, out.peer.node, lid, on, f)
		default:
			f.end(s.net.owner[lid] == out.peer)
		}
	}
	delete(on, n)
}

func (f *fates) end(isOwner bool) {
	f.arrives = f.arrives || isOwner
	f.fails = f.fails || !isOwner
}

// checkChoices compares `check reach` with adaptive routing, and returns the number of pairs that arrive by luck.
func (x *exam) checkChoices(s *state) int {
	folder := filepath.Join(x.t.TempDir(), "folder-"+s.name)
	if _, _, err := x.run("dump ibdiagnet "+folder+" of="+s.name, false); err != nil {
		x.contradict(fmt.Sprintf("dump ibdiagnet of=%s: %v", s.name, err))
		return 0
	}
	text, err := os.ReadFile(filepath.Join(folder, "ibdiagnet2.far"))
	if err != nil || s.hasUnread() {
		return 0
	}
	far := readFar(string(text))
	isAdaptive := false
	for _, g := range far {
		isAdaptive = isAdaptive || g.isOn
	}
	if !isAdaptive {
		return 0
	}
	var sure, luck, never, lostPairs, luckPairs int
	for _, src := range s.ends(false) {
		for _, dst := range s.ends(false) {
			if src == dst {
				continue
			}
			worst := fates{arrives: true}
			for k := range max(1, len(dst.port().lids())) {
				f := fates{}
				if src.sends() && dst.sends() {
					s.choose(far, src.own.peer.node, dst.own.lid+k, map[*node]bool{}, &f)
				}
				switch {
				case f.arrives && f.fails:
					luck++
				case f.arrives:
					sure++
				default:
					never++
				}
				worst = fates{worst.arrives && f.arrives, worst.fails || f.fails || !f.arrives}
			}
			lostPairs += one(!worst.arrives)
			luckPairs += one(worst.arrives && worst.fails)
		}
	}
	a := x.ask("check reach of=" + s.name)
	if a.o == nil {
		a.wrong("answer", a.err, "-", "some")
		return 0
	}
	a.mustLine("  by every choice of adaptive routing: {adaptive_sure#} arrive for sure, {adaptive_luck#} by luck, " +
		"{adaptive_never#} never, {adaptive_unknown#} unknown; {many#} have several paths")
	a.figure("adaptive_sure", sure)
	a.figure("adaptive_luck", luck)
	a.figure("adaptive_never", never)
	a.figure("adaptive_unknown", 0)
	a.figure("lost_pairs", lostPairs)
	a.figure("luck_pairs", luckPairs)
	a.figure("paths", sure+luck+never)
	b := x.ask("trace all all of=" + s.name)
	if b.o == nil {
		b.wrong("answer", b.err, "-", "some")
		return luckPairs
	}
	b.figure("lost_pairs", lostPairs)
	b.figure("luck_pairs", luckPairs)
	if luck+never > 0 {
		a.fails("check reach: {|.*} paths may not arrive: {never#} never, {luck#} by luck", "never", never,
			"luck", luck)
	} else {
		a.succeeds()
	}
	return luckPairs
}
