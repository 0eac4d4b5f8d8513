// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/routing/engines"
)

// multicastChains are the engines whose trees are compared; torus-2QoS has a test of its own in its package.
var multicastChains = [][]string{{"minhop"}, {"updn"}, {"dnup"}, {"dor"}, {"ftree"}, {"lash"}, {"sssp"},
	{"dfsssp"}, {"nue"}}

// TestMulticastEqualsOpenSM lets ports join and leave groups of a running OpenSM, two or more up to all, lets links
// fail and come back, and compares opensm.mcfdbs, opensm-sa.dump and the groups of its subnet administration.
func TestMulticastEqualsOpenSM(t *testing.T) {
	repeat(t, 6, 117, 6, func(t *testing.T, r *rand.Rand, i int) {
		groupsLiveThrough(t, r, multicastChains[i%len(multicastChains)])
	})
}

func groupsLiveThrough(t *testing.T, r *rand.Rand, chain []string) {
	var whole *fabric.Fabric
	what := ""
	// OpenSM's nue crashes with a segmentation fault if a router joins a group.
	for whole == nil || len(between(whole)) < 3 || chain[0] == "nue" && hasRouters(whole) {
		what, whole = randomFabric(t, r)
		if chain[0] == "ftree" {
			what, whole = randomTree(t, r, r.IntN(1000))
		}
	}
	c := &trial{chain: chain}
	switch chain[0] {
	case "lash", "sssp", "dfsssp", "nue":
		c = vlTrial(r, whole, chain)
	case "ftree":
	default:
		c.opt = randomOptions(r, whole)
	}
	if chain[0] != "ftree" {
		c.opt.LMC = []uint8{0, 0, 1, 3}[r.IntN(4)]
	}
	if len(whole.EndPorts) > mostMembers {
		c.opt.LMC = 0
	}
	c.conf += "sa_db_dump TRUE\n"
	sim := start(t, whole)
	m := startManager(t, sim, c)
	m.rest(t)
	joined := joinGroups(t, sim, r, whole, m)
	if r.IntN(2) == 0 {
		joined = leaveGroups(t, sim, r, whole, joined)
	}
	var lost []fabric.Link
	var events []string
	for step := range 3 {
		if step > 0 {
			var event string
			if event, lost, _ = happen(r, whole, lost, step); event == "" {
				return
			}
			events = append(events, event)
			sim.Console(event)
			m.rest(t)
			joined = staying(whole.Without(lost), joined)
		}
		if err := m.compareGroups(whole.Without(lost), c, joined); err != nil {
			t.Fatalf("%s, engines %q, options %+v, after %q: %v", what, c.chain, c.opt, events, err)
		}
		if m.cycles > 0 {
			t.Logf("%s, engines %q: OpenSM and we make %d cycles", what, c.chain, m.cycles)
		}
		if step == 0 {
			continue // OpenSM dumps groups only after a sweep
		}
		if err := m.compareGroupDump(joined); err != nil {
			t.Fatalf("%s, after %q: %v", what, events, err)
		}
		if err := m.compareOurDump(t, sim, whole.Without(lost)); err != nil {
			t.Fatalf("%s, after %q: %v", what, events, err)
		}
	}
}

// mostMembers limits the number of ports that join, one by one.
const mostMembers = 400

