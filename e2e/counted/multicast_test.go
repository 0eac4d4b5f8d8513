// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCountedMulticast compares the figures of multicast groups with the model, in separate random scenes.
func TestCountedMulticast(t *testing.T) {
	bad := 0
	scenes := eachScene(t, func(t *testing.T, r *rand.Rand) *exam {
		x := newSim(t, r)
		m := maker{x}
		m.groups()
		m.route("route")
		if r.IntN(2) == 0 {
			m.commit()
		}
		m.actions()
		bad += x.eachRouted(x.checkMulticast)
		return x
	})
	t.Logf("%d pairs missing", bad)
	if bad == 0 && scenes > 100 { // few may have none
		t.Error("no member of a group missed a packet")
	}
}

// groups loads a file of two multicast groups of random hosts, and reads the multicast tables of the switches.
func (m maker) groups() {
	hosts := slices.Collect(m.base().ends(false))
	all := map[int][]uint64{}
	var text strings.Builder
	for mlid := 0xc001; mlid <= 0xc002; mlid++ {
		fmt.Fprintf(&text, "MC Group 0x%x : mgid=0xff12000000000000:0x%x\n", mlid, mlid)
		for _, h := range some(m.rnd, 2+m.rnd.IntN(5), hosts) {
			all[mlid] = append(all[mlid], h.guid)
			fmt.Fprintf(&text, "mcm_port: port_gid=0xfe80000000000000:0x%016x\n", h.guid)
		}
	}
	file := filepath.Join(m.t.TempDir(), "groups")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if m.do("load groups "+file) != nil {
		return
	}
	m.members = all
	if strings.HasPrefix(m.source, "sim:") {
		_ = m.do("sweep full mft")
	}
}

var (
	mcSwitch = regexp.MustCompile(`^Switch (0x[0-9a-f]{16})$`)
	mcEntry  = regexp.MustCompile(`^(0x[0-9A-F]{4}) :((?: 0x[0-9A-F]{3} )+)$`)
)

// readMFTs reads the multicast tables of switches by GUID: the ports of each multicast LID.
func readMFTs(t testing.TB, text string) map[uint64]map[int][]int {
	t.Helper()
	all := map[uint64]map[int][]int{}
	var row map[int][]int
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := mcSwitch.FindStringSubmatch(line); m != nil {
			row = map[int][]int{}
			all[hex(m[1])] = row
		} else if m := mcEntry.FindStringSubmatch(line); m != nil {
			for port := range strings.FieldsSeq(m[2]) {
				row[int(hex(m[1]))] = append(row[int(hex(m[1]))], int(hex(port)))
			}
		} else if line != "" && !strings.HasPrefix(line, "LID ") {
			t.Fatalf("cannot parse a line of the multicast tables: %q", line)
		}
	}
	return all
}

// spread counts the copies of one packet.
type spread struct {
	s      *state
	mlid   int
	copies map[*port]int
	// on holds the ports by which the packet has entered switches so far.
	on     map[*port]bool
	cycles bool
}

// come follows a packet that enters a switch by a port.
func (f *spread) come(n *node, in *port) {
	if f.on[in] {
		f.cycles = true
		return
	}
	f.on[in] = true
	for _, num := range f.s.mft[n.guid][f.mlid] {
		out := n.ports[num]
		switch {
		case num == 0 || out == nil || out == in:
		case out.peer.node.isSwitch():
			f.come(out.peer.node, out.peer)
		default:
			f.copies[out.peer]++
		}
	}
	delete(f.on, in)
}

// groupCounts are the figures of multicast groups.
type groupCounts struct {
	alone, members, lost, gone, entries, pairs                int
	missing, double, echoes, cycles, strangers, dead, oneWays int
}