// joinGroups lets ports join groups, and returns the groups in OpenSM.
func joinGroups(t *testing.T, sim *ibsimtest.Sim, r *rand.Rand, f *fabric.Fabric, m *manager) []fabric.Group {
	t.Helper()
	admin := administration(t, sim, f)
	f, err := withLIDs(f, m.dir)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	var joined []fabric.Group
	for i, size := range []int{2, 1, 2 + r.IntN(len(f.EndPorts)), len(f.EndPorts), 2 + r.IntN(4)} {
		g := fabric.Group{MGID: mad.NewGID(0xff12000000000000, uint64(0x1000+i)), SL: uint8(i)}
		for _, k := range r.Perm(len(f.EndPorts)) {
			if len(g.Members) == min(size, mostMembers) {
				break
			}
			state := fabric.JoinFull
			if len(g.Members) > 0 {
				state = []fabric.JoinState{fabric.JoinFull, fabric.JoinFull, fabric.JoinNon, fabric.JoinSendOnly,
					fabric.JoinFull | fabric.JoinSendOnly}[r.IntN(5)]
			}
			got, err := join(t.Context(), admin, &g, f.Ports[f.EndPorts[k]].GUID, state)
			if err != nil { // as a port whose MTU or rate is too low for the group
				refused++
				continue
			}
			g.MLID, g.PKey, g.MTU, g.Rate, g.Life, g.Scope = got.MLID, uint16(got.PKey), uint8(got.MTU),
				uint8(got.Rate), got.LifeTime, got.Scope
			g.Members = append(g.Members, fabric.Member{Prefix: mad.DefaultGIDPrefix, GUID: f.Ports[f.EndPorts[k]].GUID,
				Join: state})
		}
		if len(g.Members) > 0 {
			g.Members = fabric.SortMembers(g.Members)
			joined = append(joined, g)
		}
	}
	if refused > 0 {
		t.Logf("%d ports were refused", refused)
	}
	admin.SMKey = sweep.DefaultSAKey
	theirs, full, err := sweep.Groups(t.Context(), admin, f, nil)
	if err != nil || !full {
		t.Fatal(full, err)
	}
	// The group of IPoIB's broadcasts exists from the beginning, and is empty.
	theirs = slices.DeleteFunc(theirs, func(g fabric.Group) bool { return len(g.Members) == 0 })
	if len(theirs) != len(joined) {
		t.Fatalf("OpenSM has %d groups, %d were created", len(theirs), len(joined))
	}
	for i := range joined {
		for j := range theirs[i].Members {
			theirs[i].Members[j].Proxy = false
		}
		if !reflect.DeepEqual(theirs[i], joined[i]) {
			t.Fatalf("OpenSM has\n%+v, the joined ones are\n%+v", theirs[i], joined[i])
		}
	}
	return joined
}

// leaveGroups lets some members leave their groups, with all join states or one of them, and returns the groups that
// remain.
func leaveGroups(t *testing.T, sim *ibsimtest.Sim, r *rand.Rand, f *fabric.Fabric,
	groups []fabric.Group) []fabric.Group {
	t.Helper()
	admin := administration(t, sim, f)
	var kept []fabric.Group
	for _, g := range groups {
		g.Members = slices.Clone(g.Members)
		for i, m := range g.Members {
			left := m.Join
			if r.IntN(2) == 0 {
				left &= -left // the lowest
			}
			if r.IntN(3) > 0 || !hasFull(g.Members) { // OpenSM deletes a group without full members
				continue
			}
			rec := sa.MCMemberRecord{MGID: g.MGID, PortGID: mad.NewGID(m.Prefix, m.GUID), JoinState: uint8(left)}
			if _, err := sa.Ask(t.Context(), admin, mad.MethodDelete, rec,
				sa.MemberMGID|sa.MemberPortGID|sa.MemberJoinState); err != nil {
				t.Fatalf("leave group %v: %v", g.MGID, err)
			}
			g.Members[i].Join &^= left
		}
		g.Members = slices.DeleteFunc(g.Members, func(m fabric.Member) bool { return m.Join == 0 })
		if hasFull(g.Members) {
			kept = append(kept, g)
		}
	}
	return kept
}

// administration returns a client of OpenSM's SA at the port where OpenSM runs.
func administration(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric) *sa.Client {
	t.Helper()
	admin, err := sa.New(t.Context(), ibsimtest.Client(t, sim, f.Nodes[f.Ports[f.SMPort].Node].Desc))
	if err != nil {
		t.Fatal(err)
	}
	return admin
}

// joinAll lets ports join a group, and returns the accepted ones.
func joinAll(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric, g fabric.Group) fabric.Group {
	t.Helper()
	admin := administration(t, sim, f)
	in := g
	in.Members = nil
	for _, m := range g.Members {
		if got, err := join(t.Context(), admin, &in, m.GUID, m.Join); err == nil {
			in.MLID = got.MLID
			in.Members = append(in.Members, m)
		}
	}
	return in
}

const groupQKey = 0xb1b

func join(ctx context.Context, admin *sa.Client, g *fabric.Group, guid uint64,
	state fabric.JoinState) (sa.MCMemberRecord, error) {
	g.QKey = groupQKey
	rec := sa.MCMemberRecord{
		MGID: g.MGID, PortGID: mad.NewGID(mad.DefaultGIDPrefix, guid), QKey: groupQKey, PKey: 0xffff, SL: g.SL,
		JoinState: uint8(state),
	}
	return sa.Ask(ctx, admin, mad.MethodSet, rec, sa.MemberMGID|sa.MemberPortGID|sa.MemberJoinState|sa.MemberQKey|
		sa.MemberTrafficClass|sa.MemberPKey|sa.MemberFlowLabel|sa.MemberSL)
}

// staying returns the groups after OpenSM has removed the disappeared ports; without full members it removes the
// others, too.
func staying(f *fabric.Fabric, groups []fabric.Group) []fabric.Group {
	present := map[uint64]bool{}
	for _, e := range f.EndPorts {
		present[f.Ports[e].GUID] = true
	}
	var kept []fabric.Group
	for _, g := range groups {
		g.Members = slices.DeleteFunc(slices.Clone(g.Members), func(m fabric.Member) bool { return !present[m.GUID] })
		if hasFull(g.Members) {
			kept = append(kept, g)
		}
	}
	return kept
}

func hasFull(members []fabric.Member) bool {
	return slices.ContainsFunc(members, func(m fabric.Member) bool { return m.Join&fabric.JoinFull != 0 })
}

// compareGroupDump reads the groups that OpenSM dumps after a sweep.
func (m *manager) compareGroupDump(groups []fabric.Group) error {
	const name = "opensm-sa.dump"
	file, err := os.Open(filepath.Join(m.dir, name))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	theirs, err := osm.ReadGroups(file, name)
	if err != nil {
		return err
	}
	theirs = slices.DeleteFunc(theirs, func(g fabric.Group) bool { return len(g.Members) == 0 })
	for i := range theirs {
		for j := range theirs[i].Members {
			theirs[i].Members[j].Proxy = false
		}
	}
	if len(theirs) != len(groups) || len(groups) > 0 && !reflect.DeepEqual(theirs, groups) {
		return fmt.Errorf("%s has\n%+v, the joined ones are\n%+v", name, theirs, groups)
	}
	return nil
}

// unreported are the fields of a group in opensm-sa.dump that OpenSM's SA does not report: whether it is well known,
// and the port that created it.
var unreported = regexp.MustCompile(`(MC Group \w+ )(?: \(well known\))?(: mgid=\S+ port_gid=)\S+`)

// compareOurDump compares the dump of the groups that we read from OpenSM's SA with OpenSM's, apart from [unreported].
func (m *manager) compareOurDump(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric) error {
	t.Helper()
	admin := administration(t, sim, f)
	admin.SMKey = sweep.DefaultSAKey
	f, err := withLIDs(f, m.dir)
	if err != nil {
		return err
	}
	groups, full, err := sweep.Groups(t.Context(), admin, f, nil)
	if err != nil || !full {
		return fmt.Errorf("groups of the SA, in full %v: %w", full, err)
	}
	var ours bytes.Buffer
	if err := osm.WriteGroups(&ours, groups); err != nil {
		return err
	}
	theirs, err := os.ReadFile(filepath.Join(m.dir, "opensm-sa.dump"))
	if err != nil {
		return err
	}
	const none = "${1}${2}0x0000000000000000:0x0000000000000000"
	if theirs := unreported.ReplaceAllString(string(theirs), none); theirs != ours.String() {
		return fmt.Errorf("opensm-sa.dump has\n%s\nours has\n%s", theirs, &ours)
	}
	return nil
}