// add counts the packets of one group.
func (c *groupCounts) add(s *state, mlid int, guids []uint64) {
	var members []*port
	lost, entries := 0, 0
	for _, guid := range guids {
		switch own := s.net.endByGUID[guid]; {
		case own != nil && own.lid != 0:
			members = append(members, own)
		case own != nil || s.had[guid] != nil:
			lost++
		default:
			c.gone++
		}
	}
	for _, n := range s.net.nodes {
		for _, num := range s.mft[n.guid][mlid] {
			entries++
			c.entry(s, n, num, mlid, members)
		}
	}
	c.entries += entries
	c.members += len(members) + lost
	c.lost += lost
	n := len(members) + lost
	if entries == 0 && n < 2 {
		c.alone++
		return
	}
	c.pairs += n * (n - 1)
	c.missing += n*(n-1) - len(members)*(len(members)-1)
	cycles := false
	for _, src := range members {
		f := spread{s: s, mlid: mlid, copies: map[*port]int{}, on: map[*port]bool{}}
		f.come(src.peer.node, src.peer)
		cycles = cycles || f.cycles
		for _, dst := range members {
			switch n := f.copies[dst]; {
			case dst == src:
				c.echoes += one(n > 0)
			case n == 0:
				c.missing++
			case n > 1:
				c.double++
			}
		}
	}
	c.cycles += one(cycles)
}

// entry counts the faults of one port of a table.
func (c *groupCounts) entry(s *state, n *node, num, mlid int, members []*port) {
	out := n.ports[num]
	switch {
	case num == 0:
		c.strangers += one(!slices.Contains(members, out))
	case out == nil:
		c.dead++
	case !out.peer.node.isSwitch():
		c.strangers += one(!slices.Contains(members, out.peer))
	default:
		c.oneWays += one(!slices.Contains(s.mft[out.peer.node.guid][mlid], out.peer.num))
	}
}

// checkMulticast compares `check mcast` of groups of a file, except for credit loops, and returns the number of missing
// pairs.
func (x *exam) checkMulticast(s *state) int {
	text, err := x.dump("mcfdbs", s.name)
	if err != nil || s.hasUnread() {
		return 0
	}
	s.mft = readMFTs(x.t, text)
	c, lids := groupCounts{}, map[int]bool{}
	for mlid := range x.members {
		lids[mlid] = true
	}
	for _, row := range s.mft {
		for mlid := range row {
			lids[mlid] = true
		}
	}
	for mlid := range lids {
		c.add(s, mlid, x.members[mlid])
	}
	a := x.ask("check mcast of=" + s.name)
	if a.o == nil {
		a.wrong("answer", a.err, "-", "some")
		return 0
	}
	a.mustLine("mcast of {of.title}: {lids#} multicast LID(s) of {groups}, {members#} member(s), {pairs#} pair(s)")
	a.figure("lids", len(lids))
	for _, f := range []struct {
		key, line string
		want      int
	}{
		{"alone", "  {alone#} LID(s) with fewer than two members, without entries", c.alone},
		{"members", "", c.members},
		{"lost_members", "  {lost_members#} member(s) unreachable or without a LID", c.lost},
		{"gone", "  {gone#} member(s) not in the subnet", c.gone},
		{"entries", "", c.entries}, {"pairs", "", c.pairs}, {"missing", "  {missing#} pairs missing", c.missing},
		{"double", "  {double#} pairs served twice", c.double},
		{"echoes", "  {echoes#} members that get back what they send", c.echoes},
		{"cycles", "  {cycles#} LIDs with a cycle", c.cycles},
		{"strangers", "  {strangers#} ports to strangers", c.strangers},
		{"dead_ports", "  {dead_ports#} ports without a link", c.dead},
		{"one_ways", "  {one_ways#} one-way branches", c.oneWays}, {"unknown", "", 0},
	} {
		if f.line != "" && f.want > 0 {
			a.mustLine(f.line)
		}
		a.figure(f.key, f.want)
	}
	isWrong := c.missing+c.double+c.echoes+c.cycles+c.strangers+c.dead+c.oneWays > 0
	if a.x.compared++; isWrong && a.err == nil ||
		isWrong == slices.Contains(a.lines, "  every member gets each packet once") {
		a.wrong("verdict", a.err, "-", isWrong)
	}
	return c.missing
}