// groupLimit limits the time until OpenSM's trees are complete.
const groupLimit = 2 * time.Minute

// compareGroups routes groups and compares their tables with OpenSM's.
func (m *manager) compareGroups(f *fabric.Fabric, c *trial, groups []fabric.Group) error {
	f, err := withLIDs(f, m.dir)
	if err != nil {
		return err
	}
	res, _, err := tryAll(context.Background(), c.chain, f, c.opt)
	if _, none := errors.AsType[*engines.NoneError](err); none {
		return nil
	}
	if err != nil {
		return err
	}
	made, err := mcast.Route(context.Background(), f, mcast.Router(f, res.Hops, res.Multicast), groups, nil)
	if err != nil {
		return err
	}
	tables := *res.Tables
	tables.MFT = made.MFT
	found, err := mcast.Check(context.Background(), &tables, groups, nil)
	if err != nil {
		return err
	}
	m.cycles += found.Cycles
	var ours bytes.Buffer
	if err := osm.WriteMCFDBs(&ours, f, made.MFT); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := differsFrom(filepath.Join(m.dir, "opensm.mcfdbs"), ours.Bytes())
		if err == nil || time.Since(began) > groupLimit {
			return err
		}
	}
}

// Up/down routing forbids some paths, so branches of a tree may meet again. If ours do, OpenSM's do, too.
func TestCyclesAreOpenSMs(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for range testenv.Count(t, 1, 12) {
		f, c, group := withCycle(t, r)
		sim := start(t, f)
		m := startManager(t, sim, c)
		m.rest(t)
		all := joinAll(t, sim, f, group)
		if err := m.compareGroups(f, c, []fabric.Group{all}); err != nil {
			t.Fatalf("engines %q, options %+v: %v", c.chain, c.opt, err)
		}
		if m.cycles == 0 {
			t.Logf("%d of %d ports were accepted; without the others there is no cycle", len(all.Members),
				len(group.Members))
		}
	}
}

// withCycle looks for a fabric and options with which the tree of all ports has a cycle.
func withCycle(t *testing.T, r *rand.Rand) (*fabric.Fabric, *trial, fabric.Group) {
	t.Helper()
	for range 100000 {
		_, f := randomFabric(t, r)
		c := &trial{chain: []string{"updn"}}
		c.opt = randomOptions(r, f)
		g := fabric.Group{MGID: mad.NewGID(0xff12000000000000, 0x1000), MLID: fabric.FirstMLID + 1}
		for _, e := range f.EndPorts {
			if !f.Nodes[f.Ports[e].Node].IsSwitch() {
				g.Members = append(g.Members, fabric.Member{GUID: f.Ports[e].GUID, Join: fabric.JoinFull})
			}
		}
		with, err := fabric.AssignLIDs(f)
		if err != nil || len(g.Members) > mostMembers {
			continue
		}
		res, _, err := tryAll(t.Context(), c.chain, with, c.opt)
		if err != nil || res.Tables.Origin != c.chain[0] {
			continue
		}
		made, err := mcast.Route(t.Context(), with, mcast.Router(with, res.Hops, res.Multicast), []fabric.Group{g}, nil)
		if err != nil {
			t.Fatal(err)
		}
		tables := *res.Tables
		tables.MFT = made.MFT
		found, err := mcast.Check(t.Context(), &tables, []fabric.Group{g}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if found.Cycles > 0 {
			return f, c, g
		}
	}
	t.Fatal("found no cycle")
	return nil, nil, fabric.Group{}
}
